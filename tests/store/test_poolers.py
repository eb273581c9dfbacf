"""A store behind PgBouncer: it works where sessions are pooled, and says so where it cannot."""

from __future__ import annotations

import asyncio
import getpass
import os
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
from tests.patience import PATIENCE
from tests.store.store_cases import dropped, keep, new_run, postgres_connection, postgres_url, ready

from toolpath.errors import StoreError
from toolpath.model.record import AuditEntry, Record
from toolpath.store.postgres.store import PostgresStore

pytestmark = pytest.mark.postgres

SCHEMA = f"test_pooled_{os.getpid()}"
#: Debian keeps it where only root looks.
PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@asynccontextmanager
async def pooler(folder: Path, *lines: str) -> AsyncIterator[str]:
    """The address of the tests' server behind a pooler with these settings."""
    if PROGRAM is None:
        pytest.skip("pgbouncer is not installed")
    direct = urlsplit(postgres_url().partition("?")[0])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    users, settings = folder / "users.txt", folder / "pooler.ini"
    users.write_text(f'"{direct.username}" "{direct.password or ""}"\n')
    settings.write_text(
        f"[databases]\n* = host={direct.hostname} port={direct.port or 5432}\n[pgbouncer]\n"
        f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = trust\nauth_file = {users}\n"
        + "\n".join(lines)
    )
    for path in (folder, *folder.parents, users, settings):
        if "pytest" in str(path) and path.owner() == getpass.getuser():
            path.chmod(path.stat().st_mode | 0o055)
    # It refuses to run as root.
    who = ["-u", "nobody"] if os.geteuid() == 0 else []
    process = await asyncio.create_subprocess_exec(
        PROGRAM, "-q", *who, str(settings), stderr=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL
    )
    address = f"postgresql://{direct.username}@127.0.0.1:{port}{direct.path}"
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    await (await asyncpg.connect(address, timeout=PATIENCE)).close()
                    break
                except OSError:
                    assert process.returncode is None, "the pooler did not start"
                    await asyncio.sleep(0.05)
        yield f"{address}?schema={SCHEMA}"
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[Path]:
    await dropped(SCHEMA)
    yield tmp_path
    await dropped(SCHEMA)


async def tables_elsewhere() -> set[str]:
    connection = await postgres_connection()
    rows = await connection.fetch(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename IN ('runs', 'events', 'audit')"
    )
    await connection.close()
    return {row["tablename"] for row in rows}


@pytest.mark.parametrize("ignored", ["", "search_path, jit, extra_float_digits"])
async def test_where_sessions_are_pooled_everything_works_and_lies_in_its_schema(folder: Path, ignored: str) -> None:
    before = await tables_elsewhere()
    async with pooler(folder, "pool_mode = session", f"ignore_startup_parameters = {ignored}") as url:
        stores = [PostgresStore(url) for _ in range(2)]
        for store in stores:
            await store.open()
        first, second = stores
        journal = await new_run(first)
        hearing = asyncio.create_task(second.wait_events("run_1", 0))
        await asyncio.sleep(0)
        await keep(journal, ready(1))
        async with asyncio.timeout(PATIENCE):
            await hearing
        assert [event.seq for event in await second.read_events("run_1")] == [1]
        await second.put_record(Record(kind="plan", id="one", data={"a": 1}))
        await second.append_audit([AuditEntry(action="seen")])
        await first.beat("host:1:a")
        assert [beat.is_connected for beat in await second.drivers()] in ([], [True])
        for store in stores:
            await store.close()
    assert await tables_elsewhere() == before


async def test_where_transactions_are_pooled_the_store_says_so_and_makes_nothing_elsewhere(folder: Path) -> None:
    before = await tables_elsewhere()
    async with pooler(folder, "pool_mode = transaction") as url:
        with pytest.raises(StoreError, match="pooler") as raised:
            await PostgresStore(url).open()
        assert "pool_mode = session" in str(raised.value)
    assert await tables_elsewhere() == before


async def test_the_tables_are_in_the_schema_whatever_the_server_is_set_to_look_in(folder: Path) -> None:
    connection = await postgres_connection()
    await connection.execute(f'CREATE SCHEMA "{SCHEMA}"; CREATE SCHEMA "{SCHEMA}_other"')
    store = PostgresStore(f"{postgres_url(SCHEMA)}&search_path={SCHEMA}_other")
    await store.open()
    await keep(await new_run(store), ready(1))
    assert await store.next_run() is None
    assert (await store.get_run("run_1")).last_seq == 1
    await store.close()
    rows = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = $1", f"{SCHEMA}_other")
    await connection.close()
    await dropped(f"{SCHEMA}_other")
    assert rows == []
