"""Limits of many processes over a store that is slow, collides and fails: never more calls at once than there may."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from tests.patience import PATIENCE
from tests.soak import scaled

from toolpath.engine.drive import shares
from toolpath.engine.drive.shares import Ledger, SharedLimit
from toolpath.errors import StoreError
from toolpath.machine import SystemClock
from toolpath.model.record import Record
from toolpath.store.memory.store import MemoryStore


class SlowStore(MemoryStore):
    """Answers after a while, or says that it failed: before the work was done, or after."""

    def __init__(self, chance: random.Random, slowest: float, failing: float) -> None:
        super().__init__()
        self._chance = chance
        self._slowest = slowest
        self._failing = failing

    async def _wait(self) -> None:
        await asyncio.sleep(self._chance.uniform(0, self._slowest))
        if self._chance.random() < self._failing:
            raise StoreError("The store is away.")

    async def get_record(self, kind: str, record_id: str) -> Record | None:
        await self._wait()
        found = await super().get_record(kind, record_id)
        await self._wait()
        return found

    async def put_record(self, record: Record, *, expected: int | None = None) -> Record:
        await self._wait()
        kept = await super().put_record(record, expected=expected)
        await self._wait()
        return kept


class Calls:
    """Calls under way, over all processes."""

    def __init__(self) -> None:
        self.now = self.most = self.made = 0

    async def make(self, seconds: float) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        self.made += 1
        await asyncio.sleep(seconds)
        self.now -= 1


async def caller(limit: SharedLimit, calls: Calls, chance: random.Random, count: int, longest: float) -> None:
    loop = asyncio.get_running_loop()
    for _ in range(count):
        # In bursts: places are held, given back, and wanted again.
        await asyncio.sleep(chance.choice((0, 0, 0, longest, 4 * longest)) * chance.random())
        while limit.blocked():
            again = loop.create_future()
            limit.wait(lambda again=again: again.done() or again.set_result(None))  # type: ignore[misc]
            await again
        limit.take()
        try:
            await calls.make(chance.uniform(0, longest))
        finally:
            limit.release()


async def play(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    for name, seconds in (("RENEW", 0.2), ("RETRY", 0.005), ("IDLE", 0.005), ("TURN", 0.03)):
        monkeypatch.setattr(shares, name, seconds)
    store = SlowStore(chance, chance.choice((0.0, 0.002, 0.01)), chance.choice((0.0, 0.0, 0.05)))
    places, processes = chance.randint(1, 8), chance.randint(2, 5)
    calls = Calls()
    limits = [
        SharedLimit(SystemClock(), Ledger(store, f"p{number}", lambda _: False), "tool", places, None)
        for number in range(processes)
    ]
    count, longest = 6, chance.choice((0.001, 0.01))
    callers: list[Any] = [
        caller(limit, calls, chance, count, longest) for limit in limits for _ in range(chance.randint(1, 6))
    ]
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*callers)
    assert calls.most <= places, f"{calls.most} of {places} (seed {seed})"
    assert calls.made == len(callers) * count
    store._failing = 0.0
    for limit in limits:
        await limit.close()
    kept = await store.get_record(shares.KIND, "tool")
    assert kept is None or not any(row[0] for row in kept.data.values()), "places that nobody has any more"


async def test_over_all_processes_no_more_calls_are_made_at_once_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(12):
        await play(seed, monkeypatch)


@pytest.mark.soak
async def test_over_hundreds_of_slow_and_failing_stores_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(1_000, 1_000 + scaled(300)):
        await play(seed, monkeypatch)
