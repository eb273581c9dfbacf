"""The store in PostgreSQL, shared by processes on many machines. Its SQL is in `queries.sql`."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from toolpath.errors import StoreError
from toolpath.model.events import AnyEvent, decode_event, encode_event
from toolpath.model.record import AuditEntry
from toolpath.model.run import Beat, RunInfo, RunTimes
from toolpath.ports import RunChange, Signal
from toolpath.store.encoding import row_values
from toolpath.store.handles import digests_in
from toolpath.store.postgres.ground import encoded
from toolpath.store.postgres.journal import PostgresJournal, Taken
from toolpath.store.postgres.records import PostgresRecords
from toolpath.store.postgres.results import PostgresResults
from toolpath.store.postgres.sql import bound
from toolpath.store.postgres.waiting_runs import PostgresWaitingRuns
from toolpath.store.rows import begun, between, given, no_blob, no_run, page_bound, run_exists, taken_over
from toolpath.store.sqlite.sql import filtered

#: A driver unseen for this many seconds is forgotten.
FORGOTTEN = 86_400.0
#: Events that are read and decoded at once, and the bytes with which a page of them ends.
PAGE = 5_000
PAGE_BYTES = 4_000_000
#: Runs that are deleted in one transaction.
TOGETHER = 50
#: Seconds that deleting some of them may take.
DELETION = 600.0

_signal_decoder = msgspec.json.Decoder(Signal)


class PostgresStore(PostgresResults, PostgresRecords, PostgresWaitingRuns):
    """Runs and all that is theirs, records and the audit trail in one schema of a database.

    `url`: `postgresql://user:password@host:5432/database?schema=toolpath`; `pool` and `patience` may be given like
    `schema`. `clock` gives Unix time in seconds; when drivers were seen is told by the database's clock, and shown in
    terms of this one, unless `database_clock` is false. To be used in one event loop.
    """

    hears_others = True

    async def create_run(self, info: RunInfo) -> RunInfo:
        """Store the run, or return the one that has the same idempotency key and tenant."""
        fresh = msgspec.structs.replace(info, last_seq=0)
        stored, _ = await self._insert(fresh, [], [], seen_at=info.driver_seen_at, has_turn=False)
        return stored

    async def begin_run(
        self, info: RunInfo, driver: str, events: Sequence[AnyEvent], *, asked: Sequence[AuditEntry] = ()
    ) -> tuple[RunInfo, PostgresJournal | None]:
        """Store the run, take it unless `driver` is empty, keep its first events and who asked for it: in one."""
        texts = [encode_event(event) for event in events]
        fresh = begun(info, driver, events, 0.0)
        stored, number = await self._insert(
            fresh, texts, self._entry_texts(asked), seen_at=self._now(), has_turn=not driver
        )
        if asked and number is not None:
            self._link_soon()
        if number is None or not driver:
            return stored, None
        return stored, self._journal(Taken(info.run_id, number, stored.epoch, len(texts)))

    async def _insert(
        self, info: RunInfo, texts: list[bytes], asked: list[bytes], *, seen_at: float | None, has_turn: bool
    ) -> tuple[RunInfo, int | None]:
        """The run as it is stored, and its number where it is this one."""
        values = {
            **msgspec.structs.asdict(info),
            "now": seen_at,
            "has_turn": has_turn,
            "events": texts,
            "uses": sorted({digest for text in texts for digest in digests_in(text)}),
            "token": uuid.uuid4().hex,
            "asked": asked,
        }
        sent = False

        async def work(connection: Any) -> tuple[RunInfo, int | None]:
            nonlocal sent
            # The answer of an earlier attempt may have been lost.
            row = await connection.fetchrow(*bound(self._sql.select_inserted, values)) if sent else None
            sent = True
            if row is None:
                row = await connection.fetchrow(*bound(self._sql.insert_run, values))
            if row is not None:
                seen = self._here(row["driver_seen_at"])
                return msgspec.structs.replace(info, driver_seen_at=seen), row["number"]
            same = await connection.fetchrow(*bound(self._sql.select_run_by_key, values))
            if same is None:
                raise run_exists(info.run_id)
            return self._info(same), None

        return await self._run(work)

    def _journal(self, taken: Taken) -> PostgresJournal:
        return PostgresJournal(
            taken,
            writer=self._open_writer(),
            connections=self._connections,
            sql=self._sql,
            clock=self._clock,
            database_clock=self._database_clock,
        )

    def _here(self, seen_at: float) -> float:
        """The database's time as this process's clock showed it; 0 stays 0."""
        return max(0.0, seen_at - self._ahead) if seen_at else 0.0

    def _info(self, row: Any) -> RunInfo:
        return RunInfo(**{**dict(row), "driver_seen_at": self._here(row["driver_seen_at"])})

    async def get_run(self, run_id: str) -> RunInfo:
        """The run's row. Raises `RunNotFound`."""
        return await self._shared.read(
            ("run", run_id), lambda: self._run(lambda connection: self._find(connection, run_id), patient=True)
        )

    async def _find(self, connection: Any, run_id: str) -> RunInfo:
        row = await connection.fetchrow(*bound(self._sql.select_run, {"run_id": run_id}))
        if row is None:
            raise no_run(run_id, [known["run_id"] for known in await connection.fetch(self._sql.select_recent_ids)])
        return self._info(row)

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

        async def work(connection: Any) -> list[RunInfo]:
            last = None if before is None else await self._find(connection, before)
            created_at, run_id = page_bound(None if last is None else (last.created_at, last.run_id))
            values = {
                **wanted,
                **between(since, until),
                "limit": max(limit, 0),
                "created_at": created_at,
                "run_id": run_id,
            }
            return [self._info(row) for row in await connection.fetch(*bound(statement, values))]

        return await self._run(work)

    async def run_times(self, since: float, *, tenant: str | None = None, limit: int = 1_000) -> list[RunTimes]:
        """When runs that were begun from the Unix time `since` on began and ended, newest first."""
        wanted = given(tenant=tenant)
        statement, values = filtered(self._sql.select_run_times, wanted), {**wanted, "since": since, "limit": limit}
        return [RunTimes(*row) for row in await self._rows(statement, values)]

    async def lost_runs(self, seen_before: float, limit: int = 100, *, queued: bool = True) -> list[RunInfo]:
        """Begun runs that somebody should drive and nobody was seen to since, longest unseen first, pending last."""
        begun = await self._compare_clocks()
        regained = 0.0 if self._listener is None else self._listener.regained_at
        regained_at = regained - time.time() + self._clock() + self._ahead if regained else 0.0
        held_since = max(begun, regained_at)
        values = {"seen_before": seen_before + self._ahead, "held_since": held_since, "limit": max(limit, 0)}
        statement = self._sql.select_lost_runs if queued else self._sql.select_unqueued_runs
        return [self._info(row) for row in await self._rows(statement, values)]

    async def drive(
        self, run_id: str, driver: str, *, expected: int | None = None, change: RunChange | None = None
    ) -> PostgresJournal:
        """Take the run with a new epoch: from now on appends of every earlier journal raise `StaleEpoch`."""
        values = {"run_id": run_id, "driver": driver, "now": self._now(), "expected": expected, **row_values(change)}
        values["intent"] = None if change is None else change.intent

        async def work(connection: Any) -> Taken:
            row = await connection.fetchrow(*bound(self._sql.take_run, values))
            if row is None:
                await self._find(connection, run_id)
                raise taken_over(run_id, expected or 0)
            return Taken(run_id, row["number"], row["epoch"], row["last_seq"])

        return self._journal(await self._run(work, patient=True))

    async def beat(self, driver: str) -> None:
        """Say that this process still drives its runs."""
        if driver:
            began = self._clock()
            seen_at = await self._open_presence().beat(driver, self._now())
            if self._database_clock:
                # The answer took a while each way.
                self._ahead = seen_at - (began + self._clock()) / 2
            if seen_at > self._forgotten_at + 60:
                self._forgotten_at = seen_at
                await self._value(self._sql.delete_drivers, {"seen_before": seen_at - FORGOTTEN}, patient=True)

    async def drivers(self) -> list[Beat]:
        """Who drives a running run, and whether the server has a connection of theirs."""
        return [Beat(**dict(row)) for row in await self._open_presence().fetch(self._sql.select_drivers)]

    async def processes(self, seen_after: float) -> list[Beat]:
        """Who said since the Unix time `seen_after` that they live."""
        rows = await self._rows(self._sql.select_processes, {"seen_after": seen_after + self._ahead})
        return [Beat(row["driver"], self._here(row["seen_at"])) for row in rows]

    async def runs_of(self, drivers: Sequence[str], limit: int = 100, *, tenant: str | None = None) -> list[RunInfo]:
        """The running runs of these drivers, longest unseen first."""
        wanted = given(tenant=tenant)
        values = {**wanted, "drivers": list(drivers), "limit": max(limit, 0)}
        return [self._info(row) for row in await self._rows(filtered(self._sql.select_runs_of, wanted), values)]

    async def read_events(
        self, run_id: str, *, after: int = 0, limit: int | None = None, most_bytes: int | None = None
    ) -> list[AnyEvent]:
        """The committed events with a greater `seq` than `after`, in order, no more than are asked for."""
        after = min(max(after, 0), 2**31 - 1)
        most = 2**31 if limit is None else max(limit, 0)
        key = ("events", run_id, after, limit, most_bytes)
        return list(await self._shared.read(key, lambda: self._events(run_id, after, most, most_bytes)))

    async def _events(self, run_id: str, after: int, most: int, most_bytes: int | None) -> list[AnyEvent]:
        """Page by page: reading a long run must not hold the loop."""
        events: list[AnyEvent] = []
        while True:
            size = min(PAGE, most - len(events))
            bytes_ = PAGE_BYTES if most_bytes is None else most_bytes
            values = {"run_id": run_id, "after": after, "limit": size, "bytes": bytes_}
            rows = await self._rows(self._sql.select_events, values, patient=True)
            events += [self._event(run_id, row["seq"], row["data"]) for row in rows]
            # A page may be short for its bytes: what is asked for whole ends with an empty one.
            if not rows or most_bytes is not None or len(events) == most:
                break
            after = rows[-1]["seq"]
        if not events:
            await self.get_run(run_id)
        return events

    def _event(self, run_id: str, seq: int, data: bytes) -> AnyEvent:
        try:
            return decode_event(data)
        except ValueError as error:
            raise StoreError(
                f"Event {seq} of run {run_id!r} in {self._address.shown} cannot be read: {error}.",
                hint="It was written by a newer Toolpath, or the database is damaged.",
            ) from error

    async def wait_events(self, run_id: str, after: int) -> None:
        """Return when the run has events beyond `after`, or may have. Woken for what any process appends."""
        # Before the look into the database, so that no commit falls between the two.
        future = self._waiters.add(run_id)
        try:
            values = {"run_id": run_id}
            last_seq = await self._shared.read(
                ("last_seq", run_id), lambda: self._value(self._sql.select_last_seq, values, patient=True)
            )
            if last_seq is None:
                await self.get_run(run_id)
            elif last_seq <= after:
                await future
        finally:
            self._waiters.discard(run_id, future)

    async def get_blob(self, digest: str) -> bytes:
        """The bytes. Raises `StoreError` when they are not there."""
        data = await self._value(self._sql.select_blob, {"digest": digest}, patient=True)
        if data is None:
            raise no_blob(digest)
        return bytes(data)

    async def read_blob(self, digest: str, offset: int, size: int) -> bytes:
        """At most so many of the bytes from there on."""
        values = {"digest": digest, "offset": offset, "size": size}
        data = await self._value(self._sql.select_blob_part, values, patient=True)
        if data is None:
            raise no_blob(digest)
        return bytes(data)

    async def put_signal(self, run_id: str, signal: Signal) -> None:
        """Keep a signal for the run's driver and wake it, wherever it is."""
        data = encoded(msgspec.structs.replace(signal, id=0), f"Signal {signal.kind!r}")
        values = {
            "run_id": run_id,
            "token": uuid.uuid4().hex,
            "kind": signal.kind,
            "data": data,
            "channel": self._channel,
        }

        async def work(connection: Any) -> None:
            if await connection.fetchval(*bound(self._sql.insert_signal, values)) is None:
                await self._find(connection, run_id)

        await self._run(work)

    async def take_signals(self, run_id: str) -> list[Signal]:
        """The signals not yet dropped, oldest first."""

        async def work(connection: Any) -> list[Signal]:
            rows = await connection.fetch(*bound(self._sql.select_signals, {"run_id": run_id}))
            if not rows:
                await self._find(connection, run_id)
            return [msgspec.structs.replace(_signal_decoder.decode(row["data"]), id=row["id"]) for row in rows]

        return await self._run(work, patient=True)

    async def drop_signals(self, run_id: str, ids: Sequence[int]) -> None:
        """Forget signals whose effect is in the journal."""
        if ids:
            await self._value(self._sql.delete_signals, {"run_id": run_id, "ids": list(ids)}, patient=True)

    def on_signal(self, run_id: str, callback: Callable[[], None] | None) -> None:
        """Have `callback` called in the loop when a signal for the run was put, by whomever; None: no more."""
        self._waiters.watch(run_id, callback)

    async def delete_runs(self, run_ids: Sequence[str]) -> int:
        """Delete ended runs with all that is theirs; returns how many."""
        wanted = list(dict.fromkeys(run_ids))
        deleted = 0
        for start in range(0, len(wanted), TOGETHER):
            part = wanted[start : start + TOGETHER]
            # A few together, so that a sync of the disk serves them and yet none has to wait long.
            deleted += await self._run(lambda connection, part=part: self._delete(connection, part))  # type: ignore[misc]
            for run_id in part:
                self._waiters.wake(run_id)
        return deleted

    async def _delete(self, connection: Any, run_ids: Sequence[str]) -> int:
        sql = self._sql
        async with connection.transaction():
            rows = await connection.fetch(*bound(sql.delete_runs, {"run_ids": run_ids}), timeout=DELETION)
            numbers = [row["number"] for row in rows]
            if not numbers:
                return 0
            gone = {"run_ids": [row["run_id"] for row in rows]}
            await connection.execute(*bound(sql.delete_run_secrets, gone), timeout=DELETION)
            for statement in (
                sql.delete_run_events,
                sql.delete_run_signals,
                sql.lock_blobs,
                sql.delete_orphaned_blobs,
                sql.delete_blob_uses,
            ):
                await connection.execute(*bound(statement, {"numbers": numbers}), timeout=DELETION)
        return len(numbers)
