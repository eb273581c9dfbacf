"""Writer of journals: all appends that come while a commit runs go into the next one, in one round trip.

One connection writes. When it is lost, the same group is written again on a new one for as long as patience lasts; an
append whose answer was lost is then known by the number of its last event, since only its own driver can have
written that.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import asyncpg
import msgspec

from toolpath.errors import ToolpathError
from toolpath.ports import Blob
from toolpath.store.encoding import again
from toolpath.store.postgres.address import Address
from toolpath.store.postgres.connections import connect, pause_before
from toolpath.store.postgres.faults import FAULTS, closed, is_passing, store_error
from toolpath.store.postgres.sql import Queries, bound
from toolpath.store.postgres.teller import Teller
from toolpath.store.rows import not_its_end, taken_over
from toolpath.store.waiters import Waiters, resolve

LOST = (OSError, TimeoutError, EOFError, asyncpg.InterfaceError, asyncpg.InternalClientError)

#: Appends of so many runs go into one statement, and about so many bytes.
LARGEST_GROUP = 500
LARGEST_SIZE = 16_000_000


class RunRowChange(msgspec.Struct, frozen=True):
    """Row of a run, as an append leaves it."""

    at: float
    status: str | None = None
    reason: str | None = None
    ended_at: float | None = None
    goes_on: bool = False
    asked: str | None = None
    """The open questions as JSON, where they have changed."""
    asked_at: float | None = None

    def then(self, later: RunRowChange) -> RunRowChange:
        """Both, one after the other."""
        ended_at = self.ended_at if later.ended_at is None else later.ended_at
        return RunRowChange(
            at=later.at,
            status=self.status if later.status is None else later.status,
            reason=self.reason if later.reason is None else later.reason,
            ended_at=None if later.goes_on else ended_at,
            goes_on=later.goes_on or (self.goes_on and later.ended_at is None),
            asked=self.asked if later.asked is None else later.asked,
            asked_at=self.asked_at if later.asked is None else later.asked_at,
        )


class Batch:
    """Appends of one driver to one run, each following the one before: kept together or not at all."""

    __slots__ = ("before", "blobs", "epoch", "failed", "futures", "number", "row", "run_id", "size", "texts", "uses")

    def __init__(  # noqa: PLR0913  # a record
        self,
        *,
        run_id: str,
        number: int,
        epoch: int,
        before: int,
        texts: list[bytes],
        row: RunRowChange,
        uses: list[str],
        blobs: Sequence[Blob],
        future: asyncio.Future[None],
        failed: Callable[[ToolpathError], None],
    ) -> None:
        self.run_id = run_id
        self.number = number
        self.epoch = epoch
        self.before = before
        self.texts = texts
        self.row = row
        self.uses = uses
        self.blobs = list(blobs)
        self.futures = [future]
        self.failed = failed
        """Tells the journal, which takes no further append."""
        self.size = sum(map(len, texts)) + sum(len(blob.data) for blob in blobs)

    @property
    def last(self) -> int:
        """The number of its last event."""
        return self.before + len(self.texts)

    def take_in(self, later: Batch) -> None:
        """Add the same driver's next append."""
        self.texts += later.texts
        self.row = self.row.then(later.row)
        self.uses += later.uses
        self.blobs += later.blobs
        self.futures += later.futures
        self.size += later.size

    def fail(self, error: ToolpathError) -> None:
        """Tell that nothing of it was kept."""
        self.failed(error)
        for future in self.futures:
            if not future.done():
                future.set_exception(again(error))


class Writer:
    """The one connection that writes journals."""

    def __init__(self, address: Address, sql: Queries, waiters: Waiters, teller: Teller) -> None:
        self._address = address
        self._sql = sql
        self._waiters = waiters
        self._teller = teller
        self._waiting: dict[tuple[int, int], Batch] = {}
        self._woken = asyncio.Event()
        self._stopping = False
        self._patience = address.patience
        self._connection: Any = None
        self._task: asyncio.Task[None] | None = None
        self.commits = 0
        """Transactions committed so far."""

    @property
    def pid(self) -> int:
        """The server's number of the connection; 0: none."""
        connection = self._connection
        return 0 if connection is None or connection.is_closed() else int(connection.get_server_pid())

    async def open(self) -> None:
        """Connect for the first time. Raises `StoreError`."""
        try:
            self._connection = await connect(self._address)
        except FAULTS as error:
            raise store_error(error, self._address) from None
        self._task = asyncio.create_task(self._run(), name="toolpath-store-writer")

    async def stop(self, within: float) -> None:
        """Commit what is there, as long as it takes no more than so many seconds, and disconnect."""
        self._stopping = True
        self._patience = min(self._patience, within)
        self._woken.set()
        if self._task is not None:
            await self._task
        self._disconnect()

    def put(self, batch: Batch) -> None:
        """Take the append; its future tells when it is committed. Raises `StoreError` when the store is closed."""
        if self._stopping:
            raise closed(self._address)
        key = batch.number, batch.epoch
        before = self._waiting.get(key)
        if before is None:
            self._waiting[key] = batch
        else:
            before.take_in(batch)
        self._woken.set()

    async def _run(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._waiting:
                await self._commit(self._next_group())
            if self._stopping:
                return

    def _next_group(self) -> list[Batch]:
        group: list[Batch] = []
        size = 0
        for batch in self._waiting.values():
            size += batch.size
            if group and (size > LARGEST_SIZE or len(group) == LARGEST_GROUP):
                break
            group.append(batch)
        for batch in group:
            del self._waiting[batch.number, batch.epoch]
        return group

    async def _commit(self, group: list[Batch], *, repeated: bool = False) -> None:
        """Write the group; when the connection is lost, again."""
        began = time.monotonic()
        attempt = 0
        while True:
            attempt += 1
            try:
                refused = await self._write(group, repeated=repeated or attempt > 1)
            except Exception as error:  # noqa: BLE001  # each awaiter is told of any failure
                tried = time.monotonic() - began
                if not is_passing(error) and len(group) > 1:
                    # Something is wrong with one of them: the others must not suffer for it.
                    for batch in group:
                        await self._commit([batch], repeated=repeated or attempt > 1)
                    return
                self._give_up_connection(error)
                pause = pause_before(attempt)
                if is_passing(error) and tried + pause <= self._patience:
                    await asyncio.sleep(pause)
                    continue
                failure = store_error(error, self._address, tried=tried)
                self._settle(group, dict.fromkeys(range(len(group)), failure))
                return
            self._settle(group, refused)
            return

    async def _write(self, group: Sequence[Batch], *, repeated: bool) -> dict[int, ToolpathError]:
        """Write what its fence lets through; gives what is to be said of the others, by place in the group."""
        connection = self._connection
        if connection is None or connection.is_closed():
            connection = self._connection = await connect(self._address)
        rows = await connection.fetch(*bound(self._sql.append, _columns(group)))
        self.commits += 1
        kept = {row["job"] for row in rows}
        refused: dict[int, ToolpathError] = {}
        for job, batch in enumerate(group):
            if job in kept:
                continue
            fence = await connection.fetchrow(*bound(self._sql.select_fence, {"number": batch.number}))
            if fence is None or fence["epoch"] != batch.epoch:
                refused[job] = taken_over(batch.run_id, batch.epoch)
            elif not repeated or not batch.texts or fence["last_seq"] != batch.last:
                refused[job] = not_its_end(batch.run_id, fence["last_seq"], batch.before)
        return refused

    def _settle(self, group: Sequence[Batch], refused: dict[int, ToolpathError]) -> None:
        for job, batch in enumerate(group):
            if job in refused:
                batch.fail(refused[job])
                continue
            resolve(batch.futures)
            if batch.texts:
                self._teller.tell(batch.run_id)
                resolve(self._waiters.take(batch.run_id))

    def _give_up_connection(self, error: Exception) -> None:
        connection = self._connection
        if connection is None:
            return
        if connection.is_closed() or isinstance(error, LOST):
            self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(OSError, asyncpg.InterfaceError):
                connection.terminate()


def _columns(group: Sequence[Batch]) -> dict[str, Any]:
    """The group as one array a column."""
    rows = [batch.row for batch in group]
    events = [
        (job, seq, text) for job, batch in enumerate(group) for seq, text in enumerate(batch.texts, batch.before + 1)
    ]
    uses = [(job, digest) for job, batch in enumerate(group) for digest in batch.uses]
    blobs = [(job, blob) for job, batch in enumerate(group) for blob in batch.blobs]
    return {
        "jobs": list(range(len(group))),
        "numbers": [batch.number for batch in group],
        "epochs": [batch.epoch for batch in group],
        "befores": [batch.before for batch in group],
        "lasts": [batch.last for batch in group],
        "ats": [row.at for row in rows],
        "statuses": [row.status for row in rows],
        "reasons": [row.reason for row in rows],
        "ends": [row.ended_at for row in rows],
        "going": [row.goes_on for row in rows],
        "askeds": [row.asked for row in rows],
        "asked_ats": [row.asked_at for row in rows],
        "event_jobs": [job for job, _, _ in events],
        "seqs": [seq for _, seq, _ in events],
        "datas": [text for _, _, text in events],
        "use_jobs": [job for job, _ in uses],
        "use_digests": [digest for _, digest in uses],
        "blob_jobs": [job for job, _ in blobs],
        "blob_digests": [blob.digest for _, blob in blobs],
        "blob_datas": [blob.data for _, blob in blobs],
    }
