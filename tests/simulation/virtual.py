"""Time that passes only where nothing else is left to do: waiting costs nothing, and every run of it is the same."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from toolpath.ports import Timer

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    """Waits for nothing: the loop's time jumps to its next timer instead."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if found or timeout == 0:
            return found
        if timeout is None:
            raise Stuck("nothing is ready, and no timer is set")
        self.passed += timeout
        return []


class Stuck(RuntimeError):
    """What runs waits for something that nothing will bring about."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop of virtual time. Threads and sockets are not waited for."""

    def __init__(self) -> None:
        self.selector = _Selector()
        super().__init__(self.selector)

    def time(self) -> float:
        return self.selector.passed


class VirtualClock:
    """The time of the running `VirtualLoop`, as `ports.Clock` wants it."""

    START = 1_700_000_000.0

    def time(self) -> float:
        return self.START + self.monotonic()

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_at(when, callback)


def in_virtual_time(work: Coroutine[Any, Any, T]) -> T:
    """What the work gives, in a loop of its own. Raises `Stuck` where it would wait for ever."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
