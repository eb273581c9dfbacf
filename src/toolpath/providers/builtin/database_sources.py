"""Databases that built-in tools open: a transaction for each call, which the database itself holds to reading."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Final, Protocol, TypeVar
from urllib.parse import quote

from sqlalchemy import URL, Connection, create_engine, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    InterfaceError,
    NoSuchModuleError,
    OperationalError,
)
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from toolpath.errors import ConfigError, ToolFailed, ToolTimeout, ToolUnavailable

_Found = TypeVar("_Found")
#: Bytes of one value in SQLite: its own bound is a thousand million.
_LONGEST_VALUE: Final = 50_000_000
#: Steps of SQLite's machine between two looks at the time.
_STEPS: Final = 10_000
#: What may be asked of a SQLite file besides its tables: it changes nothing and opens nothing.
_PRAGMAS: Final = frozenset(
    {"table_info", "table_xinfo", "table_list", "foreign_key_list", "index_list", "index_info", "index_xinfo"}
)
_READING: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
#: Open other files, or end the transaction that the call is.
_NEVER: Final = frozenset(
    {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT}
)


class DatabaseSource(Protocol):
    """One database, for one call. Each kind of database is a class of its own."""

    is_open: bool = False
    """It was reached."""
    is_committing: bool = False
    """It was told to keep what was written: of a call that ends now nobody knows whether it has."""
    is_left: bool = False
    """A driver is still at work, which nothing can stop. It is not going to be told to keep anything."""

    async def work(
        self, act: Callable[[Connection], _Found], *, writes: bool, statement: bool, seconds: float
    ) -> _Found:
        """The result of `act` in a transaction, kept where it `writes`. `statement`: the SQL is the caller's."""
        ...


def open_source(text: str, fill: Callable[[str], str]) -> DatabaseSource:
    """The database of this URL, its secrets filled in. Raises `ConfigError` where it can be none."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise ConfigError(
            "The URL of the database cannot be read.", hint="Write postgresql://user@host/name."
        ) from None
    url = url.set(
        username=fill(url.username) if url.username else None,
        password=fill(str(url.password)) if url.password else None,
        host=fill(url.host) if url.host else None,
        database=fill(url.database) if url.database else None,
    )
    match url.get_backend_name():
        case "sqlite":
            return _SqliteSource(url)
        case "postgresql" | "postgres":
            return _PostgresSource(url.set(drivername="postgresql+asyncpg"))
        case _:
            return _OtherSource(url)


class _SqliteSource(DatabaseSource):
    """A SQLite file, in a thread."""

    def __init__(self, url: URL) -> None:
        self._path = Path(url.database or "")
        if not url.database or not self._path.is_file():
            raise ConfigError("The file of the database is not there.", hint="Write sqlite:///folder/name.db.")

    async def work(
        self, act: Callable[[Connection], _Found], *, writes: bool, statement: bool, seconds: float
    ) -> _Found:
        until = monotonic() + seconds
        over = threading.Event()
        working = asyncio.ensure_future(
            asyncio.to_thread(self._work, act, until, over, writes=writes, statement=statement)
        )
        try:
            return await asyncio.shield(working)
        except asyncio.CancelledError:
            over.set()
            # It ends within a few thousand steps; what it holds is let go of there.
            with contextlib.suppress(Exception):
                await asyncio.shield(working)
            raise

    def _work(
        self, act: Callable[[Connection], _Found], until: float, over: threading.Event, *, writes: bool, statement: bool
    ) -> _Found:
        engine = create_engine(
            "sqlite://", creator=lambda: self._connected(writes=writes), poolclass=NullPool, hide_parameters=True
        )
        with engine.connect() as connection:
            self.is_open = True
            held = connection.connection.driver_connection
            assert isinstance(held, sqlite3.Connection)
            held.set_progress_handler(lambda: int(over.is_set() or monotonic() > until), _STEPS)
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
            held.set_authorizer(_may_write if writes else _may_read)
            try:
                found = act(connection)
            finally:
                held.set_authorizer(None)
            if not writes:
                return found
            held.set_progress_handler(None, 0)
            # Said first: who ends the call sees one of the two.
            self.is_committing = True
            try:
                if over.is_set():
                    raise ToolFailed("The call is over.")
                connection.commit()
            except Exception:
                # A commit that fails, as while others read, has kept nothing.
                self.is_committing = False
                raise
            return found

    def _connected(self, *, writes: bool) -> sqlite3.Connection:
        # Never made where it is not there.
        uri = f"file:{quote(str(self._path.absolute()))}?mode={'rw' if writes else 'ro'}"
        held = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        held.text_factory = lambda data: data.decode(errors="replace")
        held.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        held.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        held.execute("PRAGMA trusted_schema = OFF")
        if not writes:
            held.execute("PRAGMA query_only = ON")
        return held


def _may_read(action: int, first: str | None, second: str | None, _: str | None, __: str | None) -> int:
    if action in _READING:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if (second or "").lower() == "load_extension" else sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA:
        return sqlite3.SQLITE_OK if (first or "").lower() in _PRAGMAS else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_DENY


def _may_write(action: int, first: str | None, second: str | None, third: str | None, fourth: str | None) -> int:
    if action in _NEVER:
        return sqlite3.SQLITE_DENY
    if action in (sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_PRAGMA):
        return _may_read(action, first, second, third, fourth)
    return sqlite3.SQLITE_OK


class _PostgresSource(DatabaseSource):
    """A PostgreSQL database, through asyncpg, which sends one statement a call."""

    def __init__(self, url: URL) -> None:
        self._url = url

    async def work(
        self, act: Callable[[Connection], _Found], *, writes: bool, statement: bool, seconds: float
    ) -> _Found:
        engine = create_async_engine(
            self._url,
            poolclass=NullPool,
            hide_parameters=True,
            connect_args={"timeout": seconds, "server_settings": {"application_name": "toolpath"}},
        )
        async with engine.connect() as connection:
            self.is_open = True
            if not writes:
                await connection.execution_options(postgresql_readonly=True)
            milliseconds = int(seconds * 1000) + 1
            await connection.exec_driver_sql(f"SET LOCAL statement_timeout = {milliseconds}")
            # From the first look at the data on no statement can make the transaction one that writes.
            await connection.exec_driver_sql("SELECT 1")
            if statement and not writes:
                await connection.execution_options(stream_results=True, max_row_buffer=100)
            found = await connection.run_sync(act)
            if writes:
                self.is_committing = True
                await connection.commit()
            else:
                await connection.rollback()
            return found


class _OtherSource(DatabaseSource):
    """A database of another kind, through its driver, in a thread or in the loop as the driver is."""

    def __init__(self, url: URL) -> None:
        try:
            self._is_async = bool(url.get_dialect().is_async)
        except (NoSuchModuleError, ImportError) as error:
            raise ConfigError(f"There is no driver for the database: {error}.", hint="Install its driver.") from None
        self._url = url

    async def work(
        self, act: Callable[[Connection], _Found], *, writes: bool, statement: bool, seconds: float
    ) -> _Found:
        over = threading.Event()

        def inside(connection: Connection) -> _Found:
            self.is_open = True
            found = act(connection)
            if writes:
                # Said first: who ends the call sees one of the two.
                self.is_committing = True
                if over.is_set():
                    self.is_committing = False
                    raise ToolFailed("The call is over.")
                connection.commit()
            else:
                connection.rollback()
            return found

        if self._is_async:
            engine = create_async_engine(self._url, poolclass=NullPool, hide_parameters=True)
            async with engine.connect() as connection:
                return await connection.run_sync(inside)

        def blocking() -> _Found:
            with create_engine(self._url, poolclass=NullPool, hide_parameters=True).connect() as connection:
                return inside(connection)

        try:
            return await asyncio.to_thread(blocking)
        except asyncio.CancelledError:
            over.set()
            self.is_left = True
            raise


def fault_of(error: Exception, name: str, *, is_committing: bool, is_open: bool) -> ToolFailed | None:
    """The error of a database in the words of a tool; None where it is none."""
    if isinstance(error, OSError) or (isinstance(error, InterfaceError | OperationalError) and not is_open):
        told = _told(error)
        return ToolUnavailable(f"{name} cannot be reached: {told}", reached=is_open)
    if type(error).__module__.partition(".")[0] in ("builtins", "toolpath"):
        # No driver's: a fault of our own.
        return None
    told = _told(error)
    if is_committing:
        return ToolUnavailable(f"{name} went away while it was to keep what was written: {told}")
    if "interrupted" in told or "statement timeout" in told:
        return ToolTimeout(f"{name} took too long. Nothing was written.", hint="Ask for less.")
    if any(word in told for word in ("readonly", "read-only", "not authorized", "prohibited")):
        return ToolFailed(
            f"{name} refused it: {told}", hint="database.read reads alone; what writes is database.write."
        )
    if "one statement at a time" in told or "multiple commands" in told:
        return ToolFailed(f"{name} refused it: {told}", hint="Give one statement in each call.")
    return ToolFailed(f"{name} refused it: {told}", hint="database.metadata tells of tables and columns.")


def _told(error: Exception) -> str:
    """The words of the database, without the statement and its values."""
    if isinstance(error, DBAPIError) and error.orig is not None:
        text = str(error.orig)
        _, colon, rest = text.partition(">: ")
        text = rest if colon and text.startswith("<") else text
    else:
        text = str(error.args[0]) if error.args else type(error).__name__
    return text.strip()[:500] or type(error).__name__
