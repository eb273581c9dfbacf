"""Bytes that the runs of a process hold in memory, by tenant: each may be small, and all of them too much."""

from __future__ import annotations

from toolpath.engine.state.state import State


class TenantBytes:
    """Counts what the values of the runs weigh. Each look costs the same, however many there are."""

    def __init__(self, most: int) -> None:
        self.most = most
        """Bytes that the runs of one tenant may hold together; 0: no limit."""
        self._runs: dict[str, dict[str, int]] = {}
        self._held: dict[str, int] = {}

    def held(self, tenant: str) -> int:
        """Bytes that the tenant's runs hold together."""
        return self._held.get(tenant, 0)

    def is_too_much(self, tenant: str, run_id: str, weight: int) -> bool:
        """Note what the run holds, which asks for more; whether it is one of those that it is too much by.

        Those are the runs that hold as much as each may where all are alike: a small one goes on beside large ones.
        """
        if not self.most:
            return False
        runs = self._runs.setdefault(tenant, {})
        held = self._held.get(tenant, 0) + weight - runs.get(run_id, 0)
        self._held[tenant] = held
        runs[run_id] = weight
        return held > self.most and weight * len(runs) >= self.most

    def let_go(self, tenant: str, run_id: str) -> None:
        """The run is not driven here any more."""
        runs = self._runs.get(tenant)
        if runs is None or run_id not in runs:
            return
        self._held[tenant] -= runs.pop(run_id)
        if not runs:
            del self._runs[tenant], self._held[tenant]


class RunBeside:
    """One run among those of its tenant."""

    def __init__(self, of: TenantBytes, state: State) -> None:
        self.most = of.most
        self._of = of
        self._state = state

    @property
    def held(self) -> int:
        """Bytes that they hold."""
        return self._of.held(self._state.context.tenant)

    def is_too_much(self, weight: int) -> bool:
        """Whether they hold too much, and this one, which holds so much and asks for more, no less than its share."""
        return self._of.is_too_much(self._state.context.tenant, self._state.run_id, weight)
