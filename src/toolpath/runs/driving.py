"""Driving by a worker: find out whether a run is to be driven, take it, and drive it until it ends or parks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import msgspec

from toolpath.errors import QueueError, RunNotFound, StaleEpoch
from toolpath.model import events as ev
from toolpath.model.run import ENDED_RUN, RunInfo
from toolpath.ports import RunChange, Signal
from toolpath.recovery.heartbeats import SILENT
from toolpath.recovery.lost_drives import LOST, PUT_ASIDE, losses
from toolpath.recovery.presence import has_died
from toolpath.runs.telling import Telling

#: Seconds for which a drive that is just leaving is waited for.
GOING = 1.6
#: Seconds between two looks at a driver that may have gone.
LOOK = 0.2
#: The connections of a process that is killed are closed this long, in seconds, before it is known to be dead.
DYING = 0.05
#: Runs in one look.
MOST = 1_000


class Wanted(msgspec.Struct, frozen=True):
    """A run that is to be driven, and how."""

    info: RunInfo
    reason: str = ""
    to_end: bool = False


class Driving(Telling):
    """The part of `Drives` that workers use."""

    async def take_turn(self, called_for: str = "") -> str | None:
        """The run that this process is to drive next; None where none waits for it. Raises `StoreError`.

        A message says that there is work, and the store whose turn it is. The run that the message is about goes first
        where its driver has just died, and is driven where it has no turn and nobody, as older code leaves it.
        """
        services = self._services
        if self._leaving:
            if called_for and services.queue is not None:
                with contextlib.suppress(QueueError):
                    await services.queue.put(called_for)
            return None
        if called_for and await self._was_left(called_for):
            return called_for
        async with self._turning:
            found = await services.store.next_run(most_of_tenant=services.settings.tenant_calls)
        if found is not None or not called_for or await services.store.queued(1):
            return found
        with contextlib.suppress(RunNotFound):
            info = await services.store.get_run(called_for)
            return None if info.driver or info.status in ENDED_RUN else called_for
        return None

    async def _was_left(self, run_id: str) -> bool:
        """Whether the run's driver is known to have died. Where it is not, the message is done with at once: nobody
        waits, in a place that others need, for a run that is driven."""
        with contextlib.suppress(RunNotFound):
            info = await self._services.store.get_run(run_id)
            if info.status == "running" and info.driver not in ("", self._services.driver):
                if has_died(info.driver):
                    return True
                # Messages of one that was killed come a moment before that is known.
                asyncio.get_running_loop().call_later(DYING, self._look_again, info)
        return False

    def _look_again(self, info: RunInfo) -> None:
        """Offer the run where its driver has died meanwhile. What nobody has a place for is found by the next look."""
        take = None if self._sweep is None else self._sweep.take
        if take is not None and not self._leaving and has_died(info.driver):
            take(info.run_id)

    async def drive(self, run_id: str) -> None:
        """Drive the run until it ends, parks, or this process is told to leave.

        Returns at once where there is nothing to drive, or a driver that lives has it. Raises what ended the drive, but
        for `StaleEpoch`: then somebody else has the run.
        """
        if await self._is_driven_here(run_id):
            return
        if self._leaving:
            await self._enqueue(run_id, (await self._services.store.get_run(run_id)).priority)
            return
        wanted = await self._wanted(run_id)
        if wanted is None:
            return
        try:
            await self._take_wanted(wanted)
        except StaleEpoch:
            # Two have found it left; one of them took it.
            return
        runner, task = self._runners.get(run_id), self._live.get(run_id)
        if runner is None or task is None:
            return
        if self._leaving:
            runner.leave()
        try:
            with contextlib.suppress(StaleEpoch):
                await task
        finally:
            if self._live.get(run_id) is task:
                # Nobody here asks for the result.
                del self._live[run_id]
            if task.cancelled() or task.exception() is not None:
                await self._let_go(runner)
            if self._leaving and await self._wanted(run_id) is not None:
                await self._enqueue(run_id, wanted.info.priority)

    async def take_left(self, info: RunInfo) -> None:
        """Go on here with a run that another process left or lost, unless it is put aside. Raises `RunConflict`.

        What a person said to it meanwhile is heard.
        """
        if self._services.queue is not None:
            await self.take_up(info.run_id, reason="resume", expected=info.epoch)
            return
        lost = LOST if info.driver and info.status == "running" else ""
        with contextlib.suppress(StaleEpoch):
            await self._take_wanted(Wanted(info, reason=lost))

    async def left_runs(self) -> list[str]:
        """Runs whose drivers have gone, in any order. Raises `StoreError`."""
        gone = await self._watch.look()
        if not gone:
            return []
        runs = [info.run_id for info in await self._services.store.runs_of(sorted(gone), MOST)]
        return sorted(runs, key=lambda _: self._services.chance())

    def offer_lost(self, take: Callable[[str], bool]) -> None:
        """Offer runs that nobody drives to `take`, which says whether it takes one, before they are enqueued."""
        if self._sweep is not None:
            self._sweep.take = take

    async def _take_wanted(self, wanted: Wanted) -> None:
        """Take the run, unless it is put aside. Raises `StaleEpoch` where somebody else has it."""
        info = wanted.info
        async with self._relief if info.driver else contextlib.nullcontext():
            if info.driver and (await self._services.store.get_run(info.run_id)).epoch != info.epoch:
                return
            if not await self._is_put_aside(wanted):
                await self._take(info.run_id, reason=wanted.reason, to_end=wanted.to_end, expected=info.epoch)

    async def _is_driven_here(self, run_id: str) -> bool:
        """Whether this process drives the run and goes on with it. A drive that is just leaving is waited for."""
        if run_id in self._in_hand:
            return True
        while (runner := self._runners.get(run_id)) is not None:
            info = await self._services.store.get_run(run_id)
            goes_on = info.status in ("pending", "running") and info.epoch == runner.commits.journal.epoch
            if goes_on and not runner.over:
                return True
            with contextlib.suppress(TimeoutError):
                # Or it is heard meanwhile what was said to it, and it stays.
                await asyncio.wait_for(runner.gone.wait(), GOING)
            if runner.gone.is_set():
                self._forget(run_id, runner)
        return False

    async def _is_put_aside(self, wanted: Wanted) -> bool:
        """Put a run aside that ends every process that drives it; a person may resume it. Raises `StaleEpoch`."""
        info, services = wanted.info, self._services
        if not info.driver or wanted.reason == "resume" or wanted.to_end:
            return False
        count, path = losses(await services.store.read_events(info.run_id), info.epoch)
        if count < services.settings.max_losses:
            return False
        journal = await services.store.drive(info.run_id, services.driver, expected=info.epoch)
        reason = f"{PUT_ASIDE}: {count} drivers were lost {f'while {path} ran' if path else 'as they went on with it'}"
        last = (await services.store.get_run(info.run_id)).last_seq
        paused = ev.RunPaused(last + 1, services.clock.time(), reason)
        for kept in (journal.append([paused], change=RunChange(status="paused", reason=reason)), journal.release()):
            if kept is not None:
                await kept
        return True

    def leave(self, *, at_once: bool = False) -> None:
        """Begin nothing more in any run; other drivers go on."""
        self._leaving = True
        for runner in list(self._runners.values()):
            runner.leave()
        if at_once:
            for task in list(self._live.values()):
                task.cancel()

    async def beat(self) -> None:
        """Say that this process lives, and let go of what could not be let go of."""
        services = self._services
        services.beaten_at = asyncio.get_running_loop().time()
        await services.store.beat(services.driver)
        await self.settle()

    async def _wanted(self, run_id: str) -> Wanted | None:
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
                    # Its driver is just leaving, and may not have heard what was said.
                    continue
                return None
            if (await store.get_run(run_id)).epoch == info.epoch:
                break
        kinds = {signal.kind for signal in signals}
        lost = LOST if info.driver and info.status == "running" else ""
        return Wanted(info, reason="resume" if "resume" in kinds else lost, to_end="cancel" in kinds)

    async def _is_due(self, info: RunInfo, signals: list[Signal]) -> bool:
        match info.status:
            case "paused":
                return any(signal.kind in ("cancel", "resume") for signal in signals)
            case "waiting":
                return bool(signals) or await self._is_late(info.run_id)
            case _:
                return True

    async def _is_silent(self, info: RunInfo) -> bool:
        """Whether the run's driver has gone; comes back as soon as it is heard, or another has the run."""
        await asyncio.sleep(DYING)
        looked = 0.0
        while looked < SILENT:
            await self._watch.look()
            if self._watch.has_gone(info.driver):
                return True
            await asyncio.sleep(LOOK)
            looked += LOOK
            now = await self._services.store.get_run(info.run_id)
            if (now.driver, now.epoch) != (info.driver, info.epoch) or now.driver_seen_at > info.driver_seen_at:
                return False
        return True
