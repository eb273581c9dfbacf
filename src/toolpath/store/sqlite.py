"""The store in one SQLite file, shared by threads, event loops and processes. Its SQL is in `queries.sql`."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec

from toolpath.errors import StoreError, ToolpathError
from toolpath.model.events import AnyEvent, decode_event, encode_event
from toolpath.model.run import RunInfo
from toolpath.model.tool import ToolStats
from toolpath.ports import CacheEntry, Signal
from toolpath.store.database import Settings, Synchronous, open_reader, open_writer
from toolpath.store.faults import closed, store_error
from toolpath.store.handles import digests_in
from toolpath.store.journal import SqliteJournal, Taken
from toolpath.store.rows import merged, no_blob, no_run, run_exists
from toolpath.store.sql import load_queries
from toolpath.store.waiters import Waiters
from toolpath.store.writer import Job, Writer
from toolpath.values import decode, encode

T = TypeVar("T")

#: Sorts after every run id.
_BEYOND = "\U0010ffff"

_encoder = msgspec.json.Encoder()
_signal_decoder = msgspec.json.Decoder(Signal)
_stats_decoder = msgspec.json.Decoder(ToolStats)


class SqliteStore:
    """Runs and all that is theirs in the file at `path`; `:memory:` keeps them in this process.

    `synchronous`: NORMAL survives the death of the process, FULL the loss of power. `busy_timeout`: seconds to wait
    for another process. `max_size`: bytes that the file may have. `clock` gives Unix time in seconds.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        synchronous: Synchronous = "NORMAL",
        busy_timeout: float = 10.0,
        max_size: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = Settings(
            path=os.fspath(path), synchronous=synchronous, busy_timeout=busy_timeout, max_size=max_size
        )
        self._clock = clock
        self._sql = load_queries()
        self._waiters = Waiters()
        self._writer: Writer | None = None
        self._reader: sqlite3.Connection | None = None
        self._reading: ThreadPoolExecutor | None = None

    @property
    def commits(self) -> int:
        """Transactions that this store has committed since it was opened."""
        return self._writer.commits if self._writer is not None else 0

    async def open(self) -> None:
        """Create the file or bring it to this schema. Raises `StoreError`, saying what to do."""
        if self._writer is not None:
            return
        settings = self._settings
        connection = await asyncio.to_thread(open_writer, settings, self._clock)
        connection.row_factory = sqlite3.Row
        if not settings.in_memory:
            try:
                self._reader = await asyncio.to_thread(open_reader, settings)
            except StoreError:
                connection.close()
                raise
            self._reader.row_factory = sqlite3.Row
            self._reading = ThreadPoolExecutor(1, thread_name_prefix="toolpath-store-reader")
        self._writer = Writer(connection, settings.path, self._waiters)

    async def close(self) -> None:
        """Commit what was accepted and close the file. Every later use raises `StoreError`."""
        writer, self._writer = self._writer, None
        reader, self._reader = self._reader, None
        reading, self._reading = self._reading, None
        if writer is None:
            return
        if reading is not None and reader is not None:
            await asyncio.to_thread(reading.shutdown)
            reader.close()
        # Last, because the last connection to close folds the log into the file.
        await asyncio.to_thread(writer.stop)
        self._waiters.wake_all()

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
        self, info: RunInfo, driver: str, events: Sequence[AnyEvent]
    ) -> tuple[RunInfo, SqliteJournal | None]:
        """Store the run, take it, and keep its first events, in one transaction."""
        encoded = [encode_event(event) for event in events]
        fresh = msgspec.structs.replace(
            info, epoch=1, driver=driver, driver_seen_at=self._clock(), last_seq=len(encoded), status="running"
        )
        values = msgspec.structs.asdict(fresh)

        def work(connection: sqlite3.Connection) -> tuple[RunInfo, Taken | None]:
            if connection.execute(self._sql.insert_run, values).rowcount == 0:
                same = connection.execute(self._sql.select_run_by_key, values).fetchone()
                if same is None:
                    raise run_exists(info.run_id)
                return _info(same), None
            number = connection.execute(self._sql.select_number, values).fetchone()["number"]
            rows = [((number << 32) + seq, data) for seq, data in enumerate(encoded, 1)]
            connection.executemany(self._sql.insert_event, rows)
            uses = {(digest, info.run_id) for data in encoded for digest in digests_in(data)}
            if uses:
                connection.executemany(self._sql.insert_blob_use, sorted(uses))
            return fresh, Taken(info.run_id, number, 1, len(encoded))

        stored, taken = await self._write(work)
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
        return await self._read(lambda connection: self._find(connection, run_id))

    def _find(self, connection: sqlite3.Connection, run_id: str) -> RunInfo:
        row = connection.execute(self._sql.select_run, {"run_id": run_id}).fetchone()
        if row is None:
            raise no_run(run_id, [known for (known,) in connection.execute(self._sql.select_recent_ids)])
        return _info(row)

    async def list_runs(
        self, *, status: str | None = None, tenant: str | None = None, limit: int = 50, before: str | None = None
    ) -> list[RunInfo]:
        """The newest runs first; `before` is the last id of the page before."""
        statement = self._sql.select_runs if status is None else self._sql.select_runs_of_status

        def work(connection: sqlite3.Connection) -> list[RunInfo]:
            bound = (float("inf"), _BEYOND)
            if before is not None:
                info = self._find(connection, before)
                bound = (info.created_at, info.run_id)
            values = {"status": status, "tenant": tenant, "limit": max(limit, 0)}
            rows = connection.execute(statement, {**values, "created_at": bound[0], "run_id": bound[1]})
            return [_info(row) for row in rows]

        return await self._read(work)

    async def drive(self, run_id: str, driver: str) -> SqliteJournal:
        """Take the run with a new epoch: from now on appends of every earlier journal raise `StaleEpoch`."""
        values = {"run_id": run_id, "driver": driver, "now": self._clock()}

        def work(connection: sqlite3.Connection) -> Taken:
            row = connection.execute(self._sql.take_run, values).fetchone()
            if row is None:
                self._find(connection, run_id)
            return Taken(run_id, row["number"], row["epoch"], row["last_seq"])

        return self._journal(await self._write(work))

    async def beat(self, driver: str) -> None:
        """Say that this process still drives its runs."""
        values = {"driver": driver, "now": self._clock()}
        await self._write(lambda connection: connection.execute(self._sql.beat, values) and None)

    async def read_events(self, run_id: str, *, after: int = 0, limit: int | None = None) -> list[AnyEvent]:
        """The committed events with a greater `seq` than `after`, in order."""
        values = {"run_id": run_id, "after": max(after, 0), "limit": -1 if limit is None else max(limit, 0)}

        def work(connection: sqlite3.Connection) -> list[AnyEvent]:
            rows = connection.execute(self._sql.select_events, values).fetchall()
            if not rows:
                self._find(connection, run_id)
            return [self._event(run_id, row["seq"], row["data"]) for row in rows]

        return await self._read(work)

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

    async def put_signal(self, run_id: str, signal: Signal) -> None:
        """Keep a signal for the run's driver and wake it when it is in this process."""
        values = {"run_id": run_id, "data": _encoded(msgspec.structs.replace(signal, id=0), f"Signal {signal.kind!r}")}

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

    async def cache_get(self, key: str, now: float) -> CacheEntry | None:
        """The kept result that has not expired."""

        def work(connection: sqlite3.Connection) -> CacheEntry | None:
            row = connection.execute(self._sql.select_cached, {"key": key, "now": now}).fetchone()
            return None if row is None else CacheEntry(decode(row["value"]), row["expires_at"])

        return await self._read(work)

    async def cache_put(self, key: str, group: str, entry: CacheEntry) -> None:
        """Keep a result for a group of tools."""
        values = {"key": key, "owner": group, "value": encode(entry.value), "expires_at": entry.expires_at}
        now = self._clock()

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(self._sql.upsert_cached, values)
            connection.execute(self._sql.delete_expired, {"now": now})

        await self._write(work)

    async def cache_clear(self, group: str) -> None:
        """Forget all kept results of the group."""
        await self._write(lambda connection: connection.execute(self._sql.delete_cached, {"owner": group}) and None)

    async def load_stats(self) -> dict[str, ToolStats]:
        """Statistics by tool key."""

        def work(connection: sqlite3.Connection) -> dict[str, ToolStats]:
            rows = connection.execute(self._sql.select_stats).fetchall()
            return {row["tool"]: _stats_decoder.decode(row["data"]) for row in rows}

        return await self._read(work)

    async def add_stats(self, changes: dict[str, ToolStats]) -> None:
        """Add these calls to the statistics."""
        more = dict(changes)

        def work(connection: sqlite3.Connection) -> None:
            for tool, stats in more.items():
                row = connection.execute(self._sql.select_stats_of, {"tool": tool}).fetchone()
                known = ToolStats() if row is None else _stats_decoder.decode(row["data"])
                data = _encoded(merged(known, stats), f"The statistics of {tool!r}")
                connection.execute(self._sql.upsert_stats, {"tool": tool, "data": data})

        if more:
            await self._write(work)

    async def delete_runs(self, run_ids: Sequence[str]) -> int:
        """Delete ended runs with all that is theirs; returns how many."""
        deleted = 0
        for run_id in dict.fromkeys(run_ids):
            # One transaction a run: many large runs at once would lock out everybody else.
            deleted += await self._write(self._deletion(run_id), wakes=run_id)
        return deleted

    def _deletion(self, run_id: str) -> Callable[[sqlite3.Connection], int]:
        sql = self._sql

        def work(connection: sqlite3.Connection) -> int:
            deleted = connection.execute(sql.delete_run, {"run_id": run_id}).fetchone()
            if deleted is None:
                return 0
            values = {"run_id": run_id, "number": deleted["number"]}
            for statement in (sql.delete_events, sql.delete_signals, sql.delete_orphaned_blobs, sql.delete_blob_uses):
                connection.execute(statement, values)
            return 1

        return work

    def _open_writer(self) -> Writer:
        if self._writer is None:
            raise closed(self._settings.path)
        return self._writer

    async def _write(self, work: Callable[[sqlite3.Connection], T], *, wakes: str = "", signals: str = "") -> T:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        return await self._open_writer().put(Job(work, future, wakes=wakes, signals=signals))  # type: ignore[no-any-return]

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        writer, reader, reading = self._open_writer(), self._reader, self._reading
        future: asyncio.Future[Any]
        if reader is None or reading is None:
            future = writer.put(Job(work, asyncio.get_running_loop().create_future()))
            return await future  # type: ignore[no-any-return]
        try:
            return await asyncio.get_running_loop().run_in_executor(reading, work, reader)
        except ToolpathError:
            raise
        except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
            raise store_error(error, self._settings.path) from error


def _info(row: sqlite3.Row) -> RunInfo:
    return RunInfo(**dict(row))


def _encoded(value: Any, what: str) -> bytes:
    try:
        return _encoder.encode(value)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise StoreError(f"{what} cannot be stored: {error}.", hint="Give plain JSON values.") from error
