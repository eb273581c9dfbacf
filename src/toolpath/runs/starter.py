"""Start of runs: stored together with their first event, then driven here or handed to a worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypedDict

import msgspec

from toolpath.access.trail import Trail
from toolpath.engine.compile.program import Program
from toolpath.engine.drive.runner import Runner
from toolpath.engine.drive.services import Services
from toolpath.errors import KeyReused, StaleEpoch
from toolpath.machine import new_id
from toolpath.model import events as ev
from toolpath.model.event_log import EventLog
from toolpath.model.events import AnyEvent
from toolpath.model.record import AuditEntry
from toolpath.model.run import RunContext, RunInfo, RunResult
from toolpath.model.traceparent import current_trace
from toolpath.ports import Journal
from toolpath.runs.held import HeldRuns, PreparedDrive
from toolpath.runs.naming import kept_name
from toolpath.runs.reader import RunReader
from toolpath.runs.run_queue import RunQueue
from toolpath.runs.secret_answers import SecretAnswers
from toolpath.runs.supervisor import Supervisor
from toolpath.values import JsonObject, digest


class Stored(msgspec.Struct, frozen=True):
    """The stored plan that a run is of, and the approval that allows it."""

    plan_id: str = ""
    approval: str | None = None


NOT_STORED = Stored()
#: Events that are kept for who asks for the result of a run that was started: who asks for that of a longer one has
#: them read back.
_FEW = 64


class NewRunDetails(TypedDict, total=False):
    """Particulars of a new run besides its program and inputs."""

    context: RunContext | None
    run_id: str | None
    origin: Stored
    replan: JsonObject | None
    """How far it may be replanned when it fails."""


class NewKeyedRun(NewRunDetails, total=False):
    """Particulars of a new run that may have a name of its caller's, and a place among others."""

    idempotency_key: str
    priority: int


class Starter:
    """Starter of new runs and forks."""

    def __init__(
        self,
        services: Services,
        held: HeldRuns,
        queue: RunQueue,
        supervisor: Supervisor,
        reader: RunReader,
        trail: Trail,
        *,
        secrets: SecretAnswers,
        sources: Callable[[], JsonObject],
    ) -> None:
        self._services = services
        self._secrets = secrets
        self._held = held
        self._queue = queue
        self._supervisor = supervisor
        self._reader = reader
        self._trail = trail
        self._sources = sources

    async def start(
        self,
        program: Program,
        inputs: JsonObject,
        *,
        context: RunContext | None,
        run_id: str | None = None,
        idempotency_key: str = "",
        priority: int = 0,
        origin: Stored = NOT_STORED,
        replan: JsonObject | None = None,
    ) -> RunInfo:
        """Store a new run and begin it; gives its row as it was stored, or that of the run with the same key.

        `replan`: how far it may be planned anew when it fails.
        """
        await self._services.turns.room()
        context = context or RunContext()
        started, info = self._new_run(program, inputs, context, run_id, origin=origin)
        started = msgspec.structs.replace(started, replan=replan or {})
        if idempotency_key or priority:
            info = msgspec.structs.replace(info, idempotency_key=kept_name(idempotency_key), priority=priority)
        asked = self._trail.run_asked("run.start", info, context, program.fingerprints)
        if self._queue.is_used:
            handed = await self._hand_over(info, [started], asked)
            if handed.run_id != info.run_id:
                await self._same(handed.run_id, started, origin.plan_id)
            return handed
        stored, journal = await self._begun(info, [started], asked)
        if journal is not None:
            runner = Runner(program, self._services, journal)
            runner.commits.begin_with(stored.status)
            if journal.durable:
                runner.commits.written, runner.commits.most_written = EventLog([started]), _FEW
            # Nobody can have told it anything yet.
            runner.heed(info.run_id)
            begin = partial(runner.start, started, unheard=False)
            self._supervisor.spawn(PreparedDrive(info.run_id, runner, begin))
        else:
            await self._same(stored.run_id, started, origin.plan_id)
        return stored

    async def _same(self, run_id: str, started: ev.RunStarted, plan_id: str) -> None:
        """Raise `RunConflict` where the run that has the idempotency key was begun with something else."""
        (first,) = await self._services.store.read_events(run_id, limit=1)
        assert isinstance(first, ev.RunStarted)
        # As JSON: what a journal gives back has lists where a plan has tuples.
        is_same = digest(first.plan) == digest(started.plan)
        if plan_id:
            is_same = (await self._services.store.get_run(run_id)).plan_id == plan_id
        if not is_same or digest(first.inputs) != digest(started.inputs):
            raise KeyReused(
                f"The run {run_id} was begun with this idempotency key, and with another plan or other inputs.",
                hint="Take a new key for a new run.",
            )

    async def run(
        self,
        program: Program,
        inputs: JsonObject,
        *,
        context: RunContext | None,
        run_id: str | None = None,
        origin: Stored = NOT_STORED,
        replan: JsonObject | None = None,
    ) -> RunResult:
        """Run to the end, or until only people can go on; no task of its own, so that a cancel reaches it."""
        if self._queue.is_used:
            stored = await self.start(program, inputs, context=context, run_id=run_id, origin=origin, replan=replan)
            return await self._reader.result(stored.run_id)
        await self._services.turns.room()
        context = context or RunContext()
        started, info = self._new_run(program, inputs, context, run_id, origin=origin)
        started = msgspec.structs.replace(started, replan=replan or {})
        asked = self._trail.run_asked("run.start", info, context, program.fingerprints)
        stored, journal = await self._begun(info, [started], asked)
        assert journal is not None
        runner = Runner(program, self._services, journal)
        runner.commits.begin_with(stored.status)
        if journal.durable:
            runner.commits.written = EventLog([started])
        prepared = PreparedDrive(info.run_id, runner, partial(runner.start, started, unheard=False))
        try:
            return await self._reader.result_of(await self._supervisor.drive(prepared))
        except StaleEpoch:
            # Another has taken it, and drives it to its end.
            await self._reader.rest(info.run_id)
            return await self._reader.info(info.run_id)

    async def _begun(
        self, info: RunInfo, events: Sequence[AnyEvent], asked: Sequence[AuditEntry] = ()
    ) -> tuple[RunInfo, Journal | None]:
        """Store the run as this process's."""
        with self._held.holding(info.run_id):
            return await self._services.store.begin_run(info, self._services.driver, events, asked=asked)

    async def _hand_over(self, info: RunInfo, events: Sequence[AnyEvent], asked: Sequence[AuditEntry] = ()) -> RunInfo:
        """Store the run for a worker to begin."""
        stored, _ = await self._services.store.begin_run(info, "", events, asked=asked)
        if stored.status == "pending":
            await self._queue.enqueue(stored.run_id, stored.priority)
        return stored

    async def begin_fork(self, program: Program, events: tuple[AnyEvent, ...], *, priority: int = 0) -> str:
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
            conversation_id=context.conversation_id,
            priority=priority,
        )
        # Before the secrets are copied for it.
        await self._trail.keep(self._trail.run_asked("run.fork", info, context, program.fingerprints))
        await self._secrets.copy(info.parent, info.run_id, info.tenant)
        if self._queue.is_used:
            return (await self._hand_over(info, events)).run_id
        _, journal = await self._begun(info, events)
        assert journal is not None
        runner = Runner(program, self._services, journal)
        begin = partial(runner.resume, list(events), reason="fork")
        self._supervisor.spawn(PreparedDrive(started.run_id, runner, begin))
        return started.run_id

    def _new_run(
        self, program: Program, inputs: JsonObject, context: RunContext, run_id: str | None, *, origin: Stored
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
            context=self._public(_traced(context.as_json())),
            secrets=program.secrets,
            sources=self._sources(),
            approval=origin.approval,
            settings=self._services.stored_settings,
            paths=ev.PATHS,
        )
        info = RunInfo(
            run_id=run_id,
            name=program.plan.name,
            created_at=now,
            updated_at=now,
            tenant=context.tenant,
            user=context.user_id,
            plan_id=origin.plan_id,
            conversation_id=context.conversation_id,
        )
        return started, info

    def _public(self, context: JsonObject) -> JsonObject:
        """The context without a secret in what is told to tools of it."""
        redact = self._services.redactor.value
        return {**context, **{name: redact(context[name]) for name in ("conversation", "metadata") if name in context}}


def _traced(context: JsonObject) -> JsonObject:
    """The context with the trace that is current here, where it names none of its own."""
    trace = current_trace()
    metadata = context.get("metadata") or {}
    if not trace or "traceparent" in metadata:
        return context
    return {**context, "metadata": {**metadata, **trace}}
