"""Context and permissions of resolvers: who asks, through which door, and errors in words with a stable code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import strawberry
from graphql import GraphQLError
from strawberry.extensions import FieldExtension
from strawberry.fastapi import BaseContext

from toolpath.access.caller import Caller, Scope
from toolpath.app import Toolpath
from toolpath.errors import ToolpathError
from toolpath.server.feeds import Feeds
from toolpath.server.problems import details_of
from toolpath.server.waiting import waited


class ResolverContext(BaseContext):
    """Context that a resolver is given with each request."""

    @property
    def tp(self) -> Toolpath:
        """The Toolpath that is served."""
        door: Toolpath = self._connection.app.state.toolpath
        return door

    @property
    def feeds(self) -> Feeds:
        """Live events."""
        feeds: Feeds = self._connection.app.state.feeds
        return feeds

    @property
    def caller(self) -> Caller:
        """Caller, as the guard found out."""
        caller: Caller = self._connection.state.caller
        return caller

    @property
    def turn(self) -> asyncio.Lock:
        """Held by what begins on this connection: a WebSocket may ask for a hundred things at once, others for one."""
        state = self._connection.state
        if not hasattr(state, "turn"):
            state.turn = asyncio.Lock()
        turn: asyncio.Lock = state.turn
        return turn

    @property
    def _connection(self) -> Any:
        return self.request

    async def rested(self, run_id: str) -> None:
        """Return when the run has ended or waits for people, or this server was told to stop."""
        await waited(self.tp, run_id, self._connection.app.state.stopping)

    def needs(self, scope: Scope) -> None:
        """Raise `GraphQLError` where the caller lacks the scope."""
        if not self.caller.may(scope):
            message = f"These credentials lack the scope {scope!r}."
            raise GraphQLError(message, extensions={"code": "scope", "hint": "Ask for others that have it."})


Info = strawberry.Info[ResolverContext, None]


class NeedsScope(FieldExtension):
    """Refuses callers without a scope, and tells errors of the engine as GraphQL errors."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    async def resolve_async(self, next_: Callable[..., Any], source: Any, info: Info, **kwargs: Any) -> Any:
        """The field's value."""
        asked: ResolverContext = info.context
        asked.needs(self._scope)
        try:
            return await next_(source, info, **kwargs)
        except ToolpathError as error:
            raise told(error, asked.tp) from None


def told(error: ToolpathError, tp: Toolpath) -> GraphQLError:
    """The error for a client: message, stable code, hint, findings; secrets taken out."""
    details = msgspec.to_builtins(details_of(error))
    known = ("code", "hint", "suggestions", "findings", "missing")
    extensions = {name: details[name] for name in known if details.get(name)}
    clean = msgspec.json.decode(tp.redact(msgspec.json.encode(extensions).decode()))
    return GraphQLError(tp.redact(details["detail"]), extensions=clean)
