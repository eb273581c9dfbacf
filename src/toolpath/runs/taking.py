"""Taking runs up where another drive left them."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial

import msgspec

from toolpath.engine.drive.runner import Runner
from toolpath.errors import RunConflict, RunNotFound, StaleEpoch
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.run import ENDED_RUN, RunContext, RunInfo
from toolpath.ports import Authority, Journal, RunChange, Signal
from toolpath.projections.questions import open_questions
from toolpath.projections.results import run_end
from toolpath.runs.looking import Looking
from toolpath.runs.revising import AGAIN, REPLANNING
from toolpath.runs.run import Run

#: Why a run goes on from its failures; its row says so until its journal does.
RETRY = "retry"
#: Between that and by whose word it is.
_BY = " by "


class Taking(Looking):
    """The part of `Drives` that takes runs up."""

    async def take_up(
        self,
        run_id: str,
        *,
        reason: str = "",
        accept: bool = False,
        to_end: bool = False,
        expected: int | None = None,
        authority: Authority | None = None,
    ) -> Run:
        """Have the run driven from where it stands: here, or by a worker. `reason="retry"` goes on from what failed.

        With `to_end` it is about to be cancelled: then it does not matter that tools are not there any more. With the
        epoch that is `expected`, a run that somebody else has taken up since is theirs: what they do stands.
        `authority`: of whoever has it go on, where somebody does.
        """
        authority = await self._news_of(run_id, authority)
        try:
            if self._services.queue is None:
                return await self._take(
                    run_id, reason=reason, accept=accept, to_end=to_end, expected=expected, authority=authority
                )
            return await self._have_taken(run_id, reason=reason, accept=accept, expected=expected, authority=authority)
        except StaleEpoch:
            if accept:
                raise RunConflict(f"The run {run_id} was taken up by somebody else just now.", hint=AGAIN) from None
            return Run(run_id, self)

    async def _news_of(self, run_id: str, authority: Authority | None) -> Authority | None:
        """The authority, where it changes what the run may call."""
        if authority is None:
            return None
        began = now = RunContext()
        for event in await self._services.store.read_events(run_id):
            match event:
                case ev.RunStarted():
                    began = now = RunContext.from_json(event.context)
                case ev.RunAuthorized():
                    now = began.limited_to(event.permissions)
        return authority if began.limited_to(authority.permissions).permissions != now.permissions else None

    async def _have_taken(
        self, run_id: str, *, reason: str, accept: bool, expected: int | None, authority: Authority | None
    ) -> Run:
        """Have a worker drive the run."""
        info = await self._services.store.get_run(run_id)
        begun = info.status in ("running", "waiting") and authority is not None
        if reason == RETRY or ((accept or begun) and info.status not in ENDED_RUN):
            await self._reopen(run_id, reason, accept=accept, expected=expected, authority=authority)
        elif info.status == "paused":
            # Its driver may still see to the end of what runs: then it is the one to hear this.
            await self._services.store.put_signal(run_id, Signal(kind="resume", authority=authority))
        elif info.driver and reason == "resume":
            # Whoever has it has died, or it is to be taken away.
            await self._services.store.drive(run_id, "", expected=expected)
        await self._enqueue(run_id, info.priority)
        return Run(run_id, self)

    async def _take(
        self,
        run_id: str,
        *,
        reason: str = "",
        accept: bool = False,
        to_end: bool = False,
        expected: int | None = None,
        authority: Authority | None = None,
    ) -> Run:
        """Drive the run here. With the epoch that is `expected`, only if nobody has taken it since."""
        # One at a time: two that take up the same run would fence one another.
        async with self._taking.setdefault(run_id, asyncio.Lock()):
            runner = self._runners.get(run_id)
            if accept and runner is not None and runner.held:
                # It leaves when what is under way has ended, and hears nothing before that.
                await runner.gone.wait()
                self._forget(run_id, runner)
                expected = None
            if self.is_live(run_id):
                return Run(run_id, self)
            store = self._services.store
            info = await store.get_run(run_id)
            if info.status in ENDED_RUN and reason != RETRY:
                return Run(run_id, self)
            program = await self.program_of(await store.read_events(run_id), to_end=to_end)
            with self._holding(run_id):
                said = _said(info)
                journal = await self._taken(info, self._services.driver, reason, expected, authority or said.authority)
                events = await store.read_events(run_id)
                if run_end(events) is not None and reason != RETRY:
                    # Whoever had it in hand has died, or it has ended just now.
                    if said.reason not in (RETRY, REPLANNING):
                        await self._let_be(run_id, journal)
                        return Run(run_id, self)
                    reason = said.reason
                accepted = program.latest.fingerprints if accept else None
                known = self._services.secrets
                self._services.redactor.add([known[name] for name in program.latest.secrets if name in known])
                runner = Runner(program, self._services, journal)
                first = events[0]
                assert isinstance(first, ev.RunStarted)
                authority = authority or said.authority
                if len(events) == 1 and not reason and authority is None and not to_end:
                    drive = partial(runner.start, first)
                else:
                    reason = reason or ("fork" if first.parent and not _was_driven(events) else "")
                    drive = partial(
                        runner.resume, events, reason=reason, accepted=accepted, authority=authority, to_end=to_end
                    )
                self._keep(run_id, runner, drive)
        return Run(run_id, self)

    async def _taken(
        self, info: RunInfo, driver: str, reason: str, expected: int | None, authority: Authority | None
    ) -> Journal:
        """The run as taken: from this write on it is seen to go on, so that nobody else retries or takes it."""
        store, run_id = self._services.store, info.run_id
        # Said to the run before it ended, and not heard: its retry is not meant.
        stale = await store.take_signals(run_id) if info.status in ENDED_RUN else []
        change = RunChange(status="running", reason=_row_reason(reason if reason == RETRY else "", authority))
        if info.status == "pending":
            # Until its first append it is a run that nobody has begun.
            change = RunChange()
        journal = await store.drive(
            run_id, driver, expected=info.epoch if expected is None else expected, change=change
        )
        await store.drop_signals(run_id, [signal.id for signal in stale])
        return journal

    async def _reopen(
        self, run_id: str, reason: str, *, accept: bool, expected: int | None, authority: Authority | None
    ) -> None:
        """Write down that the run goes on, so that it is found even where its place in the queue gets lost."""
        services = self._services
        accepted = {}
        if accept:
            accepted = (await self.program_of(await services.store.read_events(run_id))).latest.fingerprints
        journal = await self._taken(await services.store.get_run(run_id), "", reason, expected, authority)
        info = await services.store.get_run(run_id)
        now = services.clock.time()
        events: list[AnyEvent] = [ev.RunResumed(info.last_seq + 1, now, journal.epoch, reason, accepted)]
        if authority is not None:
            events.append(ev.RunAuthorized(info.last_seq + 2, now, authority.permissions, authority.by))
        kept = journal.append(events, change=RunChange(status="running", reason=""))
        if kept is not None:
            await kept

    async def _late(self, run_id: str) -> None:
        """Take the run up for what is due, unless somebody else has seen to it meanwhile."""
        store = self._services.store
        with contextlib.suppress(RunConflict, RunNotFound):
            info = await store.get_run(run_id)
            if info.status not in ENDED_RUN and not self.driven_elsewhere(info) and await self._is_late(run_id):
                await self.take_up(run_id, expected=info.epoch)

    async def _is_late(self, run_id: str) -> bool:
        """Whether the time to answer a question of the run is over."""
        now = self._services.clock.time()
        questions = open_questions(await self._services.store.read_events(run_id))
        return any(question.deadline is not None and question.deadline <= now for question in questions)


class _Said(msgspec.Struct, frozen=True):
    """Why the row of a run says that it goes on, and by whose word."""

    reason: str
    authority: Authority | None = None


def _row_reason(reason: str, authority: Authority | None) -> str:
    """The same as the row has it until the journal does."""
    return reason if authority is None else f"{reason}{_BY}{msgspec.json.encode(authority).decode()}"


def _said(info: RunInfo) -> _Said:
    if info.status != "running":
        # Whatever it says is why the run has ended, or stands: in words of a person, who may write anything.
        return _Said("")
    reason, _, authority = info.reason.partition(_BY)
    if reason not in ("", RETRY, REPLANNING):
        return _Said("")
    try:
        return _Said(reason, msgspec.json.decode(authority, type=Authority) if authority else None)
    except ValueError:
        return _Said(reason)


def _was_driven(events: list[ev.AnyEvent]) -> bool:
    return any(isinstance(event, ev.RunResumed) for event in events)
