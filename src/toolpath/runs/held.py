"""Runs that this process holds: their runners, their tasks, their locks. Decides nothing."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from weakref import WeakValueDictionary

import msgspec

from toolpath.engine.drive.runner import Runner
from toolpath.engine.drive.services import Services
from toolpath.model.run import RunInfo
from toolpath.ports import Authority

#: Drives that failed and are kept for who asks.
_MOST_FAILED = 100


class PreparedDrive(msgspec.Struct, frozen=True):
    """A run that this process has, and how its drive begins."""

    run_id: str
    runner: Runner
    begin: Callable[[], Awaitable[None]]
    authority: Authority | None = None
    """By whose authority the run is replanned, where its journal does not say so yet."""


class HeldRuns:
    """Record of the runs that this process drives, or is about to."""

    def __init__(self, services: Services) -> None:
        self.runners: dict[str, Runner] = {}
        self.tasks: dict[str, asyncio.Task[Runner | None]] = {}
        """Drives of their own, and those that failed and that nobody has asked about."""
        self.is_leaving = False
        self._services = services
        self._failed: dict[str, None] = {}
        """Drives that failed and that nobody has asked about, oldest first."""
        self._in_hand: dict[str, asyncio.AbstractEventLoop] = {}
        """Runs that are this process's before they have a runner, or between two: the loop that drives each."""
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def is_live(self, run_id: str) -> bool:
        """Whether this process drives the run now, or is about to."""
        return run_id in self.runners or run_id in self._in_hand

    @property
    def live(self) -> frozenset[str]:
        """Ids of the runs that this process drives now, or is about to."""
        return frozenset((*self.runners, *self._in_hand))

    def is_in_hand(self, run_id: str) -> bool:
        """Whether this process has the run without a runner."""
        return run_id in self._in_hand

    def is_driven(self, run_id: str) -> bool:
        """Whether a task of its own drives the run."""
        task = self.tasks.get(run_id)
        return task is not None and not task.done()

    def drives_now(self, info: RunInfo) -> bool:
        """Whether the run is driven here, in a loop that lives."""
        if info.driver != self._services.driver:
            return False
        runner = self.runners.get(info.run_id)
        loop = self._in_hand.get(info.run_id) if runner is None else runner.loop
        return loop is not None and not loop.is_closed()

    def lock(self, run_id: str) -> asyncio.Lock:
        """Lock of the run: of those in this process that take it, one at a time does."""
        return self._locks.setdefault(run_id, asyncio.Lock())

    @contextlib.contextmanager
    def holding(self, run_id: str) -> Iterator[None]:
        """Hold the run: nobody else in this process takes it meanwhile, and it shows as driven."""
        self._in_hand[run_id] = asyncio.get_running_loop()
        try:
            yield
        finally:
            self._in_hand.pop(run_id, None)

    def forget(self, run_id: str, runner: Runner) -> None:
        """Drop the runner, unless another has taken the run up since this one left it."""
        if self.runners.get(run_id) is runner:
            del self.runners[run_id]
            # One that never began has not said so itself.
            self._services.store.on_signal(run_id, None)

    def drop(self, run_id: str, task: asyncio.Task[Runner | None]) -> None:
        """Drop the task, unless another has taken its place."""
        if self.tasks.get(run_id) is task:
            del self.tasks[run_id]

    def keep(self, run_id: str, task: asyncio.Task[Runner | None]) -> None:
        """Keep the task until it has ended; one that fails stays, so that asking for the result tells why."""
        self.tasks[run_id] = task
        task.add_done_callback(lambda done: self._ended(run_id, done))

    def _ended(self, run_id: str, task: asyncio.Task[Runner | None]) -> None:
        if self.tasks.get(run_id) is not task or task.cancelled():
            return
        if task.exception() is None:
            del self.tasks[run_id]
            return
        # Nobody may ever ask.
        known = [other for other in self._failed if (kept := self.tasks.get(other)) is not None and kept.done()]
        self._failed = dict.fromkeys([*known, run_id])
        if len(self._failed) > _MOST_FAILED:
            oldest = next(iter(self._failed))
            del self._failed[oldest], self.tasks[oldest]


async def beat(services: Services) -> None:
    """Give a sign of life of this process. Raises `StoreError`."""
    services.beaten_at = asyncio.get_running_loop().time()
    await services.store.beat(services.driver)
