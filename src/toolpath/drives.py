"""Runs as this process drives them: started, taken up, told things, waited for. The part of the door below `app.py`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.engine.people import read_answers
from toolpath.engine.program import Program
from toolpath.engine.runner import Runner
from toolpath.engine.services import Services
from toolpath.errors import RunConflict, RunNotFound, closest
from toolpath.frozen import FrozenBodies
from toolpath.ids import new_id
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.plan import thaw
from toolpath.model.run import ENDED_RUN, RunContext, RunInfo, RunResult
from toolpath.ports import Signal, Timer
from toolpath.projections.questions import open_questions
from toolpath.projections.results import run_result
from toolpath.projections.steps import step_results
from toolpath.values import JsonObject


class Run:
    """A run that was started or taken up here."""

    def __init__(self, run_id: str, drives: Drives) -> None:
        self.run_id = run_id
        self._drives = drives

    @property
    def id(self) -> str:
        """The run's id."""
        return self.run_id

    async def result(self) -> RunResult:
        """What came of it, as soon as it has ended, is paused, or waits for people alone."""
        return await self._drives.result(self.run_id)

    async def cancel(self, reason: str = "") -> None:
        """Stop it; calls under way are cut off."""
        await self._drives.tell(self.run_id, Signal(kind="cancel", data={"reason": reason}))

    async def pause(self) -> None:
        """Start nothing new in it until it is resumed."""
        await self._drives.tell(self.run_id, Signal(kind="pause"))

    def events(self) -> AsyncIterator[AnyEvent]:
        """Its events from the first one on, as they come, until it ends or waits for people alone."""
        return self._drives.watch(self.run_id)

    def __repr__(self) -> str:
        return f"Run({self.run_id!r})"


class Drives:
    """The runs that this process drives, and what may be done to any run of the store."""

    def __init__(self, services: Services, load: Callable[[set[str]], Awaitable[Catalog]]) -> None:
        self._services = services
        self._load = load
        self._live: dict[str, asyncio.Task[None]] = {}
        self._runners: dict[str, Runner] = {}
        self._wakers: dict[str, Timer] = {}
        self._taking = asyncio.Lock()
        self.sources: JsonObject = {}
        """Where the tools come from, as `run.started` records it."""

    # Starting.

    async def start(
        self,
        program: Program,
        inputs: JsonObject,
        *,
        context: RunContext | None,
        run_id: str | None = None,
        idempotency_key: str = "",
    ) -> Run:
        """Store a new run and begin it."""
        started, info = self._new_run(program, inputs, context or RunContext(), run_id)
        if idempotency_key:
            info = msgspec.structs.replace(info, idempotency_key=idempotency_key)
        stored, journal = await self._services.store.begin_run(info, self._services.driver, [started])
        if journal is not None:
            runner = Runner(program, self._services, journal)
            self._keep(info.run_id, runner, partial(runner.start, started))
        return Run(stored.run_id, self)

    async def run(self, program: Program, inputs: JsonObject, *, context: RunContext | None) -> RunResult:
        """Run to the end, or until only people can go on; no task of its own, so that a cancel reaches it."""
        started, info = self._new_run(program, inputs, context or RunContext(), None)
        _, journal = await self._services.store.begin_run(info, self._services.driver, [started])
        assert journal is not None
        runner = Runner(program, self._services, journal)
        self._runners[info.run_id] = runner
        try:
            await runner.start(started)
        finally:
            self._forget(info.run_id, runner)
        self._watch_deadline(info.run_id, runner)
        return await self._result_of(runner)

    async def begin_fork(self, program: Program, events: tuple[AnyEvent, ...]) -> Run:
        """Store the run that begins with these events, and go on from there."""
        started = events[0]
        assert isinstance(started, ev.RunStarted)
        context = RunContext.from_json(started.context)
        info = RunInfo(
            run_id=started.run_id,
            name=program.plan.name,
            created_at=started.at,
            updated_at=started.at,
            tenant=context.tenant,
            user=context.user_id,
            parent=str(started.parent.get("run_id", "")),
        )
        _, journal = await self._services.store.begin_run(info, self._services.driver, events)
        assert journal is not None
        runner = Runner(program, self._services, journal)
        self._keep(started.run_id, runner, partial(runner.resume, list(events), reason="fork"))
        return Run(started.run_id, self)

    def is_live(self, run_id: str) -> bool:
        """Whether this process drives the run now."""
        return run_id in self._runners

    def _new_run(
        self, program: Program, inputs: JsonObject, context: RunContext, run_id: str | None
    ) -> tuple[ev.RunStarted, RunInfo]:
        now = self._services.clock.time()
        run_id = run_id or new_id("run", now)
        started = ev.RunStarted(
            seq=1,
            at=now,
            run_id=run_id,
            plan=program.frozen,
            bodies=program.frozen_bodies,
            tools=program.fingerprints,
            inputs=inputs,
            context=context.as_json(),
            secrets=program.secrets,
            sources=self.sources,
        )
        info = RunInfo(
            run_id=run_id,
            name=program.plan.name,
            created_at=now,
            updated_at=now,
            tenant=context.tenant,
            user=context.user_id,
        )
        return started, info

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
        """Take the run up for what is due, unless somebody else has seen to it meanwhile."""
        store, clock = self._services.store, self._services.clock
        with contextlib.suppress(RunConflict, RunNotFound):
            info = await store.get_run(run_id)
            if info.status in ENDED_RUN or self._driven_elsewhere(info):
                return
            questions = open_questions(await store.read_events(run_id))
            if any(q.deadline is not None and q.deadline <= clock.time() for q in questions):
                await self.take_up(run_id)

    # Taking up.

    async def take_up(self, run_id: str, *, reason: str = "", accept: bool = False, to_end: bool = False) -> Run:
        """Drive the run from where it stands. `reason="retry"` goes on from what failed.

        With `to_end` it is about to be cancelled: then it does not matter that tools are not there any more.
        """
        # One at a time: two that take up the same run would fence one another.
        async with self._taking:
            if run_id in self._runners:
                return Run(run_id, self)
            store = self._services.store
            info = await store.get_run(run_id)
            if info.status in ENDED_RUN and reason != "retry":
                return Run(run_id, self)
            program = await self.program_of(await store.read_events(run_id), to_end=to_end)
            journal = await store.drive(run_id, self._services.driver)
            events = await store.read_events(run_id)
            accepted = program.fingerprints if accept else None
            known = self._services.secrets
            self._services.redactor.add([known[name] for name in program.secrets if name in known])
            runner = Runner(program, self._services, journal)
            self._keep(run_id, runner, partial(runner.resume, events, reason=reason, accepted=accepted))
        return Run(run_id, self)

    async def program_of(self, events: list[AnyEvent], *, to_end: bool = False) -> Program:
        """The program that a journal was written by."""
        started = events[0] if events else None
        if not isinstance(started, ev.RunStarted):
            raise RunConflict("The run was stored, but never begun.", hint="Start it anew.")
        catalog = await self._load(set(started.tools))
        overlay = FrozenBodies(catalog, started.bodies, to_end=to_end)
        return Program(thaw(started.plan), overlay, self._services.settings)

    # Telling.

    async def tell(self, run_id: str, signal: Signal) -> Run:
        """Keep the signal for the run's driver; where nobody drives it, take it up here.

        Raises `RunConflict` when the run cannot do anything with it, `SchemaError` for answers that do not fit.
        """
        store = self._services.store
        info = await store.get_run(run_id)
        if info.status in ENDED_RUN:
            raise RunConflict(f"The run {run_id} has ended: {info.status}.", hint=f"toolpath runs show {run_id}")
        if signal.kind in ("approve", "deny", "answer", "settle"):
            signal = await self._checked(run_id, signal)
        await store.put_signal(run_id, signal)
        runner = self._runners.get(run_id)
        if runner is not None and runner.over:
            # It leaves without having heard this.
            await runner.gone.wait()
            self._forget(run_id, runner)
        elif runner is not None:
            # Heard before its next call, even where the tool that is running said it.
            runner.ears.call()
        if run_id in self._runners or self._driven_elsewhere(info):
            return Run(run_id, self)
        if info.status == "paused" and signal.kind != "cancel":
            # It is heard when the run is resumed.
            return Run(run_id, self)
        return await self.take_up(run_id, to_end=signal.kind == "cancel")

    def _driven_elsewhere(self, info: RunInfo) -> bool:
        """Whether another process drives it and was seen lately."""
        if not info.driver or info.driver == self._services.driver:
            return False
        return info.driver_seen_at > self._services.clock.time() - 5.0

    async def _checked(self, run_id: str, signal: Signal) -> Signal:
        """The signal with its step named by its whole path. What cannot be obeyed is said now, not in the journal."""
        events = await self._services.store.read_events(run_id)
        if signal.kind == "settle":
            waiting = [r.path for r in step_results(events) if r.status == "unknown"]
            return _with_path(signal, _one_of(signal.path, waiting, "a write in doubt"))
        kind = ev.InputRequested if signal.kind == "answer" else ev.ApprovalRequested
        questions = [question for question in open_questions(events) if isinstance(question, kind)]
        path = _one_of(
            signal.path,
            [question.path for question in questions],
            "an answer" if kind is ev.InputRequested else "an approval",
        )
        question = next(question for question in questions if question.path == path)
        if isinstance(question, ev.InputRequested):
            if question.deadline is not None and self._services.clock.time() >= question.deadline:
                raise RunConflict(f"The time to answer {path} is over.")
            if not signal.data.get("declined"):
                read_answers(question.form, signal.data.get("values", {}))
        return _with_path(signal, path)

    # Looking.

    async def result(self, run_id: str) -> RunResult:
        """What came of the run; waits for the drive of this process, if there is one."""
        while (task := self._live.get(run_id)) is not None:
            try:
                await asyncio.shield(task)
            finally:
                if task.done() and self._live.get(run_id) is task:
                    del self._live[run_id]
        events = await self._services.store.read_events(run_id)
        if not events:
            info = await self._services.store.get_run(run_id)
            return RunResult(run_id=run_id, status=info.status, reason=info.reason)
        return run_result(run_id, events)

    async def _result_of(self, runner: Runner) -> RunResult:
        state = runner.state
        events = await self._services.store.read_events(state.run_id)
        if state.status not in ENDED_RUN:
            return run_result(state.run_id, events)
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
            read=lambda: step_results(events),
        )

    async def watch(self, run_id: str, after: int = 0) -> AsyncIterator[AnyEvent]:
        """The events beyond `after` as they come, until the run ends or is left to people."""
        store = self._services.store
        while True:
            task = self._live.get(run_id)
            driven = task is not None and not task.done()
            events = await store.read_events(run_id, after=after)
            for event in events:
                after = event.seq
                yield event
            if events:
                continue
            if not driven and not self._driven_elsewhere(await store.get_run(run_id)):
                return
            await self._news(run_id, after, task)

    async def _news(self, run_id: str, after: int, task: asyncio.Task[None] | None) -> None:
        waiting = asyncio.ensure_future(self._services.store.wait_events(run_id, after))
        others = {task} if task is not None else set()
        try:
            await asyncio.wait({waiting, *others}, return_when=asyncio.FIRST_COMPLETED, timeout=1.0)
        finally:
            waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await waiting

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


def _with_path(signal: Signal, path: str) -> Signal:
    return Signal(kind=signal.kind, path=path, data=signal.data, by=signal.by)


def _one_of(path: str, waiting: list[str], what: str) -> str:
    """The one waiting path that is meant. Raises `RunConflict` where it is none or several."""
    matches = [
        known
        for known in waiting
        if not path or path in (known, known.rpartition("/")[2].partition("[")[0].partition("#")[0])
    ]
    if len(matches) == 1 or (path and path in matches):
        return path if path in matches else matches[0]
    if not waiting:
        raise RunConflict(f"Nothing of this run waits for {what}.")
    if not matches:
        hint = f"Waiting: {', '.join(waiting)}."
        raise RunConflict(f"{path!r} does not wait for {what}.", suggestions=closest(path, waiting), hint=hint)
    raise RunConflict(f"Several steps wait for {what}: {', '.join(matches)}.", hint="Name the step.")
