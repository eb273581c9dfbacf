"""A process's word that it lives: one connection that nothing else uses, and a lock that goes with it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import asyncpg

from toolpath.store.postgres.address import Address
from toolpath.store.postgres.connections import connect
from toolpath.store.postgres.faults import FAULTS, store_error
from toolpath.store.postgres.sql import Queries, bound

T = TypeVar("T")

#: Seconds that one word may take. Each is tried once: the next one follows soon.
MOST = 5.0


class Presence:
    """Says that this process lives, and sees who else does.

    Neither waits behind the work of the runs. Others see when the connection is gone, and so when the process is,
    before they miss its word.
    """

    def __init__(self, address: Address, sql: Queries) -> None:
        self._address = address
        self._sql = sql
        self._connection: Any = None
        self._held = ""
        """The driver whose lock the connection holds."""
        self._one_at_a_time = asyncio.Lock()
        self._closed = False

    async def beat(self, driver: str, now: float | None) -> float:
        """Say that the driver lives; gives when that was, by the database's clock. Raises `StoreError`."""

        async def work(connection: Any) -> float:
            if self._held != driver:
                await connection.execute(*bound(self._sql.hold_presence, {"driver": driver}))
                self._held = driver
            return float(await connection.fetchval(*bound(self._sql.beat, {"driver": driver, "now": now})))

        return await self._do(work)

    async def fetch(self, statement: str) -> list[Any]:
        """The rows of a statement without values. Raises `StoreError`."""
        return await self._do(lambda connection: connection.fetch(statement))

    def close(self) -> None:
        """Let go of the connection."""
        self._closed = True
        self._disconnect()

    async def _do(self, work: Callable[[Any], Awaitable[T]]) -> T:
        async with self._one_at_a_time:
            try:
                async with asyncio.timeout(MOST):
                    if self._connection is None or self._connection.is_closed():
                        self._disconnect()
                        self._connection = await connect(self._address)
                    return await work(self._connection)
            except FAULTS as error:
                self._disconnect()
                raise store_error(error, self._address) from None
            except asyncio.CancelledError:
                # Nobody knows what state it is in.
                self._disconnect()
                raise
            finally:
                if self._closed:
                    self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        self._held = ""
        if connection is not None:
            with contextlib.suppress(OSError, asyncpg.InterfaceError):
                connection.terminate()
