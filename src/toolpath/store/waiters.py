"""Waiters of this process: for events of a run, or for its signals. Nothing here reads or writes a journal."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterable


class Waiters:
    """Futures and callbacks by run, of any number of event loops. Safe to use from every thread."""

    __slots__ = ("_callbacks", "_lock", "waiting")

    def __init__(self) -> None:
        self.waiting: dict[str, list[asyncio.Future[None]]] = {}
        """By run id; empty when nobody waits, so that a hot path may ask before it calls."""
        self._callbacks: dict[str, tuple[asyncio.AbstractEventLoop, Callable[[], None]]] = {}
        self._lock = threading.Lock()

    def add(self, run_id: str) -> asyncio.Future[None]:
        """A future of the running loop that is resolved when the run next has events."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self._lock:
            self.waiting.setdefault(run_id, []).append(future)
        return future

    def discard(self, run_id: str, future: asyncio.Future[None]) -> None:
        """Forget a future of `add` that nobody awaits any more."""
        with self._lock:
            futures = self.waiting.get(run_id)
            if futures and future in futures:
                futures.remove(future)
                if not futures:
                    del self.waiting[run_id]

    def take(self, run_id: str) -> list[asyncio.Future[None]]:
        """The futures that wait for the run, for the caller to resolve."""
        if not self.waiting:
            return []
        with self._lock:
            return self.waiting.pop(run_id, [])

    def wake(self, run_id: str, here: asyncio.AbstractEventLoop | None = None) -> None:
        """Resolve all futures that wait for the run, in their loops; `here`: the one that this is called in."""
        for future in self.take(run_id):
            if future.get_loop() is here:
                resolve((future,))
                continue
            # A closed loop has nobody left to wake.
            with contextlib.suppress(RuntimeError):
                future.get_loop().call_soon_threadsafe(resolve, (future,))

    def wake_all(self) -> None:
        """Resolve every future: the store closes, or may have missed something."""
        for run_id in list(self.waiting):
            self.wake(run_id)

    def watch(self, run_id: str, callback: Callable[[], None] | None) -> None:
        """Have `callback` called in the running loop at each `signal` of the run; None: no more."""
        with self._lock:
            if callback is None:
                self._callbacks.pop(run_id, None)
            else:
                self._callbacks[run_id] = (asyncio.get_running_loop(), callback)

    def watches(self, run_id: str) -> bool:
        """Whether a callback waits for signals of the run."""
        return run_id in self._callbacks

    def signal_all(self) -> None:
        """Call every callback: a notification may have been lost."""
        for run_id in list(self._callbacks):
            self.signal(run_id)

    def signal(self, run_id: str) -> None:
        """Call the callback that watches the run, if any, in its own loop."""
        with self._lock:
            watching = self._callbacks.get(run_id)
        if watching is not None:
            loop, callback = watching
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(callback)


def resolve(futures: Iterable[asyncio.Future[None]]) -> None:
    """Give the futures their end, except those that were cancelled meanwhile. To be called in their loop."""
    for future in futures:
        if not future.done():
            future.set_result(None)
