"""Finding runs that wait for a worker without a place in the queue: the broker lost it, or was away."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from toolpath.errors import QueueError, StoreError
from toolpath.ports import Clock, Queue, Store
from toolpath.recovery import timing

#: Runs looked at in one sweep.
MOST_RUNS = 1000
#: Messages that are sent where runs wait and the queue has none: each has a worker drive runs until none waits.
MESSAGES = 10


class PendingSweep:
    """Every process with a queue sweeps; none leads.

    What nobody drives is given a turn again, which one of them does. How many runs wait makes no difference: those that
    have a turn are not looked at. `take` is offered a run first, and says whether it takes it: a message may lie for
    long in a worker that stands still.
    """

    def __init__(
        self,
        store: Store,
        queue: Queue,
        clock: Clock,
        chance: Callable[[], float],
        take: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._store = store
        self._queue = queue
        self._clock = clock
        self._chance = chance
        self._take = take

    async def run(self) -> None:
        """Sweep for ever."""
        while True:
            await asyncio.sleep(timing.SWEEP * (0.5 + self._chance()))
            # Both come back; until then there is nothing to be done.
            with contextlib.suppress(StoreError, QueueError):
                await self.once()

    async def once(self) -> list[str]:
        """Take or enqueue the runs that were lost; gives their ids. Raises `StoreError`, `QueueError`."""
        lost = await self._store.lost_runs(self._clock.time() - timing.SWEPT_AFTER, limit=MOST_RUNS, queued=False)
        seen_to: list[str] = []
        for info in lost:
            if self._take(info.run_id):
                seen_to.append(info.run_id)
            elif await self._store.enqueue(info.run_id):
                seen_to.append(info.run_id)
                await self._queue.put(info.run_id, priority=info.priority)
        await self._call()
        return seen_to

    async def _call(self) -> None:
        """Call workers where runs wait and no message is left in the queue."""
        waiting = await self._store.queued(MESSAGES)
        if waiting and not await self._queue.depth():
            for run_id in waiting:
                await self._queue.put(run_id)
