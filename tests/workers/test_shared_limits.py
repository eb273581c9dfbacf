"""Limits of tools and tenants that hold across workers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.workers.worker_cases import Ground, until

from toolpath.app import Toolpath
from toolpath.config import load_settings
from toolpath.engine.drive import shares
from toolpath.engine.drive.shares import KIND, Ledger
from toolpath.model.run import RunContext
from toolpath.providers.functions import tool
from toolpath.store.memory.store import MemoryStore

pytestmark = pytest.mark.rabbitmq


class Gauge:
    """Counts calls under way at once, over all workers of the test's process."""

    def __init__(self) -> None:
        self.now = self.most = self.calls = 0

    async def call(self) -> None:
        self.now += 1
        self.calls += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.02)
        self.now -= 1


def loop_of(count: int, name: str) -> dict[str, Any]:
    loop = {"over": list(range(count)), "as": "item", "concurrency": 5, "steps": [{"id": "one", "tool": name}]}
    return {"name": "loop", "steps": [{"id": "each", "loop": loop}], "concurrency": 5}


async def test_a_tool_is_called_by_all_workers_together_no_more_than_it_may(ground: Ground) -> None:
    gauge = Gauge()

    @tool(group="limited", effect="read", max_concurrency=2)
    async def slow() -> None:
        """Take a moment."""
        await gauge.call()

    ground.tools = (slow,)
    async with ground.door() as tp, ground.worker(), ground.worker():
        runs = [await tp.start(loop_of(8, "limited.slow")) for _ in range(4)]
        for run in runs:
            assert (await run.result()).success
    assert gauge.calls == 32
    assert gauge.most == 2, "never both places, or more than there are"


async def test_workers_take_turns_at_a_tool_that_may_be_called_once_at_a_time(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shares, "TURN", 0.1)
    gauge = Gauge()

    @tool(group="limited", effect="read", max_concurrency=1)
    async def slow() -> None:
        """Take a moment."""
        await gauge.call()

    ground.tools = (slow,)
    async with ground.door() as tp, ground.worker(concurrency=1), ground.worker(concurrency=1):
        runs = [await tp.start(loop_of(20, "limited.slow")) for _ in range(2)]
        ends = [await run.result() for run in runs]
    assert all(result.success for result in ends)
    assert gauge.most == 1
    begun = [result.step("each").started_at for result in ends]
    assert abs((begun[0] or 0) - (begun[1] or 0)) < 20 * 0.02


async def test_a_tenant_has_no_more_calls_at_once_than_it_may_while_another_goes_on(ground: Ground) -> None:
    gauges = {"one": Gauge(), "two": Gauge()}

    @tool(group="tenants", effect="read")
    async def slow(who: str) -> None:
        """Take a moment.

        Args:
            who: The tenant.
        """
        await gauges[who].call()

    ground.tools = (slow,)
    ground.settings = load_settings(env={}, tenant_calls=2)
    async with ground.door() as tp, ground.worker(), ground.worker():
        runs = []
        for who in ("one", "two"):
            step = {"id": "one", "tool": "tenants.slow", "inputs": {"who": who}}
            loop = {"over": list(range(10)), "as": "item", "concurrency": 5, "steps": [step]}
            plan = {"name": who, "steps": [{"id": "each", "loop": loop}], "concurrency": 5}
            runs += [await tp.start(plan, context=RunContext(tenant=who)) for _ in range(2)]
        for run in runs:
            assert (await run.result()).success
    assert {who: gauge.calls for who, gauge in gauges.items()} == {"one": 20, "two": 20}
    assert {who: gauge.most for who, gauge in gauges.items()} == {"one": 2, "two": 2}


async def test_places_of_a_process_that_died_or_stood_still_are_given_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shares, "EXPIRY", 0.05)
    dead: set[str] = set()
    async with MemoryStoreOpen() as store:
        first, second = (Ledger(store, name, dead.__contains__) for name in ("a", "b"))
        assert await first.hold("tool", 3, 3, waits=True) == (3, 1)
        assert (await second.hold("tool", 3, 2, waits=True))[0] == 0
        assert await first.hold("tool", 3, 3, waits=False) == (3, 2), "that others want some is not known"
        assert (await second.hold("tool", 3, 2, waits=True))[0] == 0, "a process that lives lost its places"

        async def is_free() -> bool:
            return (await second.hold("tool", 3, 2, waits=True))[0] == 2

        await until(is_free)
        assert (await first.hold("tool", 3, 3, waits=True))[0] == 1
        dead.add("b")
        assert (await first.hold("tool", 3, 3, waits=True))[0] == 3
        record = await store.get_record(KIND, "tool")
        assert record is not None
        assert set(record.data) == {"a"}


class MemoryStoreOpen:
    async def __aenter__(self) -> MemoryStore:
        self.store = MemoryStore()
        await self.store.open()
        return self.store

    async def __aexit__(self, *_: object) -> None:
        await self.store.close()


def test_without_a_queue_limits_are_the_process_s_own() -> None:
    assert Toolpath()._services.limits.share is None
