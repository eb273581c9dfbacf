"""The journal of one run in SQLite: events are encoded at once, written by the store's writer, fenced by the epoch."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from toolpath.errors import ToolpathError
from toolpath.model.events import AnyEvent
from toolpath.ports import Blob, RunChange
from toolpath.store.encoding import again, row_values, texts_of
from toolpath.store.rows import not_its_end, taken_over
from toolpath.store.sqlite.sql import Queries
from toolpath.store.sqlite.writer import HEARD, HEAVY, Heard, Job, Writer
from toolpath.store.waiters import Waiters, resolve

#: SQLite refuses larger rows, and would refuse the whole group for it.
LARGEST_ROW = 900_000_000

#: Bytes of an append beyond which its values are written one by one, before its events.
LARGE = 1_000_000

#: Events of one run that a file can number.
MOST_EVENTS = 2**32 - 1

#: Id, time and text of an event. As bytes the driver of the file would ask for each whether it is to be adapted, which
#: takes half as long as to write it.
Row = tuple[int, float, bytearray]


class Taken(msgspec.Struct, frozen=True):
    """A run as its driver has taken it."""

    run_id: str
    number: int
    """The run's number in its file."""
    epoch: int
    last_seq: int


class SqliteJournal:
    """The events of one run, for the driver that took it with `epoch`, in the loop in which it did."""

    durable = True
    log = None

    __slots__ = (
        "_clock",
        "_failure",
        "_first_id",
        "_has_heard",
        "_heard",
        "_last_seq",
        "_loop",
        "_next_run",
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
        # Ids of the run's events lie between these.
        self._first_id = taken.number << 32
        self._next_run = (taken.number + 1) << 32
        self._last_seq = taken.last_seq
        self._writer = writer
        self._waiters = waiters
        self._sql = sql
        self._clock = clock
        # Asked for once: each time is a call of the system.
        self._loop = asyncio.get_running_loop()
        self._failure: ToolpathError | None = None
        self._heard = 0
        """Id of the latest signal that the driver was told of by an append."""
        self._has_heard = False
        """The last append that was committed where it stood has told the driver of one."""

    def append(
        self,
        events: Sequence[AnyEvent],
        *,
        blobs: Sequence[Blob] = (),
        change: RunChange | None = None,
        awaited: bool = False,
    ) -> Awaitable[None] | None:
        """Queue the events for the next commit; awaiting tells that they are committed. None: they are.

        Raises `StaleEpoch` or `StoreError`, here or when awaited; after that the journal refuses every append.
        """
        if self._failure is not None:
            raise again(self._failure)
        before = self._last_seq
        texts, size, digests = texts_of(self._run_id, events, before, largest=LARGEST_ROW, most=MOST_EVENTS)
        first = self._first_id
        rows = [(first + event.seq, event.at, bytearray(data)) for event, data in zip(events, texts, strict=True)]
        uses = [(digest, self._run_id) for digest in digests] if digests else ()
        at = events[-1].at if events else self._clock()
        kept: Sequence[tuple[str, bytes]] = ()
        if blobs:
            kept = [(blob.digest, blob.data) for blob in blobs]
            size += sum([len(data) for _, data in kept])
        if size > LARGE:
            # Others write in between; the run's name is on each, so that they go with it whatever comes of the events.
            for value in kept:
                self._put(
                    self._work(before, [], [(value[0], self._run_id)], [value], None), heavy=len(value[1]) > HEAVY
                )
            kept = ()
        work = self._work(before, rows, uses, kept, None if change is None else self._change(change, at))
        future: Awaitable[None] | None = None
        is_alone = awaited and self._writer.alone == self._run_id and size <= HEAVY
        if not (is_alone and self._committed_alone(work)):
            wakes = self._run_id if rows else ""
            future = self._put(work, guarded=bool(kept), heavy=size > HEAVY, wakes=wakes)
        elif self._has_heard:
            future = self._next_turn()
        self._last_seq = before + len(rows)
        return future

    def _committed_alone(self, work: Callable[[sqlite3.Connection], Heard | None]) -> bool:
        """Whether the work is done and committed, since nobody else writes; false: it has to be put."""
        try:
            done = self._writer.commit_alone(self._run_id, work)
        except ToolpathError as error:
            self._failure = error
            raise again(error) from error
        self._has_heard = done is HEARD
        return done is not False

    def _next_turn(self) -> asyncio.Future[None]:
        """Done in the next turn of the loop: who was woken hears what was said before a call is made."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._loop.call_soon(resolve, (future,))
        return future

    def _put(
        self,
        work: Callable[[sqlite3.Connection], Heard | None],
        *,
        guarded: bool = True,
        heavy: bool,
        wakes: str = "",
    ) -> asyncio.Future[None]:
        future: asyncio.Future[None] = self._loop.create_future()
        job = Job(
            work,
            future,
            guarded=guarded,
            heavy=heavy,
            line=self._run_id,
            wakes=wakes,
            failed=self._refuse_more,
        )
        self._writer.put(job)
        return future

    def release(self) -> Awaitable[None]:
        """Say that this process drives the run no more."""
        values = {"number": self._number, "epoch": self.epoch, "now": self._clock()}
        statement = self._sql.release_run

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(statement, values)

        return self._writer.put(Job(work, self._loop.create_future(), guarded=False, line=self._run_id))

    def _refuse_more(self, error: ToolpathError) -> None:
        self._failure = error

    def _change(self, change: RunChange, at: float) -> dict[str, Any]:
        return {"number": self._number, "at": at, **row_values(change)}

    def _work(
        self,
        before: int,
        rows: Sequence[Row],
        uses: Sequence[tuple[str, str]],
        blobs: Sequence[tuple[str, bytes]],
        change: dict[str, Any] | None,
    ) -> Callable[[sqlite3.Connection], Heard | None]:
        def work(connection: sqlite3.Connection) -> Heard | None:
            if self._failure is not None:
                raise again(self._failure)
            latest_signal = self._pass_fence(connection, before)
            if blobs:
                connection.executemany(self._sql.insert_blob, blobs)
            if uses:
                connection.executemany(self._sql.insert_blob_use, uses)
            connection.executemany(self._sql.insert_event, rows)
            if change is not None:
                connection.execute(self._sql.change_run, change)
            if latest_signal > self._heard and self._waiters.watches(self._run_id):
                # Each commit looks for what other processes put, so that nobody has to poll fast.
                self._heard = latest_signal
                self._waiters.signal(self._run_id)
                return HEARD
            return None

        return work

    def _pass_fence(self, connection: sqlite3.Connection, before: int) -> int:
        """The id of the latest signal for the run, 0 for none. Raises where this journal may not append.

        What is read here stays true until the commit: nobody else writes to the file meanwhile.
        """
        row = connection.execute(self._sql.fence, (self._next_run, self._number)).fetchone()
        if row is None or row[0] != self.epoch:
            raise taken_over(self._run_id, self.epoch)
        # The last event of another run says that this one has none.
        last = max(0, (row[1] or 0) - self._first_id)
        if last != before:
            raise not_its_end(self._run_id, last, before)
        return row[2] or 0
