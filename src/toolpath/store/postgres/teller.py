"""Notifier of other processes after a commit: which runs have grown, one message for all that came meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import asyncpg

from toolpath.store.postgres.address import Address
from toolpath.store.postgres.connections import ANSWER, connect, pause_before
from toolpath.store.postgres.faults import FAULTS
from toolpath.store.postgres.sql import Queries, bound


class Teller:
    """A connection that notifies. What a process that dies has not told, readers find by themselves a while later."""

    def __init__(self, address: Address, sql: Queries, channel: str) -> None:
        self._address = address
        self._sql = sql
        self._channel = channel
        self._grown: dict[str, None] = {}
        """Runs that have grown and of which nobody was told yet."""
        self._connection: Any = None
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def pid(self) -> int:
        """The server's number of the connection; 0: none."""
        connection = self._connection
        return 0 if connection is None or connection.is_closed() else int(connection.get_server_pid())

    def tell(self, run_id: str) -> None:
        """Have others told that the run has grown."""
        if self._closed:
            return
        self._grown[run_id] = None
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="toolpath-store-teller")

    async def close(self) -> None:
        """Tell what is left, as long as it takes no more than a moment, and disconnect."""
        self._closed = True
        task = self._task
        if task is not None:
            await asyncio.wait({task}, timeout=min(ANSWER, self._address.patience))
            task.cancel()
            await asyncio.wait({task})
        self._disconnect()

    async def _run(self) -> None:
        attempt = 0
        try:
            while self._grown:
                grown = list(self._grown)
                self._grown = {}
                try:
                    await self._send(grown)
                    attempt = 0
                except FAULTS:
                    attempt += 1
                    self._grown = dict.fromkeys([*grown, *self._grown])
                    self._disconnect()
                    await asyncio.sleep(pause_before(attempt))
        finally:
            self._task = None

    async def _send(self, run_ids: list[str]) -> None:
        if self._connection is None or self._connection.is_closed():
            self._connection = await connect(self._address)
        await self._connection.fetchrow(*bound(self._sql.tell, {"channel": self._channel, "run_ids": run_ids}))

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(OSError, asyncpg.InterfaceError):
                connection.terminate()
