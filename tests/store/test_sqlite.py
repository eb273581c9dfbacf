"""What only a file can do: group commit, many loops and processes, and life after a kill."""

from __future__ import annotations

import asyncio
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from tests.patience import PATIENCE
from tests.store.store_cases import settled

from toolpath.errors import RunNotFound, StaleEpoch, StoreError
from toolpath.model.events import StepReady
from toolpath.model.record import AuditEntry
from toolpath.model.run import RunInfo
from toolpath.ports import Signal, waiting_at_most
from toolpath.store.sqlite.database import FileSettings, open_writer
from toolpath.store.sqlite.store import SqliteStore
from toolpath.store.sqlite.writer import QUICK


def ready(seq: int) -> StepReady:
    return StepReady(seq, float(seq), "a")


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


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def touched(path: Path, mode: int) -> None:
    path.touch()
    path.chmod(mode)


# Group commit


async def test_appends_that_come_together_share_a_few_commits(path: Path) -> None:
    async with opened(path) as store:
        await asyncio.gather(*(store.create_run(RunInfo(run_id=f"run_{number}")) for number in range(200)))
        journals = [await store.drive(f"run_{number}", "d") for number in range(200)]
        before = store.commits
        await asyncio.gather(*(journal.append([ready(1)]) for journal in journals))
        # On a busy machine the thread gets to them a few at a time.
        assert store.commits - before <= 50


async def test_what_is_queued_while_a_commit_runs_is_one_commit(path: Path) -> None:
    async with opened(path) as store:
        await store.create_run(RunInfo(run_id="run_1"))
        journal = await store.drive("run_1", "d")
        with locked(path):
            appends = [journal.append([ready(seq)]) for seq in range(1, 101)]
            before = store.commits
        await asyncio.gather(*appends)
        # The first may have been taken up alone before the others were queued.
        assert store.commits - before <= 2


async def test_a_run_that_nobody_waits_for_any_more_is_not_begun_when_the_file_is_free_again(path: Path) -> None:
    asked = AuditEntry(action="run.start", subject="run_1")
    async with opened(path) as store:
        with locked(path), waiting_at_most(0.1), pytest.raises(StoreError, match="in time"):
            await store.begin_run(RunInfo(run_id="run_1"), "d", [], asked=[asked])
        await store.begin_run(RunInfo(run_id="run_2"), "d", [])
        assert [info.run_id for info in await store.list_runs()] == ["run_2"]
        assert await store.read_audit() == []


async def test_a_lone_append_is_a_commit_of_its_own(path: Path) -> None:
    async with opened(path) as store:
        await store.create_run(RunInfo(run_id="run_1"))
        journal = await store.drive("run_1", "d")
        before = store.commits
        for seq in range(1, 21):
            await journal.append([ready(seq)])
        assert store.commits - before == 20


async def test_who_is_alone_and_waits_is_committed_at_once(path: Path) -> None:
    async with opened(path) as store:
        for run_id in ("run_1", "run_2"):
            await store.create_run(RunInfo(run_id=run_id))
        journal, other = await store.drive("run_1", "d"), await store.drive("run_2", "d")
        for seq in range(1, 9):
            await settled(journal.append([ready(seq)], awaited=True))
        writer = store._open_writer()
        is_quick = writer._usual < QUICK
        kept = journal.append([ready(9)], awaited=True)
        # Where the disk is slow, a thread commits.
        assert kept is None or not is_quick
        await settled(kept)
        # Two that take turns share their commits again.
        for seq in range(10, 20):
            before, is_quick = store.commits, writer._usual < QUICK
            await asyncio.gather(
                settled(journal.append([ready(seq)], awaited=True)),
                settled(other.append([ready(seq - 9)], awaited=True)),
            )
            assert store.commits - before == 1 or seq == 10 or not is_quick
        assert [event.seq for event in await store.read_events("run_1")] == list(range(1, 20))


async def test_what_a_commit_at_once_brings_to_light_is_heard_first(path: Path) -> None:
    async with opened(path) as driver, opened(path) as terminal:
        await driver.create_run(RunInfo(run_id="run_1"))
        journal = await driver.drive("run_1", "d")
        heard: list[None] = []
        driver.on_signal("run_1", lambda: heard.append(None))
        for seq in range(1, 9):
            await settled(journal.append([ready(seq)], awaited=True))
        await terminal.put_signal("run_1", Signal(kind="cancel"))
        await settled(journal.append([ready(9)], awaited=True))
        assert len(heard) == 1


async def test_a_run_that_was_taken_learns_it_from_a_commit_at_once(path: Path) -> None:
    async with opened(path) as first, opened(path) as second:
        await first.create_run(RunInfo(run_id="run_1"))
        journal = await first.drive("run_1", "first")
        for seq in range(1, 9):
            await settled(journal.append([ready(seq)], awaited=True))
        await second.drive("run_1", "second")
        for _ in range(2):
            with pytest.raises(StaleEpoch):
                await settled(journal.append([ready(9)], awaited=True))


async def test_a_stale_append_does_not_take_its_group_with_it(path: Path) -> None:
    async with opened(path) as store:
        for run_id in ("run_1", "run_2"):
            await store.create_run(RunInfo(run_id=run_id))
        stale, fresh = await store.drive("run_1", "d"), await store.drive("run_2", "d")
        await store.drive("run_1", "e")
        with locked(path):
            appends = [stale.append([ready(1)]), fresh.append([ready(1)]), stale.append([ready(2)])]
        refused, kept, after = await asyncio.gather(*appends, return_exceptions=True)
        assert isinstance(refused, StaleEpoch)
        assert isinstance(after, StaleEpoch)
        assert kept is None
        assert len(await store.read_events("run_2")) == 1
        with pytest.raises(StaleEpoch):
            stale.append([ready(3)])


# Threads, loops and processes


async def test_several_event_loops_share_one_store(path: Path) -> None:
    async with opened(path) as store:
        errors: list[BaseException] = []

        async def drive(run_id: str) -> None:
            await store.create_run(RunInfo(run_id=run_id))
            journal = await store.drive(run_id, "d")
            for seq in range(1, 31):
                await journal.append([ready(seq)])

        def work(run_id: str) -> None:
            try:
                asyncio.run(drive(run_id))
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(f"run_{number}",)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            await asyncio.to_thread(thread.join)
        assert errors == []
        assert [info.last_seq for info in await store.list_runs()] == [30] * 4


async def test_a_waiter_of_one_loop_is_woken_by_an_append_of_another(path: Path) -> None:
    async with opened(path) as store:
        await store.create_run(RunInfo(run_id="run_1"))
        called = asyncio.Event()
        store.on_signal("run_1", called.set)
        waiting = asyncio.ensure_future(store.wait_events("run_1", 0))
        await store.get_run("run_1")

        async def elsewhere() -> None:
            journal = await store.drive("run_1", "d")
            await journal.append([ready(1)])
            await store.put_signal("run_1", Signal(kind="cancel"))

        await asyncio.to_thread(lambda: asyncio.run(elsewhere()))
        async with asyncio.timeout(PATIENCE):
            await waiting
            await called.wait()


WRITER = """
import asyncio, sys
from toolpath.model.events import StepReady, StepSucceeded
from toolpath.model.run import RunInfo
from toolpath.store.sqlite.store import SqliteStore

async def main(path, run_id, count):
    store = SqliteStore(path)
    await store.open()
    await store.create_run(RunInfo(run_id=run_id))
    journal = await store.drive(run_id, "child")
    seq = 0
    while count is None or seq < count:
        events = [StepReady(seq + 1, 0.0, "a"), StepSucceeded(seq + 2, 0.0, "a", output="x" * 200)]
        await journal.append(events)
        seq += 2
        print(seq, flush=True)
    await store.close()

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None))
"""


def child(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


async def test_two_processes_make_and_write_one_file_at_the_same_time(path: Path) -> None:
    children = [child(path, f"run_{number}", 100) for number in range(2)]
    for process in children:
        await asyncio.to_thread(process.communicate, timeout=PATIENCE)
        assert process.returncode == 0
    async with opened(path) as store:
        for number in range(2):
            events = await store.read_events(f"run_{number}")
            assert [event.seq for event in events] == list(range(1, 101))


async def test_a_driver_hears_what_another_process_signals(path: Path) -> None:
    async with opened(path) as driver, opened(path) as terminal:
        await driver.create_run(RunInfo(run_id="run_1"))
        await terminal.put_signal("run_1", Signal(kind="approve", path="a", by="ann"))
        (heard,) = await driver.take_signals("run_1")
        assert (heard.kind, heard.path, heard.by) == ("approve", "a", "ann")


async def test_an_append_tells_the_driver_once_of_a_signal_from_elsewhere(path: Path) -> None:
    async with opened(path) as driver, opened(path) as terminal:
        await driver.create_run(RunInfo(run_id="run_1"))
        journal = await driver.drive("run_1", "d")
        calls: list[None] = []
        driver.on_signal("run_1", lambda: calls.append(None))
        await terminal.put_signal("run_1", Signal(kind="cancel"))
        assert calls == []
        for seq in range(1, 4):
            await journal.append([ready(seq)])
            assert len(calls) == 1


async def test_a_second_process_takes_a_run_over(path: Path) -> None:
    async with opened(path) as first, opened(path) as second:
        await first.create_run(RunInfo(run_id="run_1"))
        old = await first.drive("run_1", "first")
        await old.append([ready(1)])
        new = await second.drive("run_1", "second")
        await new.append([ready(2)])
        with pytest.raises(StaleEpoch):
            await old.append([ready(2)])
        assert await first.read_events("run_1") == [ready(1), ready(2)]


@pytest.mark.parametrize("attempt", range(3))
async def test_every_awaited_append_outlives_the_kill_of_its_process(path: Path, attempt: int) -> None:
    chance = random.Random(attempt)
    process = child(path, "run_1")
    assert process.stdout is not None
    wanted, told = chance.randint(1, 300), 0
    for line in process.stdout:
        told = int(line)
        if told >= wanted:
            break
    process.send_signal(signal.SIGKILL)
    told = max([told, *(int(line) for line in process.stdout if line.endswith("\n"))])
    process.wait()
    process.stdout.close()
    async with opened(path) as store:
        events = await store.read_events("run_1")
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert len(events) >= told
        # Appends are whole: both events of each, and the row agrees.
        assert len(events) % 2 == 0
        assert (await store.get_run("run_1")).last_seq == len(events)


# Life of the store


async def test_a_store_that_is_not_open_says_so(path: Path) -> None:
    store = SqliteStore(path)
    with pytest.raises(StoreError, match="not open"):
        await store.get_run("run_1")
    await store.open()
    await store.create_run(RunInfo(run_id="run_1"))
    journal = await store.drive("run_1", "d")
    await store.open()
    assert (await store.get_run("run_1")).run_id == "run_1"
    await store.close()
    await store.close()
    with pytest.raises(StoreError, match="not open"):
        await store.list_runs()
    with pytest.raises(StoreError, match="not open"):
        journal.append([ready(1)])


async def test_close_ends_every_wait(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.create_run(RunInfo(run_id="run_1"))
    waiting = asyncio.ensure_future(store.wait_events("run_1", 0))
    await store.get_run("run_1")
    await store.close()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(waiting, return_exceptions=True)


async def test_the_file_and_its_folder_are_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "runs.db"
    async with opened(path) as store:
        await store.create_run(RunInfo(run_id="run_1"))
        # The log and its index hold the same secrets as the file.
        modes = [mode(Path(f"{path}{suffix}")) for suffix in ("", "-wal", "-shm")]
        assert modes == [0o600, 0o600, 0o600]
        assert mode(path.parent) == 0o700


async def test_the_mode_of_a_file_that_is_there_is_left(path: Path) -> None:
    touched(path, 0o640)
    async with opened(path):
        pass
    assert mode(path) == 0o640


@pytest.mark.parametrize(("setting", "level"), [("NORMAL", 1), ("FULL", 2)])
async def test_synchronous_is_as_it_was_set(path: Path, setting: str, level: int) -> None:
    connection = open_writer(FileSettings(path=str(path), synchronous=setting), lambda: 0.0)  # type: ignore[arg-type]
    assert connection.execute("PRAGMA synchronous").fetchone() == (level,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


async def test_a_run_that_another_process_deleted_is_gone_here_too(path: Path) -> None:
    async with opened(path) as first, opened(path) as second:
        await first.create_run(RunInfo(run_id="run_1", status="failed"))
        assert await second.delete_runs(["run_1"]) == 1
        with pytest.raises(RunNotFound):
            await first.get_run("run_1")


def test_a_program_that_forgets_to_close_its_store_still_ends(path: Path) -> None:
    script = WRITER.replace("    await store.close()\n", "")
    done = subprocess.run(
        [sys.executable, "-c", script, str(path), "run_1", "4"], capture_output=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0
    assert done.stdout.split() == [b"2", b"4"]
