"""The journal of one run in PostgreSQL: encoded at once, written by the store's writer, fenced by the epoch."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from toolpath.errors import ToolpathError
from toolpath.model.events import AnyEvent
from toolpath.model.run import ENDED_RUN
from toolpath.ports import Blob, RunChange
from toolpath.store.encoding import again, asked_at, storable, texts_of
from toolpath.store.postgres.connections import Connections
from toolpath.store.postgres.sql import Queries, bound
from toolpath.store.postgres.writer import Batch, RunRowChange, Writer

#: A value of PostgreSQL ends at 1 GB, and has to pass through its memory several times.
LARGEST_ROW = 200_000_000

#: Events of one run that a row can number.
MOST_EVENTS = 2**31 - 1


class Taken(msgspec.Struct, frozen=True):
    """A run as its driver has taken it."""

    run_id: str
    number: int
    epoch: int
    last_seq: int


class PostgresJournal:
    """The events of one run, for the driver that took it with `epoch`."""

    durable = True
    log = None

    __slots__ = (
        "_clock",
        "_connections",
        "_database_clock",
        "_failure",
        "_last",
        "_last_seq",
        "_number",
        "_run_id",
        "_sql",
        "_writer",
        "epoch",
    )

    def __init__(
        self,
        taken: Taken,
        *,
        writer: Writer,
        connections: Connections,
        sql: Queries,
        clock: Callable[[], float],
        database_clock: bool,
    ) -> None:
        self.epoch = taken.epoch
        self._run_id = taken.run_id
        self._number = taken.number
        self._last_seq = taken.last_seq
        self._writer = writer
        self._connections = connections
        self._sql = sql
        self._clock = clock
        self._database_clock = database_clock
        self._failure: ToolpathError | None = None
        self._last: asyncio.Future[None] | None = None

    def append(
        self,
        events: Sequence[AnyEvent],
        *,
        blobs: Sequence[Blob] = (),
        change: RunChange | None = None,
        awaited: bool = False,
    ) -> Awaitable[None]:
        """Queue the events for the next commit; awaiting tells that they are committed.

        Raises `StaleEpoch` or `StoreError`, here or when awaited; after that the journal refuses every append.
        """
        if self._failure is not None:
            raise again(self._failure)
        before = self._last_seq
        texts, _, digests = texts_of(self._run_id, events, before, largest=LARGEST_ROW, most=MOST_EVENTS)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._writer.put(
            Batch(
                run_id=self._run_id,
                number=self._number,
                epoch=self.epoch,
                before=before,
                texts=texts,
                row=_row(events[-1].at if events else self._clock(), change),
                uses=digests,
                blobs=blobs,
                future=future,
                failed=self._refuse_more,
            )
        )
        self._last_seq = before + len(texts)
        self._last = future
        return future

    async def release(self) -> None:
        """Say that this process drives the run no more."""
        if self._last is not None:
            await asyncio.wait([self._last])
        now = None if self._database_clock else self._clock()
        call = bound(self._sql.release_run, {"number": self._number, "epoch": self.epoch, "now": now})
        await self._connections.run(
            lambda connection: connection.execute(*call),
            patience=self._connections.address.patience,
        )

    def _refuse_more(self, error: ToolpathError) -> None:
        self._failure = error


def _row(at: float, change: RunChange | None) -> RunRowChange:
    if change is None:
        return RunRowChange(at)
    return RunRowChange(
        at,
        status=change.status,
        reason=None if change.reason is None else storable(change.reason).replace("\0", "\ufffd"),
        ended_at=change.ended_at,
        goes_on=change.status is not None and change.status not in ENDED_RUN,
        asked=None if change.asked is None else msgspec.json.encode(change.asked).decode(),
        asked_at=asked_at(change.asked),
    )
