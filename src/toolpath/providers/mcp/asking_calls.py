"""Calls that may ask on one session, one at a time: a question is held until one call is left, whose it is then.

A server of the older generation asks on a pipe without saying which call it is about. So at most one call that may ask
is under way at a time; others, which were seen to ask nothing, go side by side with it. Where a question could still be
several calls', it waits until all others have ended: nobody is asked in another step's name.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import MutableMapping
from typing import Literal

from toolpath.providers.mcp.flight import Flight

#: Seconds that an answer waits for calls that may ask, so that no two do.
_PATIENCE = 1.0
#: `quiet`: asks nothing, as far as is known; `unknown`: never seen to its end; `alone`: has asked before.
Kind = Literal["quiet", "unknown", "alone"]


class AskingCalls:
    """The calls of one session. Belongs to one event loop."""

    def __init__(self, known: MutableMapping[str, bool]) -> None:
        self._known = known
        """Tool → whether it has asked; shared by all sessions of a server."""
        self._active: dict[Flight, Kind] = {}
        """Calls that may ask now."""
        self._tools: dict[Flight, str] = {}
        self._waiting: deque[tuple[Flight, Kind, asyncio.Future[None]]] = deque()
        self._changed: asyncio.Future[None] | None = None

    async def enter(self, flight: Flight, tool: str) -> None:
        """Wait until the call may be sent."""
        self._tools[flight] = tool
        known = self._known.get(tool)
        await self._take(flight, "unknown" if known is None else "alone" if known else "quiet")

    def leave(self, flight: Flight, *, has_ended: bool) -> None:
        """The call is over. `has_ended`: with a result, so that what it did not ask it does not ask."""
        tool = self._tools.pop(flight, "")
        if has_ended and tool:
            self._known.setdefault(tool, False)
        self._active.pop(flight, None)
        self._pump()

    async def owner(self) -> Flight | None:
        """The call that a question belongs to which has just come, once that is certain; None: none that still is."""
        suspects = set(self._active)
        while len(suspects := suspects & set(self._active)) > 1:
            if self._changed is None or self._changed.done():
                self._changed = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._changed)
        return next(iter(suspects), None)

    def asks(self, flight: Flight) -> None:
        """A person is asked for this call: until they answer it asks nothing else, and others may go on."""
        if flight in self._tools:
            self._known[self._tools[flight]] = True
        self._active.pop(flight, None)
        self._pump()

    async def goes_on(self, flight: Flight) -> None:
        """Wait until the call, which has its answer, may go on and ask again; not long, for others may wait for it.

        A server that serves one call after the other begins none before this one has its answer.
        """
        if flight not in self._tools:
            return
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._take(flight, "unknown")
        except TimeoutError:
            self._active[flight] = "unknown"

    async def _take(self, flight: Flight, kind: Kind) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (flight, kind, turn)
        self._waiting.append(entry)
        self._pump()
        try:
            await turn
        except asyncio.CancelledError:
            if entry in self._waiting:
                self._waiting.remove(entry)
            self._active.pop(flight, None)
            self._pump()
            raise

    def _pump(self) -> None:
        """Let in the calls that may begin, in the order in which they came."""
        while self._waiting:
            flight, kind, turn = self._waiting[0]
            if not turn.done() and not self._admits(kind):
                break
            self._waiting.popleft()
            if not turn.done():
                self._active[flight] = kind
                turn.set_result(None)
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)

    def _admits(self, kind: Kind) -> bool:
        kinds = self._active.values()
        match kind:
            case "alone":
                return not self._active
            case "unknown":
                return all(one == "quiet" for one in kinds)
            case _:
                return "alone" not in kinds
