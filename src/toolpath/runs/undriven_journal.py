"""Journal of a run that this process has taken and that no runner drives: what is written there besides drives."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

import msgspec

from toolpath.engine.drive.services import Services
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.ports import Authority, Journal, RunChange, Signal
from toolpath.projections.results import run_end
from toolpath.runs.intent import Intent

#: The row of a run of which an entry says that it goes on.
GOES_ON = RunChange(status="running", reason="")

E = TypeVar("E", bound=AnyEvent)


class UndrivenJournal:
    """Entries in the journal of one run, from its taking to its release. Numbers and times are put in here."""

    def __init__(self, run_id: str, journal: Journal, services: Services) -> None:
        self.journal = journal
        self._run_id = run_id
        self._store = services.store
        self._clock = services.clock

    async def append(self, event: E, change: RunChange | None = None) -> E:
        """Write the event after all others, and change the row with it; gives the event as it was written."""
        event = await self._numbered(event)
        await _kept(self.journal.append([event], change=change))
        return event

    async def release(self) -> None:
        """Release the run: this process has it no more."""
        await _kept(self.journal.release())

    async def replace_plan(self, revised: ev.PlanRevised, authority: Authority | None) -> ev.PlanRevised:
        """Write by which plan, and by whose authority, the run goes on."""
        if authority is None:
            return await self.append(revised, GOES_ON)
        first = await self._numbered(_authorized(authority))
        revised = msgspec.structs.replace(revised, seq=first.seq + 1, at=first.at)
        await _kept(self.journal.append([first, revised], change=GOES_ON))
        return revised

    async def resume(self, intent: Intent, accepted: dict[str, str]) -> None:
        """Write that the run goes on, so that it is found even where its place in the queue gets lost."""
        await _kept(self.journal.append(await self._resumed(intent, accepted), change=GOES_ON))

    async def pause(self, reason: str, *, interrupted: Intent | None) -> None:
        """Pause the run, and release it.

        `interrupted`: with what it was about to go on; what was half done is taken back first.
        """
        paused = await self._numbered(ev.RunPaused(0, 0.0, reason))
        events = [] if interrupted is None else await self._resumed(interrupted, {})
        events.append(msgspec.structs.replace(paused, seq=paused.seq + len(events)))
        # Both before either is awaited: one commit serves them.
        change = RunChange(status="paused", reason=reason)
        written, released = self.journal.append(events, change=change), self.journal.release()
        try:
            await _kept(written)
        finally:
            # A process that lives keeps whatever it has: nobody else would ever take the run up.
            await _kept(released)

    async def cancel(self, signal: Signal) -> ev.RunCancelled:
        """End the run as cancelled, and release it."""
        end = run_end(await self._store.read_events(self._run_id))
        reason = str(signal.data.get("reason", ""))
        outputs = None if end is None else end.outputs
        change = RunChange(status="cancelled", reason=reason, ended_at=self._clock.time())
        cancelled = await self.append(ev.RunCancelled(0, 0.0, reason, outputs), change)
        signals = await self._store.take_signals(self._run_id)
        await self._store.drop_signals(self._run_id, [one.id for one in signals])
        await self.release()
        return cancelled

    async def leave_as_ended(self, warned: ev.Warned | None = None) -> ev.Warned | None:
        """Bring the row in line with the journal's end, and release the run."""
        end = run_end(await self._store.read_events(self._run_id))
        change = None if end is None else as_ended(end)
        if warned is not None:
            warned = await self.append(warned, change)
        else:
            await _kept(self.journal.append((), change=change))
        await self.release()
        return warned

    async def _resumed(self, intent: Intent, accepted: dict[str, str]) -> list[AnyEvent]:
        resumed = await self._numbered(ev.RunResumed(0, 0.0, self.journal.epoch, intent.reason, accepted))
        if intent.authority is None:
            return [resumed]
        return [resumed, msgspec.structs.replace(_authorized(intent.authority), seq=resumed.seq + 1, at=resumed.at)]

    async def _numbered(self, event: E) -> E:
        info = await self._store.get_run(self._run_id)
        return msgspec.structs.replace(event, seq=info.last_seq + 1, at=self._clock.time())


def as_ended(end: ev.RunCompleted | ev.RunFailed | ev.RunCancelled) -> RunChange:
    """The row of a run that has ended so."""
    match end:
        case ev.RunCompleted():
            return RunChange(status=end.status, reason="", ended_at=end.at)
        case ev.RunFailed():
            return RunChange(status="failed", reason=end.reason, ended_at=end.at)
        case ev.RunCancelled():
            return RunChange(status="cancelled", reason=end.reason, ended_at=end.at)


def _authorized(authority: Authority) -> ev.RunAuthorized:
    return ev.RunAuthorized(0, 0.0, authority.permissions, authority.by)


async def _kept(outcome: Awaitable[None] | None) -> None:
    if outcome is not None:
        await outcome
