"""A clock that stands still until it is told to move, so that waiting takes no time in a test."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import linecache
import queue
import sys
import threading
import warnings
from collections.abc import Callable
from types import FrameType

#: A thread that was just given work needs a moment to take it; this many looks, so far apart (s), must agree.
_LOOKS_WITH_THREADS = 3
_PAUSE = 0.0005
#: Most that the time between two looks counts for (s): a process that is kept from looking cannot say who is at work.
_LONGEST_LOOK = 0.05


class FakeTimer:
    """A call that a fake clock is to make."""

    __slots__ = ("callback", "cancelled", "when")

    def __init__(self, when: float, callback: Callable[[], None]) -> None:
        self.when = when
        self.callback = callback
        self.cancelled = False

    def cancel(self) -> None:
        """Do not make it."""
        self.cancelled = True

    def fire(self) -> None:
        """Make the call, once, unless it was cancelled."""
        if not self.cancelled:
            self.cancelled = True
            self.callback()


class FakeClock:
    """The time as a test wants it. Fits `ports.Clock`.

    By hand, `await clock.advance(3)` moves it, firing each timer at its own time and letting all that follows from it
    happen first. With `auto=True` it jumps to the next timer whenever the loop has nothing else to do, so that code
    which waits runs through at once. What waits in real time (a sleep of at most `patience` seconds, a thread at work)
    is let finish before a jump; longer real sleeps, sockets and other processes are not waited for. A thread that is at
    work for more than `warn_after` seconds is named in a `RuntimeWarning`.
    """

    def __init__(
        self, start: float = 1_700_000_000.0, *, auto: bool = False, patience: float = 0.25, warn_after: float = 30.0
    ) -> None:
        self.start = start
        """Unix time in seconds at which `monotonic()` is 0."""
        self.auto = auto
        self.patience = patience
        self.warn_after = warn_after
        self._now = 0.0
        self._timers: list[tuple[float, int, FakeTimer]] = []
        self._order = itertools.count()
        self._watcher: asyncio.Handle | None = None
        self._idle_looks = 0
        self._busy = Busy()

    def time(self) -> float:
        """Unix time in seconds."""
        return self.start + self._now

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return self._now

    def call_at(self, when: float, callback: Callable[[], None]) -> FakeTimer:
        """Have `callback` called when the clock reaches `when`; at the loop's next turn if it has already."""
        timer = FakeTimer(when, callback)
        loop = asyncio.get_running_loop()
        if when <= self._now:
            loop.call_soon(timer.fire)
            return timer
        heapq.heappush(self._timers, (when, next(self._order), timer))
        if self.auto and self._watcher is None:
            self._watcher = loop.call_soon(self._watch, loop)
        return timer

    async def sleep(self, seconds: float) -> None:
        """Return when the clock has moved on by so much: for tools of a test that take time."""
        passed = asyncio.Event()
        timer = self.call_at(self._now + seconds, passed.set)
        try:
            await passed.wait()
        finally:
            timer.cancel()

    @property
    def pending(self) -> tuple[float, ...]:
        """Times at which the timers that are set will fire, soonest first, as `monotonic()` will say."""
        return tuple(sorted(when for when, _, timer in self._timers if not timer.cancelled))

    async def advance(self, seconds: float) -> None:
        """Move on by so much. Each timer on the way fires at its own time, and its consequences happen before the
        clock goes further; timers they set within the span fire too. Raises `ValueError` for a step back.
        """
        if seconds < 0:
            raise ValueError("A clock does not go back.")
        target = self._now + seconds
        await self.settle()
        while (due := self._next_due()) is not None and due <= target:
            self._jump(due)
            await self.settle()
        self._now = max(self._now, target)

    async def settle(self, limit: float = 30.0) -> None:
        """Return when the loop has nothing to do but wait for this clock.

        Raises `TimeoutError`, naming the threads at work, when that is not so within `limit` real seconds; time in
        which the process itself stood still does not count.
        """
        loop = asyncio.get_running_loop()
        looks, busy = 0, Busy()
        while True:
            await asyncio.sleep(_PAUSE if threading.active_count() > 1 and looks else 0)
            looks = looks + 1 if is_idle(loop, patience=self.patience) else 0
            if looks >= _looks_needed():
                return
            if busy.seconds(loop.time()) > limit:
                raise TimeoutError(busy.told(limit))

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """One look of the automatic mode: jump when enough looks in a row saw an idle loop."""
        due = self._next_due()
        self._watcher = None
        if due is None:
            self._idle_looks, self._busy = 0, Busy()
            return
        idle = is_idle(loop, patience=self.patience)
        self._idle_looks = self._idle_looks + 1 if idle else 0
        try:
            if not idle and self._busy.seconds(loop.time()) > self.warn_after:
                told, self._busy = self._busy.told(self.warn_after), Busy()
                warnings.warn(f"The clock waits. {told}", RuntimeWarning, stacklevel=1)
            if self._idle_looks >= _looks_needed():
                self._idle_looks = 0
                self._busy = Busy()
                self._jump(due)
        finally:
            if self._watcher is None:
                self._watcher = self._look_again(loop)

    def _look_again(self, loop: asyncio.AbstractEventLoop) -> asyncio.Handle:
        # A pause where something real goes on, or this would be a busy loop that takes its processor away.
        if self._idle_looks == 0 and is_idle(loop, patience=self.patience):
            return loop.call_soon(self._watch, loop)
        if threading.active_count() == 1 and (self._idle_looks or getattr(loop, "_ready", None)):
            return loop.call_soon(self._watch, loop)
        return loop.call_later(_PAUSE, self._watch, loop)

    def _next_due(self) -> float | None:
        while self._timers and self._timers[0][2].cancelled:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def _jump(self, due: float) -> None:
        """Stand at `due` and fire the timers of that moment, in the order in which they were set."""
        self._now = due
        while self._next_due() == due:
            heapq.heappop(self._timers)[2].fire()


class Busy:
    """How long somebody has been at work. Time in which the process itself stood still does not count."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._last: float | None = None

    def seconds(self, now: float) -> float:
        """Seconds until `now`, which is the time of this look."""
        if self._last is not None:
            self._seconds += min(now - self._last, _LONGEST_LOOK)
        self._last = now
        return self._seconds

    def told(self, limit: float) -> str:
        """Who is at work, for a message."""
        at_work = ", ".join(busy_threads()) or "the loop itself"
        return f"Still at work after {limit:g} s: {at_work}."


def _looks_needed() -> int:
    return _LOOKS_WITH_THREADS if threading.active_count() > 1 else 2


#: A thread whose current line makes one of these calls waits for work; any other thread is at work.
_WAITING = (".get(", ".wait(", ".acquire(", ".select(", ".poll(", ".recv(", "accept(", ".join(", ".waitpid(")


def is_idle(loop: asyncio.AbstractEventLoop, *, patience: float) -> bool:
    """Whether no callback is ready, no real timer is due within `patience` seconds and no thread is at work.

    The looks of clocks do not count: two clocks of one loop would wait for each other for ever. Loops that hide their
    queues are judged by their threads alone.
    """
    # Threads first: one that was seen waiting has already handed its result to the loop.
    if busy_threads():
        return False
    if any(not _is_look(handle) for handle in getattr(loop, "_ready", ())):
        return False
    soon = loop.time() + patience
    timers: list[asyncio.TimerHandle] = getattr(loop, "_scheduled", [])
    return not any(timer.when() <= soon and not timer.cancelled() and not _is_look(timer) for timer in timers)


def _is_look(handle: asyncio.Handle) -> bool:
    """Whether the handle is the next look of an automatic clock, this or another one."""
    return getattr(getattr(handle, "_callback", None), "__func__", None) is FakeClock._watch


def busy_threads() -> tuple[str, ...]:
    """Names of the other threads that are at work, each with the place where it stands."""
    if threading.active_count() == 1:
        return ()
    here = threading.get_ident()
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return tuple(
        f"{names[ident]} at {frame.f_code.co_filename}:{frame.f_lineno}"
        for ident, frame in sys._current_frames().items()
        if ident != here and ident in names and not _is_waiting(frame)
    )


def _is_waiting(frame: FrameType) -> bool:
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return any(call in line for call in _WAITING) and not _has_work(frame)


def _has_work(frame: FrameType) -> bool:
    """Whether a queue that the frame takes work from holds some: the thread has been called, but not woken yet."""
    known = dict(frame.f_locals)
    known.update(getattr(known.get("self"), "__dict__", {}))
    return any(isinstance(value, queue.SimpleQueue | queue.Queue) and not value.empty() for value in known.values())
