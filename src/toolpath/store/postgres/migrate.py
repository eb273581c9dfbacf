"""Brings a schema of the database to that of this code, also while others use it: forward only, each step once."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib import resources
from typing import Any

from toolpath.errors import StoreError
from toolpath.store.postgres.address import Address
from toolpath.store.sqlite.migrate import Migration

#: Seconds for which a step waits for a table that somebody uses; whoever comes meanwhile waits behind it.
LOCK_TIMEOUT = 5


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
    """Apply what is missing; returns the schema's version. All or nothing, and one process at a time.

    Raises `StoreError` for a schema of newer code or of another program.
    """
    newest = migrations[-1].version
    if await _version(connection, address, newest) == newest:
        return newest
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}s'")
        # In the transaction, and so on the server that makes the tables, whatever a pooler gives to whom.
        await connection.execute(f'SET LOCAL search_path = "{address.schema}"')
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"toolpath.{address.schema}")
        await _make_schema(connection, address)
        version = await _version(connection, address, newest)
        for migration in migrations:
            if migration.version > version:
                await connection.execute(migration.script)
                await connection.execute(
                    "INSERT INTO migrations VALUES ($1, $2, extract(epoch FROM clock_timestamp()))",
                    migration.version,
                    migration.name,
                )
    return newest


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
