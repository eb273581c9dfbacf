"""Idleness of an event loop: whether anything is left to do, which a fake clock must know before it jumps.

It looks at the loop's own queues and at where the other threads stand. Answers from sockets and from other processes
cannot be foreseen and do not count.
"""

from __future__ import annotations

import asyncio
import linecache
import queue
import sys
import threading
from types import FrameType

#: A thread whose current line makes one of these calls waits for work; any other thread is at work.
_WAITING = (".get(", ".wait(", ".acquire(", ".select(", ".poll(", ".recv(", ".accept(", ".join(")


def is_idle(loop: asyncio.AbstractEventLoop, *, patience: float, ignore: asyncio.Handle | None = None) -> bool:
    """Whether no callback is ready, no real timer is due within `patience` seconds and no thread is at work.

    `ignore` is a handle of the asker's own that does not count. Loops that hide their queues are judged by their
    threads alone.
    """
    # Threads first: one that was seen waiting has already handed its result to the loop.
    if busy_threads():
        return False
    if any(handle is not ignore for handle in getattr(loop, "_ready", ())):
        return False
    soon = loop.time() + patience
    timers: list[asyncio.TimerHandle] = getattr(loop, "_scheduled", [])
    return not any(timer.when() <= soon and not timer.cancelled() and timer is not ignore for timer in timers)


def busy_threads() -> tuple[str, ...]:
    """Names of the other threads that are at work, each with the place where it stands."""
    if threading.active_count() == 1:
        return ()
    here = threading.get_ident()
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return tuple(
        f"{names[ident]} at {frame.f_code.co_filename}:{frame.f_lineno}"
        for ident, frame in sys._current_frames().items()
        if ident != here and ident in names and not _is_waiting(frame)
    )


def _is_waiting(frame: FrameType) -> bool:
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return any(call in line for call in _WAITING) and not _has_work(frame)


def _has_work(frame: FrameType) -> bool:
    """Whether a queue that the frame takes work from holds some: the thread has been called, but not woken yet."""
    known = dict(frame.f_locals)
    known.update(getattr(known.get("self"), "__dict__", {}))
    return any(isinstance(value, queue.SimpleQueue | queue.Queue) and not value.empty() for value in known.values())
