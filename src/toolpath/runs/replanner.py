"""Replanning of failed runs. Meanwhile the run is held: no other process takes it, and a cancel reaches it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

from toolpath.engine.drive.inbox import LISTEN
from toolpath.engine.drive.runner import Runner
from toolpath.engine.drive.services import Services
from toolpath.engine.state.fold import apply
from toolpath.errors import RunConflict, StaleEpoch
from toolpath.model import events as ev
from toolpath.ports import Authority, Signal
from toolpath.runs.held import HeldRuns, PreparedDrive, beat
from toolpath.runs.intent import REPLANNING, Intent
from toolpath.runs.replay_program import ReplayPrograms
from toolpath.runs.run_queue import RunQueue
from toolpath.runs.undriven_journal import UndrivenJournal

#: What to do about a run that somebody else has taken.
LOOK_AGAIN = "Look how it stands now, and try again."

Revision = ev.PlanRevised | ev.Warned | None
MakePlan = Callable[[], Awaitable[Revision]]
"""Gives another plan for a failed run, or a warning that says why there is none. Number and time are put in here."""

ReplanFailed = Callable[[str], Awaitable[Revision]]
"""The same for the run of an id that was begun with leave to be replanned."""


class Replanner:
    """Replanner of failed runs."""

    def __init__(
        self,
        services: Services,
        held: HeldRuns,
        queue: RunQueue,
        programs: ReplayPrograms,
        *,
        spawn: Callable[[PreparedDrive], None],
        replan_failed: ReplanFailed | None,
    ) -> None:
        self._services = services
        self._held = held
        self._queue = queue
        self._programs = programs
        self._spawn = spawn
        self._replan_failed = replan_failed

    async def replan(self, run_id: str, make: MakePlan, *, expected: int, authority: Authority | None = None) -> None:
        """Go on with a failed run by another plan: here, or in a worker.

        Raises what `make` raises, and `RunConflict` where somebody has taken the run since `expected`; it is then as it
        was. Where it is cancelled meanwhile, it has ended so.
        """
        intent = Intent(REPLANNING, authority)
        async with self._taken(run_id, expected, intent) as journal:
            made = await self._made(run_id, journal, make, authority, stays=False)
            if not isinstance(made, ev.PlanRevised):
                return
            if self._queue.is_used:
                await self._hand_on(run_id, journal)
            else:
                self._spawn(await self._prepared(run_id, journal))

    async def after_failure(self, failed: PreparedDrive) -> PreparedDrive | None:
        """The drive that goes on with a failed run, where it was begun with leave for that and there is a plan."""
        run_id, runner = failed.run_id, failed.runner
        (started,) = await self._services.store.read_events(run_id, limit=1)
        if self._replan_failed is None or not isinstance(started, ev.RunStarted) or not started.replan:
            return None
        with contextlib.suppress(RunConflict):
            # Else somebody retries it meanwhile, and it is theirs.
            intent = Intent(REPLANNING, failed.authority)
            async with self._taken(run_id, runner.commits.journal.epoch, intent) as journal:
                make = partial(self._replan_failed, run_id)
                made = await self._made(run_id, journal, make, failed.authority, stays=True)
                if isinstance(made, ev.PlanRevised):
                    return await self._prepared(run_id, journal)
                if made is not None:
                    apply(runner.state, made)
        return None

    @contextlib.asynccontextmanager
    async def _taken(self, run_id: str, expected: int, intent: Intent) -> AsyncIterator[UndrivenJournal]:
        """The run taken, and held until this is left. Raises `RunConflict` where another process has it."""
        services = self._services
        with contextlib.ExitStack() as holding:
            async with self._held.lock(run_id):
                if self._held.is_live(run_id):
                    raise taken_just_now(run_id)
                holding.enter_context(self._held.holding(run_id))
                try:
                    journal = await services.store.drive(
                        run_id, services.driver, expected=expected, change=intent.taking()
                    )
                except StaleEpoch:
                    raise taken_just_now(run_id) from None
            yield UndrivenJournal(run_id, journal, services)

    async def _made(
        self, run_id: str, journal: UndrivenJournal, make: MakePlan, authority: Authority | None, *, stays: bool
    ) -> ev.PlanRevised | ev.Warned | ev.RunCancelled | None:
        """The event of a replan, journaled. `stays`: a process that leaves meanwhile leaves it to another one."""
        try:
            made = await self._unless_cancelled(run_id, make)
        except BaseException as error:
            if stays and isinstance(error, asyncio.CancelledError):
                await journal.release()
            else:
                await journal.leave_as_ended()
            raise
        match made:
            case ev.PlanRevised():
                return await journal.replace_plan(made, authority)
            case Signal():
                return await journal.cancel(made)
            case _:
                return await journal.leave_as_ended(made)

    async def _unless_cancelled(self, run_id: str, make: MakePlan) -> Revision | Signal:
        """The revision, or the signal that wants the run cancelled."""
        store = self._services.store
        told = asyncio.Event()
        store.on_signal(run_id, told.set)
        making = asyncio.ensure_future(make())
        try:
            while True:
                told.clear()
                for signal in await store.take_signals(run_id):
                    if signal.kind == "cancel":
                        return signal
                if making.done():
                    return making.result()
                hearing = asyncio.ensure_future(told.wait())
                await asyncio.wait({making, hearing}, timeout=LISTEN, return_when=asyncio.FIRST_COMPLETED)
                hearing.cancel()
                await beat(self._services)
        finally:
            store.on_signal(run_id, None)
            making.cancel()
            await asyncio.wait({making})

    async def _prepared(self, run_id: str, journal: UndrivenJournal) -> PreparedDrive:
        """The drive of the run by the other plan that its journal has."""
        events = await self._services.store.read_events(run_id)
        runner = Runner(await self._programs.of(events), self._services, journal.journal)
        return PreparedDrive(run_id, runner, partial(runner.resume, events, reason="revised"))

    async def _hand_on(self, run_id: str, journal: UndrivenJournal) -> None:
        """Leave the run with its other plan to a worker."""
        await journal.resume(Intent("revised"), {})
        await journal.release()
        await self._queue.enqueue(run_id, (await self._services.store.get_run(run_id)).priority)


def taken_just_now(run_id: str) -> RunConflict:
    """The error to raise where somebody else was first."""
    return RunConflict(f"The run {run_id} was taken up by somebody else just now.", hint=LOOK_AGAIN)
