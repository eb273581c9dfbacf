"""Threads for `def` tools. They are daemons: a tool that never returns cannot keep the process from ending.

A thread cannot be killed: a call that outlived its time goes on in it, its result is thrown away, and it counts against
the cap until it comes back.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any

from toolpath.errors import ToolUnavailable

_Job = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


class Threads:
    """At most `limit` threads, started when needed and kept."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._started = 0
        self._busy = 0
        self._lost = 0

    @property
    def lost(self) -> int:
        """Calls that were given up and have not come back."""
        return self._lost

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return or raise as the function does. Cancelling leaves it running, its result unseen."""
        if self._lost >= self._limit:
            raise ToolUnavailable(
                f"All {self._limit} threads are held by calls that outlived their time and never came back.",
                reached=False,
                hint="Give the tool `isolation: process`, which can be killed, or raise max_threads.",
            )
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        context = contextvars.copy_context()
        with self._lock:
            self._busy += 1
            if (self._busy > self._started or not self._started) and self._started < self._limit:
                self._started += 1
                name = f"toolpath-tool-{self._started}"
                threading.Thread(target=self._work, args=(self._jobs,), name=name, daemon=True).start()
            self._jobs.put((loop, future, lambda: context.run(function, *arguments)))
        try:
            return await future
        except asyncio.CancelledError:
            with self._lock:
                self._lost += 1
            raise

    def _work(self, jobs: queue.SimpleQueue[_Job | None]) -> None:
        while (job := jobs.get()) is not None:
            loop, future, call = job
            result: Any = None
            error: BaseException | None = None
            if not future.cancelled():
                try:
                    result = call()
                except BaseException as raised:  # noqa: BLE001  # SystemExit too: a tool must not end a thread
                    error = raised
            del call
            try:
                loop.call_soon_threadsafe(self._settle, future, result, error)
            except RuntimeError:
                # The loop is closed: nobody waits for this any more.
                with self._lock:
                    self._busy -= 1
            job = result = error = None

    def _settle(self, future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
        with self._lock:
            self._busy -= 1
            if future.cancelled():
                self._lost -= 1
        if future.done():
            return
        if error is None:
            future.set_result(result)
        elif isinstance(error, StopIteration | GeneratorExit):
            # These two steer coroutines: as they are they would end the one that waits.
            future.set_exception(RuntimeError(f"The tool raised {type(error).__name__}."))
        else:
            future.set_exception(error)

    def close(self) -> None:
        """Let the threads end when they have done what is waiting; a later call starts new ones."""
        with self._lock:
            for _ in range(self._started):
                self._jobs.put(None)
            self._jobs = queue.SimpleQueue()
            self._started = 0
