"""Claims of runs: taking one up where another drive left it, to drive it here or to have a worker drive it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial
from typing import TypedDict, Unpack

from toolpath.engine.drive.runner import Runner
from toolpath.engine.drive.services import Services
from toolpath.errors import RunConflict, RunNotFound, StaleEpoch
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.run import ENDED_RUN, RunContext, RunInfo
from toolpath.ports import EARLY, Authority, Journal, RunChange, Signal
from toolpath.projections.questions import open_questions
from toolpath.projections.results import run_end
from toolpath.recovery.presence import is_driven_elsewhere
from toolpath.runs.held import HeldRuns, PreparedDrive
from toolpath.runs.intent import REPLANNING, RETRY, Intent, intent_of
from toolpath.runs.replanner import taken_just_now
from toolpath.runs.replay_program import ReplayPrograms
from toolpath.runs.run_queue import RunQueue
from toolpath.runs.supervisor import Supervisor
from toolpath.runs.undriven_journal import UndrivenJournal


class Claim(TypedDict, total=False):
    """Claim of a run: how it is to go on."""

    reason: str
    """`retry` goes on from what failed."""
    accept: bool
    """Tools that have changed are accepted."""
    to_end: bool
    """It is about to be cancelled: then it does not matter that tools are not there any more."""
    expected: int | None
    """The epoch in which it was seen: only if nobody has taken it since."""
    authority: Authority | None
    """Of the caller who has it go on, where there is one."""


class Claims:
    """Claims of this process on runs of the store."""

    def __init__(
        self,
        services: Services,
        held: HeldRuns,
        queue: RunQueue,
        programs: ReplayPrograms,
        supervisor: Supervisor,
    ) -> None:
        self._services = services
        self._held = held
        self._queue = queue
        self._programs = programs
        self._supervisor = supervisor

    async def take_up(self, run_id: str, **claim: Unpack[Claim]) -> None:
        """Drive the run from where it stands: here, or by a worker.

        Where somebody else has taken it up since `expected`, what they do stands. Raises `RunConflict` where tools were
        to be accepted for them.
        """
        try:
            await (self._hand_over if self._queue.is_used else self.take)(run_id, **claim)
        except StaleEpoch:
            if claim.get("accept"):
                raise taken_just_now(run_id) from None

    async def take(
        self,
        run_id: str,
        *,
        reason: str = "",
        accept: bool = False,
        to_end: bool = False,
        expected: int | None = None,
        authority: Authority | None = None,
    ) -> None:
        """Drive the run here. With the epoch that is `expected`, only if nobody has taken it since."""
        # One at a time: two that take up the same run would fence one another.
        async with self._held.lock(run_id):
            runner = self._held.runners.get(run_id)
            if accept and runner is not None and runner.held:
                # It leaves when what is under way has ended, and reads no signal before that.
                await runner.gone.wait()
                self._held.forget(run_id, runner)
                expected = None
            if self._held.is_live(run_id):
                return
            info = await self._services.store.get_run(run_id)
            if info.status in ENDED_RUN and reason != RETRY:
                return
            program = await self._programs.of(await self._events(run_id), to_end=to_end)
            with self._held.holding(run_id):
                intent = onward(intent_of(info), reason, authority)
                journal = await self._claim(info, self._services.driver, intent, expected)
                events = await self._events(run_id)
                if len(events) != info.last_seq:
                    # Its last driver has written meanwhile what it was taken for.
                    intent = onward(Intent(), reason, authority)
                if run_end(events) is not None and not goes_on(events, intent):
                    # The process that held it has died, or it has ended just now.
                    await UndrivenJournal(run_id, journal, self._services).leave_as_ended()
                    return
                reason, authority = intent.reason or reason, news(events, intent.authority)
                known = self._services.secrets
                self._services.redactor.add([known[name] for name in program.latest.secrets if name in known])
                runner = Runner(program, self._services, journal)
                accepted = program.latest.fingerprints if accept else None
                if is_new(events) and not reason and authority is None and not to_end:
                    begin = partial(runner.start, first_of(events))
                else:
                    reason = reason or ("fork" if is_new_fork(events) else "")
                    begin = partial(
                        runner.resume, events, reason=reason, accepted=accepted, authority=authority, to_end=to_end
                    )
                if to_end:
                    # Who leaves before its drive has begun waits for what it was taken up for.
                    runner.inbox.note()
                # Of a run that has failed it is written with its other plan; else the drive writes it at its begin.
                unsaid = authority if intent.reason == REPLANNING else None
                self._supervisor.spawn(PreparedDrive(run_id, runner, begin, unsaid))

    async def take_up_due(self, run_id: str) -> None:
        """Take the run up for what is due, unless another process has done so meanwhile."""
        services = self._services
        with contextlib.suppress(RunConflict, RunNotFound):
            info = await services.store.get_run(run_id)
            elsewhere = is_driven_elsewhere(info, services.clock.time(), services.driver)
            if info.status not in ENDED_RUN and not elsewhere and await self.is_overdue(run_id):
                await self.take_up(run_id, expected=info.epoch)

    async def is_overdue(self, run_id: str) -> bool:
        """Whether the time to answer a question of the run is over."""
        now = self._services.clock.time() + EARLY
        questions = open_questions(await self._events(run_id))
        forms = (question for question in questions if isinstance(question, ev.InputRequested))
        return any(form.deadline is not None and form.deadline <= now for form in forms)

    async def _events(self, run_id: str) -> list[AnyEvent]:
        return await self._services.store.read_events(run_id)

    async def _hand_over(
        self,
        run_id: str,
        *,
        reason: str = "",
        accept: bool = False,
        to_end: bool = False,  # a worker is told of that by the signal
        expected: int | None = None,
        authority: Authority | None = None,
    ) -> None:
        """Hand the run to a worker."""
        store = self._services.store
        info = await store.get_run(run_id)
        intent = onward(intent_of(info), reason, authority)
        says_more = news(await self._events(run_id), authority) is not None
        begun = info.status in ("running", "waiting") and says_more
        if intent.reason == REPLANNING:
            # The journal says that the run has failed, until there is another plan.
            await self._claim(info, "", intent, expected)
        elif reason == RETRY or ((accept or begun) and info.status not in ENDED_RUN):
            await self._reopen(info, reason, intent, accept=accept, expected=expected)
        elif info.status == "paused":
            # Its driver may still wait for the end of what runs: then it reads this.
            await store.put_signal(run_id, Signal(kind="resume", authority=authority if says_more else None))
        elif info.driver and reason == "resume":
            # Its driver has died, or it is to be taken away.
            await store.drive(run_id, "", expected=expected)
        await self._queue.enqueue(run_id, info.priority)

    async def _reopen(self, info: RunInfo, reason: str, intent: Intent, *, accept: bool, expected: int | None) -> None:
        """Write down that the run goes on, so that it is found even where its place in the queue gets lost."""
        events = await self._events(info.run_id)
        accepted = (await self._programs.of(events)).latest.fingerprints if accept else {}
        journal = await self._claim(info, "", intent, expected)
        said = Intent(intent.reason or reason, news(events, intent.authority))
        await UndrivenJournal(info.run_id, journal, self._services).resume(said, accepted)

    async def _claim(self, info: RunInfo, driver: str, intent: Intent, expected: int | None) -> Journal:
        """The run as taken: from this write on it is seen to go on, so that nobody else retries or takes it."""
        store, run_id = self._services.store, info.run_id
        # Sent to the run before it ended, and not read: its retry is not meant.
        stale = await store.take_signals(run_id) if info.status in ENDED_RUN else []
        # A pending one is, until its first append, a run that nobody has begun.
        change = RunChange(intent=intent.as_text()) if info.status == "pending" else intent.taking()
        journal = await store.drive(
            run_id, driver, expected=info.epoch if expected is None else expected, change=change
        )
        await store.drop_signals(run_id, [signal.id for signal in stale])
        return journal


def onward(before: Intent, reason: str, authority: Authority | None) -> Intent:
    """The intent of who takes a run that is taken with another one already: a retry that was asked for is not lost."""
    return Intent(RETRY if reason == RETRY else before.reason, authority or before.authority)


def goes_on(events: Sequence[AnyEvent], intent: Intent) -> bool:
    """Whether a run that has ended goes on with this intent: replanned only with leave for that."""
    return intent.reason == RETRY or (intent.reason == REPLANNING and bool(first_of(events).replan))


def news(events: Sequence[AnyEvent], authority: Authority | None) -> Authority | None:
    """The authority, where it changes what the run may call by its journal."""
    return authority if authority is not None and changes_permissions(events, authority) else None


def changes_permissions(events: Sequence[AnyEvent], authority: Authority) -> bool:
    """Whether the run may call something else by this authority than it may now."""
    began = now = RunContext()
    for event in events:
        match event:
            case ev.RunStarted():
                began = now = RunContext.from_json(event.context)
            case ev.RunAuthorized():
                now = began.limited_to(event.permissions)
    return began.limited_to(authority.permissions).permissions != now.permissions


def first_of(events: Sequence[AnyEvent]) -> ev.RunStarted:
    """The first event of a run that was begun."""
    first = events[0]
    assert isinstance(first, ev.RunStarted)
    return first


def is_new(events: Sequence[AnyEvent]) -> bool:
    """Whether the run is stored, and nobody has driven it."""
    return len(events) == 1


def is_new_fork(events: Sequence[AnyEvent]) -> bool:
    """Whether the run begins with another one's events, and nobody has driven it."""
    return bool(first_of(events).parent) and not any(isinstance(event, ev.RunResumed) for event in events)
