"""A tool's own running time in its thread: whether it ran when its time limit passed, or was kept from running."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class OwnTime:
    """Watches one call in a thread, which began then. `until` is when its time is certainly over."""

    __slots__ = ("_now", "_until", "ended", "over")

    def __init__(self, now: Callable[[], float], began: float, until: float) -> None:
        self._now = now
        self._until = until
        self.ended = began
        """When the call was last seen at work."""
        self.over = began > until
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
