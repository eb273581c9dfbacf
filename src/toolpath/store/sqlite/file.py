"""One SQLite file that is open: its connections, and the way of work to them. No statement of the store itself."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from toolpath.config import Synchronous
from toolpath.errors import StoreError, ToolpathError
from toolpath.ports import most_patience
from toolpath.store.sharing import Shared
from toolpath.store.sqlite.damage import damage
from toolpath.store.sqlite.database import FileSettings, open_reader, open_writer
from toolpath.store.sqlite.faults import closed, store_error
from toolpath.store.sqlite.point_reads import PointReads, open_point_reads
from toolpath.store.sqlite.sql import load_queries
from toolpath.store.sqlite.writer import Job, Writer
from toolpath.store.waiters import Waiters

T = TypeVar("T")

_encoder = msgspec.json.Encoder()
#: Looks in the time for which a write is waited for on behalf of somebody.
_LOOKS = 10


class SqliteFile:
    """The file at `path`; `:memory:` keeps all in this process.

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
        self._settings = FileSettings(
            path=os.fspath(path), synchronous=synchronous, busy_timeout=busy_timeout, max_size=max_size
        )
        self._clock = clock
        self._sql = load_queries()
        self._waiters = Waiters()
        self._shared = Shared()
        self._writer: Writer | None = None
        self._reader: sqlite3.Connection | None = None
        self._reading: ThreadPoolExecutor | None = None
        self._point_reads: PointReads | None = None

    @property
    def path(self) -> Path | None:
        """The file; None: all is kept in this process."""
        return None if self._settings.path == ":memory:" else Path(self._settings.path)

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
                self._point_reads = await asyncio.to_thread(open_point_reads, settings)
            except StoreError:
                if self._reader is not None:
                    self._reader.close()
                    self._reader = None
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
        points, self._point_reads = self._point_reads, None
        if writer is None:
            return
        if points is not None:
            await asyncio.to_thread(points.close)
        if reading is not None and reader is not None:
            await asyncio.to_thread(reading.shutdown)
            reader.close()
        # Last, because the last connection to close folds the log into the file.
        await asyncio.to_thread(writer.stop)
        self._waiters.wake_all()

    def _open_writer(self) -> Writer:
        if self._writer is None:
            raise closed(self._settings.path)
        return self._writer

    async def _write(
        self,
        work: Callable[[sqlite3.Connection], T],
        *,
        guarded: bool = True,
        heavy: bool = False,
        line: str = "",
        signals: str = "",
    ) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        job = Job(work, future, guarded=guarded, heavy=heavy, line=line, signals=signals)
        patience = most_patience()
        if patience is None:
            return await self._open_writer().put(job)  # type: ignore[no-any-return]
        job.may_be_withdrawn()
        self._open_writer().put(job)
        waiting = _Waiting(job, loop, patience / _LOOKS)
        try:
            return await future
        finally:
            waiting.timer.cancel()

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
            damaged = await asyncio.get_running_loop().run_in_executor(
                reading, damage, error, self._settings.path, reader
            )
            raise damaged or store_error(error, self._settings.path) from error

    def _at_once(self, statement: str, values: Mapping[str, Any]) -> sqlite3.Row | None:
        """The row of a statement that gives one by its key, and that a turn of the loop has time for.

        None: there is none, or it takes the way of all reads, which tells what is in its way.
        """
        return None if self._point_reads is None else self._point_reads.row(statement, values)


class _Waiting:
    """Waiting for a job on behalf of somebody: one that has not begun after a while is withdrawn."""

    def __init__(self, job: Job, loop: asyncio.AbstractEventLoop, pause: float) -> None:
        self._job = job
        self._loop = loop
        self._pause = pause
        self._left = _LOOKS
        self.timer = loop.call_later(pause, self._look)

    def _look(self) -> None:
        # Where this process itself stood still, that is one look, and no fault of the store's.
        self._left -= 1
        if self._left:
            self.timer = self._loop.call_later(self._pause, self._look)
        elif not self._job.future.done() and self._job.claim():
            self._job.future.set_exception(
                StoreError("The store could not be written in time.", hint="Another process has it; try it again.")
            )


def encoded(value: Any, what: str) -> bytes:
    """The value as JSON text. Raises `StoreError`, naming it as `what`."""
    try:
        return _encoder.encode(value)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise StoreError(f"{what} cannot be stored: {error}.", hint="Give plain JSON values.") from error
