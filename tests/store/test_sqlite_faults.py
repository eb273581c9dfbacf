"""Broken ground: what is locked, full, damaged or not ours is a clear error, and nothing is half done."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from toolpath.errors import StoreError
from toolpath.model.events import StepReady, StepSucceeded
from toolpath.model.run import RunInfo
from toolpath.ports import RunChange
from toolpath.store.sqlite.store import SqliteStore


def ready(seq: int) -> StepReady:
    return StepReady(seq, float(seq), "a")


def heavy(seq: int, size: int) -> StepSucceeded:
    return StepSucceeded(seq, float(seq), "a", output="x" * size)


@asynccontextmanager
async def opened(path: Path | str, **settings: object) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path, **settings)  # type: ignore[arg-type]
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another connection that writes and does not end."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.close()


def read(path: Path) -> bytes:
    return path.read_bytes()


def write(path: Path, content: bytes | bytearray) -> None:
    path.write_bytes(content)


def touched(path: Path, mode: int) -> None:
    path.touch()
    path.chmod(mode)


async def test_an_event_that_is_no_json_is_refused_at_once_and_harms_nothing(path: Path) -> None:
    async with opened(path) as store:
        await store.create_run(RunInfo(run_id="run_1"))
        journal = await store.drive("run_1", "d")
        deep: list[object] = []
        for _ in range(100_000):
            deep = [deep]
        for value in (object(), "\ud800", deep):
            with pytest.raises(StoreError, match=r"Event 2 \(step.succeeded\)"):
                journal.append([ready(1), StepSucceeded(2, 0.0, "a", output=value)])
        await journal.append([ready(1)])
        assert await store.read_events("run_1") == [ready(1)]


async def test_a_locked_file_is_a_clear_error_and_the_run_can_be_taken_again(path: Path) -> None:
    async with opened(path, busy_timeout=0.05) as store:
        await store.create_run(RunInfo(run_id="run_1"))
        journal = await store.drive("run_1", "d")
        with locked(path):
            appends = [journal.append([ready(1)]), journal.append([ready(2)])]
            outcomes = await asyncio.gather(*appends, return_exceptions=True)
            assert [type(outcome) for outcome in outcomes] == [StoreError, StoreError]
            assert str(path) in str(outcomes[0])
            assert "locked by another process" in str(outcomes[0])
            # Reading goes on.
            assert await store.read_events("run_1") == []
        with pytest.raises(StoreError, match="locked"):
            journal.append([ready(1)])
        again = await store.drive("run_1", "d")
        await again.append([ready(1)])
        assert await store.read_events("run_1") == [ready(1)]


async def test_a_short_lock_is_waited_for(path: Path) -> None:
    async with opened(path) as store:
        await store.create_run(RunInfo(run_id="run_1"))
        journal = await store.drive("run_1", "d")
        with locked(path):
            append = journal.append([ready(1)])
            await store.read_events("run_1")
        await append
        assert await store.read_events("run_1") == [ready(1)]


async def test_a_full_disk_fails_the_append_as_a_whole_and_others_go_on_when_there_is_space(path: Path) -> None:
    async with opened(path, max_size=1_000_000) as store:
        for run_id in ("run_1", "run_2", "run_3"):
            await store.create_run(RunInfo(run_id=run_id))
        old = await store.drive("run_1", "d")
        await old.append([heavy(1, 600_000)], change=RunChange(status="completed"))
        journal = await store.drive("run_2", "d")
        await journal.append([ready(1)])
        with pytest.raises(StoreError, match=r"runs\.db cannot grow.*Free space"):
            await journal.append([ready(2), heavy(3, 600_000)], change=RunChange(status="failed"))
        with pytest.raises(StoreError, match="cannot grow"):
            journal.append([ready(2)])
        assert await store.read_events("run_2") == [ready(1)]
        assert (await store.get_run("run_2")).status == "pending"
        # Small things still fit, and deleting makes room.
        other = await store.drive("run_3", "d")
        await other.append([ready(1)])
        assert await store.delete_runs(["run_1"]) == 1
        again = await store.drive("run_2", "d")
        await again.append([ready(2), heavy(3, 600_000)])
        assert [event.seq for event in await store.read_events("run_2")] == [1, 2, 3]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"this is no database, it is a letter to somebody" * 50, "is not an SQLite database"),
        (b"SQLite format 3\0" + b"\xff" * 5_000, "is not an SQLite database|is damaged"),
    ],
)
async def test_a_file_that_is_no_database_is_left_alone(path: Path, content: bytes, message: str) -> None:
    write(path, content)
    with pytest.raises(StoreError, match=message) as caught:
        await SqliteStore(path).open()
    assert str(path) in str(caught.value)
    assert caught.value.hint
    assert read(path) == content


async def test_damaged_pages_are_a_clear_error(path: Path) -> None:
    async with opened(path) as store:
        await store.create_run(RunInfo(run_id="run_1"))
        journal = await store.drive("run_1", "d")
        await journal.append([heavy(seq, 2_000) for seq in range(1, 200)])
    content = bytearray(read(path))
    content[4096 * 2 :] = b"\xa5" * (len(content) - 4096 * 2)
    write(path, content)
    with pytest.raises(StoreError, match="is damaged"):
        async with opened(path) as store:
            await store.read_events("run_1")


async def test_the_database_of_another_program_is_not_touched(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE runs (their INTEGER)")
    other.commit()
    other.close()
    with pytest.raises(StoreError, match="another program"):
        await SqliteStore(path).open()
    other = sqlite3.connect(path)
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("runs",)]
    other.close()


@pytest.mark.parametrize("place", ["file/runs.db", "folder"])
async def test_a_place_where_no_file_can_be_is_a_clear_error(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="cannot be") as caught:
        await SqliteStore(tmp_path / place).open()
    assert str(tmp_path / place) in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
async def test_a_file_that_may_only_be_read_is_a_clear_error(path: Path) -> None:
    async with opened(path):
        pass
    touched(path, 0o400)
    with pytest.raises(StoreError, match="write"):
        await SqliteStore(path).open()


async def test_an_event_of_a_newer_program_is_named_not_dropped(path: Path) -> None:
    async with opened(path) as store:
        await store.create_run(RunInfo(run_id="run_1"))
        journal = await store.drive("run_1", "d")
        await journal.append([ready(1), ready(2)])
        other = sqlite3.connect(path)
        other.execute(
            """UPDATE events SET data = '{"type": "step.imagined", "seq": 2, "at": 0}' WHERE id & 4294967295 = 2"""
        )
        other.commit()
        other.close()
        with pytest.raises(StoreError, match=r"Event 2 of run 'run_1'.*newer Toolpath"):
            await store.read_events("run_1")
        assert await store.read_events("run_1", limit=1) == [ready(1)]
