"""Connections to a store's file: how it is created, opened and set up. No statement of the store itself."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from toolpath.config import Synchronous
from toolpath.errors import StoreError
from toolpath.store.sqlite.faults import store_error
from toolpath.store.sqlite.migrate import load_migrations, migrate

MEMORY = ":memory:"


class FileSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the file: where it is and how it is used."""

    path: str
    synchronous: Synchronous = "NORMAL"
    """NORMAL survives the death of the process, FULL the loss of power."""
    busy_timeout: float = 10.0
    """Seconds to wait for another process's transaction."""
    max_size: int | None = None
    """Bytes beyond which the file does not grow."""

    @property
    def in_memory(self) -> bool:
        """There is no file: one connection has it all."""
        return self.path == MEMORY


def open_writer(settings: FileSettings, clock: Callable[[], float]) -> sqlite3.Connection:
    """The connection that writes, to a file of the current schema; made where there was none. Raises `StoreError`."""
    connection: sqlite3.Connection | None = None
    try:
        if not settings.in_memory:
            _create_file(Path(settings.path))
        connection = _connect(settings)
        if not settings.in_memory:
            _use_write_ahead_log(connection, settings)
        # `wal_autocheckpoint` stays at 1,000 pages: a log that is overwritten syncs twice as fast as one that grows.
        connection.execute(f"PRAGMA synchronous = {settings.synchronous}")
        # What a savepoint needs to go back to: beyond 64 kB of pages it would be written to a file, two writes a page.
        connection.execute("PRAGMA temp_store = MEMORY")
        if settings.max_size is not None:
            (page_size,) = connection.execute("PRAGMA page_size").fetchone()
            connection.execute(f"PRAGMA max_page_count = {max(1, settings.max_size // page_size)}")
        migrate(connection, load_migrations(), path=settings.path, now=clock())
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error | OSError | ValueError):
            raise store_error(error, settings.path) from error
        raise
    return connection


def open_reader(settings: FileSettings) -> sqlite3.Connection:
    """A connection that only reads. Raises `StoreError`."""
    try:
        connection = _connect(settings)
        connection.execute("PRAGMA query_only = ON")
    except sqlite3.Error as error:
        raise store_error(error, settings.path) from error
    return connection


def _create_file(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # SQLite would make it readable for all; its log files take their mode from it. An existing file keeps its own.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _connect(settings: FileSettings) -> sqlite3.Connection:
    # Connections move between the thread that opens them and the one that uses them, never used by two at once.
    connection = sqlite3.connect(
        settings.path, timeout=settings.busy_timeout, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _use_write_ahead_log(connection: sqlite3.Connection, settings: FileSettings) -> None:
    # Two processes that make the file at once can block one another here, and SQLite does not wait: so we do.
    deadline = time.monotonic() + settings.busy_timeout
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    if mode != "wal":
        raise StoreError(
            f"The store {settings.path} lies on a file system that SQLite's write-ahead log cannot use.",
            hint="Put the file on a local disk.",
        )
