"""The MCP server over streamable HTTP, as an ASGI application for one address."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import msgspec
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.types import Message, Receive, Scope, Send

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.server.mcp.client import GONE
from toolpath.server.mcp.service import McpService
from toolpath.server.mcp.sessions import IDLE, Sessions
from toolpath.server.problems import Problem, problem

#: Where it is.
PATH = "/mcp"
_SESSION = b"mcp-session-id"
_VERSION = b"mcp-protocol-version"


class McpOverHttp:
    """Answers at `PATH` while it runs; the caller is in the request's state as `caller`.

    Hosts and origins are the guard's to judge, who stands before every route.
    """

    def __init__(self, tp: Toolpath) -> None:
        self._service = McpService(tp)
        self._manager: StreamableHTTPSessionManager | None = None
        self._sessions = Sessions(tp.settings.mcp_sessions, tp.clock.monotonic)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve until the end of the scope; sessions end with it, and their runs stay where they stand."""
        manager = StreamableHTTPSessionManager(self._service.server, session_idle_timeout=IDLE)
        try:
            async with manager.run():
                self._manager = manager
                try:
                    yield
                finally:
                    self._service.is_closing = True
        finally:
            self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        assert self._manager is not None, "requests come between the start and the end of the app"
        caller: Caller = scope["state"]["caller"]
        # A session belongs to the caller who opened it: the library compares this.
        owner = msgspec.json.encode([caller.tenant, caller.user, caller.key]).decode()
        token = AccessToken(token="", client_id=owner, scopes=[])  # no token: the guard has seen it
        state = scope["state"]
        state[GONE] = False

        async def watched() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                state[GONE] = True
            return message

        asked = {**scope, "user": AuthenticatedUser(token)}
        handle = partial(self._manager.handle_request, asked, watched)
        headers = dict(scope["headers"])
        session_id = headers.get(_SESSION, b"").decode("latin-1")
        if session_id:
            with self._sessions.using(owner, session_id):
                await handle(send)
            if scope["method"] == "DELETE":
                self._sessions.end(owner, session_id)
        elif headers.get(_VERSION, b"").decode("latin-1") in MODERN_PROTOCOL_VERSIONS:
            await handle(send)
        else:
            await self._opened(owner, handle, scope, send)

    async def _opened(self, owner: str, handle: Callable[[Send], Awaitable[None]], scope: Scope, send: Send) -> None:
        """Answer a request that opens a session, where its caller may have one more."""
        place = self._sessions.begin(owner)
        if place is None:
            hint = "Close sessions that are not needed (DELETE), or wait until they are closed for not being used."
            full = Problem(429, "too_many_sessions", "This caller has as many MCP sessions open as may be.", hint=hint)
            await problem(full)(scope, _nothing, send)
            return

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = dict(message.get("headers", ())).get(_SESSION, b"").decode("latin-1")
                if given and message["status"] < 300:
                    self._sessions.name(owner, place, given)
            await send(message)

        try:
            await handle(named)
        finally:
            self._sessions.end(owner, place)


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
