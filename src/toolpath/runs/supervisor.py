"""Supervision of drives: each goes on until its run ends or parks, then what follows from that is done."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial

from toolpath.access.trail import Trail
from toolpath.engine.drive.runner import Runner
from toolpath.engine.drive.services import Services
from toolpath.engine.state.state import State
from toolpath.model import events as ev
from toolpath.model.run import ENDED_RUN
from toolpath.ports import EARLY, Timer, waiting_long
from toolpath.runs.held import HeldRuns, PreparedDrive
from toolpath.runs.secret_answers import SecretAnswers

Ended = Callable[[str], Awaitable[None]]
"""Told of the conversation of each run that has ended and belongs to one."""

#: Seconds for what this process has told its runs, when it leaves them.
_LAST_WORDS = 10.0

AfterFailure = Callable[[PreparedDrive], Awaitable[PreparedDrive | None]]
"""Gives the drive that goes on with a failed run by another plan, where there is one."""

Learn = Callable[[str], Awaitable[None]]
"""Told of each run of a plan that was made for a request, as soon as it has ended."""


class Supervisor:
    """Supervisor of the drives of this process."""

    def __init__(
        self,
        services: Services,
        held: HeldRuns,
        trail: Trail,
        *,
        after_failure: AfterFailure,
        take_up_due: Callable[[str], Awaitable[None]],
        secrets: SecretAnswers,
        learn: Learn | None = None,
        ended: Ended | None = None,
    ) -> None:
        self._services = services
        self._held = held
        self._trail = trail
        self._after_failure = after_failure
        self._take_up_due = take_up_due
        self._secrets = secrets
        self._learn = learn
        self._ended = ended
        self._deadlines: dict[str, Timer] = {}
        """When the time to answer ends of runs that this process has parked."""

    async def drive(self, prepared: PreparedDrive) -> Runner:
        """Drive the run until it ends or parks, and on with each plan that replaces its own; gives the last runner."""
        run_id, onward = prepared.run_id, prepared
        while True:
            runner = self._held.runners[run_id] = onward.runner
            try:
                await onward.begin()
            finally:
                self._held.forget(run_id, runner)
            replanned = await self._after_failure(onward) if runner.state.status == "failed" else None
            if replanned is None:
                break
            onward = replanned
        self._record_end(runner.state)
        if self._ended is not None and runner.state.status in ENDED_RUN and runner.state.context.conversation_id:
            await self._ended(runner.state.context.conversation_id)
        if self._learn is not None and runner.state.status in ENDED_RUN and runner.program.plan.origin.request:
            await self._learn(run_id)
        if runner.knows_secrets and runner.state.status in ENDED_RUN and runner.state.status != "failed":
            # What failed may be retried, and needs them.
            await self._secrets.let_go(run_id)
        self._watch_deadline(run_id, runner)
        runner.let_go()
        return runner

    def spawn(self, prepared: PreparedDrive) -> None:
        """Drive the run in a task of its own; a caller of the result waits for that."""
        run_id, runner = prepared.run_id, prepared.runner
        waker = self._deadlines.pop(run_id, None)
        if waker is not None:
            waker.cancel()

        async def driven() -> Runner:
            with waiting_long():
                return await self.drive(prepared)

        self._held.runners[run_id] = runner
        task = asyncio.create_task(driven(), name=f"drive {run_id}")
        # One that is cancelled before it began has nobody else to say that it is over.
        task.add_done_callback(lambda _: self._held.forget(run_id, runner))
        self._held.keep(run_id, task)

    def leave(self, *, at_once: bool = False) -> None:
        """Begin nothing more in any run; other drivers go on."""
        self._held.is_leaving = True
        for runner in list(self._held.runners.values()):
            runner.leave()
        if at_once:
            for task in list(self._held.tasks.values()):
                task.cancel()

    async def close(self) -> None:
        """Leave every run where it stands; another process, or a later one, takes them up.

        What this process has told a run before is in its journal then: one that was cancelled here has ended.
        """
        # A store that went away meanwhile does not hold this up.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS):
                await asyncio.gather(*(self._heard(run_id, runner) for run_id, runner in self._held.runners.items()))
        tasks = [task for task in self._held.tasks.values() if not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for timer in self._deadlines.values():
            timer.cancel()
        for task in self._held.tasks.values():
            if task.done() and not task.cancelled():
                task.exception()

    async def _heard(self, run_id: str, runner: Runner) -> None:
        """Return when the run has read what it was told here; nothing begins because of that."""
        task = self._held.tasks.get(run_id)
        if task is None:
            return
        if runner.inbox.is_busy():
            runner.leave()
            heard = asyncio.create_task(runner.inbox.heard())
            try:
                await asyncio.wait({heard, task}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                heard.cancel()
        # One that has ended may not have written that yet.
        if runner.state.status in ENDED_RUN:
            await asyncio.wait({task})

    def _watch_deadline(self, run_id: str, runner: Runner) -> None:
        """A parked run has no process; this one, while it lives, ends the time to answer."""
        deadline = first_deadline(runner.state)
        if deadline is not None:
            self._await_deadline(run_id, deadline)

    def _await_deadline(self, run_id: str, deadline: float) -> None:
        clock = self._services.clock
        pause = max(0.0, deadline - clock.time())
        self._deadlines[run_id] = clock.call_at(clock.monotonic() + pause, partial(self._due, run_id, deadline))

    def _due(self, run_id: str, deadline: float) -> None:
        self._deadlines.pop(run_id, None)
        if self._services.clock.time() < deadline - EARLY:
            # Clocks are set: one that counts seconds runs ahead of the one that tells the time.
            self._await_deadline(run_id, deadline)
        elif self._held.is_driven(run_id):
            # It is just being parked, or sees to it itself and is watched again when it is.
            self._held.tasks[run_id].add_done_callback(partial(self._after_drive, run_id, deadline))
        elif run_id not in self._held.tasks:
            self._held.keep(run_id, asyncio.create_task(self._taken_up(run_id)))

    def _after_drive(self, run_id: str, deadline: float, drive: asyncio.Task[Runner | None]) -> None:
        if not drive.cancelled() and run_id not in self._deadlines:
            self._due(run_id, deadline)

    async def _taken_up(self, run_id: str) -> None:
        await self._take_up_due(run_id)

    def _record_end(self, state: State) -> None:
        """Write the outcome of the run into the audit trail."""
        if state.status in ENDED_RUN:
            self._trail.run_ended(
                state.run_id,
                state.context,
                state.program.used,
                status=state.status,
                reason=state.reason,
                calls=state.calls,
                plan=state.program.plan,
            )


def first_deadline(state: State) -> float | None:
    """Time at which the first question of a parked run can be answered no more."""
    if state.status != "running":
        return None
    asked = [step.asked for step in state.steps.values() if step.status == "waiting"]
    return min((a.deadline for a in asked if isinstance(a, ev.InputRequested) and a.deadline is not None), default=None)
