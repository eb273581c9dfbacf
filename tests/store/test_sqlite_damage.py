"""A damaged text in the file is told as what it is, by its place: never as something that was given."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from toolpath.errors import StoreError, Unstorable
from toolpath.model.events import StepReady
from toolpath.model.run import RunInfo
from toolpath.store.sqlite.store import SqliteStore

COLUMNS = ["status", "reason", "tenant", "driver", "idempotency_key", "plan_id", "conversation_id"]


async def filled(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    for name in ("run_1", "run_2"):
        await store.create_run(RunInfo(run_id=name, status="running"))
        await (await store.drive(name, "d")).append([StepReady(1, 1.0, "a")])
    await store.close()


def damaged(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("column", COLUMNS)
async def test_a_damaged_text_of_a_run_is_named_by_its_row(tmp_path: Path, column: str) -> None:
    path = tmp_path / "runs.db"
    await filled(path)
    damaged(path, f"UPDATE runs SET {column} = CAST(x'ff41ff' AS TEXT) WHERE run_id = 'run_2'")
    store = SqliteStore(path)
    await store.open()
    try:
        with pytest.raises(StoreError, match=rf"damaged: runs, row run_2, column {column}") as told:
            await store.get_run("run_2")
        assert not isinstance(told.value, Unstorable)
        assert "backup" in told.value.hint
        assert (await store.get_run("run_1")).run_id == "run_1"
        with pytest.raises(Unstorable, match="was given"):
            await store.get_run("\ud800")
    finally:
        await store.close()


async def test_a_damaged_event_is_named_by_its_run_and_number(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await filled(path)
    damaged(path, "UPDATE events SET data = CAST(x'ff41ff' AS TEXT) WHERE id >> 32 = 2")
    store = SqliteStore(path)
    await store.open()
    try:
        with pytest.raises(StoreError, match="damaged: events, row run_2, 1, column data"):
            await store.read_events("run_2")
        assert len(await store.read_events("run_1")) == 1
    finally:
        await store.close()
