"""The runs that this process drives now: their runners, their tasks, and the time that parked ones wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from toolpath.catalog.snapshot import Catalog
from toolpath.drives.elsewhere import drives_here, is_driven_elsewhere
from toolpath.engine.program import Program
from toolpath.engine.runner import Runner
from toolpath.engine.services import Services
from toolpath.errors import RunConflict
from toolpath.frozen import FrozenBodies
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.plan import thaw
from toolpath.model.run import RunInfo
from toolpath.ports import Timer
from toolpath.values import JsonObject


class Live:
    """Holds the drives of this process."""

    def __init__(self, services: Services, load: Callable[[set[str]], Awaitable[Catalog]]) -> None:
        self._services = services
        self._load = load
        self._live: dict[str, asyncio.Task[None]] = {}
        self._runners: dict[str, Runner] = {}
        self._wakers: dict[str, Timer] = {}
        self._taking = asyncio.Lock()
        drives_here(self)
        self.sources: JsonObject = {}
        """Where the tools come from, as `run.started` records it."""

    def is_live(self, run_id: str) -> bool:
        """Whether this process drives the run now."""
        return run_id in self._runners

    async def program_of(self, events: list[AnyEvent], *, to_end: bool = False) -> Program:
        """The program that a journal was written by."""
        started = events[0] if events else None
        if not isinstance(started, ev.RunStarted):
            raise RunConflict("The run was stored, but never begun.", hint="Start it anew.")
        catalog = await self._load(set(started.tools))
        overlay = FrozenBodies(catalog, started.bodies, to_end=to_end)
        return Program(thaw(started.plan), overlay, self._services.settings)

    def _keep(self, run_id: str, runner: Runner, drive: Callable[[], Awaitable[None]]) -> None:
        """Drive it beside; whoever asks for the result waits for that."""
        waker = self._wakers.pop(run_id, None)
        if waker is not None:
            waker.cancel()

        async def driven() -> None:
            try:
                await drive()
            finally:
                self._forget(run_id, runner)
            self._watch_deadline(run_id, runner)

        self._runners[run_id] = runner
        task = asyncio.create_task(driven(), name=f"drive {run_id}")
        self._live[run_id] = task
        task.add_done_callback(lambda done: self._driven(run_id, done))

    def _forget(self, run_id: str, runner: Runner) -> None:
        # Another may have taken the run up since this one left it.
        if self._runners.get(run_id) is runner:
            del self._runners[run_id]

    def _driven(self, run_id: str, task: asyncio.Task[None]) -> None:
        if self._live.get(run_id) is task and not task.cancelled() and task.exception() is None:
            # A drive that failed stays, so that asking for the result tells why.
            del self._live[run_id]

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

    def driven_elsewhere(self, info: RunInfo) -> bool:
        """Whether another process, or another Toolpath of this one, drives it."""
        return is_driven_elsewhere(info, self._services.clock.time(), self._services.driver)

    def drives_now(self, info: RunInfo) -> bool:
        """Whether the run is driven here, in a loop that lives."""
        runner = self._runners.get(info.run_id)
        if runner is None or info.driver != self._services.driver or runner.left is None:
            return False
        return not runner.left.get_loop().is_closed()

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
