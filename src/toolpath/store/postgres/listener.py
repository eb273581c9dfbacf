"""Listener for what other processes do to the runs of the database, on one connection: it wakes who waits here."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any

import asyncpg

from toolpath.errors import StoreError
from toolpath.store.postgres.address import Address
from toolpath.store.postgres.connections import connect, pause_before
from toolpath.store.postgres.faults import FAULTS, store_error
from toolpath.store.waiters import Waiters

_WHO = "SELECT pg_backend_pid()"
#: Seconds of silence after which the connection is asked whether it still lives.
QUIET = 15.0


class Listener:
    """Turns notifications into wakes; after a loss of the connection everybody is woken once."""

    def __init__(self, address: Address, waiters: Waiters, channel: str, own: Callable[[], int]) -> None:
        self._address = address
        self._waiters = waiters
        self._channel = channel
        self._own = own
        """The server's number of the connection whose appends have woken this process already."""
        self._connection: Any = None
        self._lost = asyncio.Event()
        self.regained_at = 0.0
        """When the connection was last made anew, by `time.time`; 0: it has held so far."""
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Listen from now on. Raises `StoreError`."""
        try:
            await self._listen()
            stays = await self._stays()
        except FAULTS as error:
            raise store_error(error, self._address) from None
        if not stays:
            raise StoreError(
                f"A pooler between this process and {self._address.shown} shares sessions among transactions.",
                hint="Set pool_mode = session for this database (PgBouncer), or name the server itself.",
            )
        self._task = asyncio.create_task(self._stay(), name="toolpath-store-listener")

    async def close(self) -> None:
        """Hear no more."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        self._disconnect()

    async def _listen(self) -> None:
        self._lost.clear()
        connection = await connect(self._address)
        connection.add_termination_listener(self._terminated)
        self._connection = connection
        await connection.add_listener(self._channel, self._heard)

    async def _stays(self) -> bool:
        """Whether the connection is one session of the server, and not given another one for each transaction."""
        other = await connect(self._address)
        try:
            async with other.transaction():
                # It may hold the session that this one had.
                await other.fetchval(_WHO)
                first = await self._connection.fetchval(_WHO)
                async with self._connection.transaction():
                    return bool(first == await self._connection.fetchval(_WHO)) and await self._hears()
        finally:
            await other.close()

    async def _hears(self) -> bool:
        return self._channel in {row[0] for row in await self._connection.fetch("SELECT pg_listening_channels()")}

    def _heard(self, _connection: Any, pid: int, _channel: str, payload: str) -> None:
        run_id = payload[1:]
        if payload[:1] == "s":
            self._waiters.signal(run_id)
        elif pid != self._own():
            self._waiters.wake(run_id)

    def _terminated(self, connection: Any) -> None:
        if connection is self._connection:
            self._lost.set()

    async def _stay(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(QUIET):
                    await self._lost.wait()
            if not self._lost.is_set() and await self._lives():
                # What a process had no time to tell before it died, nobody else will.
                self._waiters.wake_all()
                continue
            self._disconnect()
            await self._reconnect()

    async def _lives(self) -> bool:
        try:
            await self._connection.fetchval("SELECT 1", timeout=QUIET)
        except FAULTS:
            return False
        return True

    async def _reconnect(self) -> None:
        attempt = 0
        while True:
            attempt += 1
            try:
                await self._listen()
            except FAULTS:
                self._disconnect()
                await asyncio.sleep(pause_before(attempt))
            else:
                break
        self.regained_at = time.time()
        # Notifications of the time between are lost.
        self._waiters.wake_all()
        self._waiters.signal_all()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(OSError, asyncpg.InterfaceError):
                connection.terminate()
