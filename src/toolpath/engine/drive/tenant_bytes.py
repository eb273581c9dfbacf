"""Bytes that the runs of a process hold in memory, by tenant: each may be small, and all of them too much."""

from __future__ import annotations

from toolpath.engine.state.state import State


class TenantBytes:
    """Counts what the values of the runs weigh. Each look costs the same, however many there are."""

    def __init__(self, most: int) -> None:
        self.most = most
        """Bytes that the runs of one tenant may hold together; 0: no limit."""
        self._tenants: dict[str, _Tenant] = {}

    def held(self, tenant: str) -> int:
        """Bytes that the tenant's runs hold together."""
        found = self._tenants.get(tenant)
        return 0 if found is None else found.held

    def enter(self, tenant: str) -> _Tenant:
        """The account of the tenant's bytes, with one run more."""
        found = self._tenants.get(tenant)
        if found is None:
            found = self._tenants[tenant] = _Tenant()
        found.runs += 1
        return found

    def leave(self, tenant: str, weight: int) -> None:
        """A run of the tenant that holds so much is not driven here any more."""
        found = self._tenants[tenant]
        found.held -= weight
        found.runs -= 1
        if not found.runs:
            del self._tenants[tenant]


class _Tenant:
    __slots__ = ("held", "runs")

    def __init__(self) -> None:
        self.held = 0
        """Bytes that its runs hold together."""
        self.runs = 0
        """Those that have asked for more."""


class RunBeside:
    """One run among those of its tenant."""

    def __init__(self, of: TenantBytes, state: State) -> None:
        self.most = of.most
        self._of = of
        self._state = state
        self._tenant: _Tenant | None = None
        """Since it first asked for more."""
        self._weight = 0

    @property
    def held(self) -> int:
        """Bytes that they hold."""
        return 0 if self._tenant is None else self._tenant.held

    def is_too_much(self, weight: int) -> bool:
        """Note what the run holds, which asks for more; whether it is one of those that it is too much by.

        Those are the runs that hold as much as each may where all are alike: a small one goes on beside large ones.
        """
        tenant = self._tenant
        if tenant is None:
            if not self.most:
                return False
            tenant = self._tenant = self._of.enter(self._state.context.tenant)
        tenant.held += weight - self._weight
        self._weight = weight
        return tenant.held > self.most and weight * tenant.runs >= self.most

    def let_go(self) -> None:
        """The run is not driven here any more."""
        if self._tenant is not None:
            self._of.leave(self._state.context.tenant, self._weight)
            self._tenant, self._weight = None, 0
