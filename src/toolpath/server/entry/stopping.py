"""Notice that the process was told to stop, before its server waits for the requests that are under way."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from types import FrameType


@contextmanager
def when_told_to_stop(callback: Callable[[], None]) -> Iterator[None]:
    """Have `callback` called in the running loop when a signal tells the server to stop; then the server's own turn.

    A stream would else last until the server loses patience, since it has no end of its own.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    servers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def on_signal(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(callback)
        server = servers[signal.Signals(number)]
        assert callable(server)
        server(number, frame)

    taken = [number for number, server in servers.items() if callable(server)]
    for number in taken:
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, servers[number])


@asynccontextmanager
async def beside(work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Have the work done while the server runs."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
