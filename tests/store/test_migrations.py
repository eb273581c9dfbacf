"""Files of every released schema open; newer ones are refused; statements fit the schema."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from toolpath.errors import StoreError
from toolpath.model.events import StepReady, StepSucceeded
from toolpath.model.record import AuditEntry
from toolpath.model.run import RunInfo
from toolpath.model.tool import ToolStats
from toolpath.ports import CacheEntry, RunChange
from toolpath.store.sqlite.migrate import APPLICATION_ID, Migration, load_migrations, migrate
from toolpath.store.sqlite.sql import filtered, load_queries
from toolpath.store.sqlite.store import SqliteStore

FIXTURES = Path(__file__).parent / "fixtures"


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


def dump(version: int) -> str:
    return (FIXTURES / f"schema_{version:04d}.sql").read_text(encoding="utf-8")


def written(path: Path, script: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()


def versions(path: Path) -> list[int]:
    connection = sqlite3.connect(path)
    found = [version for (version,) in connection.execute("SELECT version FROM migrations ORDER BY version")]
    connection.close()
    return found


def test_every_released_schema_has_its_fixture() -> None:
    assert {path.name for path in FIXTURES.glob("schema_*.sql")} == {
        f"schema_{migration.version:04d}.sql" for migration in load_migrations()
    }


@pytest.mark.parametrize("version", [migration.version for migration in load_migrations()])
async def test_a_file_of_every_released_schema_opens_with_all_that_is_in_it(path: Path, version: int) -> None:
    written(path, dump(version))
    async with opened(path, clock=lambda: 1_000.0) as store:
        (info,) = await store.list_runs()
        assert (info.name, info.status, info.tenant, info.last_seq) == ("publish_post", "running", "t", 3)
        assert info.updated_at == 1_002.5
        events = await store.read_events(info.run_id)
        assert [event.seq for event in events] == [1, 2, 3]
        last = events[-1]
        assert isinstance(last, StepSucceeded)
        assert await store.get_blob(last.output["$blob"]) == b'{"rows":[1,2,3]}'
        assert [signal.kind for signal in await store.take_signals(info.run_id)] == ["cancel"]
        assert await store.cache_get("key", 1_000.0) == CacheEntry({"x": 1}, 2_000.0)
        assert (await store.load_stats())["blog.createAuthor"] == ToolStats(
            calls=1, total_duration=1.5, durations=(1.5,)
        )
        if version >= 2:
            assert (info.plan_id, info.conversation_id, info.priority) == ("plan_1", "conv_1", 5)
            (plan,) = await store.list_records("plan", parent="req_1")
            assert (plan.name, plan.data, plan.version) == ("publish_post", {"steps": []}, 1)
            assert [entry.action for entry in await store.read_audit()] == ["run.started", "run.cancelled"]
        assert (await store.append_audit([AuditEntry(action="file.opened")]))[0].seq == (3 if version >= 2 else 1)
        journal = await store.drive(info.run_id, "d")
        await journal.append([ready(4)])
        assert (await store.get_run(info.run_id)).last_seq == 4
        await journal.append([ready(5)], change=RunChange(status="cancelled"))
        assert await store.delete_runs([info.run_id]) == 1
    assert versions(path) == [migration.version for migration in load_migrations()]


@pytest.mark.parametrize("said", ["retry", "replanning", 'retry by {"permissions":["t:read"],"by":"bob"}'])
async def test_a_retry_that_earlier_code_left_behind_is_still_one(path: Path, said: str) -> None:
    written(path, dump(4) + f"UPDATE runs SET reason = '{said}';")
    async with opened(path, clock=lambda: 1_000.0) as store:
        (info,) = await store.list_runs()
        assert (info.status, info.reason, info.intent) == ("running", "", said)
        await (await store.drive(info.run_id, "d")).append([ready(4)])
        assert (await store.get_run(info.run_id)).intent == ""


async def test_a_file_of_newer_code_is_refused_and_left_as_it_is(path: Path) -> None:
    async with opened(path) as store:
        await store.create_run(RunInfo(run_id="run_1"))
    written(path, "INSERT INTO migrations VALUES (999, '0999_later', 0);")
    with pytest.raises(StoreError, match=r"schema 999, newer than schema .*Update Toolpath"):
        await SqliteStore(path).open()


def with_more(*scripts: str) -> tuple[Migration, ...]:
    known = load_migrations()
    newest = known[-1].version
    return (*known, *(Migration(newest + 1 + n, f"more_{n}", script) for n, script in enumerate(scripts)))


def test_later_migrations_apply_in_order_and_once(path: Path) -> None:
    written(path, dump(1))
    connection = sqlite3.connect(path, isolation_level=None)
    steps = with_more(
        "ALTER TABLE runs ADD COLUMN label TEXT NOT NULL DEFAULT '';\nUPDATE runs SET label = 'a;b';",
        "-- A comment; with a semicolon.\nUPDATE runs SET label = label || '!';",
    )
    for _ in range(2):
        migrate(connection, steps, path=str(path), now=5.0)
    assert connection.execute("SELECT label FROM runs").fetchall() == [("a;b!",)]
    connection.close()
    assert versions(path) == [step.version for step in steps]


def test_a_migration_that_fails_leaves_the_file_as_it_was(path: Path) -> None:
    written(path, dump(1))
    before = versions(path)
    connection = sqlite3.connect(path, isolation_level=None)
    steps = with_more("ALTER TABLE runs ADD COLUMN label TEXT;", "UPDATE runs SET nowhere = 1;")
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, steps, path=str(path), now=5.0)
    assert "label" not in [row[1] for row in connection.execute("PRAGMA table_info(runs)")]
    connection.close()
    assert versions(path) == before


def test_the_mark_of_the_file_is_that_of_the_fixture() -> None:
    assert f"PRAGMA application_id = {APPLICATION_ID};" in dump(1)


# Statements


def test_every_statement_is_sql_that_the_schema_understands(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "plain.db", isolation_level=None)
    migrate(connection, load_migrations(), path="plain.db", now=0.0)
    queries = load_queries()
    for name in queries.__struct_fields__:
        statement = getattr(queries, name)
        values: Any = dict.fromkeys(_named(statement), 0) if ":" in statement else (0,) * statement.count("?")
        assert connection.execute(f"EXPLAIN {statement}", values).fetchone(), name
    connection.close()


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("select_runs", ()),
        ("select_runs", ("status",)),
        ("select_runs", ("tenant",)),
        ("select_runs", ("plan_id",)),
        ("select_runs", ("conversation_id",)),
        ("select_runs", ("tenant", "status")),
        ("select_records", ()),
        ("select_records", ("tenant",)),
        ("select_records", ("parent",)),
        ("select_audit", ("tenant",)),
        ("select_runs", ("user",)),
        ("select_runs", ("name",)),
        ("select_asking_runs", ()),
        ("select_asking_runs", ("tenant",)),
        ("select_next_run", ()),
        ("select_events", ()),
        ("select_signals", ()),
    ],
)
def test_frequent_statements_use_an_index_and_sort_nothing(tmp_path: Path, name: str, wanted: tuple[str, ...]) -> None:
    connection = sqlite3.connect(tmp_path / "plain.db", isolation_level=None)
    migrate(connection, load_migrations(), path="plain.db", now=0.0)
    statement = filtered(getattr(load_queries(), name), dict.fromkeys(wanted, "x"))
    steps = connection.execute(f"EXPLAIN QUERY PLAN {statement}", dict.fromkeys(_named(statement), 0)).fetchall()
    plan = " ".join(step[-1] for step in steps)
    assert "SEARCH" in plan
    assert "USE TEMP B-TREE" not in plan
    assert not wanted or any(f"{column}=?" in plan for column in wanted)
    connection.close()


def _named(statement: str) -> set[str]:
    return set(re.findall(r":(\w+)", statement))


async def test_people_can_read_the_journal_in_the_file(path: Path) -> None:
    async with opened(path) as store:
        await store.create_run(RunInfo(run_id="run_1"))
        journal = await store.drive("run_1", "d")
        await journal.append([ready(1), ready(2)])
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT run_id, seq, json_extract(event, '$.type') FROM journal").fetchall()
    connection.close()
    assert rows == [("run_1", 1, "step.ready"), ("run_1", 2, "step.ready")]
