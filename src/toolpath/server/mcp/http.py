"""The MCP server over streamable HTTP, as an ASGI application for one address."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Message, Receive, Scope, Send

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.server.mcp.client import GONE
from toolpath.server.mcp.service import McpService

#: Where it is.
PATH = "/mcp"


class McpOverHttp:
    """Answers at `PATH` while it runs; whoever asks is in the request's state as `caller`.

    Hosts and origins are the guard's to judge, who stands before every route.
    """

    def __init__(self, tp: Toolpath) -> None:
        self._service = McpService(tp)
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve until the end of the scope; sessions end with it, and their runs stay where they stand."""
        manager = StreamableHTTPSessionManager(self._service.server)
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
        # A session belongs to whoever opened it: the library compares this.
        owner = msgspec.json.encode([caller.tenant, caller.user, caller.key]).decode()
        token = AccessToken(token="", client_id=owner, scopes=[])  # no token: the guard has seen it
        state = scope["state"]
        state[GONE] = False

        async def watched() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                state[GONE] = True
            return message

        await self._manager.handle_request({**scope, "user": AuthenticatedUser(token)}, watched, send)
