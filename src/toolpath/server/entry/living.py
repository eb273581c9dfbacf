"""Lifespan of an app that is mounted in another one, which tells it of no start: it begins with its first request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from starlette.types import ASGIApp, Receive, Scope, Send


class Living:
    """Sees to it that what lives as long as the app lives when a request comes.

    `is_running`: whether it does already, since the host has begun the app's lifespan.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        running: Callable[[], AbstractAsyncContextManager[None]],
        is_running: Callable[[], bool],
    ) -> None:
        self._app = app
        self._running = running
        self._is_running = is_running
        self._is_told = False
        self._life: asyncio.Task[None] | None = None
        self._begun: asyncio.Future[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on."""
        if scope["type"] == "lifespan":
            self._is_told = True
        elif not self._is_told and not self._is_running():
            await self._begin()
        await self._app(scope, receive, send)

    async def _begin(self) -> None:
        """Return when it lives. Raises what keeps it from that; the next request tries again."""
        if self._begun is None:
            begun = self._begun = asyncio.get_running_loop().create_future()
            # It is ended like every task that is left when the loop ends, and closes all it has opened then.
            self._life = asyncio.create_task(self._live(begun))
        await asyncio.shield(self._begun)

    async def _live(self, begun: asyncio.Future[None]) -> None:
        try:
            async with self._running():
                begun.set_result(None)
                await asyncio.get_running_loop().create_future()
        except Exception as error:
            if begun.done():
                raise
            begun.set_exception(error)
        finally:
            self._begun = None
