"""One database that is open: its connections, its clock, and the way of work to them. No statement of the store."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import asyncpg
import msgspec

from toolpath.errors import StoreError
from toolpath.ports import most_patience
from toolpath.store.postgres.address import read_address
from toolpath.store.postgres.connections import ANSWER, Connections, connect
from toolpath.store.postgres.faults import FAULTS, closed, store_error
from toolpath.store.postgres.listener import Listener
from toolpath.store.postgres.migrate import load_migrations, migrate
from toolpath.store.postgres.sign_of_life import Presence
from toolpath.store.postgres.sql import bound, load_queries
from toolpath.store.postgres.teller import Teller
from toolpath.store.postgres.writer import Writer
from toolpath.store.sharing import Shared
from toolpath.store.waiters import Waiters

T = TypeVar("T")

_encoder = msgspec.json.Encoder()


class PostgresGround:
    """The database at `url`, of which this store has one schema."""

    def __init__(self, url: str, *, clock: Callable[[], float] = time.time, database_clock: bool = True) -> None:
        self._address = read_address(url)
        self._clock = clock
        self._database_clock = database_clock
        self._ahead = 0.0
        """Seconds by which the database's clock is ahead of this process's."""
        self._forgotten_at = 0.0
        """When drivers long gone were last forgotten."""
        self._sql = load_queries(self._address.schema)
        self._waiters = Waiters()
        self._shared = Shared()
        self._channel = f"toolpath_{self._address.schema}"
        self._connections = Connections(self._address)
        self._writer: Writer | None = None
        self._listener: Listener | None = None
        self._presence: Presence | None = None
        self._teller: Teller | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._address.shown!r})"

    @property
    def commits(self) -> int:
        """Transactions with events that this store has committed since it was opened."""
        return self._writer.commits if self._writer is not None else 0

    async def open(self) -> None:
        """Make the schema or bring it to that of this code. Raises `StoreError`, saying what to do."""
        if self._writer is not None:
            return
        await self._migrate()
        teller = Teller(self._address, self._sql, self._channel)
        writer = Writer(self._address, self._sql, self._waiters, teller)
        listener = Listener(self._address, self._waiters, self._channel, own=lambda: teller.pid)
        try:
            await self._connections.open()
            await writer.open()
            await listener.open()
            self._writer, self._listener, self._teller = writer, listener, teller
            self._presence = Presence(self._address, self._sql)
            await self._compare_clocks()
        except BaseException:
            self._writer = self._listener = self._presence = None
            await listener.close()
            await writer.stop(0)
            await self._connections.close()
            raise

    async def _migrate(self) -> None:
        try:
            connection = await connect(self._address)
            try:
                await migrate(connection, load_migrations(), self._address)
            finally:
                await connection.close()
        except asyncpg.LockNotAvailableError:
            raise StoreError(
                f"The store {self._address.shown} has to be brought to a newer schema, but its tables are in use.",
                hint="Try again in a moment; find out who holds a long transaction if it stays so.",
            ) from None
        except FAULTS as error:
            raise store_error(error, self._address) from None

    async def close(self) -> None:
        """Commit what was accepted and disconnect. Every later use raises `StoreError`."""
        writer, self._writer = self._writer, None
        listener, self._listener = self._listener, None
        presence, self._presence = self._presence, None
        if writer is None or listener is None:
            return
        if presence is not None:
            presence.close()
        await writer.stop(ANSWER)
        if self._teller is not None:
            await self._teller.close()
        await listener.close()
        await self._connections.close()
        self._waiters.wake_all()

    async def _compare_clocks(self) -> float:
        """Find out how far ahead the database's clock is; gives since when the server runs, by that clock."""
        row = await self._row(self._sql.select_times, {})
        if not self._database_clock:
            return 0.0
        self._ahead = row["now"] - self._clock()
        return float(row["begun"])

    def _now(self) -> float | None:
        """The time for a statement; None: the database's own."""
        return None if self._database_clock else self._clock()

    def _open_writer(self) -> Writer:
        if self._writer is None:
            raise closed(self._address)
        return self._writer

    def _open_presence(self) -> Presence:
        if self._presence is None:
            raise closed(self._address)
        return self._presence

    async def _run(
        self, work: Callable[[Any], Awaitable[T]], *, patient: bool = False, timeout: float | None = None
    ) -> T:
        """Do the work on a connection; `patient`: a drive would end if it failed."""
        self._open_writer()
        patience = self._address.patience if patient else min(ANSWER, self._address.patience)
        most = most_patience()
        if most is None:
            return await self._connections.run(work, patience=patience, timeout=timeout)
        return await self._connections.run(work, patience=min(patience, most), timeout=timeout, within=most)

    async def _rows(self, statement: str, values: Mapping[str, Any], *, patient: bool = False) -> list[Any]:
        call = bound(statement, values)
        return await self._run(lambda connection: connection.fetch(*call), patient=patient)

    async def _row(self, statement: str, values: Mapping[str, Any], *, patient: bool = False) -> Any:
        call = bound(statement, values)
        return await self._run(lambda connection: connection.fetchrow(*call), patient=patient)

    async def _value(self, statement: str, values: Mapping[str, Any], *, patient: bool = False) -> Any:
        call = bound(statement, values)
        return await self._run(lambda connection: connection.fetchval(*call), patient=patient)


def encoded(value: Any, what: str) -> bytes:
    """The value as JSON text. Raises `StoreError`, naming it as `what`."""
    try:
        return _encoder.encode(value)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise StoreError(f"{what} cannot be stored: {error}.", hint="Give plain JSON values.") from error
