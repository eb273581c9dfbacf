"""The runs that this process drives now: their runners, their tasks, and the time that parked ones wait for."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from weakref import WeakValueDictionary

from toolpath.access.trail import Trail
from toolpath.catalog.snapshot import Catalog
from toolpath.engine.compile.program import Program
from toolpath.engine.drive.runner import Runner
from toolpath.engine.drive.services import Services
from toolpath.engine.drive.shares import Ledger, SharedLimit
from toolpath.engine.state.state import State
from toolpath.errors import QueueError, StoreError
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.run import ENDED_RUN, RunInfo
from toolpath.ports import Journal, Queue, Timer, waiting_long
from toolpath.recovery.heartbeats import Heartbeats
from toolpath.recovery.pending_sweep import PendingSweep
from toolpath.recovery.presence import drives_here, has_died, is_driven_elsewhere
from toolpath.runs.replay_program import frozen_program
from toolpath.values import JsonObject

#: Drives that failed and are kept for who asks.
_MOST_FAILED = 100
#: Runs that are taken over at the same time from drivers that have gone: others take what this process does not get to.
AT_ONCE = 2

Drive = Callable[[], Awaitable[None]]
Mend = Callable[[str], Awaitable[ev.PlanRevised | ev.Warned | None]]
"""Asked for another plan when a run has failed. Else it stays so, and a warning says why there is none.

Number and time are put into the event here.
"""

Learn = Callable[[str], Awaitable[None]]
"""Told of each run of a plan that was made for a request, as soon as it has ended."""


class Live:
    """Holds the drives of this process."""

    def __init__(self, services: Services, load: Callable[[set[str]], Awaitable[Catalog]]) -> None:
        self._services = services
        self._load = load
        self._live: dict[str, asyncio.Task[None]] = {}
        self._failed: dict[str, None] = {}
        """Drives that failed and that nobody has asked about, oldest first."""
        self._runners: dict[str, Runner] = {}
        self._wakers: dict[str, Timer] = {}
        self._taking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._in_hand: dict[str, asyncio.AbstractEventLoop] = {}
        """Runs that are this process's before they have a runner, or between two: the loop that sees to each."""
        self._leaving = False
        self._owed: list[Journal] = []
        """Of runs that were let go while the store was away."""
        self._sweep: PendingSweep | None = None
        self._sweeping: asyncio.Task[None] | None = None
        self._turning = asyncio.Lock()
        """Held while a turn is taken: those that come together would hinder one another in the store."""
        self._relief = asyncio.Semaphore(AT_ONCE)
        """Held while a run is taken over from a driver that has gone."""
        self._watch = Heartbeats(services.store, services.clock, has_died)
        drives_here(self)
        self.trail = Trail(services.store, services.clock, services.redactor, enabled=services.settings.audit)
        self.sources: JsonObject = {}
        """Where the tools come from, as `run.started` records it."""
        self.mend: Mend | None = None
        self.learn: Learn | None = None

    async def open(self) -> None:
        """Reach the queue, where there is one, and look after what it may lose."""
        services = self._services
        if services.queue is not None:
            await services.queue.open()
            ledger = Ledger(services.store, services.driver, has_died)
            services.limits.share = partial(SharedLimit, services.clock, ledger)
            self._sweep = PendingSweep(services.store, services.queue, services.clock, services.chance)
            self._sweeping = asyncio.create_task(self._sweep.run(), name="sweep")

    @property
    def queue(self) -> Queue | None:
        """Where runs wait for a worker, if they do."""
        return self._services.queue

    def is_live(self, run_id: str) -> bool:
        """Whether this process drives the run now, or is about to."""
        return run_id in self._runners or run_id in self._in_hand

    @contextlib.contextmanager
    def _holding(self, run_id: str) -> Iterator[None]:
        """Nobody else in this process takes the run meanwhile, and whoever looks sees that it is driven."""
        self._in_hand[run_id] = asyncio.get_running_loop()
        try:
            yield
        finally:
            self._in_hand.pop(run_id, None)

    async def program_of(self, events: list[AnyEvent], *, to_end: bool = False) -> Program:
        """The program that a journal was written by, followed by those that took its place."""
        return await frozen_program(events, self._load, self._services.settings, to_end=to_end)

    async def _drive(self, run_id: str, runner: Runner, drive: Drive) -> Runner:
        """Drive it until it ends or parks, and on with each plan that mends it; gives the last runner."""
        while True:
            self._runners[run_id] = runner
            try:
                await drive()
            finally:
                self._forget(run_id, runner)
            found = await self._mended(run_id, runner) if runner.state.status == "failed" else None
            if found is None:
                break
            runner, drive = found
        self._write_end(runner.state)
        if self.learn is not None and runner.state.status in ENDED_RUN and runner.program.plan.origin.request:
            await self.learn(run_id)
        self._watch_deadline(run_id, runner)
        return runner

    async def _mended(self, run_id: str, runner: Runner) -> tuple[Runner, Drive] | None:
        """What goes on with the runner's failed run by another plan, where there is one."""
        raise NotImplementedError

    def _keep(self, run_id: str, runner: Runner, drive: Drive) -> None:
        """Drive it beside; whoever asks for the result waits for that."""
        waker = self._wakers.pop(run_id, None)
        if waker is not None:
            waker.cancel()

        async def driven() -> None:
            with waiting_long():
                await self._drive(run_id, runner, drive)

        self._runners[run_id] = runner
        task = asyncio.create_task(driven(), name=f"drive {run_id}")
        self._live[run_id] = task
        # One that is cancelled before it began has nobody else to say that it is over.
        task.add_done_callback(lambda _: self._forget(run_id, runner))
        task.add_done_callback(lambda done: self._driven(run_id, done))

    def _forget(self, run_id: str, runner: Runner) -> None:
        # Another may have taken the run up since this one left it.
        if self._runners.get(run_id) is runner:
            del self._runners[run_id]

    def _driven(self, run_id: str, task: asyncio.Task[None]) -> None:
        if self._live.get(run_id) is not task or task.cancelled():
            return
        if task.exception() is None:
            del self._live[run_id]
            return
        # A drive that failed stays, so that asking for the result tells why; but nobody may ever ask.
        known = [other for other in self._failed if (kept := self._live.get(other)) is not None and kept.done()]
        self._failed = dict.fromkeys([*known, run_id])
        if len(self._failed) > _MOST_FAILED:
            oldest = next(iter(self._failed))
            del self._failed[oldest], self._live[oldest]

    def _watch_deadline(self, run_id: str, runner: Runner) -> None:
        """A parked run has no process; but while this one lives, it sees to the end of the time to answer."""
        asked = [step.asked for step in runner.state.steps.values() if step.status == "waiting"]
        deadlines = [a.deadline for a in asked if isinstance(a, ev.InputRequested) and a.deadline is not None]
        if runner.state.status != "running" or not deadlines:
            return
        clock = self._services.clock
        pause = max(0.0, min(deadlines) - clock.time())
        self._wakers[run_id] = clock.call_at(clock.monotonic() + pause, partial(self._take_up_late, run_id))

    def _take_up_late(self, run_id: str) -> None:
        self._wakers.pop(run_id, None)
        if run_id not in self._live:
            task = self._live[run_id] = asyncio.create_task(self._late(run_id))
            task.add_done_callback(lambda done: self._driven(run_id, done))

    async def _late(self, run_id: str) -> None:
        """Take the run up for what is due."""
        raise NotImplementedError

    async def _enqueue(self, run_id: str, priority: int = 0) -> None:
        """Have a worker drive the run when its turn comes. Where the queue does not take it, a sweep sees to it."""
        queue = self._services.queue
        if queue is not None:
            await self._services.store.enqueue(run_id)
            with contextlib.suppress(QueueError):
                await queue.put(run_id, priority=priority)

    async def _let_go(self, runner: Runner) -> None:
        """Say that nobody drives the run: its drive may have ended because the store was away."""
        self._owed.append(runner.commits.journal)
        await self.settle()

    async def settle(self) -> None:
        """Let go of what could not be let go of before."""
        # Many drives may end at once, each of them here.
        owed, self._owed = self._owed, []
        for journal in owed:
            try:
                released = journal.release()
                if released is not None:
                    await released
            except StoreError:
                self._owed.append(journal)

    def driven_elsewhere(self, info: RunInfo) -> bool:
        """Whether another process, or another Toolpath of this one, drives it."""
        return is_driven_elsewhere(info, self._services.clock.time(), self._services.driver)

    def drives_now(self, info: RunInfo) -> bool:
        """Whether the run is driven here, in a loop that lives."""
        if info.driver != self._services.driver:
            return False
        runner = self._runners.get(info.run_id)
        loop = self._in_hand.get(info.run_id) if runner is None else runner.loop
        return loop is not None and not loop.is_closed()

    def _write_end(self, state: State) -> None:
        """Have what came of the run written into the audit trail."""
        if state.status in ENDED_RUN:
            tools, context = state.program.used, state.context
            self.trail.run_ended(
                state.run_id,
                context,
                tools,
                status=state.status,
                reason=state.reason,
                calls=state.calls,
                plan=state.program.plan,
            )

    async def close(self) -> None:
        """Leave every run where it stands; another process, or a later one, takes them up."""
        for waker in self._wakers.values():
            waker.cancel()
        tasks = [task for task in self._live.values() if not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for task in self._live.values():
            if task.done() and not task.cancelled():
                task.exception()
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.wait({self._sweeping})
        if self._services.queue is not None:
            with contextlib.suppress(StoreError):
                await self._services.limits.close()
            await self._services.queue.close()
        await self.trail.close()
