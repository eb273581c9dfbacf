"""The journal of one run in SQLite: events are encoded at once, written by the store's writer, fenced by the epoch."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from toolpath.errors import ToolpathError
from toolpath.model.events import AnyEvent
from toolpath.model.run import ENDED_RUN
from toolpath.ports import Blob, RunChange
from toolpath.store.encoding import again, storable, texts_of
from toolpath.store.handles import digests_in
from toolpath.store.rows import not_its_end, taken_over
from toolpath.store.sql import Queries
from toolpath.store.waiters import Waiters
from toolpath.store.writer import HEAVY, Job, Writer

#: SQLite refuses larger rows, and would refuse the whole group for it.
LARGEST_ROW = 900_000_000

#: Events of one run that a file can number.
MOST_EVENTS = 2**32 - 1

Row = tuple[int, bytes]


class Taken(msgspec.Struct, frozen=True):
    """A run as its driver has taken it."""

    run_id: str
    number: int
    """The run's number in its file."""
    epoch: int
    last_seq: int


class SqliteJournal:
    """The events of one run, for the driver that took it with `epoch`."""

    durable = True

    __slots__ = (
        "_clock",
        "_failure",
        "_heard",
        "_last_seq",
        "_number",
        "_run_id",
        "_sql",
        "_waiters",
        "_writer",
        "epoch",
    )

    def __init__(
        self,
        taken: Taken,
        *,
        writer: Writer,
        waiters: Waiters,
        sql: Queries,
        clock: Callable[[], float],
    ) -> None:
        self.epoch = taken.epoch
        self._run_id = taken.run_id
        self._number = taken.number
        self._last_seq = taken.last_seq
        self._writer = writer
        self._waiters = waiters
        self._sql = sql
        self._clock = clock
        self._failure: ToolpathError | None = None
        self._heard = 0
        """Id of the latest signal that the driver was told of by an append."""

    def append(
        self, events: Sequence[AnyEvent], *, blobs: Sequence[Blob] = (), change: RunChange | None = None
    ) -> Awaitable[None]:
        """Queue the events for the next commit; awaiting tells that they are committed.

        Raises `StaleEpoch` or `StoreError`, here or when awaited; after that the journal refuses every append.
        """
        if self._failure is not None:
            raise again(self._failure)
        before = self._last_seq
        rows, uses = self._encode(events, before)
        at = events[-1].at if events else self._clock()
        kept = [(blob.digest, blob.data) for blob in blobs]
        work = self._work(before, rows, uses, kept, self._fence(before, before + len(rows), at, change))
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        size = sum(len(data) for _, data in rows) + sum(len(data) for _, data in kept)
        self._writer.put(
            Job(
                work,
                future,
                guarded=bool(kept),
                heavy=size > HEAVY,
                wakes=self._run_id if rows else "",
                failed=self._refuse_more,
            )
        )
        self._last_seq = before + len(rows)
        return future

    def release(self) -> Awaitable[None]:
        """Say that this process drives the run no more."""
        values = {"number": self._number, "epoch": self.epoch, "now": self._clock()}
        statement = self._sql.release_run

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(statement, values)

        return self._writer.put(Job(work, asyncio.get_running_loop().create_future()))

    def _refuse_more(self, error: ToolpathError) -> None:
        self._failure = error

    def _encode(self, events: Sequence[AnyEvent], before: int) -> tuple[list[Row], list[tuple[str, str]]]:
        offset = (self._number << 32) + before + 1
        texts = texts_of(self._run_id, events, before, largest=LARGEST_ROW, most=MOST_EVENTS)
        uses = [(digest, self._run_id) for data in texts for digest in sorted(digests_in(data))]
        return list(enumerate(texts, offset)), uses

    def _fence(self, before: int, last: int, at: float, change: RunChange | None) -> tuple[str, dict[str, Any]]:
        values: dict[str, Any] = {
            "number": self._number,
            "epoch": self.epoch,
            "before": before,
            "last": last,
            "at": at,
        }
        if change is None:
            return self._sql.fence, values
        values["status"] = change.status
        values["reason"] = None if change.reason is None else storable(change.reason)
        values["ended_at"] = change.ended_at
        values["goes_on"] = change.status is not None and change.status not in ENDED_RUN
        return self._sql.fence_and_change, values

    def _work(
        self,
        before: int,
        rows: Sequence[Row],
        uses: Sequence[tuple[str, str]],
        blobs: Sequence[tuple[str, bytes]],
        fence: tuple[str, dict[str, Any]],
    ) -> Callable[[sqlite3.Connection], None]:
        def work(connection: sqlite3.Connection) -> None:
            if self._failure is not None:
                raise again(self._failure)
            if connection.execute(*fence).rowcount == 0:
                raise self._refused(connection, before)
            if blobs:
                connection.executemany(self._sql.insert_blob, blobs)
            if uses:
                connection.executemany(self._sql.insert_blob_use, uses)
            connection.executemany(self._sql.insert_event, rows)
            if self._waiters.watches(self._run_id):
                self._listen(connection)

        return work

    def _listen(self, connection: sqlite3.Connection) -> None:
        """Tell the driver of signals that other processes put: each commit looks, so that nobody has to poll fast."""
        (latest,) = connection.execute(self._sql.select_latest_signal, {"run_id": self._run_id}).fetchone()
        if latest > self._heard:
            self._heard = latest
            self._waiters.signal(self._run_id)

    def _refused(self, connection: sqlite3.Connection, before: int) -> ToolpathError:
        row = connection.execute(self._sql.select_fence, {"number": self._number}).fetchone()
        if row is None or row["epoch"] != self.epoch:
            return taken_over(self._run_id, self.epoch)
        return not_its_end(self._run_id, row["last_seq"], before)
