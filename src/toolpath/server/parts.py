"""Dependencies of routes: the open Toolpath, the caller, and whether they may."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from fastapi.requests import HTTPConnection

from toolpath.access.caller import Caller, Scope
from toolpath.app import Toolpath
from toolpath.server.problems import Problem


async def toolpath_of(connection: HTTPConnection) -> Toolpath:
    """The Toolpath that this app serves."""
    door: Toolpath = connection.app.state.toolpath
    return door


async def caller_of(connection: HTTPConnection) -> Caller:
    """Caller, as the guard before the routes found out."""
    caller: Caller = connection.state.caller
    return caller


class Needs:
    """A dependency that refuses callers who have neither a scope nor, where it says so, the other one."""

    def __init__(self, scope: Scope, *, or_also: Scope | None = None) -> None:
        self.scope = scope if or_also is None else f"{scope} or {or_also}"
        self._scopes = (scope,) if or_also is None else (scope, or_also)

    async def __call__(self, connection: HTTPConnection) -> None:
        """Raise `Problem` 403 where the caller lacks the scope."""
        caller: Caller = connection.state.caller
        if not any(caller.may(scope) for scope in self._scopes):
            raise Problem(
                403, "scope", f"These credentials lack the scope {self.scope!r}.", hint="Ask for others that have it."
            )


Door = Annotated[Toolpath, Depends(toolpath_of)]
Asker = Annotated[Caller, Depends(caller_of)]
