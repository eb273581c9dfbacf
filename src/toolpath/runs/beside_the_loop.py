"""Heavy work beside the event loop: reading, checking and compiling what is large. What is small is done at once."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from toolpath.model.plan import Plan

T = TypeVar("T")

#: Weight up to which work is done in the loop's own turn: there the way to a thread and back would be the larger part.
LIGHT = 400
#: Weight of light work that is done in one turn of the loop, however many ask for it.
_MOST_A_TURN = 600
#: Threads: with more of them the loop would wait longer for its turn.
_THREADS = 2
#: Characters of text that weigh as much as one part of a plan.
_TEXT = 16
#: Characters of the text of a plan that make up one part of it.
_PART = 8
#: Parts of a plan that are counted where it has no text.
_MOST_COUNTED = 200_000
#: Kinds of what weighs as much as one part of a plan, and has no parts.
_PLAIN = frozenset({int, float, bool, type(None)})
#: Kinds of what has parts.
_HOLDERS = frozenset({dict, list, tuple})


def weight_of(things: Iterable[Any], most: int = LIGHT) -> int:
    """How much there is of plans, schemas and documents: their parts, and more for long texts.

    Counts no further than beyond `most`, so that weighing what is large costs no more than what is small.
    """
    waiting: list[Any] = [list(things)]
    # The list of them is no part itself.
    found = -1
    while waiting and found <= most:
        here = waiting.pop()
        members: Iterable[Any]
        if type(here) not in _HOLDERS and isinstance(here, msgspec.Struct):
            # What is as by default has nothing in it.
            members = [value for value in msgspec.structs.astuple(here) if value or value == 0]
        else:
            found += 1
            members = here[: most + 1] if not isinstance(here, dict) else here.values() if len(here) <= most else here
        # What has no parts is counted at once: most of a plan is that.
        for member in members:
            kind = type(member)
            if kind is str:
                found += 1 + len(member) // _TEXT
            elif kind in _PLAIN:
                found += 1
            elif kind in _HOLDERS or isinstance(member, dict | list | tuple | msgspec.Struct):
                waiting.append(member)
            else:
                found += 1 + (len(member) // _TEXT if isinstance(member, str | bytes) else 0)
    return found


def parts_of(plan: Plan) -> int:
    """About as many parts as the plan has, by the length of its text: that is written faster than parts are counted."""
    try:
        return len(msgspec.json.encode(plan, enc_hook=lambda _: None)) // _PART
    except (TypeError, ValueError, RecursionError):
        # Made by hand, of what is no JSON.
        return weight_of([plan], _MOST_COUNTED)


_Job = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


class BesideTheLoop:
    """Does work for one event loop: light work in its turns, so much in each; heavy work in a few threads."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._threads = 0
        self._busy = 0
        self._done = 0
        """Weight of the light work done in this turn."""
        self._turn: asyncio.AbstractEventLoop | None = None
        """Where the end of this turn is on its way."""
        self._waiting: list[asyncio.Future[None]] = []

    async def do(self, work: Callable[[], T], weight: int) -> T:
        """The result of the work, or its error. It must be pure: a thread goes on after its caller is cancelled."""
        if weight > LIGHT:
            return await self._beside(work)
        loop = asyncio.get_running_loop()
        while self._done > _MOST_A_TURN:
            turn: asyncio.Future[None] = loop.create_future()
            self._waiting.append(turn)
            await turn
        self._done += weight
        if self._turn is not loop:
            self._turn = loop
            loop.call_soon(self._next_turn)
        return work()

    def _next_turn(self) -> None:
        self._turn, self._done = None, 0
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)

    async def _beside(self, work: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._busy += 1
        if self._busy > self._threads and self._threads < _THREADS:
            self._threads += 1
            # A daemon: what is still being checked keeps no process from ending.
            name = f"toolpath-aside-{self._threads}"
            threading.Thread(target=_serve, args=(self._jobs,), name=name, daemon=True).start()
        self._jobs.put((loop, future, work))
        try:
            return await future
        finally:
            self._busy -= 1
            # An error that the future holds would hold, by this frame, the future: and with it all that was read.
            del future, work

    def close(self) -> None:
        """Let idle threads end; others end after what they do. Later work begins new ones."""
        for _ in range(self._threads):
            self._jobs.put(None)
        # What is asked for later is for threads of its own: an end that still waits in the queue would end one of them.
        self._jobs = queue.SimpleQueue()
        self._threads = 0


def _serve(jobs: queue.SimpleQueue[_Job | None]) -> None:
    while (job := jobs.get()) is not None:
        loop, future, work = job
        if future.cancelled():
            continue
        result: Any = None
        error: BaseException | None = None
        try:
            result = work()
        except BaseException as raised:  # noqa: BLE001  # whatever it is, it belongs to who waits for it
            error = raised
        # Where the loop is closed nobody waits for this any more.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, future, result, error)
        del job, loop, future, work, result, error


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
