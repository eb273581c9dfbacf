"""Writer of tool statistics to the store: a second's calls at once, and the rest at the end."""

from __future__ import annotations

import asyncio

from toolpath.catalog.statistics import Statistics
from toolpath.ports import Store

#: Seconds of calls that one saving gathers. A process that dies loses no more.
GATHER = 1.0


class Saving:
    """Saves the statistics of one Toolpath."""

    def __init__(self, statistics: Statistics, store: Store) -> None:
        self._statistics = statistics
        self._store = store
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def soon(self) -> None:
        """Something was learned: save it within a second."""
        if self._timer is None and self._statistics.has_changes:
            self._timer = asyncio.get_running_loop().call_later(GATHER, self._save)

    def _save(self) -> None:
        self._timer = None
        changes = self._statistics.take_changes()
        if changes:
            task = asyncio.get_running_loop().create_task(self._store.add_stats(changes))
            self._tasks.add(task)
            task.add_done_callback(self._saved)

    def _saved(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # Runs go on where what was learned cannot be kept.
            task.exception()

    async def close(self) -> None:
        """Save what is left, and wait for it."""
        if self._timer is not None:
            self._timer.cancel()
        self._save()
        if self._tasks:
            await asyncio.wait(self._tasks)
