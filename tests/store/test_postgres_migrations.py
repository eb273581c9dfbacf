"""Schemas of every released version open, also while others write; newer ones are refused; statements fit."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests.patience import PATIENCE
from tests.store.store_cases import dropped, keep, new_run, postgres_connection, postgres_url, ready

from toolpath.errors import StoreError
from toolpath.model.events import StepSucceeded
from toolpath.model.record import AuditEntry
from toolpath.model.run import RunInfo
from toolpath.model.tool import ToolStats
from toolpath.ports import CacheEntry, RunChange
from toolpath.store.postgres.address import Address, read_address
from toolpath.store.postgres.migrate import load_indexes, load_migrations, migrate
from toolpath.store.postgres.sql import load_queries, numbered
from toolpath.store.postgres.store import PostgresStore
from toolpath.store.sqlite.migrate import Migration
from toolpath.store.sqlite.sql import filtered

pytestmark = pytest.mark.postgres

FIXTURES = Path(__file__).parent / "fixtures"
NEWEST = load_migrations()[-1].version
SCHEMA = f"test_migrations_{os.getpid()}"


@pytest.fixture
async def connection() -> AsyncIterator[Any]:
    """A connection that looks into a schema which is not there yet."""
    await dropped(SCHEMA)
    connection = await postgres_connection()
    await connection.execute(f"SET search_path = {SCHEMA}")
    yield connection
    await connection.close()
    await dropped(SCHEMA)


def dump(version: int) -> str:
    text = (FIXTURES / f"postgres_{version:04d}.sql").read_text(encoding="utf-8")
    return text.replace(f"schema_{version:04d}", SCHEMA)


def address() -> Address:
    return read_address(postgres_url(SCHEMA))


async def versions(connection: Any) -> list[int]:
    return [row["version"] for row in await connection.fetch("SELECT version FROM migrations ORDER BY version")]


def with_more(*scripts: str) -> tuple[Migration, ...]:
    known = load_migrations()
    newest = known[-1].version
    return (*known, *(Migration(newest + 1 + n, f"more_{n}", script) for n, script in enumerate(scripts)))


def test_every_released_schema_has_its_fixture() -> None:
    assert {path.name for path in FIXTURES.glob("postgres_*.sql")} == {
        f"postgres_{migration.version:04d}.sql" for migration in load_migrations()
    }


@pytest.mark.parametrize("version", [migration.version for migration in load_migrations()])
async def test_a_schema_of_every_released_version_opens_with_all_that_is_in_it(connection: Any, version: int) -> None:
    await connection.execute(dump(version))
    store = PostgresStore(postgres_url(SCHEMA), clock=lambda: 1_000.0, database_clock=False)
    await store.open()
    (info,) = await store.list_runs()
    assert (info.name, info.status, info.tenant, info.last_seq) == ("publish_post", "running", "t", 3)
    assert (info.plan_id, info.conversation_id, info.priority) == ("plan_1", "conv_1", 5)
    events = await store.read_events(info.run_id)
    assert [event.seq for event in events] == [1, 2, 3]
    last = events[-1]
    assert isinstance(last, StepSucceeded)
    assert await store.get_blob(last.output["$blob"]) == b'{"rows":[1,2,3]}'
    assert [signal.kind for signal in await store.take_signals(info.run_id)] == ["cancel"]
    assert await store.cache_get("key", 1_000.0) == CacheEntry({"x": 1}, 2_000.0)
    assert (await store.load_stats())["blog.createAuthor"] == ToolStats(calls=1, total_duration=1.5, durations=(1.5,))
    (plan,) = await store.list_records("plan", parent="req_1")
    assert (plan.name, plan.data, plan.version) == ("publish_post", {"steps": []}, 1)
    assert (await store.append_audit([AuditEntry(action="file.opened")]))[0].seq == 3
    journal = await store.drive(info.run_id, "d")
    await keep(journal, ready(4), status="cancelled")
    assert await store.delete_runs([info.run_id]) == 1
    await new_run(store, "run_2")
    await store.close()
    assert await versions(connection) == [migration.version for migration in load_migrations()]


@pytest.mark.parametrize("said", ["retry", "replanning", 'retry by {"permissions":["t:read"],"by":"bob"}'])
async def test_a_retry_that_earlier_code_left_behind_is_still_one(connection: Any, said: str) -> None:
    await connection.execute(dump(3))
    await connection.execute(f"UPDATE {SCHEMA}.runs SET reason = $1", said)
    store = PostgresStore(postgres_url(SCHEMA), clock=lambda: 1_000.0, database_clock=False)
    await store.open()
    (info,) = await store.list_runs()
    assert (info.status, info.reason, info.intent) == ("running", "", said)
    await keep(await store.drive(info.run_id, "d"), ready(4))
    assert (await store.get_run(info.run_id)).intent == ""
    await store.close()


async def test_many_processes_open_a_new_schema_at_once(connection: Any) -> None:
    stores = [PostgresStore(postgres_url(SCHEMA)) for _ in range(5)]
    await asyncio.gather(*(store.open() for store in stores))
    await new_run(stores[0])
    assert (await stores[-1].get_run("run_1")).run_id == "run_1"
    await asyncio.gather(*(store.close() for store in stores))
    assert await versions(connection) == [migration.version for migration in load_migrations()]


async def test_a_schema_moves_on_while_a_run_writes_to_it(connection: Any) -> None:
    store = PostgresStore(postgres_url(SCHEMA))
    await store.open()
    journal = await new_run(store)
    over = asyncio.Event()

    async def write() -> int:
        seq = 0
        while not over.is_set():
            seq += 1
            await keep(journal, ready(seq))
        return seq

    writing = asyncio.ensure_future(write())
    steps = with_more(
        "ALTER TABLE runs ADD COLUMN label TEXT NOT NULL DEFAULT 'x';",
        "UPDATE runs SET label = label || 'y;'; -- A comment; with a semicolon.",
    )
    await store.wait_events("run_1", 5)
    await migrate(connection, steps, address())
    await migrate(connection, steps, address())
    (info,) = await store.list_runs()
    await store.wait_events("run_1", info.last_seq + 5)
    over.set()
    written = await writing
    assert [event.seq for event in await store.read_events("run_1")] == list(range(1, written + 1))
    assert await connection.fetchval("SELECT label FROM runs") == "xy;"
    assert await versions(connection) == [step.version for step in steps]
    await store.close()


async def test_a_step_that_fails_leaves_the_schema_as_it_was(connection: Any) -> None:
    await connection.execute(dump(1))
    steps = with_more("ALTER TABLE runs ADD COLUMN label TEXT;", "UPDATE runs SET nowhere = 1;")
    with pytest.raises(asyncpg.UndefinedColumnError):
        await migrate(connection, steps, address())
    assert await versions(connection) == [1]
    with pytest.raises(asyncpg.UndefinedColumnError):
        await connection.fetchval("SELECT label FROM runs")


async def test_a_schema_of_newer_code_is_refused_and_left_as_it_is(connection: Any) -> None:
    store = PostgresStore(postgres_url(SCHEMA))
    await store.open()
    await store.close()
    await connection.execute("INSERT INTO migrations VALUES (999, '0999_later', 0)")
    with pytest.raises(StoreError, match=r"schema 999, newer than schema .*Update Toolpath"):
        await PostgresStore(postgres_url(SCHEMA)).open()


async def test_a_schema_of_another_program_is_left_alone(connection: Any) -> None:
    await connection.execute(f"CREATE SCHEMA {SCHEMA}; CREATE TABLE invoices (id INTEGER)")
    with pytest.raises(StoreError, match="another program"):
        await PostgresStore(postgres_url(SCHEMA)).open()
    tables = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = $1", SCHEMA)
    assert [row["tablename"] for row in tables] == ["invoices"]


async def test_a_schema_whose_tables_are_in_use_says_so(connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    await connection.execute(dump(1))
    # A longer wait is not more of a test.
    monkeypatch.setattr("toolpath.store.postgres.migrate.LOCK_TIMEOUT", 1)
    monkeypatch.setattr(
        "toolpath.store.postgres.ground.load_migrations",
        lambda: with_more("ALTER TABLE runs ADD COLUMN label TEXT;"),
    )
    async with connection.transaction():
        await connection.execute("SELECT 1 FROM runs FOR UPDATE")
        with pytest.raises(StoreError, match="tables are in use"):
            await PostgresStore(postgres_url(SCHEMA)).open()


# Indexes


async def indexes(connection: Any) -> dict[str, bool]:
    """Name → whether queries can use it."""
    rows = await connection.fetch(
        "SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
        " JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1",
        SCHEMA,
    )
    return {row["relname"]: row["indisvalid"] for row in rows}


@asynccontextmanager
async def building() -> AsyncIterator[tuple[Any, Any, asyncio.Task[int]]]:
    """A build under way: it waits for whoever is in the middle of a write. That one, the builder, and its work."""
    writer, builder = await postgres_connection(), await postgres_connection()
    await writer.execute(f"BEGIN; LOCK TABLE {SCHEMA}.runs IN ROW EXCLUSIVE MODE")
    work = asyncio.create_task(migrate(builder, load_migrations(), address()))
    try:
        waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted)"
        pid = builder.get_server_pid()
        while not await writer.fetchval(waits, pid):
            assert not work.done(), await work
        yield writer, builder, work
    finally:
        await writer.close()
        await asyncio.wait({work})
        await builder.close()


@pytest.mark.parametrize("version", [migration.version for migration in load_migrations()])
async def test_a_schema_of_every_version_gets_every_index(connection: Any, version: int) -> None:
    await migrate(connection, load_migrations(), address())
    new = await indexes(connection)
    await dropped(SCHEMA)
    await connection.execute(dump(version))
    await migrate(connection, load_migrations(), address())
    assert await indexes(connection) == new
    assert {index.name for index in load_indexes()} < set(new)


async def test_runs_are_written_while_an_index_is_built(connection: Any) -> None:
    await migrate(connection, load_migrations(), address())
    await connection.execute("DROP INDEX runs_user, runs_name")
    async with building() as (writer, _, work):
        # Whoever comes now waits for nobody: neither to write, nor to open the store.
        store = PostgresStore(postgres_url(SCHEMA))
        async with asyncio.timeout(PATIENCE):
            await store.open()
            journal = await new_run(store, "run_meanwhile", user="ada")
            await keep(journal, ready(1))
            await store.close()
        assert not work.done()
        await writer.execute("COMMIT")
        assert await work == NEWEST
    assert set((await indexes(connection)).values()) == {True}
    assert {"runs_user", "runs_name"} < set(await indexes(connection))
    found = await connection.fetch("SELECT run_id FROM runs WHERE \"user\" = 'ada'")
    assert [row["run_id"] for row in found] == ["run_meanwhile"]


async def test_an_index_whose_building_was_interrupted_is_built_again(connection: Any) -> None:
    await migrate(connection, load_migrations(), address())
    await connection.execute("DROP INDEX runs_user")
    async with building() as (writer, builder, work):
        await writer.fetchval("SELECT pg_terminate_backend($1)", builder.get_server_pid())
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, ConnectionError)):
            await work
        await writer.execute("COMMIT")
    assert (await indexes(connection))["runs_user"] is False
    store = PostgresStore(postgres_url(SCHEMA))
    await store.open()
    await store.close()
    assert (await indexes(connection))["runs_user"] is True


# Statements


async def test_every_statement_is_sql_that_the_schema_understands(connection: Any) -> None:
    await connection.execute(dump(NEWEST))
    queries = load_queries()
    for name in queries.__struct_fields__:
        statement, parameters = numbered(getattr(queries, name))
        prepared = await connection.prepare(statement)
        assert len(prepared.get_parameters()) == len(parameters), name


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("select_run", ()),
        ("select_runs", ()),
        ("select_runs", ("status",)),
        ("select_runs", ("tenant",)),
        ("select_runs", ("plan_id",)),
        ("select_runs", ("conversation_id",)),
        ("select_records", ("tenant",)),
        ("select_records", ("parent",)),
        ("select_audit", ("tenant",)),
        ("select_events", ()),
        ("select_signals", ()),
        ("append", ()),
        ("select_runs", ("user",)),
        ("select_runs", ("name",)),
        ("select_runs", ("tenant", "name")),
        ("select_unqueued_runs", ()),
        ("select_asking_runs", ()),
        ("select_asking_runs", ("tenant",)),
        ("select_queued", ()),
        ("take_turn", ()),
    ],
)
async def test_frequent_statements_use_an_index_and_sort_nothing(
    connection: Any, name: str, wanted: tuple[str, ...]
) -> None:
    await connection.execute(dump(NEWEST))
    statement, parameters = numbered(filtered(getattr(load_queries(), name), dict.fromkeys(wanted, "x")))
    # With a handful of rows a scan is cheaper: what counts is whether the index can serve.
    await connection.execute(
        "SET enable_seqscan = off; SET enable_sort = off; SET plan_cache_mode = force_generic_plan"
    )
    await connection.execute(f"PREPARE asked AS {statement}")
    nothing = ", ".join("NULL" for _ in parameters)
    plan = "\n".join(row[0] for row in await connection.fetch(f"EXPLAIN EXECUTE asked ({nothing})"))
    assert "Seq Scan" not in plan
    if name not in ("append", "select_unqueued_runs"):
        assert "Sort" not in plan
    for column in wanted[-1:]:
        assert f"{column} = $" in plan.replace('"', "").split("Filter")[0], plan


async def test_people_can_read_the_journal_in_the_database(connection: Any) -> None:
    store = PostgresStore(postgres_url(SCHEMA))
    await store.open()
    await store.create_run(RunInfo(run_id="run_1"))
    journal = await store.drive("run_1", "d")
    outcome = journal.append([ready(1), ready(2)], change=RunChange(status="running"))
    assert outcome is not None
    await outcome
    await store.close()
    rows = await connection.fetch("SELECT run_id, seq, CAST(event AS json)->>'type' FROM journal ORDER BY seq")
    assert [tuple(row) for row in rows] == [("run_1", 1, "step.ready"), ("run_1", 2, "step.ready")]
