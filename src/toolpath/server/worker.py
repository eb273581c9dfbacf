"""A worker: takes runs from the queue and drives them, says that it lives, and leaves without losing any."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from functools import partial

from toolpath.app import Toolpath
from toolpath.errors import StoreError
from toolpath.ports import Queue
from toolpath.recovery import timing

_log = logging.getLogger("toolpath.worker")


class Worker:
    """Drives runs of `queue` through an open Toolpath, at most `concurrency` at once.

    While it has a free place it also takes over runs whose drivers have died or stand still, straight from the store:
    no message has to arrive for that. Told to stop, it begins nothing more; calls under way have `grace` seconds to
    end, then they are cut off. Runs that are not over go back to the queue.
    """

    def __init__(
        self,
        tp: Toolpath,
        queue: Queue,
        *,
        concurrency: int = 10,
        grace: float = 30.0,
        reached: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self._tp = tp
        self._reached = reached
        """Told with each sign of life whether the store took it."""
        self._queue = queue
        self._concurrency = concurrency
        self._grace = grace
        self._stopped = asyncio.Event()
        self._places = asyncio.Semaphore(concurrency)
        self._held = 0
        """Places that are taken, or are about to be by runs that no message asked for."""
        self._taken: dict[str, asyncio.Task[None]] = {}
        """Drives that no message asked for."""
        self._behind: list[str] = []
        """Runs whose drivers have gone and for which there was no place: they come before those that wait."""
        self._refused: dict[str, float] = {}
        """When runs that could not be taken over may be tried again, in the loop's time."""

    def stop(self) -> None:
        """Begin nothing more and leave: `run` returns when it is done with that."""
        self._queue.stop()
        self._tp.leave()
        self._stopped.set()

    async def run(self) -> None:
        """Drive runs until `stop`."""
        self._tp.offer_lost(self._take)
        beating = asyncio.create_task(self._live(), name="beat")
        relieving = asyncio.create_task(self._relieve(), name="relieve")
        serving = asyncio.create_task(self._serve(), name="serve")
        stopped = asyncio.create_task(self._stopped.wait(), name="stop")
        try:
            await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({serving}, timeout=self._grace)
            if not serving.done():
                self._tp.leave(at_once=True)
            await serving
        finally:
            tasks = {beating, relieving, stopped, serving}
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _serve(self) -> None:
        """Drive what the queue hands out until `stop`, and return when no drive is left."""
        await self._queue.serve(self._drive_next, concurrency=self._concurrency)
        if self._taken:
            await asyncio.wait(set(self._taken.values()))

    async def _drive_next(self, run_id: str) -> None:
        """Drive runs until none waits. The queue says that there is one; whose turn it is, the store says."""
        called_for: str = run_id
        while True:
            async with self._places:
                self._held += 1
                try:
                    found = self._behind.pop() if self._behind else await self._tp.take_turn(called_for)
                    if found is None:
                        return
                    await self._tp.drive(found)
                finally:
                    self._held -= 1
            called_for = ""

    async def _drive_taken(self, run_id: str) -> None:
        try:
            async with self._places:
                await self._tp.drive(run_id)
        finally:
            self._held -= 1

    async def _live(self) -> None:
        away_since: float | None = None
        loop = asyncio.get_running_loop()
        while True:
            try:
                await self._tp.beat()
            except StoreError as error:
                if away_since is None:
                    away_since = loop.time()
                    _log.warning("The store is away; runs go on when it is back: %s", self._tp.redact(str(error)))
                self._reached(False)
            else:
                if away_since is not None:
                    _log.warning("The store is back after %.0f s.", loop.time() - away_since)
                    away_since = None
                self._reached(True)
            await asyncio.sleep(timing.BEAT)

    async def _relieve(self) -> None:
        """Take over what drivers that have gone have left."""
        while not self._stopped.is_set():
            with contextlib.suppress(StoreError):
                self._behind = [run_id for run_id in await self._tp.left_runs() if not self._take(run_id)]
            await asyncio.sleep(timing.BEAT)

    def _take(self, run_id: str) -> bool:
        """Have the run driven beside those of the queue; whether there was a place, or it is seen to already."""
        if run_id in self._taken or self._refused.get(run_id, 0.0) > asyncio.get_running_loop().time():
            return True
        if self._stopped.is_set() or self._held >= self._concurrency:
            return False
        self._held += 1
        task = self._taken[run_id] = asyncio.create_task(self._drive_taken(run_id), name=f"take {run_id}")
        task.add_done_callback(partial(self._driven, run_id))
        return True

    def _driven(self, run_id: str, task: asyncio.Task[None]) -> None:
        del self._taken[run_id]
        now = asyncio.get_running_loop().time()
        self._refused = {run: again for run, again in self._refused.items() if again > now}
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("A drive ended with an error: %s", type(error).__name__, exc_info=error)
            self._refused[run_id] = now + timing.TAKE_OVER_AGAIN
