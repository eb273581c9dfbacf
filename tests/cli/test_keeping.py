"""Old runs are let go of, and a copy of the store is whole though runs go on."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest
from cli_cases import Command, shop, toolpath
from tests.patience import PATIENCE

from toolpath import Settings, Toolpath
from toolpath.config import Settings as AllSettings
from toolpath.errors import StoreError
from toolpath.runs.retention import keep_pruned, prune_runs
from toolpath.store.sqlite.backup import back_up
from toolpath.testing.clock import FakeClock

__all__ = ["shop", "toolpath"]

DAY = 86_400.0


async def hello() -> str:
    """Greet."""
    return "hello"


async def fail() -> str:
    """Fail."""
    raise ValueError("no")


async def many(tp: Toolpath, clock: FakeClock, *tools: str) -> list[str]:
    """One run of each tool, a day apart."""
    ids = []
    for tool in tools:
        ids.append((await tp.run({"steps": [{"id": "a", "tool": tool, "retry": {"max_attempts": 1}}]})).run_id)
        await clock.advance(DAY)
    return ids


async def test_what_ended_long_ago_goes_and_the_rest_stays(tmp_path: Path) -> None:
    clock = FakeClock(auto=True)
    async with Toolpath(tmp_path / "runs.db", clock=clock, settings=Settings()) as tp:
        tp.add(hello, fail, effect="read")
        tp.add(hello, name="gated", effect="write")
        first, second, third, fourth = await many(tp, clock, "hello", "fail", "hello", "hello")
        waiting = await tp.run({"steps": [{"id": "a", "tool": "gated", "requires_approval": True}]})
        await clock.advance(DAY)
        would = await tp.prune(2.5 * DAY, dry_run=True)
        assert [info.run_id for info in would] == [third, second, first]
        assert [info.run_id for info in await tp.prune(2.5 * DAY, status="failed")] == [second]
        assert [info.run_id for info in await tp.prune(0, keep=3)] == [first]
        assert [info.run_id for info in await tp.prune(0)] == [fourth, third]
        assert [info.run_id for info in await tp.runs()] == [waiting.run_id]


async def test_however_many_there_are_all_go(tmp_path: Path) -> None:
    async with Toolpath(tmp_path / "runs.db", settings=Settings()) as tp:
        tp.add(hello, effect="read")
        plan = tp.read({"steps": [{"id": "a", "tool": "hello"}]})
        for _ in range(1203):
            await tp.run(plan)
        assert len(await prune_runs(tp.store, ended_before=tp.clock.time() + 1, keep=2)) == 1201
        assert len(await tp.runs(limit=5)) == 2


async def test_a_server_lets_go_of_old_runs_by_itself() -> None:
    clock = FakeClock(auto=True)
    async with Toolpath(clock=clock, settings=AllSettings(retention_days=1)) as tp:
        tp.add(hello, effect="read")
        await many(tp, clock, "hello", "hello", "hello")
        task = asyncio.create_task(keep_pruned(tp.store, clock, 1.5))
        async with asyncio.timeout(PATIENCE):
            while len(await tp.runs()) != 1:  # noqa: ASYNC110  # nobody is told when a run is deleted
                await asyncio.sleep(0)
        task.cancel()


def test_prune_says_what_went(toolpath: Command) -> None:
    for _ in range(3):
        assert toolpath("run", "shop.price", "-i", "item=tea").code == 0
    assert toolpath("runs", "prune", "--older-than", "1d").err.strip() == "0 runs deleted."
    dry = toolpath("runs", "prune", "--older-than", "0s", "--keep", "1", "--dry-run")
    assert (len(dry.out.split()), dry.err.strip()) == (2, "2 runs would be deleted.")
    gone = toolpath("runs", "prune", "--older-than", "0s", "--keep", "1", "--json").json
    assert [info["run_id"] for info in gone] == dry.out.split()
    assert len(toolpath("runs", "list", "--json").json) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--older-than", "soon"), "'soon' is no time. Write 30d"),
        (("--older-than", "1d", "--status", "faild"), "Did you mean 'failed'"),
        ((), "--older-than"),
    ],
)
def test_prune_refuses_what_cannot_be_meant(toolpath: Command, arguments: tuple[str, ...], said: str) -> None:
    ran = toolpath("runs", "prune", *arguments)
    assert ran.code == 2
    assert said in ran.err


def test_a_copy_made_while_runs_go_on_can_be_gone_on_with(toolpath: Command, tmp_path: Path) -> None:
    Path("gate.plan.yaml").write_text(
        "steps:\n"
        "  - {id: price, tool: shop.price, inputs: {item: tea}}\n"
        "  - {id: order, tool: shop.order, inputs: {item: tea, count: 1}, requires_approval: true}\n"
    )
    assert toolpath("run", "gate.plan.yaml").code == 4
    copied = toolpath("backup", "copy.db")
    assert copied.code == 0
    assert "--store copy.db" in copied.err
    assert stat.S_IMODE(Path("copy.db").stat().st_mode) == 0o600
    # The store is lost; the copy takes its place.
    for file in tmp_path.glob("runs.db*"):
        file.unlink()
    Path("copy.db").rename("runs.db")
    assert toolpath("approve", "last", "order").code == 0
    assert Path("orders.txt").read_text() == "tea 1\n"
    assert toolpath("runs", "list", "--json").json[0]["status"] == "completed"


async def test_a_copy_is_of_one_moment_though_others_write(tmp_path: Path) -> None:
    plan: Any = {"steps": [{"id": "a", "tool": "hello"}, {"id": "b", "tool": "hello", "depends_on": ["a"]}]}
    async with Toolpath(tmp_path / "runs.db", settings=Settings()) as tp:
        tp.add(hello, effect="read")
        read = tp.read(plan)
        stopped = asyncio.Event()

        async def write() -> None:
            while not stopped.is_set():
                await tp.run(read)

        # There is a run to copy, however long the others take.
        await tp.run(read)
        writing = asyncio.create_task(write())
        for number in range(5):
            await asyncio.to_thread(back_up, tmp_path / "runs.db", tmp_path / f"copy{number}.db")
        stopped.set()
        await writing
    async with Toolpath(tmp_path / "copy4.db", settings=Settings()) as copy:
        infos = await copy.runs(limit=1000)
        assert infos
        for info in infos:
            events = await copy.events(info.run_id)
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


def test_a_copy_is_refused_where_it_would_destroy_something(toolpath: Command) -> None:
    assert "There is no store" in toolpath("backup", "copy.db").err
    assert toolpath("run", "shop.price", "-i", "item=tea").code == 0
    Path("copy.db").write_text("mine")
    assert "is there already" in toolpath("backup", "copy.db").err
    assert Path("copy.db").read_text() == "mine"
    assert "cannot be the copy" in toolpath("backup", "runs.db", "--force").err
    assert toolpath("backup", "copy.db", "--force").code == 0
    assert toolpath("backup", "nowhere/copy.db").code == 1
    assert "pg_dump" in toolpath("backup", "copy2.db", "--store", "postgresql://u:secret@h/db").err


def test_a_damaged_store_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_bytes(b"SQLite format 3\0" + b"\x07" * 5000)
    with pytest.raises(StoreError, match=r"runs\.db"):
        back_up(tmp_path / "runs.db", tmp_path / "copy.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs.db"]
    with pytest.raises(sqlite3.Error):
        sqlite3.connect(tmp_path / "runs.db").execute("SELECT * FROM sqlite_master")
