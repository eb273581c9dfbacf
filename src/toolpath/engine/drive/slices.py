"""A tool's own running time: whether it ran when its time limit passed, or others held the event loop."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

T = TypeVar("T")


class OwnTime:
    """Watches one call, which begins now. `until` is when its time is certainly over.

    It is also the awaitable that stands for the `coroutine` of the call.
    """

    __slots__ = ("_now", "_until", "began", "coroutine", "ended", "over")

    def __init__(self, now: Callable[[], float], lasts: float) -> None:
        self._now = now
        self.began = self.ended = now()
        """When the call began, and when it was last seen at work."""
        self._until = self.began + lasts
        self.coroutine: Any = None
        self.over = False
        """It was at work itself when its time ended, and went on."""

    def timed(self, call: Callable[..., T]) -> Callable[..., T]:
        """The function, which says in its thread whether it has taken too long."""

        def inside(*arguments: Any) -> T:
            try:
                return call(*arguments)
            finally:
                self.look()

        return inside

    def look(self) -> None:
        """Note that the tool has been at work, and is back."""
        self.ended = self._now()
        self.over = self.ended > self._until

    def __await__(self) -> Generator[Any, Any, Any]:
        """Go through the slices of the coroutine, between which others are at work."""
        coroutine, began = self.coroutine, self.began
        go_on, given = coroutine.send, None
        while True:
            try:
                waits_for = go_on(given)
            except StopIteration as end:
                return end.value
            finally:
                self.ended = self._now()
                if began <= self._until < self.ended:
                    self.over = True
            try:
                given = yield waits_for
                go_on = coroutine.send
            except GeneratorExit:
                coroutine.close()
                raise
            except BaseException as error:  # noqa: BLE001  # a cancel, or what was waited for has failed
                go_on, given = coroutine.throw, error
            began = self._now()
