"""A tool's own running time: whether it ran when its time limit passed, or others held the event loop."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

T = TypeVar("T")


class OwnTime:
    """Watches one call, which began then. `until` is when its time is certainly over.

    It is also the awaitable that stands for the rest of the `coroutine` of the call, whose first slice is over:
    `waits_for` is what that gave.
    """

    __slots__ = ("_coroutine", "_now", "_until", "_waits_for", "ended", "over")

    def __init__(
        self, now: Callable[[], float], began: float, until: float, coroutine: Any = None, waits_for: Any = None
    ) -> None:
        self._now = now
        self._until = until
        self._coroutine = coroutine
        self._waits_for = waits_for
        self.ended = began if coroutine is None else now()
        """When the call was last seen at work."""
        self.over = self.ended > until
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
        coroutine, waits_for, until, now = self._coroutine, self._waits_for, self._until, self._now
        while True:
            try:
                given = yield waits_for
                go_on = coroutine.send
            except GeneratorExit:
                coroutine.close()
                raise
            except BaseException as error:  # noqa: BLE001  # a cancel, or what was waited for has failed
                go_on, given = coroutine.throw, error
            began = now()
            try:
                waits_for = go_on(given)
            except StopIteration as end:
                return end.value
            finally:
                self.ended = ended = now()
                if began <= until < ended:
                    self.over = True
