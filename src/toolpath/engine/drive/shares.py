"""Limits that hold across processes: each has a share of a limit's places, written down in the store.

A share is held while calls come and given back when they end, so that a busy tool costs a write a second and not one a
call. Who has died is known by a stamp that stands still while others watch it; no clock of another machine counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from toolpath.engine.drive.limits import Limit
from toolpath.errors import RecordConflict, StoreError
from toolpath.model.record import Record
from toolpath.model.tool import Rate
from toolpath.ports import Clock, Store

KIND = "places"
#: Seconds between two signs of life of a process that holds places.
RENEW = 2.0
#: A process whose stamp stood still for so many seconds holds nothing any more.
EXPIRY = 10.0
#: Seconds between two attempts to get a place while there is none.
RETRY = 0.2
#: Places that nothing uses are given back after so many seconds.
IDLE = 0.3
#: A process that holds all places while others want some lets go of them after so many seconds.
TURN = 1.0


class Ledger:
    """Ledger of who holds how many places of which limit, as this process sees it."""

    def __init__(self, store: Store, driver: str, is_gone: Callable[[str], bool]) -> None:
        self._store = store
        self._driver = driver
        self._is_gone = is_gone
        self._seen: dict[tuple[str, str], tuple[int, float]] = {}
        """Limit and process → the stamp, and since when it stands still."""

    async def hold(self, name: str, places: int, wanted: int, *, waits: bool) -> tuple[int, int]:
        """Hold up to `wanted` places; gives how many they are, and how many processes share or want the limit.

        Raises `StoreError`.
        """
        while True:
            record = await self._store.get_record(KIND, name)
            rows: dict[str, Any] = dict(record.data) if record is not None else {}
            own = rows.pop(self._driver, [0, 0, False])
            rows = {driver: row for driver, row in rows.items() if self._lives(name, driver, row[1])}
            held = max(0, min(wanted, places - sum(row[0] for row in rows.values())))
            sharing = 1 + sum(1 for row in rows.values() if row[2])
            if held or waits:
                rows[self._driver] = [held, own[1] + 1, waits and held < wanted]
            elif record is None:
                return 0, sharing
            try:
                written = Record(kind=KIND, id=name, data=rows)
                await self._store.put_record(written, expected=0 if record is None else record.version)
            except RecordConflict:
                continue
            return held, sharing

    def _lives(self, name: str, driver: str, stamp: int) -> bool:
        now = asyncio.get_running_loop().time()
        known, since = self._seen.get((name, driver), (-1, now))
        if known != stamp:
            self._seen[name, driver] = (stamp, now)
            return not self._is_gone(driver)
        return now - since < EXPIRY and not self._is_gone(driver)


class SharedLimit(Limit):
    """A number of places for the calls of all processes. Starts per time are counted by each for itself."""

    def __init__(self, clock: Clock, ledger: Ledger, name: str, places: int, rate: Rate | None) -> None:
        super().__init__(clock, 0, rate)
        self._ledger = ledger
        self._name = name
        self._all = places
        self._most = places
        """How many of them this process may have now: fewer while others want some."""
        self._told_at = float("-inf")
        """When the store was last asked for places, of those times that it answered."""
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    def wait(self, again: Callable[[], None], *, first: bool = False) -> None:
        """Call `again` once a call may be tried."""
        super().wait(again, first=first)
        self._changed.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._share(), name=f"share {self._name}")

    def release(self) -> None:
        """A call has ended, or waits for something else."""
        super().release()
        self._changed.set()

    async def close(self) -> None:
        """Release all places."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            # It may have been cut off while the store wrote places down.
            self._places = 0
            await self._ledger.hold(self._name, self._all, 0, waits=False)

    def is_full(self) -> bool:
        """Whether no place is free now."""
        return self.taken >= self._most or super().is_full() or not self._is_known_to_hold()

    def _is_known_to_hold(self) -> bool:
        """Whether others must still leave this process its places: a process that is silent loses them."""
        return asyncio.get_running_loop().time() - self._told_at < EXPIRY / 2

    async def _share(self) -> None:
        """Hold as many places as are needed, as long as any are."""
        loop = asyncio.get_running_loop()
        turn = loop.time()
        asked = -RENEW
        while True:
            now = loop.time()
            wanted = max(min(self.taken + self.lacking, self._most), self.taken)
            if wanted != self._places or now - asked >= RENEW:
                asked = now
                turn = await self._settle(wanted, turn)
                self._wake()
            if not (self._places or self.lacking or self.taken):
                return
            await self._pause()

    async def _settle(self, wanted: int, turn: float) -> float:
        """Hold so many places, as far as they are free; gives when this process's turn began."""
        now = asyncio.get_running_loop().time()
        # While the store is asked for fewer, others may have the rest already: they are nobody's to hand out here. What
        # is asked for beyond that is there when the store says so.
        self._places = min(self._places or 0, wanted)
        try:
            self._places, sharing = await self._ledger.hold(self._name, self._all, wanted, waits=self.lacking > 0)
        except StoreError:
            # Nobody else gets places either. Whether fewer were written down, nobody knows.
            return turn
        self._told_at = now
        if sharing == 1:
            self._most, turn = self._all, now
        elif self._all >= sharing:
            self._most = self._all // sharing
        elif now - turn > TURN:
            # There are fewer places than processes: they take turns.
            self._most, turn = (0 if self._most else 1), now
        return turn

    async def _pause(self) -> None:
        """Wait until something has changed, and a moment more: one look at the store serves all that comes in it."""
        lacks = self.lacking > 0 and self.taken >= (self._places or 0)
        self._changed.clear()
        try:
            await asyncio.wait_for(self._changed.wait(), RETRY if lacks else RENEW)
        except TimeoutError:
            return
        if self._places:
            await asyncio.sleep(RETRY if lacks else IDLE)
