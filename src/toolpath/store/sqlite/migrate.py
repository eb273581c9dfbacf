"""Brings a database file to the schema of this code: forward only, each step once, in one transaction."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterator, Sequence
from importlib import resources

import msgspec

from toolpath.errors import StoreError

#: Marks a file as a store of this package (`PRAGMA application_id`): "TlPa".
APPLICATION_ID = 0x546C5061

_APPLIED = """
CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at REAL NOT NULL)
"""


class Migration(msgspec.Struct, frozen=True):
    """One step from a schema to the next."""

    version: int
    name: str
    script: str


@functools.cache
def load_migrations() -> tuple[Migration, ...]:
    """Every migration of this code, oldest first."""
    folder = resources.files("toolpath.store.sqlite").joinpath("migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple(
        Migration(int(name[:4]), name.removesuffix(".sql"), folder.joinpath(name).read_text(encoding="utf-8"))
        for name in names
    )


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration], *, path: str, now: float) -> int:
    """Apply what is missing; returns the schema's version. All or nothing.

    Raises `StoreError` for a file of newer code or of another program.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        applied = _applied_version(connection, path)
        newest = migrations[-1].version
        if applied > newest:
            raise StoreError(
                f"The store {path} has schema {applied}, newer than schema {newest} of this version of Toolpath.",
                hint="Update Toolpath, or name another file for the store.",
            )
        for migration in migrations:
            if migration.version > applied:
                _apply(connection, migration, now)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return newest


def _applied_version(connection: sqlite3.Connection, path: str) -> int:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    if not tables and mark in (0, APPLICATION_ID):
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(_APPLIED)
        return 0
    if mark != APPLICATION_ID or "migrations" not in tables:
        raise StoreError(
            f"{path} is a database of another program; nothing in it was changed.",
            hint="Name another file for the store.",
        )
    (version,) = connection.execute("SELECT coalesce(max(version), 0) FROM migrations").fetchone()
    return int(version)


def _apply(connection: sqlite3.Connection, migration: Migration, now: float) -> None:
    # Not `executescript`: it would commit the transaction that makes the whole of it one step.
    for statement in split(migration.script):
        connection.execute(statement)
    connection.execute("INSERT INTO migrations VALUES (?, ?, ?)", (migration.version, migration.name, now))


def split(script: str) -> Iterator[str]:
    """The statements of a script, each ending at the end of a line."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement
