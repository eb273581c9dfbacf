"""A failed run that gets another plan. Meanwhile it is in hand: nobody else takes it, and a cancel reaches it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import TypeVar

import msgspec

from toolpath.engine.drive.inbox import LISTEN
from toolpath.engine.drive.runner import Runner
from toolpath.engine.state.fold import apply
from toolpath.errors import RunConflict, StaleEpoch
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.ports import Authority, Journal, RunChange, Signal
from toolpath.projections.results import run_end
from toolpath.runs.live import Drive, Live

#: What the row of a run says while another plan is made for it.
REPLANNING = "replanning"

#: What to do about a run that somebody else has taken.
AGAIN = "Look how it stands now, and try again."

E = TypeVar("E", bound=AnyEvent)
Revision = ev.PlanRevised | ev.Warned | None
MakePlan = Callable[[], Awaitable[Revision]]
"""Number and time are put into the event here."""


class Revising(Live):
    """The part of `Drives` that has failed runs planned anew."""

    async def revise(self, run_id: str, make: MakePlan, *, expected: int, authority: Authority | None = None) -> None:
        """Go on with a failed run by another plan: here, or in a worker.

        Raises what `make` raises, and `RunConflict` where somebody has taken the run since `expected`; it is then as it
        was. Where it is cancelled meanwhile, it has ended so.
        """
        async with self._in_hand_for(run_id, expected) as journal:
            if authority is not None:
                authorized = ev.RunAuthorized(0, 0.0, authority.permissions, authority.by)
                await self._append(run_id, journal, authorized, None)
            made = await self._made(run_id, journal, make, stays=False)
            if isinstance(made, ev.PlanRevised):
                if self._services.queue is None:
                    self._keep(run_id, *await self._revised(run_id, journal))
                else:
                    await self._hand_on(run_id, journal)

    async def _mended(self, run_id: str, runner: Runner) -> tuple[Runner, Drive] | None:
        """What goes on with a failed run by another plan, where it was begun with leave for that and there is one."""
        (started,) = await self._services.store.read_events(run_id, limit=1)
        if self.mend is None or not isinstance(started, ev.RunStarted) or not started.replan:
            return None
        with contextlib.suppress(RunConflict):
            # Else somebody retries it meanwhile, and it is theirs.
            async with self._in_hand_for(run_id, runner.commits.journal.epoch) as journal:
                made = await self._made(run_id, journal, partial(self.mend, run_id), stays=True)
                if isinstance(made, ev.PlanRevised):
                    return await self._revised(run_id, journal)
                if made is not None:
                    apply(runner.state, made)
        return None

    @contextlib.asynccontextmanager
    async def _in_hand_for(self, run_id: str, expected: int) -> AsyncIterator[Journal]:
        """The run taken, and in hand until this is left. Raises `RunConflict` where somebody has taken it."""
        services = self._services
        with contextlib.ExitStack() as held:
            async with self._taking.setdefault(run_id, asyncio.Lock()):
                if self.is_live(run_id):
                    raise _taken(run_id)
                held.enter_context(self._holding(run_id))
                change = RunChange(status="running", reason=REPLANNING)
                try:
                    journal = await services.store.drive(run_id, services.driver, expected=expected, change=change)
                except StaleEpoch:
                    raise _taken(run_id) from None
            yield journal

    async def _made(
        self, run_id: str, journal: Journal, make: MakePlan, *, stays: bool
    ) -> ev.PlanRevised | ev.Warned | ev.RunCancelled | None:
        """What came of planning anew, journaled. `stays`: a process that leaves meanwhile leaves it to another one."""
        try:
            made = await self._unless_cancelled(run_id, make)
        except BaseException as error:
            if stays and isinstance(error, asyncio.CancelledError):
                await _kept(journal.release())
            else:
                await self._let_be(run_id, journal)
            raise
        match made:
            case ev.PlanRevised():
                return await self._append(run_id, journal, made, RunChange(status="running", reason=""))
            case Signal():
                return await self._cancel(run_id, journal, made)
            case _:
                return await self._let_be(run_id, journal, made)

    async def _unless_cancelled(self, run_id: str, make: MakePlan) -> Revision | Signal:
        """What is made, or the signal that wants the run cancelled."""
        services = self._services
        told = asyncio.Event()
        services.store.on_signal(run_id, told.set)
        making = asyncio.ensure_future(make())
        try:
            while True:
                told.clear()
                for signal in await services.store.take_signals(run_id):
                    if signal.kind == "cancel":
                        return signal
                if making.done():
                    return making.result()
                hearing = asyncio.ensure_future(told.wait())
                await asyncio.wait({making, hearing}, timeout=LISTEN, return_when=asyncio.FIRST_COMPLETED)
                hearing.cancel()
                services.beaten_at = asyncio.get_running_loop().time()
                await services.store.beat(services.driver)
        finally:
            services.store.on_signal(run_id, None)
            making.cancel()
            await asyncio.wait({making})

    async def _revised(self, run_id: str, journal: Journal) -> tuple[Runner, Drive]:
        """The run with the other plan that its journal has."""
        events = await self._services.store.read_events(run_id)
        runner = Runner(await self.program_of(events), self._services, journal)
        return runner, partial(runner.resume, events, reason="revised")

    async def _hand_on(self, run_id: str, journal: Journal) -> None:
        """Leave the run with its other plan to a worker."""
        resumed = ev.RunResumed(0, 0.0, journal.epoch, "revised")
        await self._append(run_id, journal, resumed, RunChange(status="running", reason=""))
        await _kept(journal.release())
        await self._enqueue(run_id, (await self._services.store.get_run(run_id)).priority)

    async def _cancel(self, run_id: str, journal: Journal, signal: Signal) -> ev.RunCancelled:
        """End the run as cancelled."""
        store = self._services.store
        end = run_end(await store.read_events(run_id))
        reason = str(signal.data.get("reason", ""))
        outputs = None if end is None else end.outputs
        change = RunChange(status="cancelled", reason=reason, ended_at=self._services.clock.time())
        cancelled = await self._append(run_id, journal, ev.RunCancelled(0, 0.0, reason, outputs), change)
        await store.drop_signals(run_id, [one.id for one in await store.take_signals(run_id)])
        await _kept(journal.release())
        return cancelled

    async def _let_be(self, run_id: str, journal: Journal, warned: ev.Warned | None = None) -> ev.Warned | None:
        """Leave the run as its journal says that it ended."""
        end = run_end(await self._services.store.read_events(run_id))
        change = None if end is None else _as_ended(end)
        if warned is not None:
            warned = await self._append(run_id, journal, warned, change)
        else:
            await _kept(journal.append((), change=change))
        await _kept(journal.release())
        return warned

    async def _append(self, run_id: str, journal: Journal, event: E, change: RunChange | None) -> E:
        info = await self._services.store.get_run(run_id)
        event = msgspec.structs.replace(event, seq=info.last_seq + 1, at=self._services.clock.time())
        await _kept(journal.append([event], change=change))
        return event


def _taken(run_id: str) -> RunConflict:
    return RunConflict(f"The run {run_id} was taken up by somebody else just now.", hint=AGAIN)


def _as_ended(end: ev.RunCompleted | ev.RunFailed | ev.RunCancelled) -> RunChange:
    """The row of a run that has ended so."""
    match end:
        case ev.RunCompleted():
            return RunChange(status=end.status, reason="", ended_at=end.at)
        case ev.RunFailed():
            return RunChange(status="failed", reason=end.reason, ended_at=end.at)
        case ev.RunCancelled():
            return RunChange(status="cancelled", reason=end.reason, ended_at=end.at)


async def _kept(outcome: Awaitable[None] | None) -> None:
    if outcome is not None:
        await outcome
