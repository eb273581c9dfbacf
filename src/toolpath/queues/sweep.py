"""Finding runs that wait for a worker without a place in the queue: the broker lost it, or was away."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from toolpath.errors import QueueError, StoreError
from toolpath.model.run import RunInfo
from toolpath.ports import Clock, Queue, Store

#: A run whose driver was silent for so many seconds is looked at.
LOST_AFTER = 5.0
#: Seconds between two sweeps of a process, more or less.
INTERVAL = 3.0
#: A run that was enqueued by this process is not enqueued by it again for so many seconds.
AGAIN_AFTER = 20.0
#: One that nobody has ever taken waits its turn for so many seconds before it is enqueued beside others.
PATIENCE = 600.0
#: Runs looked at in one sweep.
MOST = 1000


class Sweep:
    """Every process with a queue sweeps; none leads. What two of them find is enqueued twice, and does no harm.

    `take`, where there is one, is offered a run before it is enqueued: a message may lie for long in a worker that
    stands still.
    """

    def __init__(self, store: Store, queue: Queue, clock: Clock, chance: Callable[[], float]) -> None:
        self._store = store
        self._queue = queue
        self._clock = clock
        self._chance = chance
        self._enqueued: dict[str, float] = {}
        """When each run was enqueued here, lately."""
        self.take: Callable[[str], bool] | None = None

    async def run(self) -> None:
        """Sweep for ever."""
        while True:
            await asyncio.sleep(INTERVAL * (0.5 + self._chance()))
            # Both come back; until then there is nothing to be done.
            with contextlib.suppress(StoreError, QueueError):
                await self.once()

    async def once(self) -> list[str]:
        """Have taken or enqueued what was lost; ids of those runs. Raises `StoreError`, `QueueError`."""
        now = self._clock.time()
        lost = await self._store.lost_runs(now - LOST_AFTER, limit=MOST)
        self._enqueued = {run: at for run, at in self._enqueued.items() if at > now - AGAIN_AFTER}
        if not lost:
            return []
        due = self._due(lost, await self._queue.depth(), now)
        for info in due:
            if self.take is not None and self.take(info.run_id):
                continue
            await self._queue.put(info.run_id, priority=info.priority)
            self._enqueued[info.run_id] = now
        return [info.run_id for info in due]

    def _due(self, lost: list[RunInfo], depth: int, now: float) -> list[RunInfo]:
        """Those that are enqueued now. Runs that wait in a long queue are in the store as well, and are not lost."""
        fresh = [info for info in lost if info.status == "pending"]
        are_queued = depth >= len(fresh)
        return [
            info
            for info in lost
            if info.run_id not in self._enqueued
            and (info.status != "pending" or not are_queued or info.created_at < now - PATIENCE)
        ]
