"""How requests were planned outlives the process, one that is killed too, and each tenant sees its own."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.planner.kept_cases import REQUEST, door
from tests.planner.planning_cases import ALICE, answer
from tests.store.store_cases import dropped, postgres_url

from toolpath.access.acting import acting
from toolpath.access.caller import Caller
from toolpath.errors import ToolFailed
from toolpath.planner.service.plannings import LONGEST_REQUEST
from toolpath.planner.service.traces import KEPT, TraceLog
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock

PROGRAM = Path(__file__).with_name("killed_planner.py")
STORES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "runs.db")
        return
    schema = f"kept_{os.getpid()}_{uuid.uuid4().hex[:8]}"
    await dropped(schema)
    yield postgres_url(schema)
    await dropped(schema)


async def test_a_planning_is_known_after_its_process_was_killed(store: str) -> None:
    words = [sys.executable, str(PROGRAM), store]
    folder = Path(__file__).parents[2]
    died = await asyncio.to_thread(subprocess.run, words, cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)})
    assert died.returncode == -signal.SIGKILL
    async with door(store) as tp:
        (record,) = await tp.planning.plannings.newest("", 10)
        assert (record.request, record.planner, record.strategy) == (REQUEST, "model", "model")
        assert record.rounds[0].answer
        assert (record.success, bool(record.run_id)) == (True, True)
        model = (await tp.planning.report()).ways.arms[0]
        assert (model.name, model.tally.trials, model.tally.successes) == ("model", 1, 1)


async def test_another_process_counts_an_outcome_for_the_way_that_planned_it(store: str) -> None:
    async with door(store) as tp:
        plan = await tp.plan(REQUEST)
    async with door(store, ToolFailed("No.")) as tp:
        assert not (await tp.run(plan)).success
        model = (await tp.planning.report()).ways.arms[0]
        assert (model.name, model.tally.trials, model.tally.successes) == ("model", 1, 0)
        (record,) = await tp.planning.plannings.newest("", 10)
        assert record.success is False
        # What failed is not taken from the cache.
        assert (await tp.planning.report()).plans == 0


async def test_a_plan_of_the_cache_counts_for_the_way_that_made_it(tmp_path: Path) -> None:
    async with door(tmp_path / "runs.db") as tp:
        for _ in range(3):
            assert (await tp.run(await tp.plan(REQUEST))).success
        report = await tp.planning.report()
        assert (report.hits, report.misses) == (2, 1)
        model, rules = report.ways.arms
        assert (model.tally.trials, rules.tally.trials) == (3, 0)
        newest = await tp.planning.plannings.newest("", 10)
        assert [(one.planner, one.strategy) for one in newest] == [
            ("cache", "model"),
            ("cache", "model"),
            ("model", "model"),
        ]
        # Nothing is compared with what nobody tried.
        assert report.ways.comparisons == ()
        assert report.ways.untried == ("rules",)
        assert "Not compared, since no run has ended of what it planned: rules." in str(report)


async def test_a_way_that_is_wanted_is_not_answered_by_another_ones_plan(tmp_path: Path) -> None:
    async with door(tmp_path / "runs.db") as tp:
        await tp.plan(REQUEST)
        kept = tp.planning.plannings
        await tp.plan(REQUEST, planner="offline")
        assert [one.planner for one in await kept.newest("", 10)] == ["offline", "model"]


async def test_each_tenant_sees_its_own(tmp_path: Path) -> None:
    async with door(tmp_path / "runs.db") as tp:
        for tenant in ("a", "b", "b"):
            with acting(Caller(tenant=tenant, user="ann")):
                await tp.plan(REQUEST)
        kept = tp.planning.plannings
        assert [len(await kept.newest(tenant, 10)) for tenant in ("a", "b", "c")] == [1, 2, 0]
        (mine,) = await kept.newest("a", 10)
        assert mine.asker["user"] == "ann"
        assert await kept.get(mine.id, "a") is not None
        assert await kept.get(mine.id, "b") is None


async def test_so_many_are_kept() -> None:
    clock, store = FakeClock(), MemoryStore()
    traces = TraceLog(store, clock, "planning")
    for number in range(KEPT + 120):
        await clock.advance(1)
        await traces.keep(traces.new_id(), {"request": str(number)}, "a", name="x")
    await traces.keep(traces.new_id(), {"request": "other"}, "b", name="x")
    left = await store.list_records("planning", tenant="a", limit=KEPT * 2)
    assert KEPT <= len(left) <= KEPT + 60
    assert left[0].data["request"] == str(KEPT + 119)
    assert len(await store.list_records("planning", tenant="b", limit=9)) == 1


async def test_what_is_kept_of_plannings_holds_no_secret_nor_the_half_of_one(tmp_path: Path) -> None:
    secret, path = f"hunter2-{'Zq9xK' * 8}", tmp_path / "runs.db"
    request = f"Create author {secret} with email alice@test.com"
    inputs = {"name": secret, "email": "alice@test.com"}
    async with door(path, model=answer({**ALICE, "inputs": inputs}), secrets={"KEY": secret}) as tp:
        step = {"id": "a", "tool": "blog.createAuthor", "inputs": {**inputs, "name": "{{ secrets.KEY }}"}}
        assert (await tp.run({"steps": [step]})).success
        assert (await tp.run(await tp.plan(request))).success
        assert [part async for part in tp.planning.stream(request)]
        await tp.plan(f"{'x ' * (LONGEST_REQUEST // 2 - 15)}{request}")
        assert "[redacted]" in str(await tp.planning.report())
    with closing(sqlite3.connect(path)) as file:
        kept = [str(row) for row in file.execute("SELECT name, data FROM records")]
    assert any("planning" in row for row in kept)
    assert not any("hunter2" in row for row in kept)
