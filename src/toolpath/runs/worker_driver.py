"""Driving for a worker: find out whether a run is to be driven, take it, and drive it until it ends or parks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

import msgspec

from toolpath.engine.drive.services import Services
from toolpath.errors import StaleEpoch, StoreError
from toolpath.model.run import ENDED_RUN, RunInfo
from toolpath.ports import Journal, Signal
from toolpath.recovery import timing
from toolpath.recovery.heartbeats import Heartbeats
from toolpath.recovery.poison_runs import LOST, PUT_ASIDE, losses
from toolpath.recovery.presence import has_died
from toolpath.runs.claims import Claims
from toolpath.runs.held import HeldRuns, beat
from toolpath.runs.intent import intent_of
from toolpath.runs.run_queue import DYING, RunQueue
from toolpath.runs.undriven_journal import UndrivenJournal

#: Runs in one look.
MOST_RUNS = 1_000
#: Runs that are taken over at the same time from drivers that have gone: others take what this process does not get to.
AT_ONCE = 2


class WantedRun(msgspec.Struct, frozen=True):
    """A run that is to be driven, and how."""

    info: RunInfo
    reason: str = ""
    to_end: bool = False


class WorkerDriver:
    """Driver of runs for a worker, or for a server that drives its own runs."""

    def __init__(
        self,
        services: Services,
        held: HeldRuns,
        queue: RunQueue,
        claims: Claims,
    ) -> None:
        self._services = services
        self._held = held
        self._queue = queue
        self._claims = claims
        self._heartbeats = Heartbeats(services.store, services.clock, has_died)
        self._taking_over = asyncio.Semaphore(AT_ONCE)
        """Held while a run is taken over from a driver that has gone."""
        self._unreleased: list[Journal] = []
        """Of runs whose drives ended while the store was away."""

    async def drive(self, run_id: str) -> None:
        """Drive the run until it ends, parks, or this process is told to leave.

        Returns at once where there is nothing to drive, or a driver that lives has it. Raises what ended the drive, but
        for `StaleEpoch`: then somebody else has the run.
        """
        if await self._is_driven_here(run_id):
            return
        if self._held.is_leaving:
            await self._queue.enqueue(run_id, (await self._services.store.get_run(run_id)).priority)
            return
        wanted = await self._wanted(run_id)
        if wanted is None:
            return
        try:
            await self._take_wanted(wanted)
        except StaleEpoch:
            # Two have found it left; one of them took it.
            return
        runner, task = self._held.runners.get(run_id), self._held.tasks.get(run_id)
        if runner is None or task is None:
            return
        if self._held.is_leaving:
            runner.leave()
        try:
            with contextlib.suppress(StaleEpoch):
                await task
        finally:
            # Nobody here asks for the result.
            self._held.drop(run_id, task)
            if task.cancelled() or task.exception() is not None:
                # It may have ended because the store was away.
                self._unreleased.append(runner.commits.journal)
                await self._release()
            if self._held.is_leaving and await self._wanted(run_id) is not None:
                await self._queue.enqueue(run_id, wanted.info.priority)

    async def take_left(self, info: RunInfo) -> None:
        """Go on here with a run that another process left or lost, unless it is put aside. Raises `RunConflict`.

        Signals that came meanwhile are read.
        """
        if self._queue.is_used:
            await self._claims.take_up(info.run_id, reason="resume", expected=info.epoch)
            return
        with contextlib.suppress(StaleEpoch):
            await self._take_wanted(wanted_for(info, ()))

    async def left_runs(self) -> list[str]:
        """Runs whose drivers have gone, in any order. Raises `StoreError`."""
        gone = await self._heartbeats.look()
        if not gone:
            return []
        runs = [info.run_id for info in await self._services.store.runs_of(sorted(gone), MOST_RUNS)]
        return sorted(runs, key=lambda _: self._services.chance())

    async def _take_wanted(self, wanted: WantedRun) -> None:
        """Take the run, unless it is put aside. Raises `StaleEpoch` where somebody else has it."""
        info = wanted.info
        async with self._taking_over if info.driver else contextlib.nullcontext():
            if info.driver and (await self._services.store.get_run(info.run_id)).epoch != info.epoch:
                return
            if not await self._is_put_aside(wanted):
                await self._claims.take(info.run_id, reason=wanted.reason, to_end=wanted.to_end, expected=info.epoch)

    async def _is_driven_here(self, run_id: str) -> bool:
        """Whether this process drives the run and goes on with it. A drive that is just leaving is waited for."""
        if self._held.is_in_hand(run_id):
            return True
        while (runner := self._held.runners.get(run_id)) is not None:
            info = await self._services.store.get_run(run_id)
            goes_on = info.status in ("pending", "running") and info.epoch == runner.commits.journal.epoch
            if goes_on and not runner.over:
                return True
            with contextlib.suppress(TimeoutError):
                # Or a signal reaches the drive meanwhile, and it stays.
                await asyncio.wait_for(runner.gone.wait(), timing.LEAVING)
            if runner.gone.is_set():
                self._held.forget(run_id, runner)
        return False

    async def _is_put_aside(self, wanted: WantedRun) -> bool:
        """Put a run aside that ends every process that drives it; a person may resume it. Raises `StaleEpoch`."""
        info, services = wanted.info, self._services
        if not info.driver or wanted.reason == "resume" or wanted.to_end:
            return False
        count, path = losses(await services.store.read_events(info.run_id), info.epoch)
        if count < services.settings.max_losses:
            return False
        journal = await services.store.drive(info.run_id, services.driver, expected=info.epoch)
        reason = f"{PUT_ASIDE}: {count} drivers were lost {f'while {path} ran' if path else 'as they went on with it'}"
        await UndrivenJournal(info.run_id, journal, services).pause(
            reason, interrupted=intent_of(info) if info.intent else None
        )
        return True

    async def beat(self) -> None:
        """Give a sign of life, and release runs that could not be released before. Raises `StoreError`."""
        await beat(self._services)
        await self._release()

    async def _release(self) -> None:
        """Release runs: this process drives them no more."""
        # Many drives may end at once, each of them here.
        journals, self._unreleased = self._unreleased, []
        for journal in journals:
            try:
                released = journal.release()
                if released is not None:
                    await released
            except StoreError:
                self._unreleased.append(journal)

    async def _wanted(self, run_id: str) -> WantedRun | None:
        """The run where it is to be driven and no living driver has it."""
        store = self._services.store
        while True:
            info = await store.get_run(run_id)
            if info.status in ENDED_RUN:
                return None
            signals = await store.take_signals(run_id)
            if not await self._is_due(info, signals):
                return None
            if not info.driver or info.driver == self._services.driver or has_died(info.driver):
                break
            if not await self._is_silent(info):
                if info.status in ("waiting", "paused"):
                    # Its driver is just leaving, and may not have read the signal.
                    continue
                return None
            if (await store.get_run(run_id)).epoch == info.epoch:
                break
        return wanted_for(info, signals)

    async def _is_due(self, info: RunInfo, signals: list[Signal]) -> bool:
        match info.status:
            case "paused":
                return any(signal.kind in ("cancel", "resume") for signal in signals)
            case "waiting":
                return bool(signals) or await self._claims.is_overdue(info.run_id)
            case _:
                return True

    async def _is_silent(self, info: RunInfo) -> bool:
        """Whether the run's driver has gone; comes back as soon as it gives a sign of life, or another has the run."""

        async def was_heard() -> bool:
            now = await self._services.store.get_run(info.run_id)
            return (now.driver, now.epoch) != (info.driver, info.epoch) or now.driver_seen_at > info.driver_seen_at

        await asyncio.sleep(DYING)
        return await self._heartbeats.stays_silent(info.driver, was_heard)


def wanted_for(info: RunInfo, signals: Sequence[Signal]) -> WantedRun:
    """Why the run is driven, and whether only to be cancelled, by its row and what it was told."""
    kinds = {signal.kind for signal in signals}
    lost = LOST if info.driver and info.status == "running" else ""
    return WantedRun(info, reason="resume" if "resume" in kinds else lost, to_end="cancel" in kinds)
