"""Readiness of this process: the store takes writes, the queue answers, the tools are there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from toolpath.app import Toolpath
from toolpath.errors import ToolpathError
from toolpath.model.record import Record
from toolpath.ports import PutsAside, Queue

#: Seconds that each part has to answer.
_WITHIN = 5.0
#: Seconds for which what was found holds: anybody may ask, and each look writes.
_HOLDS = 1.0


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One part that was looked at."""

    name: str
    ok: bool
    detail: str = ""
    error: ToolpathError | None = None


class Readiness:
    """Looks at the parts of one Toolpath; many who ask at once cause one look."""

    def __init__(self, tp: Toolpath) -> None:
        self._tp = tp
        self._look: asyncio.Task[tuple[Check, ...]] | None = None
        self._until = 0.0

    async def checks(self) -> tuple[Check, ...]:
        """How each part is."""
        look = self._look
        if look is None or (look.done() and self._tp.clock.monotonic() >= self._until):
            look = self._look = asyncio.create_task(self._look_around())
        return await asyncio.shield(look)

    async def _look_around(self) -> tuple[Check, ...]:
        checks = [await _checked("store", self._write)]
        queue = self._tp.queue
        if queue is not None:
            checks.append(await _checked("queue", lambda: _depth(queue)))
        self._until = self._tp.clock.monotonic() + _HOLDS
        return (*checks, self._tools())

    async def _write(self) -> str:
        await self._tp.store.put_record(Record(kind="readiness", id="probe"))
        return "takes writes"

    def _tools(self) -> Check:
        # Servers are started when they are needed; one that is away takes down no more than its own tools.
        registry = self._tp.registry
        away = ", ".join(sorted(registry.problems))
        count = f"{len(registry.snapshot().tools)} loaded"
        return Check(name="tools", ok=True, detail=f"{count}; not there: {away}" if away else count)


async def _depth(queue: Queue) -> str:
    told = f"{await queue.depth()} waiting"
    aside = await queue.put_aside() if isinstance(queue, PutsAside) else 0
    return f"{told}; {aside} put aside that no worker could read" if aside else told


async def _checked(name: str, look: Callable[[], Awaitable[str]]) -> Check:
    try:
        async with asyncio.timeout(_WITHIN):
            return Check(name=name, ok=True, detail=await look())
    except TimeoutError:
        return Check(name=name, ok=False, detail=f"no answer within {_WITHIN:g} s")
    except ToolpathError as error:
        return Check(name=name, ok=False, detail=error.message, error=error)
