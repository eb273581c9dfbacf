"""A queue for tests of servers that drive nothing themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from toolpath import Toolpath


class Handed:
    """A queue whose runs another Toolpath of this process drives at once."""

    def __init__(self) -> None:
        self.worker: Toolpath | None = None
        self._drives: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Nothing to open."""

    async def close(self) -> None:
        for drive in self._drives:
            drive.cancel()

    async def put(self, run_id: str, *, priority: int = 0) -> None:
        assert self.worker is not None
        drive = asyncio.create_task(self.worker.drive(run_id))
        self._drives.add(drive)
        drive.add_done_callback(self._drives.discard)

    async def depth(self) -> int:
        return 0

    async def serve(self, work: Callable[[str], Awaitable[None]], *, concurrency: int) -> None:
        """Nothing is handed out: what is put is driven at once."""

    def stop(self) -> None:
        """Nothing is handed out."""
