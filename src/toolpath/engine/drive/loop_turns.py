"""Turns of the loop, shared out among runs: they do so much in each, and requests and readers come in between."""

from __future__ import annotations

import asyncio
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


class LoopTurns:
    """Counts what is done in this turn of the loop. Where a thousand runs wake together, nobody else waits for all.

    Runs take turns: who has one call waits for one of each other run, not for all of theirs.
    """

    def __init__(
        self, most: int = MOST, *, seconds: float = SLICE, now: Callable[[], float] = time.perf_counter
    ) -> None:
        self._most = most
        self._seconds = seconds
        self._now = now
        self._left = most
        self._work = 0
        self._until = 0.0
        """When this turn has taken long enough."""
        self._loop: asyncio.AbstractEventLoop | None = None
        """Where the next turn is on its way."""
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """By run; the first one's turn is next."""

    @property
    def is_full(self) -> bool:
        """Whether so much was done in this turn that what comes next waits for another one."""
        return self._work >= MOST_WORK or (self._loop is not None and self._now() >= self._until)

    def charge(self, work: int) -> None:
        """Count work that was done in this turn."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._come(loop)
        self._work += work

    def have(self) -> bool:
        """Whether there is room in this turn, which is then taken; else `next` is to be awaited."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._come(loop)
        if not self._left or self._waiting or self.is_full:
            return False
        self._left -= 1
        return True

    async def room(self, run_id: str = "") -> None:
        """Return when there is room in a turn, at once or later. No run: it is about to begin."""
        if not self.have():
            await self.next(run_id)

    async def next(self, run_id: str) -> None:
        """Return in a later turn that has room, when it is the run's."""
        loop = asyncio.get_running_loop()
        again = False
        while True:
            turn: asyncio.Future[None] = loop.create_future()
            line = self._waiting.setdefault(run_id, deque())
            # Who was called and found no room any more is the first of its run.
            (line.appendleft if again else line.append)(turn)
            if self._loop is not loop:
                self._come(loop)
            await turn
            if not self.is_full or self._left >= self._most - FEWEST:
                self._left -= 1
                return
            again = True

    def _begin(self) -> None:
        self._loop = None
        called = 0
        while self._waiting and called < self._most:
            run_id = next(iter(self._waiting))
            line = self._waiting.pop(run_id)
            turn = line.popleft()
            if line:
                self._waiting[run_id] = line
            if not turn.done():
                turn.set_result(None)
                called += 1
        if called:
            # What those who were called do now counts in this turn.
            self._come(asyncio.get_running_loop())

    def _come(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have the next turn begin."""
        self._loop = loop
        self._left = self._most
        self._work = 0
        self._until = self._now() + self._seconds
        loop.call_soon(self._begin)
