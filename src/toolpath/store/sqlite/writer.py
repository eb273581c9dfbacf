"""Writer of the file: all that comes in one turn of the loop, or while a commit runs, goes into one transaction.

Where a sync is fast the loop commits by itself, at the end of its turn: a hop to another thread and back would cost
more than it saves. Where it is slow, or somebody else holds the file, a thread does it and the loop goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from toolpath.errors import StoreError, ToolpathError
from toolpath.store.sqlite.faults import closed, store_error
from toolpath.store.sqlite.lines import Lines
from toolpath.store.waiters import Waiters, resolve

#: A group holds the file's write lock; other processes get their turn after this many pieces of work.
LARGEST_GROUP = 1_000
#: A commit that takes longer than this, in seconds, is no matter for the loop.
QUICK = 0.001

#: Bytes that take longer to write than a loop's turn should.
HEAVY = 100_000

Work = Callable[[sqlite3.Connection], Any]


class Heard:
    """What a piece of work gives that has woken somebody in the loop, who goes on before those who await it."""


HEARD = Heard()

# What is wrong with one piece of work alone, not with the ground that all stand on.
_OWN_FAULTS = (
    ToolpathError,
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    ValueError,
    TypeError,
    OverflowError,
    RecursionError,
)


class Job:
    """A piece of work inside the group's transaction, and the future that tells its end.

    `guarded` work may fail at any point: what it changed is taken back. Other work raises a `ToolpathError` before it
    has changed anything, or fails with its whole group; it is cheaper.
    """

    __slots__ = (
        "_unclaimed",
        "error",
        "failed",
        "future",
        "guarded",
        "heavy",
        "line",
        "result",
        "signals",
        "wakes",
        "work",
    )

    def __init__(
        self,
        work: Work,
        future: asyncio.Future[Any],
        *,
        guarded: bool = True,
        heavy: bool = False,
        line: str = "",
        wakes: str = "",
        signals: str = "",
        failed: Callable[[ToolpathError], None] | None = None,
    ) -> None:
        self.work = work
        self.future = future
        self.guarded = guarded
        self.heavy = heavy
        """Takes long: never to be done in a loop's turn."""
        # What is heavy and nobody's keeps none of what is light.
        self.line = line or ("heavy" if heavy else "")
        """Jobs of one line are done in their order, of others in turn."""
        self.wakes = wakes
        """The run whose waiters the commit wakes."""
        self.signals = signals
        """The run that the commit signals."""
        self.failed = failed
        """Called in the writer's thread, before any later work, when the work was not committed."""
        self.result: Any = None
        self.error: ToolpathError | None = None
        self._unclaimed: list[bool] | None = None

    def may_be_withdrawn(self) -> None:
        """Say, before it is put, that whoever waits for it may not do so until it is begun."""
        self._unclaimed = [True]

    def claim(self) -> bool:
        """Whether this is the first claim: the writer's, who begins it then, or of one who waits for it no more.

        Safe to use from every thread.
        """
        if self._unclaimed is None:
            return True
        try:
            return self._unclaimed.pop()
        except IndexError:
            return False

    def run(self, connection: sqlite3.Connection, path: str, *, is_only: bool) -> None:
        """Do the work; what is wrong with it alone goes into `error`. The only one's savepoint is its transaction."""
        if self._unclaimed is not None and not self.claim():
            self.error = StoreError("Nobody waits for it any more.")
            return
        if not self.guarded:
            try:
                self.result = self.work(connection)
            except ToolpathError as error:
                self.fail(error)
            return
        if not is_only:
            connection.execute("SAVEPOINT job")
        try:
            self.result = self.work(connection)
        except _OWN_FAULTS as error:
            connection.execute("ROLLBACK" if is_only else "ROLLBACK TO job")
            self.fail(error if isinstance(error, ToolpathError) else store_error(error, path))
        if not is_only:
            connection.execute("RELEASE job")

    def fail(self, error: ToolpathError) -> None:
        """Keep the first error."""
        if self.error is None:
            self.error = error
            if self.failed is not None:
                self.failed(error)

    def settle(self) -> None:
        """Tell the end; to be called in the future's loop."""
        if self.future.done():
            return
        if self.error is None:
            self.future.set_result(None if self.result is HEARD else self.result)
        else:
            self.future.set_exception(self.error)
            if self.failed is not None:
                # Told already: a failure that nobody awaits is no reason for a warning of asyncio's.
                self.future.exception()


class Writer:
    """The writing connection and its thread, from start to `stop`. Jobs may come from any thread."""

    def __init__(self, connection: sqlite3.Connection, path: str, waiters: Waiters) -> None:
        self._connection = connection
        self._path = path
        self._waiters = waiters
        (milliseconds,) = connection.execute("PRAGMA busy_timeout").fetchone()
        self._patience = milliseconds / 1000
        # The loop must never wait for another process; the thread waits by itself.
        connection.execute("PRAGMA busy_timeout = 0")
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._queued = 0
        self._turn: list[Job] = []
        """What came in this turn of a loop, to be committed at its end."""
        self.alone = ""
        """The only line of which the last commit held something; empty: there were several."""
        self._using = threading.Lock()
        """Held by the thread that uses the connection."""
        self._usual = 0.0
        """Seconds that a commit takes, lately."""
        self._lock = threading.Lock()
        self._stopping = False
        self.commits = 0
        """Transactions so far, for tests and measurements."""
        # A daemon: a program that forgets to close its store still ends; what was awaited is committed.
        self._thread = threading.Thread(target=self._run, name="toolpath-store-writer", daemon=True)
        self._thread.start()

    def put(self, job: Job) -> asyncio.Future[Any]:
        """Take the job; the future tells when it is committed. Raises `StoreError` when the store is closed."""
        # Without the lock a job could be queued behind the last one that the thread looks at.
        with self._lock:
            if self._stopping:
                raise closed(self._path)
            loop = job.future.get_loop()
            if self._turn and self._turn[0].future.get_loop() is loop:
                # Behind what came before it, wherever that goes.
                self._turn.append(job)
            elif not self._turn and not self._queued and self._usual < QUICK and not job.heavy:
                self._turn.append(job)
                loop.call_soon(self._end_turn)
            else:
                self._enqueue(job)
        return job.future

    def commit_alone(self, line: str, work: Callable[[sqlite3.Connection], Heard | None]) -> Heard | bool:
        """Do and commit the work now, where the last commit held no other line's; false: it has to be put.

        Who is alone waits for nobody: its turn would end with this, and three more turns for the news of it. Raises
        what hindered it; then nothing of it is kept.
        """
        with self._lock:
            if self._stopping:
                raise closed(self._path)
            is_alone = line == self.alone and not (self._turn or self._queued) and self._usual < QUICK
            if not (is_alone and self._using.acquire(blocking=False)):
                return False
        try:
            if not self._begin_at_once():
                return False
            try:
                heard = work(self._connection)
                self._end_transaction()
            except BaseException as error:
                self._roll_back()
                raise error if isinstance(error, ToolpathError) else store_error(error, self._path) from error
        finally:
            self._using.release()
        if self._waiters.waiting:
            self._waiters.wake(line, asyncio.get_running_loop())
        return True if heard is None else heard

    def _enqueue(self, job: Job) -> None:
        self._queued += 1
        self._queue.put(job)

    def _end_turn(self) -> None:
        """Commit what came in this turn of the loop here, or leave it to the thread."""
        with self._lock:
            group, self._turn = self._turn, []
            if not group:
                return
            named = {job.line for job in group if job.line}
            self.alone = named.pop() if len(named) == 1 else ""
            busy = self._queued or len(group) > LARGEST_GROUP or any(job.heavy for job in group)
            if busy or not self._using.acquire(blocking=False):
                for job in group:
                    self._enqueue(job)
                return
        self._do_here(group, group[0].future.get_loop())

    def _do_here(self, group: Sequence[Job], loop: asyncio.AbstractEventLoop) -> None:
        """Commit in the loop's own turn, the connection taken, or leave it to the thread."""
        try:
            begun = self._begin_at_once()
            if begun:
                self._commit(group)
            else:
                # Before the connection is let go: a thread that stops looks once more when it has it.
                with self._lock:
                    for job in group:
                        self._enqueue(job)
        finally:
            self._using.release()
        if begun:
            self._settle(group, here=loop)

    def _begin_at_once(self) -> bool:
        """Begin a transaction, without waiting for another process; false where one has the file."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error:
            # Locked, or something worse: the thread meets it again and tells it.
            return False
        return True

    def _begin(self) -> None:
        """Begin a transaction, waiting for another process to end its own as long as patience lasts."""
        deadline = time.monotonic() + self._patience
        pause = 0.0005
        while True:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                    raise
            time.sleep(pause)
            pause = min(pause * 2, 0.02)

    def stop(self) -> None:
        """Commit what is there, close the connection and end the thread. Blocks."""
        with self._lock:
            if not self._stopping:
                self._stopping = True
                turn, self._turn = self._turn, []
                for job in turn:
                    self._enqueue(job)
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        lines: Lines[Job] = Lines(LARGEST_GROUP)
        stopping = False
        while lines or not stopping:
            stopping = self._line_up(lines, wait=not lines and not stopping) or stopping
            self._do(lines.group())
        with self._using:
            # A loop's turn that was under way is over now; it may have handed over what it could not do.
            self._line_up(lines, wait=False)
            while rest := lines.group():
                self._commit(rest)
                self._settle(rest)
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()

    def _do(self, group: Sequence[Job]) -> None:
        if not group:
            return
        with self._using:
            self._commit(group)
        with self._lock:
            self._queued -= len(group)
        self._settle(group)

    def _line_up(self, lines: Lines[Job], *, wait: bool) -> bool:
        """Put what has come into its lines; whether that was the last. With `wait`, there is something."""
        with contextlib.suppress(queue.Empty):
            job = self._queue.get(block=wait)
            while job is not None:
                lines.put(job)
                job = self._queue.get_nowait()
            return True
        return False

    def _commit(self, group: Sequence[Job]) -> None:
        connection = self._connection
        try:
            if not connection.in_transaction:
                self._begin()
            for job in group:
                job.run(connection, self._path, is_only=len(group) == 1)
            self._end_transaction()
        except BaseException as error:  # noqa: BLE001  # each awaiter is told of any failure
            self._roll_back()
            for job in group:
                # Each awaiter raises an exception of its own: a shared one would gather all their tracebacks.
                job.fail(store_error(error, self._path))

    def _end_transaction(self) -> None:
        """Commit, unless it is rolled back already, and note how long that takes."""
        if not self._connection.in_transaction:
            return
        began = time.perf_counter()
        self._connection.execute("COMMIT")
        self._usual += (time.perf_counter() - began - self._usual) / 8
        self.commits += 1

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def _settle(self, group: Sequence[Job], here: asyncio.AbstractEventLoop | None = None) -> None:
        """Tell all ends with one call into each loop; `here` is the one that this runs in."""
        if here is not None and len(group) == 1 and not self._waiters.waiting:
            (job,) = group
            if not job.signals and job.result is not HEARD:
                job.settle()
                return
        by_loop: dict[asyncio.AbstractEventLoop, tuple[list[Job], list[asyncio.Future[None]]]] = {}
        for job in group:
            by_loop.setdefault(job.future.get_loop(), ([], []))[0].append(job)
            if job.error is None:
                for future in self._waiters.take(job.wakes):
                    by_loop.setdefault(future.get_loop(), ([], []))[1].append(future)
                if job.signals:
                    self._waiters.signal(job.signals)
        for loop, (jobs, woken) in by_loop.items():
            if loop is here:
                if any(job.result is HEARD for job in jobs):
                    # Who was woken hears what was said before a call is made.
                    loop.call_soon(_tell, jobs, woken)
                else:
                    _tell(jobs, woken)
                continue
            # In a closed loop nobody is left to be told.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_tell, jobs, woken)


def _tell(jobs: Sequence[Job], woken: Sequence[asyncio.Future[None]]) -> None:
    for job in jobs:
        job.settle()
    resolve(woken)
