"""Rows are read by their keys in the loop's own turn, and by the way of all reads where that cannot be."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from toolpath.errors import RunNotFound, StoreError
from toolpath.model.record import Record
from toolpath.model.run import RunInfo
from toolpath.store.sqlite.point_reads import PointReads
from toolpath.store.sqlite.records import SMALL
from toolpath.store.sqlite.store import SqliteStore


async def opened(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    await store.open()
    await store.create_run(RunInfo(run_id="run_1", created_at=1.0))
    await store.put_record(Record(kind="plan", id="small", data={"text": "a"}))
    await store.put_record(Record(kind="plan", id="large", data={"text": "a" * SMALL}))
    return store


async def test_a_row_waits_for_no_long_read(tmp_path: Path) -> None:
    store = await opened(tmp_path / "runs.db")
    goes_on = threading.Event()
    long_one = asyncio.ensure_future(store._read(lambda _: goes_on.wait()))
    try:
        await asyncio.sleep(0)
        assert (await store.get_run("run_1")).run_id == "run_1"
        small = await store.get_record("plan", "small")
        assert small is not None
        assert small.data == {"text": "a"}
        assert not long_one.done()
    finally:
        goes_on.set()
        await long_one
        await store.close()


async def test_what_is_large_or_missing_is_read_and_told_as_ever(tmp_path: Path) -> None:
    store = await opened(tmp_path / "runs.db")
    large = await store.get_record("plan", "large")
    assert large is not None
    assert large.data == {"text": "a" * SMALL}
    assert await store.get_record("plan", "none") is None
    with pytest.raises(RunNotFound):
        await store.get_run("run_2")
    await store.close()
    with pytest.raises(StoreError):
        await store.get_run("run_1")


async def test_a_row_is_as_it_was_committed_last(tmp_path: Path) -> None:
    store, other = await opened(tmp_path / "runs.db"), SqliteStore(tmp_path / "runs.db")
    await other.open()
    for version in (2, 3):
        await other.put_record(Record(kind="plan", id="small", data={"text": str(version)}))
        found = await store.get_record("plan", "small")
        assert found is not None
        assert (found.version, found.data) == (version, {"text": str(version)})
    await other.close()
    await store.close()


@pytest.mark.parametrize("hindrance", ["slow", "used", "broken"])
async def test_where_the_loop_cannot_read_a_thread_does(tmp_path: Path, hindrance: str) -> None:
    store = await opened(tmp_path / "runs.db")
    points = store._point_reads
    assert isinstance(points, PointReads)
    match hindrance:
        case "slow":
            points._usual = 1e9
        case "used":
            points._using.acquire()
        case "broken":
            points._connection.close()
    assert (await store.get_run("run_1")).run_id == "run_1"
    assert await store.get_record("plan", "large") is not None
    if hindrance == "used":
        points._using.release()
    await store.close()
