"""Changes of what is configured in the store: told to every process of it, and taken over by each within a second."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from toolpath.model.record import Record
from toolpath.ports import Clock, Store

#: The record whose version grows with each change.
_MARK: Final = ("configuration", "all")
#: Seconds between two looks.
_APART: Final = 1.0


class StoredChanges:
    """Announcements of changes in one store. A follower is called before anything else is done after a change."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._seen = 0
        self._looked_at: float | None = None
        self._following: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None
        self._followers: list[Callable[[], Awaitable[None]]] = []

    def follow(self, told: Callable[[], Awaitable[None]]) -> None:
        """Call `told` after each change, of any process."""
        self._followers.append(told)

    async def tell(self) -> None:
        """Tell every process of the store that something has changed, and follow it here at once."""
        await self._store.put_record(Record(kind=_MARK[0], id=_MARK[1]))
        async with self._alone():
            await self._look()

    async def catch_up(self) -> None:
        """Follow what has changed since the last look; looks at most once a second. Raises `StoreError`.

        A caller waits while a change is being followed; a follower must not call.
        """
        async with self._alone():
            if self._looked_at is None or self._clock.monotonic() - self._looked_at >= _APART:
                await self._look()

    def _alone(self) -> asyncio.Lock:
        """The lock of the loop that runs: `run_sync` has a new one each time, and a lock serves one."""
        loop = asyncio.get_running_loop()
        if self._following is None or self._following[0] is not loop:
            self._following = loop, asyncio.Lock()
        return self._following[1]

    async def _look(self) -> None:
        now, self._looked_at = self._clock.monotonic(), None
        record = await self._store.get_record(*_MARK)
        revision = 0 if record is None else record.version
        if revision != self._seen:
            for told in self._followers:
                await told()
        # Not before: what one of them could not read is followed at the next look.
        self._seen, self._looked_at = revision, now
