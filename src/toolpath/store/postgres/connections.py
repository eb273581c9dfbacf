"""Connections to the database, and work on them that is tried again when the connection is lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import asyncpg

from toolpath.store.postgres.address import Address
from toolpath.store.postgres.faults import FAULTS, closed, is_passing, store_error

T = TypeVar("T")

#: Seconds for which somebody who waits for an answer is made to wait while the database is away.
ANSWER = 10.0
#: Seconds after which a connection that does not answer counts as lost.
SILENCE = 30.0


class Plain(asyncpg.Connection):
    """A connection that needs no clearing up between two pieces of work: none changes the session."""

    __slots__ = ()

    def get_reset_query(self) -> str:
        """Nothing: it would cost a round trip each time."""
        return ""


async def connect(address: Address) -> Any:
    """One connection of its own. Raises what the driver raises."""
    connection = await asyncpg.connect(address.dsn, connection_class=Plain, **_settings())
    try:
        await _prepare(connection)
    except BaseException:
        connection.terminate()
        raise
    return connection


async def _prepare(connection: Any) -> None:
    # Not with the connection's start: a pooler refuses what it does not know there, or takes no notice of it.
    await connection.execute("SET jit = off")


def _settings() -> dict[str, Any]:
    return {
        "timeout": ANSWER,
        "command_timeout": SILENCE,
        "server_settings": {"application_name": "toolpath"},
    }


def pause_before(attempt: int) -> float:
    """Seconds to wait before the attempt of this number, from 1."""
    return float(min(0.05 * 2.0 ** (attempt - 1), 2.0))


class Connections:
    """The connections for all but the journal."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._pool: Any = None

    async def open(self) -> None:
        """Connect for the first time. Raises `StoreError`."""
        try:
            self._pool = await asyncpg.create_pool(
                self.address.dsn,
                min_size=0,
                max_size=self.address.pool,
                connection_class=Plain,
                init=_prepare,
                **_settings(),
            )
        except FAULTS as error:
            raise store_error(error, self.address) from None

    async def close(self) -> None:
        """Let go of all connections; one that hangs is cut off."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        try:
            async with asyncio.timeout(ANSWER):
                await pool.close()
        except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            pool.terminate()

    async def run(
        self,
        work: Callable[[Any], Awaitable[T]],
        *,
        patience: float = ANSWER,
        timeout: float | None = None,
        within: float | None = None,
    ) -> T:
        """Do the work on a connection, again and again for `patience` seconds while the database is away.

        `timeout`: seconds that getting a connection may take; `within`: those that all of it may take, a database that
        says nothing included. Work may find that an earlier attempt, whose answer was lost, has been done. Raises
        `StoreError`.
        """
        began = time.monotonic()
        attempt = 0
        while True:
            if self._pool is None:
                raise closed(self.address)
            attempt += 1
            left = None if within is None else max(0.0, began + within - time.monotonic())
            try:
                async with self._pool.acquire(timeout=left or timeout or SILENCE) as connection:
                    try:
                        async with asyncio.timeout(left):
                            return await work(connection)
                    except (TimeoutError, asyncpg.InternalClientError):
                        # Nobody knows what state it is in.
                        connection.terminate()
                        raise
            except FAULTS as error:
                tried = time.monotonic() - began
                pause = pause_before(attempt)
                if not is_passing(error) or tried + pause > patience:
                    raise store_error(error, self.address, tried=tried) from None
            await asyncio.sleep(pause)
