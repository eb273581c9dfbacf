"""Brings a schema of the database to that of this code, also while others use it: forward only, each step once."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

import msgspec

from toolpath.errors import StoreError
from toolpath.store.postgres.address import Address
from toolpath.store.sqlite.migrate import Migration

#: Seconds for which a step waits for a table that somebody uses; what comes meanwhile waits behind it.
LOCK_TIMEOUT = 5


#: The same for an index, which waits for all that are in the middle of something, and behind which nobody waits.
INDEX_LOCK_TIMEOUT = 60
#: Seconds that building an index may take.
INDEX_TIMEOUT = 24 * 3600.0

_INDEX = re.compile(r"^CREATE INDEX (\w+) ON (\w+) ([^;]+);", re.MULTILINE)


class Index(msgspec.Struct, frozen=True):
    """An index that is built beside those who write."""

    name: str
    table: str
    rest: str
    """Its columns, and the rows that it has."""


@functools.cache
def load_indexes() -> tuple[Index, ...]:
    """Every such index of this code."""
    text = resources.files("toolpath.store.postgres").joinpath("indexes.sql").read_text(encoding="utf-8")
    return tuple(Index(*found) for found in _INDEX.findall(text))


@functools.cache
def load_migrations() -> tuple[Migration, ...]:
    """Every migration of this code, oldest first."""
    folder = resources.files("toolpath.store.postgres").joinpath("migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple(
        Migration(int(name[:4]), name.removesuffix(".sql"), folder.joinpath(name).read_text(encoding="utf-8"))
        for name in names
    )


async def migrate(connection: Any, migrations: Sequence[Migration], address: Address) -> int:
    """Apply what is missing, then build what indexes are missing; returns the schema's version.

    The steps are all or nothing, and of one process at a time. Raises `StoreError` for a schema of newer code or of
    another program.
    """
    newest = migrations[-1].version
    if await _version(connection, address, newest) != newest:
        await _apply(connection, migrations, address)
    await _build_indexes(connection, address)
    return newest


async def _apply(connection: Any, migrations: Sequence[Migration], address: Address) -> None:
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}s'")
        # In the transaction, and so on the server that makes the tables, whatever a pooler gives to whom.
        await connection.execute(f'SET LOCAL search_path = "{address.schema}"')
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"toolpath.{address.schema}")
        await _make_schema(connection, address)
        version = await _version(connection, address, migrations[-1].version)
        for migration in migrations:
            if migration.version > version:
                await connection.execute(migration.script)
                await connection.execute(
                    "INSERT INTO migrations VALUES ($1, $2, extract(epoch FROM clock_timestamp()))",
                    migration.version,
                    migration.name,
                )
        if version == 0:
            # Nobody writes to it yet.
            for index in load_indexes():
                await connection.execute(f"CREATE INDEX {index.name} ON {index.table} {index.rest}")


async def _build_indexes(connection: Any, address: Address) -> None:
    """Build the indexes that are missing, or whose building was interrupted: without them all is right, and slower."""
    if not await _missing(connection, address):
        return
    lock = f"toolpath.{address.schema}.indexes"
    # Not waited for: building one waits for all transactions. A process that finds it taken goes on without.
    if not await connection.fetchval("SELECT pg_try_advisory_lock(hashtextextended($1, 0))", lock):
        return
    try:
        await connection.execute(f"SET lock_timeout = '{INDEX_LOCK_TIMEOUT}s'")
        for index, is_there in await _missing(connection, address):
            if is_there:
                # Of a build that was interrupted: it is kept up by every write, and of use to no query.
                dropped = f'DROP INDEX CONCURRENTLY IF EXISTS "{address.schema}".{index.name}'
                await connection.execute(dropped, timeout=INDEX_TIMEOUT)
            made = (
                f'CREATE INDEX CONCURRENTLY IF NOT EXISTS {index.name} ON "{address.schema}".{index.table} {index.rest}'
            )
            await connection.execute(made, timeout=INDEX_TIMEOUT)
    finally:
        if not connection.is_closed():
            await connection.execute("RESET lock_timeout")
            await connection.fetchval("SELECT pg_advisory_unlock(hashtextextended($1, 0))", lock)


async def _missing(connection: Any, address: Address) -> list[tuple[Index, bool]]:
    """The indexes that no query can use yet, and whether a beginning of them is there."""
    rows = await connection.fetch(
        "SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
        " JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1",
        address.schema,
    )
    valid = {row["relname"]: row["indisvalid"] for row in rows}
    return [(index, index.name in valid) for index in load_indexes() if not valid.get(index.name, False)]


async def _make_schema(connection: Any, address: Address) -> None:
    # Not `IF NOT EXISTS`: that asks for the right to create also where there is nothing to create.
    if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", address.schema):
        await connection.execute(f'CREATE SCHEMA "{address.schema}"')
    if not await _tables(connection, address):
        await connection.execute(
            "CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL,"
            " applied_at DOUBLE PRECISION NOT NULL)"
        )


async def _tables(connection: Any, address: Address) -> set[str]:
    rows = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = $1", address.schema)
    return {row["tablename"] for row in rows}


async def _version(connection: Any, address: Address, newest: int) -> int:
    tables = await _tables(connection, address)
    if not tables:
        return 0
    if "migrations" not in tables or ("runs" not in tables and len(tables) > 1):
        raise StoreError(
            f"The schema {address.schema!r} of {address.shown} has tables of another program; nothing was changed.",
            hint="Name another one with ?schema= in the store's address.",
        )
    # The name has been looked at: letters, digits and underscores.
    newest_there = f'SELECT coalesce(max(version), 0) FROM "{address.schema}".migrations'  # noqa: S608
    version = int(await connection.fetchval(newest_there))
    if version > newest:
        raise StoreError(
            f"The store {address.shown} has schema {version}, newer than schema {newest} of this version of Toolpath.",
            hint="Update Toolpath, or name another schema with ?schema=.",
        )
    return version
