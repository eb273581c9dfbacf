"""Turns of the loop, shared out: durable runs do so much in each, and requests and readers come in between."""

from __future__ import annotations

import asyncio
from collections import deque

#: Work that all runs of a process do in one turn of its loop, in elements visited: a sixtieth of a second. One more
#: evaluation may come on top.
MOST_WORK = 60_000
#: Calls that all runs of a process conclude in one turn of its loop. More wait for the next one, in order.
MOST = 128


class Turns:
    """Counts what is done in this turn of the loop. Where a thousand runs wake together, nobody else waits for all."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._left = most
        self._work = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        """Where the next turn is on its way."""
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def is_full(self) -> bool:
        """Whether so much was done in this turn that what comes next waits for another one."""
        return self._work >= MOST_WORK

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

    async def next(self) -> None:
        """Return in a later turn that has room."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.append(turn)
        if self._loop is not loop:
            self._come(loop)
        await turn

    def _begin(self) -> None:
        self._loop = None
        self._left = self._most
        self._work = 0
        while self._waiting and self._left:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                self._left -= 1
        if self._waiting:
            self._come(asyncio.get_running_loop())

    def _come(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have the next turn begin."""
        self._loop = loop
        self._work = 0
        loop.call_soon(self._begin)
