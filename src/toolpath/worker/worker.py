"""A worker: takes runs from the queue and drives them, says that it lives, and leaves without losing any."""

from __future__ import annotations

import asyncio
import contextlib

from toolpath.app import Toolpath
from toolpath.errors import StoreError
from toolpath.ports import Queue

#: Seconds between two signs of life. Others take a run from a driver that was silent for three of them.
BEAT = 0.5


class Worker:
    """Drives runs of `queue` through an open Toolpath, at most `concurrency` at once.

    Told to stop, it begins nothing more; calls under way have `grace` seconds to end, then they are cut off. Runs that
    are not over go back to the queue.
    """

    def __init__(self, tp: Toolpath, queue: Queue, *, concurrency: int = 10, grace: float = 30.0) -> None:
        self._tp = tp
        self._queue = queue
        self._concurrency = concurrency
        self._grace = grace
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """Begin nothing more and leave: `run` returns when it is done with that."""
        self._queue.stop()
        self._tp.leave()
        self._stopped.set()

    async def run(self) -> None:
        """Drive runs until `stop`."""
        beating = asyncio.create_task(self._live(), name="beat")
        serving = asyncio.create_task(self._queue.serve(self._tp.drive, concurrency=self._concurrency), name="serve")
        stopped = asyncio.create_task(self._stopped.wait(), name="stop")
        try:
            await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({serving}, timeout=self._grace)
            if not serving.done():
                self._tp.leave(at_once=True)
            await serving
        finally:
            for task in (beating, stopped, serving):
                task.cancel()
            await asyncio.wait({beating, stopped, serving})

    async def _live(self) -> None:
        while True:
            # A store that is away is noticed by the drives themselves.
            with contextlib.suppress(StoreError):
                await self._tp.beat()
            await asyncio.sleep(BEAT)
