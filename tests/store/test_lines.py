"""What waits to be written: in order within a line, and nothing light behind more than one heavy piece of others."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import threading
from pathlib import Path

import msgspec
from tests.patience import PATIENCE
from tests.store.store_cases import blob, keep, large, new_run, ready

from toolpath.store.sqlite.lines import Lines
from toolpath.store.sqlite.store import SqliteStore
from toolpath.store.sqlite.writer import Job


class Piece(msgspec.Struct, frozen=True):
    line: str
    number: int
    heavy: bool = False


def test_each_line_keeps_its_order_and_nothing_is_lost() -> None:
    chance = random.Random(8)
    lines: Lines[Piece] = Lines(3)
    put: list[Piece] = []
    written: list[Piece] = []
    for number in range(2_000):
        piece = Piece(chance.choice("abcd"), number, chance.random() < 0.3)
        put.append(piece)
        lines.put(piece)
        if chance.random() < 0.5:
            written += lines.group()
    while group := lines.group():
        assert len(group) == 1 or not any(piece.heavy for piece in group)
        assert len(group) <= 3
        written += group
    assert not lines
    for name in "abcd":
        assert [p for p in written if p.line == name] == [p for p in put if p.line == name]
    assert len(written) == len(put)


def test_what_is_light_waits_for_one_heavy_piece_of_others_at_most() -> None:
    lines: Lines[Piece] = Lines(100)
    for number in range(50):
        lines.put(Piece(f"run {number % 5}", number, heavy=True))
    for number in range(10):
        lines.put(Piece("small", number))
        groups = [lines.group(), lines.group()]
        assert [Piece("small", number)] in groups
        assert sum(len(group) for group in groups) == 2


def test_heavy_lines_take_turns() -> None:
    lines: Lines[Piece] = Lines(100)
    for number in range(30):
        lines.put(Piece("large", number, heavy=True))
    lines.put(Piece("other", 0, heavy=True))
    assert [lines.group()[0].line for _ in range(2)].count("other") == 1


async def test_a_small_append_passes_the_large_ones_of_another_run(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db")
    await store.open()
    try:
        other, small = await new_run(store, "run_1"), await new_run(store, "run_2")
        assert store._writer is not None
        hold = threading.Event()
        begun = asyncio.get_running_loop().create_future()

        def wait(_: sqlite3.Connection) -> None:
            begun.get_loop().call_soon_threadsafe(begun.set_result, None)
            hold.wait(30)

        held = store._writer.put(Job(wait, asyncio.get_running_loop().create_future(), heavy=True))
        await begun
        values = [blob(f"{number}" * 300_000) for number in range(10, 40)]
        first = other.append([ready(1), *(large(seq, value) for seq, value in enumerate(values, 2))], blobs=values)
        passed = small.append([ready(1)])
        assert first is not None
        assert passed is not None
        ends: list[str] = []
        asyncio.ensure_future(first).add_done_callback(lambda _: ends.append("large"))
        asyncio.ensure_future(passed).add_done_callback(lambda _: ends.append("small"))
        hold.set()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(held, first, passed)
        assert ends == ["small", "large"]
        assert len(await store.read_events("run_1")) == 31
        assert [await store.get_blob(value.digest) for value in values] == [value.data for value in values]
        await keep(other, ready(32), status="completed")
        assert await store.delete_runs(["run_1"]) == 1
        assert await store._read(lambda connection: connection.execute("SELECT * FROM blobs").fetchall()) == []
    finally:
        await store.close()


async def test_a_long_journal_is_read_in_pages_and_a_small_read_comes_between(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db")
    await store.open()
    try:
        long = await new_run(store, "run_1")
        await keep(long, *(ready(seq) for seq in range(1, 10_001)))
        ends: list[str] = []
        reading = asyncio.ensure_future(store.read_events("run_1"))
        reading.add_done_callback(lambda _: ends.append("long"))
        await asyncio.sleep(0)
        small = asyncio.ensure_future(store.list_runs(limit=1))
        small.add_done_callback(lambda _: ends.append("small"))
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(reading, small)
        assert ends == ["small", "long"]
        assert [event.seq for event in reading.result()] == list(range(1, 10_001))
        for limit, most_bytes in (
            (0, None),
            (1, None),
            (500, None),
            (501, None),
            (1_000, None),
            (20_000, None),
            (None, 1),
        ):
            found = await store.read_events("run_1", after=7, limit=limit, most_bytes=most_bytes)
            count = 1 if most_bytes else min(limit or 0, 9_993)
            assert [event.seq for event in found] == list(range(8, 8 + count))
    finally:
        await store.close()
