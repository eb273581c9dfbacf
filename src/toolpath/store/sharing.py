"""Reads that several ask for in the same turn of a loop, made once: a thousand readers of one run wake together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

from toolpath.ports import most_patience

T = TypeVar("T")


class Shared:
    """Reads that have been asked for and have not begun. Nobody is given what was read before they asked."""

    def __init__(self) -> None:
        self._coming: dict[Hashable, asyncio.Task[Any]] = {}

    async def read(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> T:
        """The result of `work`; for all who ask with the same key before it begins."""
        loop = asyncio.get_running_loop()
        # A request that may wait long is not refused with one that may not.
        place = (id(loop), most_patience(), key)
        task = self._coming.get(place)
        if task is None:

            async def begin() -> T:
                del self._coming[place]
                return await work()

            task = self._coming[place] = loop.create_task(begin())
            task.add_done_callback(_heard)
        # One who gives up does not end the read of the others.
        return await asyncio.shield(task)


def _heard(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        # All who asked may have given up: then an error is nobody's.
        task.exception()
