"""Queue of the runs that wait for a worker, as this process uses it. Without a queue no run waits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial

from toolpath.engine.drive.services import Services
from toolpath.engine.drive.shares import Ledger, SharedLimit
from toolpath.errors import QueueError, RunNotFound, StoreError
from toolpath.model.run import ENDED_RUN, RunInfo
from toolpath.recovery.pending_sweep import PendingSweep
from toolpath.recovery.presence import has_died
from toolpath.runs.held import HeldRuns

#: The connections of a process that is killed are closed this long, in seconds, before it is known to be dead.
DYING = 0.05


class RunQueue:
    """Turns and messages of runs that wait for a worker; from `open` on what the broker loses is found again."""

    def __init__(self, services: Services, held: HeldRuns) -> None:
        self._services = services
        self._held = held
        self._taker: Callable[[str], bool] | None = None
        self._sweeping: asyncio.Task[None] | None = None
        self._turning = asyncio.Lock()
        """Held while a turn is taken: those that come together would hinder one another in the store."""

    @property
    def is_used(self) -> bool:
        """Whether workers drive runs; else this process drives what it starts."""
        return self._services.queue is not None

    async def open(self) -> None:
        """Reach the queue, where there is one, and look after what it may lose."""
        services = self._services
        if services.queue is not None:
            await services.queue.open()
            ledger = Ledger(services.store, services.driver, has_died)
            services.limits.share = partial(SharedLimit, services.clock, ledger)
            sweep = PendingSweep(services.store, services.queue, services.clock, services.chance, self._offer)
            self._sweeping = asyncio.create_task(sweep.run(), name="sweep")

    async def close(self) -> None:
        """Close the queue."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.wait({self._sweeping})
        if self._services.queue is not None:
            with contextlib.suppress(StoreError):
                await self._services.limits.close()
            await self._services.queue.close()

    async def enqueue(self, run_id: str, priority: int = 0) -> None:
        """Enqueue the run for a worker. Where the queue does not take it, a sweep finds it."""
        if self._services.queue is not None:
            await self._services.store.enqueue(run_id)
            with contextlib.suppress(QueueError):
                await self._services.queue.put(run_id, priority=priority)

    async def next_run(self, called_for: str = "") -> str | None:
        """The run that this process is to drive next; None where none waits for it. Raises `StoreError`.

        A message says that there is work, and the store whose turn it is. The run that the message is about goes first
        where its driver has just died, and is driven where it has no turn and nobody, as older code leaves it.
        """
        services = self._services
        if self._held.is_leaving:
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

    def offer_lost(self, take: Callable[[str], bool]) -> None:
        """Offer runs that nobody drives to `take`, which says whether it takes one, before they are enqueued."""
        self._taker = take

    def _offer(self, run_id: str) -> bool:
        return self._taker is not None and self._taker(run_id)

    async def _was_left(self, run_id: str) -> bool:
        """Whether the run's driver is known to have died. Where it is not, the message is done with at once: nobody
        waits, in a place that others need, for a run that is driven."""
        with contextlib.suppress(RunNotFound):
            info = await self._services.store.get_run(run_id)
            if info.status == "running" and info.driver not in ("", self._services.driver):
                if has_died(info.driver):
                    return True
                # Messages of one that was killed come a moment before that is known.
                asyncio.get_running_loop().call_later(DYING, self._offer_dead, info)
        return False

    def _offer_dead(self, info: RunInfo) -> None:
        """Offer the run where its driver has died meanwhile. What nobody has a place for is found by the next look."""
        if self._sweeping is not None and not self._held.is_leaving and has_died(info.driver):
            self._offer(info.run_id)
