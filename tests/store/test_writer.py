"""How the writer of a SQLite file shares the work between the loop and its thread."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.patience import PATIENCE
from tests.store.store_cases import blob, keep, large, new_run, ready

from toolpath.store.sqlite.database import FileSettings, open_writer
from toolpath.store.sqlite.store import SqliteStore
from toolpath.store.sqlite.writer import Job, Writer
from toolpath.store.waiters import Waiters


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "runs.db")
    await store.open()
    yield store
    await store.close()


def opened(path: Path) -> Writer:
    connection = open_writer(FileSettings(path=str(path)), lambda: 0.0)
    return Writer(connection, str(path), Waiters())


def insert(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO meta VALUES ('a', 'b')")


def kept(path: Path) -> list[tuple[str, str]]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT key, value FROM meta").fetchall()
    connection.close()
    return rows


async def test_work_that_the_loop_hands_over_while_another_thread_stops_the_writer_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = opened(tmp_path / "runs.db")
    stopping = threading.Thread(target=writer.stop)

    def locked(_: Writer) -> bool:
        # Another process has the file just now, and another thread closes the store.
        stopping.start()
        while not writer._stopping:
            pass
        return False

    monkeypatch.setattr(Writer, "_begin_at_once", locked)
    future = writer.put(Job(insert, asyncio.get_running_loop().create_future()))
    async with asyncio.timeout(PATIENCE):
        await future
    stopping.join()
    assert kept(tmp_path / "runs.db") == [("a", "b")]


async def test_a_writer_that_is_stopped_from_another_thread_lets_the_loop_s_commit_end(tmp_path: Path) -> None:
    writer = opened(tmp_path / "runs.db")
    stopping = threading.Thread(target=writer.stop)

    def slow(connection: sqlite3.Connection) -> None:
        stopping.start()
        # Long enough for the thread to close the connection, if it would.
        writer._thread.join(0.3)
        insert(connection)

    async with asyncio.timeout(PATIENCE):
        await writer.put(Job(slow, asyncio.get_running_loop().create_future()))
    stopping.join()
    assert kept(tmp_path / "runs.db") == [("a", "b")]


def traced(store: SqliteStore) -> dict[str, set[int]]:
    """Threads by the kind of statement that they execute from now on."""
    threads: dict[str, set[int]] = {}

    def note(statement: str) -> None:
        threads.setdefault(" ".join(statement.split()[:3]), set()).add(threading.get_ident())

    assert store._writer is not None
    store._writer._connection.set_trace_callback(note)
    return threads


async def test_others_write_while_a_long_run_is_deleted(store: SqliteStore) -> None:
    long, other = await new_run(store, "run_1"), await new_run(store, "run_2")
    await keep(long, *(ready(seq) for seq in range(1, 20_001)), status="completed")
    threads = traced(store)
    deletion = asyncio.ensure_future(store.delete_runs(["run_1"]))
    await asyncio.sleep(0)
    for seq in range(1, 4):
        await keep(other, ready(seq))
    assert not deletion.done()
    assert await deletion == 1
    assert threading.get_ident() not in threads["DELETE FROM events"] | threads["DELETE FROM runs"]
    assert store._writer is not None
    counted = store._writer._connection.execute("SELECT count(*) FROM events").fetchone()
    assert tuple(counted) == (3,)


async def test_what_a_deletion_left_when_its_process_died_goes_with_the_next(store: SqliteStore) -> None:
    long = await new_run(store, "run_1")
    await keep(long, *(ready(seq) for seq in range(1, 20_001)), status="completed")
    deletion = asyncio.ensure_future(store.delete_runs(["run_1"]))
    assert store._writer is not None
    before = store.commits
    while store.commits < before + 3:
        await store.load_stats()
    deletion.cancel()
    await asyncio.gather(deletion, return_exceptions=True)
    count = "SELECT count(*) FROM events"
    assert 0 < (await store._read(lambda connection: connection.execute(count).fetchone()))[0] < 20_000
    assert await store.delete_runs(["run_gone"]) == 0
    assert (await store._read(lambda connection: connection.execute(count).fetchone()))[0] == 0


async def test_large_values_are_written_by_the_thread(store: SqliteStore) -> None:
    journal = await new_run(store)
    threads = traced(store)
    value = blob("x" * 2_000_000)
    await keep(journal, ready(1))
    assert threads.pop("INSERT INTO events") == {threading.get_ident()}
    await keep(journal, large(2, value), blobs=(value,))
    assert threading.get_ident() not in threads["INSERT INTO blobs"] | threads["INSERT INTO events"]
    assert await store.get_blob(value.digest) == value.data
