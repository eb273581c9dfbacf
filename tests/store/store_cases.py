"""Every store, and what the tests of the contract share. A new store is one more line in `STORES`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests.patience import PATIENCE

from toolpath.model.events import AnyEvent, StepReady, StepSucceeded
from toolpath.model.run import RunInfo
from toolpath.ports import Blob, Journal, RunChange, Store
from toolpath.store.memory.store import MemoryStore
from toolpath.store.postgres.store import PostgresStore
from toolpath.store.sqlite.store import SqliteStore
from toolpath.values import Handle


class Now:
    """A time that moves only when a test says so."""

    def __init__(self) -> None:
        self.at = 1_000.0

    def __call__(self) -> float:
        return self.at


STORES: dict[str, Callable[[Path, Now], Store]] = {
    "memory": lambda folder, now: MemoryStore(clock=now),
    "sqlite-file": lambda folder, now: SqliteStore(folder / "deep" / "runs.db", clock=now),
    "sqlite-memory": lambda folder, now: SqliteStore(":memory:", clock=now),
    "postgres": lambda folder, now: PostgresStore(postgres_url(), clock=now, database_clock=False),
}


def postgres_url(schema: str = "") -> str:
    """The address of a PostgreSQL for tests; by default with a schema of this process."""
    server = os.environ.get("TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
    # The tests that ask what a commit outlives do not stop the server itself.
    return f"{server}?schema={schema or f'test_{os.getpid()}'}&patience=30&synchronous_commit=off"


async def postgres_connection(url: str = "") -> Any:
    """A connection past the store; skips the test where there is no server."""
    try:
        return await asyncpg.connect((url or postgres_url()).partition("?")[0], timeout=PATIENCE)
    except OSError as error:
        pytest.skip(f"no PostgreSQL: {error}")


async def emptied(schema: str) -> None:
    """Empty the schema's tables, if it is there; much faster than making it anew."""
    connection = await postgres_connection()
    rows = await connection.fetch(
        "SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename <> 'migrations'", schema
    )
    await connection.execute(";".join(f'DELETE FROM "{schema}"."{row["tablename"]}"' for row in rows) or "SELECT 1")
    await connection.close()


async def dropped(schema: str) -> None:
    """Drop the schema with all that is in it."""
    connection = await postgres_connection()
    await connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')
    await connection.close()


async def settled(outcome: Awaitable[None] | None) -> None:
    if outcome is not None:
        await outcome


async def keep(journal: Journal, *events: AnyEvent, blobs: tuple[Blob, ...] = (), **change: object) -> None:
    await settled(
        journal.append(events, blobs=blobs, change=RunChange(**change) if change else None)  # type: ignore[arg-type]
    )


async def new_run(store: Store, run_id: str = "run_1", **fields: object) -> Journal:
    await store.create_run(RunInfo(run_id=run_id, **fields))  # type: ignore[arg-type]
    return await store.drive(run_id, "host:1:a")


def ready(seq: int, path: str = "a") -> StepReady:
    return StepReady(seq, float(seq), path)


def blob(text: str) -> Blob:
    data = text.encode()
    return Blob(f"sha256:{hashlib.sha256(data).hexdigest()}", data)


def large(seq: int, kept: Blob) -> StepSucceeded:
    return StepSucceeded(seq, float(seq), "a", output=Handle(digest=kept.digest, size=len(kept.data)))
