"""Lease of a request: it goes on until its credentials end, however long its answer lasts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from toolpath.access.caller import Caller
from toolpath.access.credentials import Credentials
from toolpath.errors import CredentialsRefused, ToolpathError
from toolpath.ports import Clock, Timer

#: Seconds between two looks at the credentials of a request that lasts.
LOOK = 15.0
#: Seconds between them at least, where they should have expired already and have not.
_LEAST = 0.5


class Lease:
    """Looks again whether what let a request in still would.

    `refuse` is told of it once, while the request goes on, and gives whether the request is to be broken off.
    """

    def __init__(
        self, credentials: Credentials, clock: Clock, *, refuse: Callable[[ToolpathError], Awaitable[bool]]
    ) -> None:
        self._credentials = credentials
        self._clock = clock
        self._refuse = refuse
        self._timer: Timer | None = None
        self._look: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def held(self, presented: str, caller: Caller) -> AsyncIterator[None]:
        """Do what is inside as long as the credentials hold; then it is broken off where `refuse` says so."""
        limit = asyncio.timeout(None)
        try:
            async with limit:
                self._wait(presented, caller, limit)
                try:
                    yield
                finally:
                    self._end()
        except TimeoutError:
            if not limit.expired():
                raise

    def _wait(self, presented: str, caller: Caller, limit: asyncio.Timeout) -> None:
        wait = LOOK
        if caller.expires_at is not None:
            wait = min(LOOK, max(_LEAST, caller.expires_at - self._clock.time()))
        self._timer = self._clock.call_at(self._clock.monotonic() + wait, lambda: self._begin(presented, caller, limit))

    def _begin(self, presented: str, caller: Caller, limit: asyncio.Timeout) -> None:
        self._look = asyncio.create_task(self._looked(presented, caller, limit), name="lease")

    async def _looked(self, presented: str, caller: Caller, limit: asyncio.Timeout) -> None:
        try:
            await self._credentials.caller(presented)
        except CredentialsRefused as error:
            if await self._refuse(error):
                limit.reschedule(asyncio.get_running_loop().time())
            return
        except ToolpathError:
            # The store cannot say: who was let in stays until it can.
            pass
        self._wait(presented, caller, limit)

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._look is not None:
            self._look.cancel()
