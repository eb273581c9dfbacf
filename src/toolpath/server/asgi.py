"""The service as one ASGI application: what is hung in where, what is opened with it, what comes before the routes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from toolpath.access.caller import OPEN, Caller
from toolpath.app import Toolpath
from toolpath.server.problems import answer_problems
from toolpath.server.rest import health, runs
from toolpath.server.rest.described import describe

#: Where the routes of this version are.
API = "/api/v1"
#: A larger body of a request is refused.
LARGEST_BODY = 10_000_000

_DESCRIPTION = "Requests become checked plans of tool calls; plans become durable, auditable runs."


def create_app(tp: Toolpath, *, is_open: bool = False, caller: Caller = OPEN) -> FastAPI:
    """The service over this Toolpath, to be run by any ASGI server.

    The Toolpath is opened and closed with the app, unless it `is_open` already. `caller` is who asks where no guard
    before the app says who: without one, serve it on a loopback address alone.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if not is_open:
                await stack.enter_async_context(tp)
            yield

    app = FastAPI(
        title="Toolpath",
        description=_DESCRIPTION,
        version=version("toolpath"),
        lifespan=lifespan,
        max_body_size=LARGEST_BODY,
        openapi_url=f"{API}/openapi.json",
        # Their pages load scripts from other places.
        docs_url=None,
        redoc_url=None,
        # Spans are the engine's, see `telemetry`.
        telemetry={"tracing": False, "metrics": False},
    )
    app.state.toolpath = tp
    answer_problems(app, tp.redact)
    app.include_router(health.router)
    for routes in (runs.router,):
        app.include_router(routes, prefix=API)
    describe(app)
    app.add_middleware(DefaultCaller, caller=caller)
    return app


class DefaultCaller:
    """Says who asks where nobody before it did."""

    def __init__(self, app: ASGIApp, caller: Caller) -> None:
        self.app = app
        self.caller = caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on, with a caller in the request's state."""
        if scope["type"] in ("http", "websocket"):
            scope.setdefault("state", {}).setdefault("caller", self.caller)
        await self.app(scope, receive, send)
