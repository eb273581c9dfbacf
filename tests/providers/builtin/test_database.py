"""`database.*` on SQLite and PostgreSQL as they are: what is bound stays a value, what reads never writes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import sqlite3
import threading
import uuid
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from tests.patience import PATIENCE

from toolpath import Toolpath
from toolpath.config import Settings
from toolpath.errors import ConfigError, ToolFailed

SERVER = os.environ.get("TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/postgres")

TABLES = [
    "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price NUMERIC(10, 2), made DATE)",
    "CREATE TABLE part (id INTEGER PRIMARY KEY, item INTEGER REFERENCES item (id))",
    "INSERT INTO item VALUES (1, 'tea', 2.50, '2026-01-31'), (2, 'cup', 7, NULL)",
]


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """The address of a database of its own, for all tests: the server stands still while it makes or drops one."""

    name = f"tools_{uuid.uuid4().hex[:12]}"
    try:
        executed(SERVER, f"CREATE DATABASE {name}")
    except OSError as error:
        pytest.skip(f"no PostgreSQL: {error}")
    yield urlsplit(SERVER)._replace(path=f"/{name}").geturl()
    executed(SERVER, f"DROP DATABASE {name} WITH (FORCE)")


def executed(url: str, *statements: str) -> None:
    """Execute statements, in a loop of their own: that of the test may be going."""

    async def execute() -> None:
        server = await asyncpg.connect(url, timeout=PATIENCE)
        for statement in statements:
            await server.execute(statement)
        await server.close()

    with ThreadPoolExecutor(1) as beside:
        beside.submit(lambda: asyncio.run(execute())).result()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
            for statement in TABLES:
                connection.execute(statement)
            connection.commit()
        return f"sqlite:///{tmp_path}/shop.db"
    made: str = request.getfixturevalue("database")
    executed(made, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public", *TABLES)
    return made


@pytest.fixture
async def tp(url: str) -> AsyncIterator[Toolpath]:
    async with Toolpath(settings=Settings(max_retries=0)) as door:
        sources = {"shop": {"url": url}, "stock": {"url": url, "write": True, "description": "What there is."}}
        door.sources.add_source("builtin", {"database": {"sources": sources, "max_rows": 50, "timeout": 20}})
        yield door


async def read(tp: Toolpath, sql: str, **parameters: Any) -> Any:
    return (await tp.call("database.read", {"source": "shop", "sql": sql, "parameters": parameters}))["rows"]


async def write(tp: Toolpath, sql: str, parameters: Any = None) -> Any:
    return await tp.call("database.write", {"source": "stock", "sql": sql, "parameters": parameters or {}})


async def test_rows_come_as_objects_with_values_of_json(tp):
    found = await tp.call("database.read", {"source": "shop", "sql": "SELECT * FROM item ORDER BY id"})
    assert found == {
        "columns": ["id", "name", "price", "made"],
        "rows": [
            {"id": 1, "name": "tea", "price": 2.5, "made": "2026-01-31"},
            {"id": 2, "name": "cup", "price": 7, "made": None},
        ],
        "count": 2,
        "cut": False,
    }
    assert await read(tp, "SELECT a.id, b.id FROM item a, item b WHERE a.id = :one AND b.id = 2", one=1) == [
        {"id": 1, "id_2": 2}
    ]


async def test_effects_and_sources_are_known_before(tp):
    tools = (await tp.tools()).tools
    assert {key: tool.effect for key, tool in tools.items()} == {
        "database.read": "read",
        "database.metadata": "read",
        "database.write": "write",
        "database.insert": "write",
    }
    assert tools["database.read"].input_schema["properties"]["source"]["enum"] == ["shop", "stock"]
    assert tools["database.write"].input_schema["properties"]["source"]["enum"] == ["stock"]
    assert "What there is." in tools["database.write"].input_schema["properties"]["source"]["description"]


async def test_what_is_bound_is_a_value_whatever_it_says(tp):
    rng = random.Random(3)
    pieces = [
        "'",
        '"',
        ";",
        "--",
        "/*",
        "*/",
        "\\",
        ")",
        " OR 1=1",
        "DROP TABLE item",
        "$1",
        ":x",
        "%s",
        "\n",
        "é",
        "tea",
    ]
    texts = ["".join(rng.choice(pieces) for _ in range(rng.randrange(1, 12))) for _ in range(60)]
    rows = [{"id": 100 + number, "name": text} for number, text in enumerate(texts)]
    assert await write(tp, "INSERT INTO item (id, name) VALUES (:id, :name)", rows[:30]) is not None
    assert await tp.call("database.insert", {"source": "stock", "table": "item", "rows": rows[30:]}) == {"count": 30}
    for row in rng.sample(rows, 12):
        found = await read(tp, "SELECT name FROM item WHERE id = :id AND name = :name", **row)
        assert found == [{"name": row["name"]}]
    assert (await read(tp, "SELECT count(*) AS n FROM item"))[0]["n"] == 62


HOSTILE = [
    "DELETE FROM item",
    "UPDATE item SET name = 'x'",
    "INSERT INTO item (id, name) VALUES (9, 'x')",
    "DROP TABLE item",
    "CREATE TABLE more (a int)",
    "SELECT 1; DELETE FROM item",
    "COMMIT",
    "COMMIT; DELETE FROM item",
    "ROLLBACK; DELETE FROM item; SELECT 1",
    "WITH gone AS (DELETE FROM item RETURNING *) SELECT * FROM gone",
    "DELETE FROM item RETURNING id",
    "/* SELECT */ DELETE FROM item RETURNING id",
    "SELECT id INTO more FROM item",
    "BEGIN; DELETE FROM item; COMMIT",
    "DO $$ BEGIN SET TRANSACTION READ WRITE; DELETE FROM item; END $$",
    "DO $$ BEGIN PERFORM set_config('transaction_read_only', 'off', false); DELETE FROM item; END $$",
    "DO $$ BEGIN COMMIT; DELETE FROM item; END $$",
    "SET TRANSACTION READ WRITE",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "EXPLAIN ANALYZE DELETE FROM item",
    "PREPARE gone AS DELETE FROM item",
    "COPY item FROM '/etc/hostname'",
    "CALL gone()",
    "SELECT setval('s', 1)",
    "TRUNCATE item",
    "VACUUM",
    "PRAGMA query_only = OFF",
    "PRAGMA writable_schema = ON",
    "PRAGMA journal_mode = DELETE",
    "ATTACH DATABASE '{other}' AS other",
    "DETACH DATABASE main",
    "VACUUM INTO '{other}'",
    "CREATE TEMP TABLE here AS SELECT * FROM item",
    "SAVEPOINT a",
    "SELECT load_extension('x')",
    "REINDEX",
    "ANALYZE",
]


async def test_what_reads_never_writes_however_it_is_put(tp, url, tmp_path):
    other = tmp_path / "other.db"
    before = await read(tp, "SELECT * FROM item ORDER BY id")
    rng = random.Random(8)
    for sql in HOSTILE:
        dressed = (
            rng.choice(["{}", " \n{}", "-- read\n{}", "/**/{};", "{} "]).format(sql).replace("{other}", str(other))
        )
        with contextlib.suppress(ToolFailed):
            await tp.call("database.read", {"source": "shop", "sql": dressed})
    assert await read(tp, "SELECT * FROM item ORDER BY id") == before
    assert not await asyncio.to_thread(other.exists)
    tables = await tp.call("database.metadata", {"source": "shop"})
    assert [table["name"] for table in tables["tables"]] == ["item", "part"]
    # What one call has set holds for no other.
    with pytest.raises(ToolFailed, match="refused"):
        await tp.call("database.read", {"source": "shop", "sql": "DELETE FROM part RETURNING id"})


async def test_a_source_that_writes_opens_nothing_else(tp, url, tmp_path):
    if url.startswith("sqlite"):
        for sql in ("ATTACH DATABASE '/tmp/o.db' AS o", "PRAGMA writable_schema = ON", f"VACUUM INTO '{tmp_path}/o'"):
            with pytest.raises(ToolFailed, match="refused"):
                await write(tp, sql)
    with pytest.raises(ToolFailed):
        await write(tp, "DELETE FROM part; DELETE FROM item")
    assert (await read(tp, "SELECT count(*) AS n FROM item"))[0]["n"] == 2
    with pytest.raises(ToolFailed):
        await tp.call("database.write", {"source": "shop", "sql": "DELETE FROM item"})


async def test_a_write_happens_as_a_whole_or_not(tp):
    rows = [{"id": 10, "name": "pot"}, {"id": 11, "name": "jar"}, {"id": 1, "name": "again"}]
    with pytest.raises(ToolFailed, match="refused"):
        await write(tp, "INSERT INTO item (id, name) VALUES (:id, :name)", rows)
    with pytest.raises(ToolFailed, match="refused"):
        await tp.call("database.insert", {"source": "stock", "table": "item", "rows": rows})
    assert (await read(tp, "SELECT count(*) AS n FROM item"))[0]["n"] == 2
    assert (await write(tp, "UPDATE item SET name = :name", {"name": "all"}))["count"] == 2
    told = await write(tp, "DELETE FROM item WHERE id = :id RETURNING id, name", {"id": 2})
    assert told == {"count": 1, "rows": [{"id": 2, "name": "all"}]}


async def test_rows_added_have_the_types_of_their_columns(tp):
    rows = [{"id": 3, "name": "pot", "price": "12.30", "made": "2026-02-01"}]
    assert await tp.call("database.insert", {"source": "stock", "table": "item", "rows": rows}) == {"count": 1}
    assert await read(tp, "SELECT price, made FROM item WHERE id = 3") == [{"price": 12.3, "made": "2026-02-01"}]
    for table, row, said in (
        ("itm", {"id": 4}, "'item'"),
        ("item", {"id": 4, "nam": "x"}, "'name'"),
        ("item", {"id": 4, "name": "x", "made": "soon"}, "does not fit"),
        ('item" (id) VALUES (1); --', {"id": 4}, "no table"),
    ):
        with pytest.raises(ToolFailed, match=said):
            await tp.call("database.insert", {"source": "stock", "table": table, "rows": [row]})
    rows = [{"id": 5, "name": "x"}, {"id": 6}]
    with pytest.raises(ToolFailed, match="other columns"):
        await tp.call("database.insert", {"source": "stock", "table": "item", "rows": rows})


async def test_tables_are_told_with_columns_and_keys(tp):
    found = await tp.call("database.metadata", {"source": "shop", "table": "part"})
    (part,) = found["tables"]
    assert [(column["name"], column["primary_key"]) for column in part["columns"]] == [("id", True), ("item", False)]
    assert part["references"] == [{"columns": ["item"], "table": "item", "referred": ["id"]}]


MANY = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {most}) SELECT i, :text AS t FROM n"


async def test_rows_bytes_and_time_are_bounded(tp, url):
    found = await tp.call(
        "database.read", {"source": "shop", "sql": MANY.format(most=10_000_000), "parameters": {"text": ""}}
    )
    assert (found["count"], found["cut"]) == (50, True)
    sources = {"shop": {"url": url}}
    async with Toolpath(settings=Settings(max_retries=0)) as small:
        small.sources.add_source("builtin", {"database": {"sources": sources, "max_bytes": 5_000, "timeout": 0.5}})
        inputs = {"source": "shop", "sql": MANY.format(most=100), "parameters": {"text": "x" * 900}}
        assert (await small.call("database.read", inputs))["count"] == 5
        inputs["parameters"]["text"] = "x" * 6_000
        with pytest.raises(ToolFailed, match="first row alone"):
            await small.call("database.read", inputs)
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        with pytest.raises(ToolFailed, match=r"took (too long|longer)"):
            await small.call("database.read", {"source": "shop", "sql": endless})


@pytest.mark.parametrize(
    ("sql", "parameters", "said"),
    [
        ("SELECT * FROM item WHERE id = :id", {}, "no parameter"),
        ("SELECT * FROM item WHERE id = :id", {"idd": 1}, "'idd'"),
        ("SELECT * FROM item", {"id": 1}, "No :id"),
        ("SELECT * FROM itm", {}, "itm"),
        ("SELEC 1", {}, "refused"),
        ("SELECT :a", {"a": "x\0y"}, "NUL"),
        ("", {}, ""),
    ],
)
async def test_what_is_wrong_is_said(tp, sql, parameters, said):
    with pytest.raises(ToolFailed) as caught:
        await tp.call("database.read", {"source": "shop", "sql": sql, "parameters": parameters})
    assert said in str(caught.value)


async def test_no_password_is_told():
    sources = {
        "a": {"url": "postgresql://ann:{{ secrets.PASSWORD }}@127.0.0.1:1/db"},
        "b": {"url": "postgresql://ann:hunter22@127.0.0.1:1/db"},
        "c": {"url": "postgresql://ann:{{ secrets.NONE }}@127.0.0.1:1/db"},
        "d": {"url": "mysql+nothing://ann:hunter22@h/db", "reads_alone": True},
        "e": {"url": "sqlite:////no/such/file.db"},
    }
    async with Toolpath(secrets={"PASSWORD": "hunter22"}, settings=Settings(max_retries=0)) as tp:
        tp.sources.add_source("builtin", {"database": {"sources": sources}})
        for name in sources:
            with pytest.raises(ToolFailed) as caught:
                await tp.call("database.read", {"source": name, "sql": "SELECT 1"})
            assert "hunter22" not in f"{caught.value}{caught.value.__cause__}{caught.value.__context__}"
        for info in await tp.runs():
            assert "hunter22" not in str(await tp.events(info.run_id))


@pytest.mark.parametrize(
    "options",
    [{}, {"sources": {"a": {}}}, {"sources": {"a": {"url": "mysql://h/d"}}}, {"sources": {"a": "sqlite:///x"}}],
)
def test_what_can_be_no_source_is_said_at_once(options):
    with pytest.raises(ConfigError):
        Toolpath().sources.add_source("builtin", {"database": options})


async def test_that_nothing_was_written_is_said_only_where_it_is_so(tmp_path: Path):
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE item (id INTEGER)")
    sources = {"stock": {"url": f"sqlite:///{path}", "write": True}}
    async with Toolpath(settings=Settings(max_retries=0)) as tp:
        tp.sources.add_source("builtin", {"database": {"sources": sources, "timeout": 1}})
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM item").fetchall()
            # To keep it SQLite waits for who reads, longer than the call may take.
            writing = asyncio.create_task(write(tp, "INSERT INTO item VALUES (1)"))
            await asyncio.wait({writing}, timeout=2)
            reader.execute("COMMIT")
        with pytest.raises(ToolFailed) as caught:
            await writing
        with closing(sqlite3.connect(path)) as after:
            kept = after.execute("SELECT count(*) FROM item").fetchone()[0]
        assert kept == 0 or "Nothing was written" not in str(caught.value)


class StuckDialect(SQLiteDialect_pysqlite):
    """A driver that blocks, and that nothing can stop."""

    name = "stuck"
    supports_statement_cache = True
    go_on = threading.Event()
    ended = threading.Event()

    def do_execute(self, cursor: Any, statement: Any, parameters: Any, context: Any = None) -> None:
        if statement.startswith("INSERT"):
            self.go_on.wait(60)
        super().do_execute(cursor, statement, parameters, context)

    def do_close(self, dbapi_connection: Any) -> None:
        super().do_close(dbapi_connection)
        self.ended.set()


async def test_a_driver_that_cannot_be_stopped_keeps_nothing_afterwards(tmp_path: Path):
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE item (id INTEGER)")
    registry.register("stuck", __name__, "StuckDialect")
    sources = {"stock": {"url": f"stuck:///{path}", "write": True}}
    async with Toolpath(settings=Settings(max_retries=0)) as tp:
        tp.sources.add_source("builtin", {"database": {"sources": sources, "timeout": 0.3}})
        with pytest.raises(ToolFailed, match="longer than") as caught:
            await write(tp, "INSERT INTO item VALUES (1)")
        assert "Nothing was written" not in str(caught.value)
        StuckDialect.ended.clear()
        StuckDialect.go_on.set()
        assert await asyncio.to_thread(StuckDialect.ended.wait, 60)
    with closing(sqlite3.connect(path)) as after:
        assert after.execute("SELECT count(*) FROM item").fetchone() == (0,)


async def test_a_call_that_is_cancelled_lets_go(tp, until):
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    plan = {"steps": [{"id": "a", "tool": "database.read", "inputs": {"source": "shop", "sql": endless}}]}
    run = await tp.start(plan)
    await until(lambda: is_started(tp, run.run_id))
    await tp.cancel(run.run_id)
    assert (await run.result()).status == "cancelled"


async def is_started(tp: Toolpath, run_id: str) -> bool:
    return any(type(event).__name__ == "StepStarted" for event in await tp.events(run_id))
