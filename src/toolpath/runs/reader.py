"""Reading of runs: their outcomes, and their events as they come."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import aclosing

from toolpath.engine.drive.large import LargeValues, digests_of
from toolpath.engine.drive.runner import Runner
from toolpath.engine.drive.services import Services
from toolpath.errors import StaleEpoch
from toolpath.model import events as ev
from toolpath.model.event_log import EventLog
from toolpath.model.events import AnyEvent
from toolpath.model.run import ENDED_RUN, RunResult
from toolpath.model.sub_plan import split_plan_id
from toolpath.projections.results import run_end, run_result
from toolpath.projections.steps import step_results
from toolpath.projections.sub_plans import is_inside, sub_result
from toolpath.recovery.presence import is_driven_elsewhere
from toolpath.runs.beside_the_loop import BesideTheLoop, weight_of
from toolpath.runs.held import HeldRuns

#: Events that are read at once for a reader, and the bytes with which a page of them ends.
PAGE = 1_000
PAGE_BYTES = 1_000_000
#: Seconds between two looks at a run that nobody here drives: of a store that is woken for it, and of one that is not.
HEARD = 10.0
UNHEARD = 1.0

_ENDS = (ev.StepSucceeded, ev.StepFailed, ev.StepTimedOut, ev.StepCancelled, ev.StepSkipped)


class RunReader:
    """Reader of any run of the store; knows which of them this process drives."""

    def __init__(self, services: Services, held: HeldRuns, aside: BesideTheLoop) -> None:
        self._services = services
        self._held = held
        self._aside = aside

    async def result(self, run_id: str) -> RunResult:
        """The result of the run; waits for the drive of this process, if there is one.

        Where another took the run from it, it waits for that one.
        """
        if split_plan_id(run_id)[1]:
            async for _ in self.watch(run_id):
                pass
            return await self.info(run_id)
        follows = self._services.queue is not None
        runner: Runner | None = None
        while (task := self._held.tasks.get(run_id)) is not None:
            try:
                runner = await asyncio.shield(task)
            except StaleEpoch:
                follows = True
            finally:
                if task.done():
                    self._held.drop(run_id, task)
        if follows:
            await self.rest(run_id)
        elif runner is not None and runner.tells_all and not self._held.is_live(run_id):
            # It was driven from its begin to its end here: nothing need be read back.
            return await self.result_of(runner)
        return await self.info(run_id)

    async def rest(self, run_id: str) -> None:
        """Return when nobody goes on with the run before a person or program says something."""
        while not await self._rests(run_id):
            await self._news(run_id, (await self._services.store.get_run(run_id)).last_seq, None)

    async def info(self, run_id: str) -> RunResult:
        """How the run, or a plan inside it, stands now. Raises `RunNotFound`."""
        root, path = split_plan_id(run_id)
        if path:
            whole, events = await self._told(root)
            # Of a long run the steps are many, and each is looked at.
            return await self._aside.do(lambda: sub_result(whole, path), weight_of([events]))
        return (await self._told(run_id))[0]

    async def _told(self, run_id: str) -> tuple[RunResult, list[AnyEvent]]:
        """The result of the run so far, with its events."""
        info = await self._services.store.get_run(run_id)
        events = await self._services.store.read_events(run_id)
        if not events:
            return RunResult(run_id=run_id, status=info.status, reason=info.reason), events
        large, end = LargeValues(), run_end(events)
        if end is not None:
            await large.load(events, self._services.store, only=frozenset(digests_of(end.outputs)))
        parked = info.status == "waiting"
        made = await self._aside.do(
            lambda: run_result(run_id, events, restored=large.restored, row=info, parked=parked), weight_of([events])
        )
        return made, events

    async def result_of(self, runner: Runner) -> RunResult:
        """The result of the run that the runner has just driven."""
        state, commits = runner.state, runner.commits
        log = commits.journal.log if commits.written is None else commits.written
        if log is None:
            log = EventLog(await self._services.store.read_events(state.run_id))
        if state.status not in ENDED_RUN:
            return run_result(state.run_id, log.read(), parked=commits.parked)
        told = len(log)
        # The state has it all; the steps' records are made of the events when somebody asks for them.
        return RunResult(
            run_id=state.run_id,
            status=state.status,  # type: ignore[arg-type]
            reason=state.reason,
            outputs=runner.large.restored(state.outputs),
            error=state.error,
            total_duration=state.last_at - state.started_at,
            cost=state.cost,
            warnings=tuple(state.warnings),
            read=lambda: step_results(log.read(limit=told)),
        )

    async def watch(self, run_id: str, after: int = 0) -> AsyncGenerator[AnyEvent]:
        """The events of a run, or a plan inside it, as they come, until it ends or is left to people."""
        root, path = split_plan_id(run_id)
        if path:
            await self.info(run_id)
            async with aclosing(self.watch(root, after)) as coming:
                async for event in coming:
                    if is_inside(str(getattr(event, "path", "")), path):
                        yield event
                    if getattr(event, "path", "") == path and isinstance(event, _ENDS):
                        return
            return
        store = self._services.store
        while True:
            task = self._held.tasks.get(run_id)
            driven = self._held.is_driven(run_id)
            events = await store.read_events(run_id, after=after, limit=PAGE, most_bytes=PAGE_BYTES)
            for event in events:
                after = event.seq
                yield event
            if events:
                continue
            if not driven and await self._rests(run_id):
                # What came between the two looks is not left out.
                while events := await store.read_events(run_id, after=after, limit=PAGE, most_bytes=PAGE_BYTES):
                    for event in events:
                        after = event.seq
                        yield event
                return
            await self._news(run_id, after, task)

    async def _rests(self, run_id: str) -> bool:
        """Whether nobody goes on with the run before a person or program says something."""
        store = self._services.store
        info = await store.get_run(run_id)
        if self._services.queue is None:
            return not is_driven_elsewhere(info, self._services.clock.time(), self._services.driver)
        if info.status in ("pending", "running"):
            return False
        if info.status in ENDED_RUN:
            return True
        # What was sent already is about to be read.
        signals = await store.take_signals(run_id)
        return not any(info.status == "waiting" or signal.kind in ("cancel", "resume") for signal in signals)

    async def _news(self, run_id: str, after: int, task: asyncio.Task[Runner | None] | None) -> None:
        waiting = asyncio.ensure_future(self._services.store.wait_events(run_id, after))
        others = {task} if task is not None else set()
        # A notification may be lost with a connection: the event then comes late.
        patience = HEARD if self._services.store.hears_others else UNHEARD
        try:
            await asyncio.wait({waiting, *others}, return_when=asyncio.FIRST_COMPLETED, timeout=patience)
        finally:
            waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await waiting
