"""Turns of the loop, shared out among runs: they do so much in each, and requests and readers come in between."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable

#: Work that all runs of a process do in one turn of its loop, in elements visited: a sixtieth of a second. One more
#: evaluation may come on top.
MOST_WORK = 60_000
#: Calls that all runs of a process conclude in one turn of its loop. More wait for the next one.
MOST = 128
#: Seconds after which a turn is over for all runs, whatever they have done in it.
SLICE = 0.01
#: Calls that are concluded in a turn however long they take: where others take the time, runs still go on.
FEWEST = 2
#: What a run that takes long pieces rests after each, as a part of its time, and at most in seconds: what others began
#: meanwhile goes on, also where it has to go through many turns and threads.
REST = 0.25
LONGEST_REST = 0.03
#: Seconds that a reading of the thread's work stands for: to read it is a call of the system, which where machines are
#: virtual costs as much as a third of a step. A piece may seem to have worked for so much more than it did.
STALE = SLICE / 4
#: Turns after which one of these runs goes on, however many others are ready.
PATIENCE = 8


class LoopTurns:
    """Counts what is done in this turn of the loop. Where a thousand runs wake together, nobody else waits for all.

    Runs take turns: who has one call waits for one of each other run, not for all of theirs. Those whose single pieces
    of work take longer than a turn should go on one at a time, behind all others, and rest after each.
    """

    def __init__(
        self,
        most: int = MOST,
        *,
        seconds: float = SLICE,
        now: Callable[[], float] = time.monotonic,
        worked: Callable[[], float] = time.thread_time,
    ) -> None:
        self._most = most
        self._seconds = seconds
        self._now = now
        """The clock of the runs: a test that has stopped it has the same order of calls on every machine."""
        self._worked = worked
        """Seconds that the loop's thread was at work: other programs make no run a dear one."""
        self._left = most
        self._work = 0
        self._until = 0.0
        """When this turn has taken long enough."""
        self._worked_before = 0.0
        """What the thread had worked when this turn began, or at most `STALE` before."""
        self._read_at = -math.inf
        """When that was read."""
        self._loop: asyncio.AbstractEventLoop | None = None
        """Where the next turn is on its way."""
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """By run; the first one's turn is next."""
        self.dear: dict[str, float] = {}
        """Seconds that a piece of work usually takes, by run, where that is long: it has to wait for a turn before
        each."""
        self._behind: dict[str, deque[asyncio.Future[None]]] = {}
        """By run: those of the dear ones."""
        self._passed = 0
        """Turns of others since one of them went on."""
        self._rests_until = 0.0
        self._resting = False
        """The end of their rest is on its way."""

    def is_full(self) -> bool:
        """Whether so much was done in this turn that what comes next waits for another one."""
        return self._work >= MOST_WORK or (self._loop is not None and self._now() >= self._until)

    def charge(self, work: int) -> None:
        """Count work that was done in this turn."""
        if self._loop is None:
            self._come(asyncio.get_running_loop())
        self._work += work

    def begin(self, loop: asyncio.AbstractEventLoop | None = None) -> float:
        """When a piece of work of a run begins, which is now. `loop`: the one that runs, where that is known."""
        if self._loop is None:
            # To ask for it is a call of the system.
            self._come(loop or asyncio.get_running_loop())
        clock = self._now
        return clock()

    def spent(self, run_id: str, since: float) -> None:
        """Note that the run has done a piece of work in one go, since then."""
        clock = self._now
        now = clock()
        seconds = now - since
        if seconds <= self._seconds and not self.dear:
            return
        usual = self.dear.get(run_id, 0.0)
        if seconds <= self._seconds and not usual:
            return
        if seconds > self._seconds:
            seconds = min(seconds, self._worked() - self._worked_before)
            if seconds <= self._seconds and not usual:
                return
        usual += (seconds - usual) / 4 if usual else seconds
        if usual < self._seconds / 2:
            del self.dear[run_id]
            return
        self.dear[run_id] = usual
        if seconds > self._seconds:
            self._rests_until = now + min(seconds * REST, LONGEST_REST)

    def forget(self, run_id: str) -> None:
        """The run is not driven here any more."""
        self.dear.pop(run_id, None)

    def have(self, run_id: str = "", loop: asyncio.AbstractEventLoop | None = None, now: float | None = None) -> bool:
        """Whether there is room in this turn, which is then taken; else `next` is to be awaited. `loop`: as `begin`.

        `now`: the time, where that was just looked at.
        """
        if self._loop is None:
            self._come(loop or asyncio.get_running_loop())
        if not self._left or self._waiting or self._work >= MOST_WORK or run_id in self.dear:
            return False
        if (self._now() if now is None else now) >= self._until:
            return False
        self._left -= 1
        return True

    async def room(self, run_id: str = "") -> None:
        """Return when there is room in a turn, at once or later. No run: it is about to begin."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            # None is on its way, or one in a loop that was closed before it came.
            self._come(loop)
        if not self.have(run_id, loop):
            await self.next(run_id)

    async def next(self, run_id: str) -> None:
        """Return in a later turn that has room, when it is the run's."""
        loop = asyncio.get_running_loop()
        again = False
        while True:
            turn: asyncio.Future[None] = loop.create_future()
            lines = self._behind if run_id in self.dear else self._waiting
            line = lines.setdefault(run_id, deque())
            # Who was called and found no room any more is the first of its run.
            (line.appendleft if again else line.append)(turn)
            if self._loop is not loop:
                self._come(loop)
            await turn
            if not self.is_full() or self._left >= self._most - FEWEST:
                self._left -= 1
                return
            again = True

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = None
        called = 0
        passed = self._behind and self._passed >= PATIENCE
        while self._waiting and called < self._most and not passed:
            called += _called(self._waiting)
        if called:
            self._passed += 1
        elif self._behind and not self._is_resting():
            self._passed = 0
            while self._behind and not called:
                called = _called(self._behind)
        if called or self._waiting:
            # What those who were called do now counts in this turn.
            self._come(loop)

    def _is_resting(self) -> bool:
        """Whether dear runs still rest; then they are called when they have."""
        left = self._rests_until - self._now()
        if left <= 0:
            return False
        self._passed = 0
        if not self._resting:
            self._resting = True
            asyncio.get_running_loop().call_later(left, self._rested)
        return True

    def _rested(self) -> None:
        self._resting = False
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._come(loop)

    def _come(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin the next turn."""
        self._loop = loop
        self._left = self._most
        self._work = 0
        now = self._now()
        self._until = now + self._seconds
        if now - self._read_at >= STALE:
            self._read_at, self._worked_before = now, self._worked()
        loop.call_soon(self._begin, loop)


def _called(lines: dict[str, deque[asyncio.Future[None]]]) -> int:
    """How many were called: the first one of the first line, which then waits behind the others."""
    run_id = next(iter(lines))
    line = lines.pop(run_id)
    turn = line.popleft()
    if line:
        lines[run_id] = line
    if turn.done():
        return 0
    turn.set_result(None)
    return 1
