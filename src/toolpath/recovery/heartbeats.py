"""Heartbeats of drivers: one is gone when this process, while it watches, sees no new one. Clocks do not count."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from toolpath.errors import StoreError
from toolpath.model.run import Beat
from toolpath.ports import Clock, Store
from toolpath.recovery import timing


class _Silence(msgspec.Struct, frozen=True):
    seen_at: float
    is_connected: bool
    seconds: float = 0.0
    was_heard: bool = False
    """It has said something while one looked on: only then is it known that it could."""


class Heartbeats:
    """Which drivers have gone, as this process sees it. `has_died` may know of a process of this machine at once."""

    def __init__(self, store: Store, clock: Clock, has_died: Callable[[str], bool]) -> None:
        self._store = store
        self._now = clock.monotonic
        self._has_died = has_died
        self._silences: dict[str, _Silence] = {}
        self._looked_at = float("-inf")
        self._one_at_a_time = asyncio.Lock()

    async def look(self) -> frozenset[str]:
        """Drivers that have runs and have gone. Raises `StoreError`."""
        async with self._one_at_a_time:
            if self._now() - self._looked_at > timing.LOOK / 2:
                try:
                    beats = await self._store.drivers()
                except StoreError:
                    # While the store is away nobody can say that they live.
                    self._silences = {}
                    raise
                passed = min(self._now() - self._looked_at, timing.MOST_PER_LOOK)
                self._looked_at = self._now()
                known = self._silences
                self._silences = {beat.driver: _heard(known.get(beat.driver), beat, passed) for beat in beats}
        return frozenset(driver for driver in self._silences if self.has_gone(driver))

    async def stays_silent(self, driver: str, was_heard: Callable[[], Awaitable[bool]]) -> bool:
        """Whether the driver has gone; comes back as soon as that is known, or `was_heard` says that it lives.

        Whoever was never seen before is given the whole of `SILENT`. Raises `StoreError`.
        """
        looked = 0.0
        while looked < timing.SILENT:
            await self.look()
            if self.has_gone(driver):
                return True
            await asyncio.sleep(timing.LOOK_AGAIN)
            looked += timing.LOOK_AGAIN
            if await was_heard():
                return False
        return True

    def has_gone(self, driver: str) -> bool:
        """Whether the driver has gone, as far as was seen up to now."""
        if self._has_died(driver):
            return True
        silence = self._silences.get(driver)
        if silence is None:
            return False
        has_ended = silence.was_heard and not silence.is_connected
        return silence.seconds >= (timing.DISCONNECTED if has_ended else timing.SILENT)


def _heard(before: _Silence | None, beat: Beat, passed: float) -> _Silence:
    if before is None:
        return _Silence(beat.seen_at, beat.is_connected)
    if before.seen_at != beat.seen_at:
        return _Silence(beat.seen_at, beat.is_connected, was_heard=True)
    return _Silence(beat.seen_at, beat.is_connected, before.seconds + passed, before.was_heard)
