"""The caller: the one record that credentials become and that every door reads. Data only."""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

from toolpath.model.run import RunContext

Scope = Literal["read", "run", "answer", "admin"]
"""read: look at plans, runs, tools. run: plan, start and steer runs. answer: decide for people. admin: keys, audit."""

SCOPES: tuple[Scope, ...] = get_args(Scope)
EVERYTHING = frozenset({"*"})


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Caller at a door, as their credentials say. A `*` among permissions or scopes stands for all of them."""

    tenant: str = ""
    user: str = ""
    session: str = ""
    case: str | None = None
    case_state: str = "active"
    permissions: frozenset[str] = frozenset()
    """What `requires.permissions` of tools is compared with."""
    scopes: frozenset[str] = frozenset()
    """What they may do at the door, see `Scope`."""
    sees_all: bool = False
    """Of every tenant: who needs no credentials, on a loopback address alone."""
    priority: int = 0
    """Of the runs that they begin, where they say none."""
    delegates: bool = False
    """They may say for which user, session and case they ask."""
    key: str = ""
    """Id of the credential, for logs and the audit trail."""
    expires_at: float | None = None
    """When the credential ends, in Unix seconds; None: not by itself."""
    address: str = ""
    """Where the request came from."""
    door: str = ""
    """Which door they stand at: `rest`, `graphql`, `mcp`, `cli`."""

    def may(self, scope: str) -> bool:
        """Whether they may do this at the door."""
        return scope in self.scopes or "*" in self.scopes

    def sees(self, tenant: str) -> bool:
        """Whether what belongs to the tenant is theirs to see."""
        return self.sees_all or tenant == self.tenant

    @property
    def of_tenant(self) -> str | None:
        """The tenant whose things are listed for them; None: those of all."""
        return None if self.sees_all else self.tenant

    def context(self, **more: Any) -> RunContext:
        """The context of what they run; `more` as `RunContext` takes it."""
        return RunContext(
            self.user,
            self.session,
            self.case,
            tenant=self.tenant,
            permissions=self.permissions,
            case_state=self.case_state,
            **more,
        )


#: Every client of a server that is open, which it is on a loopback address alone.
OPEN = Caller(permissions=EVERYTHING, scopes=EVERYTHING, sees_all=True, delegates=True)
#: A client that is not asked who it is: for what everybody may know, as that the server lives.
NOBODY = Caller()
