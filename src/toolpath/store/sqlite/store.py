"""The store in one SQLite file, shared by threads, event loops and processes. Its SQL is in `queries.sql`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from toolpath.errors import StoreError
from toolpath.model.events import AnyEvent, decode_event, encode_event
from toolpath.model.record import AuditEntry
from toolpath.model.run import Beat, RunInfo, RunTimes
from toolpath.ports import RunChange, Signal
from toolpath.store.encoding import row_values
from toolpath.store.handles import digests_in
from toolpath.store.rows import begun, between, given, no_blob, no_run, page_bound, run_exists, taken_over
from toolpath.store.sqlite.file import encoded
from toolpath.store.sqlite.journal import SqliteJournal, Taken
from toolpath.store.sqlite.records import SqliteRecords
from toolpath.store.sqlite.results import SqliteResults
from toolpath.store.sqlite.sql import filtered
from toolpath.store.sqlite.waiting_runs import SqliteWaitingRuns
from toolpath.store.sqlite.writer import HEAVY

#: A driver unseen for this many seconds is forgotten.
FORGOTTEN = 86_400.0

#: Runs whose rows are deleted in one transaction.
TOGETHER = 50
#: Events that are read in one go, and about how many bytes of them.
PAGE = 500
PAGE_BYTES = 500_000
#: Events that are deleted in one transaction.
SLICE = 2_000

_signal_decoder = msgspec.json.Decoder(Signal)


class SqliteStore(SqliteResults, SqliteRecords, SqliteWaitingRuns):
    """Runs and all that is theirs, records and the audit trail in one file.

    `path`: the file; `:memory:` keeps all in this process. `synchronous`: NORMAL survives the death of the process,
    FULL the loss of power. `busy_timeout`: seconds to wait for another process. `max_size`: bytes that the file may
    have. `clock` gives Unix time in seconds.
    """

    hears_others = False

    async def create_run(self, info: RunInfo) -> RunInfo:
        """Store the run, or return the one that has the same idempotency key and tenant."""
        values = msgspec.structs.asdict(msgspec.structs.replace(info, last_seq=0))

        def work(connection: sqlite3.Connection) -> RunInfo:
            if connection.execute(self._sql.insert_run, values).rowcount == 0:
                same = connection.execute(self._sql.select_run_by_key, values).fetchone()
                if same is None:
                    raise run_exists(info.run_id)
                return _info(same)
            return _info(connection.execute(self._sql.select_run, values).fetchone())

        return await self._write(work)

    async def begin_run(
        self, info: RunInfo, driver: str, events: Sequence[AnyEvent], *, asked: Sequence[AuditEntry] = ()
    ) -> tuple[RunInfo, SqliteJournal | None]:
        """Store the run, take it unless `driver` is empty, keep its first events and who asked for it: in one."""
        entries = self._stamped(asked)
        texts = [encode_event(event) for event in events]
        fresh = begun(info, driver, events, self._clock())
        values = msgspec.structs.asdict(fresh)

        def work(connection: sqlite3.Connection) -> tuple[RunInfo, Taken | None]:
            inserted = connection.execute(self._sql.insert_run, values)
            if inserted.rowcount == 0:
                same = connection.execute(self._sql.select_run_by_key, values).fetchone()
                if same is None:
                    raise run_exists(info.run_id)
                return _info(same), None
            number = inserted.lastrowid
            assert number is not None
            if entries:
                self._link(connection, entries)
            rows = [((number << 32) + event.seq, event.at, data) for event, data in zip(events, texts, strict=True)]
            connection.executemany(self._sql.insert_event, rows)
            if not driver:
                connection.execute(self._sql.enqueue_run, values)
            uses = {(digest, info.run_id) for data in texts for digest in digests_in(data)}
            if uses:
                connection.executemany(self._sql.insert_blob_use, sorted(uses))
            return fresh, Taken(info.run_id, number, fresh.epoch, len(texts)) if driver else None

        stored, taken = await self._write(work, heavy=sum(map(len, texts)) > HEAVY, line=info.run_id)
        return stored, None if taken is None else self._journal(taken)

    def _journal(self, taken: Taken) -> SqliteJournal:
        return SqliteJournal(
            taken,
            writer=self._open_writer(),
            waiters=self._waiters,
            sql=self._sql,
            clock=self._clock,
        )

    async def get_run(self, run_id: str) -> RunInfo:
        """The run's row. Raises `RunNotFound`."""
        row = self._at_once(self._sql.select_run, {"run_id": run_id})
        if row is not None:
            return _info(row)
        return await self._shared.read(
            ("run", run_id), lambda: self._read(lambda connection: self._find(connection, run_id))
        )

    def _find(self, connection: sqlite3.Connection, run_id: str) -> RunInfo:
        row = connection.execute(self._sql.select_run, {"run_id": run_id}).fetchone()
        if row is None:
            raise no_run(run_id, [known for (known,) in connection.execute(self._sql.select_recent_ids)])
        return _info(row)

    async def list_runs(  # noqa: PLR0913 - each is a filter
        self,
        *,
        status: str | None = None,
        tenant: str | None = None,
        user: str | None = None,
        name: str | None = None,
        plan_id: str | None = None,
        conversation_id: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> list[RunInfo]:
        """The newest runs first; `before` is the last id of the page before."""
        wanted = given(
            status=status, tenant=tenant, user=user, name=name, plan_id=plan_id, conversation_id=conversation_id
        )
        statement = filtered(self._sql.select_runs, wanted)

        def work(connection: sqlite3.Connection) -> list[RunInfo]:
            last = None if before is None else self._find(connection, before)
            created_at, run_id = page_bound(None if last is None else (last.created_at, last.run_id))
            values = {
                **wanted,
                **between(since, until),
                "limit": max(limit, 0),
                "created_at": created_at,
                "run_id": run_id,
            }
            return [_info(row) for row in connection.execute(statement, values)]

        return await self._read(work)

    async def run_times(self, since: float, *, tenant: str | None = None, limit: int = 1_000) -> list[RunTimes]:
        """When runs that were begun from the Unix time `since` on began and ended, newest first."""
        wanted = given(tenant=tenant)
        statement, values = filtered(self._sql.select_run_times, wanted), {**wanted, "since": since, "limit": limit}
        return await self._read(lambda connection: [RunTimes(*row) for row in connection.execute(statement, values)])

    async def lost_runs(self, seen_before: float, limit: int = 100, *, queued: bool = True) -> list[RunInfo]:
        """Begun runs that somebody should drive and nobody was seen to since, longest unseen first, pending last."""
        values = {"seen_before": seen_before, "limit": max(limit, 0)}
        statement = self._sql.select_lost_runs if queued else self._sql.select_unqueued_runs
        return await self._read(lambda connection: [_info(row) for row in connection.execute(statement, values)])

    async def drive(
        self, run_id: str, driver: str, *, expected: int | None = None, change: RunChange | None = None
    ) -> SqliteJournal:
        """Take the run with a new epoch: from now on appends of every earlier journal raise `StaleEpoch`."""
        values = {"run_id": run_id, "driver": driver, "now": self._clock(), "expected": expected, **row_values(change)}
        values["intent"] = None if change is None else change.intent

        def work(connection: sqlite3.Connection) -> Taken:
            row = connection.execute(self._sql.take_run, values).fetchone()
            if row is None:
                self._find(connection, run_id)
                raise taken_over(run_id, expected or 0)
            return Taken(run_id, row["number"], row["epoch"], row["last_seq"])

        return self._journal(await self._write(work))

    async def beat(self, driver: str) -> None:
        """Say that this process still drives its runs."""
        now = self._clock()

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(self._sql.beat, {"driver": driver, "now": now})
            connection.execute(self._sql.delete_drivers, {"seen_before": now - FORGOTTEN})

        if driver:
            await self._write(work)

    async def drivers(self) -> list[Beat]:
        """Who drives a running run."""
        return await self._read(
            lambda connection: [Beat(**dict(row)) for row in connection.execute(self._sql.select_drivers)]
        )

    async def processes(self, seen_after: float) -> list[Beat]:
        """Who said since the Unix time `seen_after` that they live."""
        values = {"seen_after": seen_after}
        return await self._read(
            lambda connection: [Beat(**dict(row)) for row in connection.execute(self._sql.select_processes, values)]
        )

    async def runs_of(self, drivers: Sequence[str], limit: int = 100, *, tenant: str | None = None) -> list[RunInfo]:
        """The running runs of these drivers, longest unseen first."""
        wanted = given(tenant=tenant)
        statement = filtered(self._sql.select_runs_of, wanted)
        values = {**wanted, "drivers": json.dumps(list(drivers)), "limit": max(limit, 0)}
        return await self._read(lambda connection: [_info(row) for row in connection.execute(statement, values)])

    async def read_events(
        self, run_id: str, *, after: int = 0, limit: int | None = None, most_bytes: int | None = None
    ) -> list[AnyEvent]:
        """The committed events with a greater `seq` than `after`, in order, no more than are asked for."""
        key = ("events", run_id, after, limit, most_bytes)
        return list(
            await self._shared.read(
                key, lambda: self._events(run_id, max(after, 0), limit=limit, most_bytes=most_bytes)
            )
        )

    async def _events(self, run_id: str, after: int, *, limit: int | None, most_bytes: int | None) -> list[AnyEvent]:
        """The events, read a page at a time: what others read comes in between."""
        events: list[AnyEvent] = []
        size = 0
        while True:
            left = None if limit is None else max(limit, 0) - len(events)
            many = PAGE if left is None else min(left, PAGE)
            bound = PAGE_BYTES if most_bytes is None else min(most_bytes - size, PAGE_BYTES)
            page, read = await self._read(partial(self._page, run_id, after, many, bound))
            events += page
            size += read
            if not page or len(events) == limit or (most_bytes is not None and size >= most_bytes):
                return events
            if len(page) < many and read < bound:
                return events
            after = page[-1].seq

    def _page(
        self, run_id: str, after: int, many: int, most_bytes: int, connection: sqlite3.Connection
    ) -> tuple[list[AnyEvent], int]:
        """So many of the events after that one, or fewer of many bytes, and how many these are."""
        events: list[AnyEvent] = []
        size = 0
        # Row by row: the texts of a long run are not all held beside its events.
        for row in connection.execute(self._sql.select_events, {"run_id": run_id, "after": after, "limit": many}):
            events.append(self._event(run_id, row["seq"], row["data"]))
            size += len(row["data"])
            if size >= most_bytes:
                break
        if not events or after:
            # It may have been deleted between two pages.
            self._find(connection, run_id)
        return events, size

    def _event(self, run_id: str, seq: int, data: bytes) -> AnyEvent:
        try:
            return decode_event(data)
        except ValueError as error:
            raise StoreError(
                f"Event {seq} of run {run_id!r} in {self._settings.path} cannot be read: {error}.",
                hint="It was written by a newer Toolpath, or the file is damaged.",
            ) from error

    async def wait_events(self, run_id: str, after: int) -> None:
        """Return when the run has events beyond `after`. Woken for what this store appends."""
        # Before the look into the file, so that no commit falls between the two.
        future = self._waiters.add(run_id)
        try:
            if (await self.get_run(run_id)).last_seq <= after:
                await future
        finally:
            self._waiters.discard(run_id, future)

    async def get_blob(self, digest: str) -> bytes:
        """The bytes. Raises `StoreError` when they are not there."""

        def work(connection: sqlite3.Connection) -> bytes:
            row = connection.execute(self._sql.select_blob, {"digest": digest}).fetchone()
            if row is None:
                raise no_blob(digest)
            return bytes(row["data"])

        return await self._read(work)

    async def read_blob(self, digest: str, offset: int, size: int) -> bytes:
        """At most so many of the bytes from there on."""
        values = {"digest": digest, "offset": offset, "size": size}

        def work(connection: sqlite3.Connection) -> bytes:
            row = connection.execute(self._sql.select_blob_part, values).fetchone()
            if row is None:
                raise no_blob(digest)
            return bytes(row["data"])

        return await self._read(work)

    async def put_signal(self, run_id: str, signal: Signal) -> None:
        """Keep a signal for the run's driver and wake it when it is in this process."""
        values = {"run_id": run_id, "data": encoded(msgspec.structs.replace(signal, id=0), f"Signal {signal.kind!r}")}

        def work(connection: sqlite3.Connection) -> None:
            if connection.execute(self._sql.insert_signal, values).rowcount == 0:
                self._find(connection, run_id)

        await self._write(work, signals=run_id)

    async def take_signals(self, run_id: str) -> list[Signal]:
        """The signals not yet dropped, oldest first."""

        def work(connection: sqlite3.Connection) -> list[Signal]:
            rows = connection.execute(self._sql.select_signals, {"run_id": run_id}).fetchall()
            if not rows:
                self._find(connection, run_id)
            return [msgspec.structs.replace(_signal_decoder.decode(row["data"]), id=row["id"]) for row in rows]

        return await self._read(work)

    async def drop_signals(self, run_id: str, ids: Sequence[int]) -> None:
        """Forget signals whose effect is in the journal."""
        rows = [(run_id, number) for number in ids]
        if rows:
            await self._write(lambda connection: connection.executemany(self._sql.delete_signal, rows) and None)

    def on_signal(self, run_id: str, callback: Callable[[], None] | None) -> None:
        """Have `callback` called in the loop when a signal for the run was put by this store; None: no more.

        Signals of other processes call it at the run's next append; until then `take_signals` finds them.
        """
        self._waiters.watch(run_id, callback)

    async def delete_runs(self, run_ids: Sequence[str]) -> int:
        """Delete ended runs with all that is theirs; returns how many."""
        deleted = 0
        wanted = list(dict.fromkeys(run_ids))
        for start in range(0, len(wanted), TOGETHER):
            # A few rows in one transaction; their events go after that, since many at once would lock out all others.
            part = wanted[start : start + TOGETHER]
            deleted += await self._write(self._deletion(part), heavy=True)
            for run_id in part:
                self._waiters.wake(run_id)
        # A slice at a time, so that others write in between; those of a process that died are among them.
        while await self._write(self._delete_slice, heavy=True):
            pass
        return deleted

    def _deletion(self, run_ids: Sequence[str]) -> Callable[[sqlite3.Connection], int]:
        return lambda connection: sum(self._delete(connection, run_id) for run_id in run_ids)

    def _delete(self, connection: sqlite3.Connection, run_id: str) -> int:
        sql = self._sql
        deleted = connection.execute(sql.delete_run, {"run_id": run_id}).fetchone()
        if deleted is None:
            return 0
        values = {"run_id": run_id, "number": deleted["number"]}
        for statement in (
            sql.insert_deleted,
            sql.delete_signals,
            sql.delete_run_secrets,
            sql.delete_orphaned_blobs,
            sql.delete_blob_uses,
        ):
            connection.execute(statement, values)
        return 1

    def _delete_slice(self, connection: sqlite3.Connection) -> bool:
        """Delete some events of runs that are gone; whether there may be more."""
        left = SLICE
        while left > 0:
            row = connection.execute(self._sql.select_deleted).fetchone()
            if row is None:
                return False
            values = {"number": row["number"], "limit": left}
            gone = connection.execute(self._sql.delete_events, values).rowcount
            if gone < left:
                connection.execute(self._sql.forget_deleted, values)
            left -= max(gone, 1)
        return True


def _info(row: sqlite3.Row) -> RunInfo:
    return RunInfo(**dict(row))
