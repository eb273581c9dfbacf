"""A tool's own running time: whether it ran when its time limit passed, or others held the event loop."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

T = TypeVar("T")


class OwnTime:
    """Watches one call, which begins now. `until` is when its time is certainly over.

    It is also the awaitable that stands for the `coroutine` of the call.
    """

    __slots__ = ("_first", "_now", "_until", "began", "coroutine", "ended", "over")

    def __init__(self, now: Callable[[], float], lasts: float) -> None:
        self._now = now
        self.began = self.ended = now()
        """When the call began, and when it was last seen at work."""
        self._until = self.began + lasts
        self._first = True
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
        """It has been at work, and is back."""
        self.ended = self._now()
        self.over = self.ended > self._until

    # A coroutine goes on in slices, between which others are at work.

    def __await__(self) -> Generator[Any, Any, Any]:
        return self

    def __iter__(self) -> OwnTime:
        return self

    def __next__(self) -> Any:
        # Most tools have no more than one slice: nothing is called for it that need not be.
        began = self.began if self._first else self._now()
        self._first = False
        try:
            return self.coroutine.send(None)
        finally:
            self.ended = self._now()
            if began <= self._until < self.ended:
                self.over = True

    def send(self, value: Any) -> Any:
        """Go on, with what was waited for."""
        return self._slice(self.coroutine.send, value)

    def throw(self, *error: Any) -> Any:
        """Go on, with an error: a cancel, or what was waited for has failed."""
        return self._slice(self.coroutine.throw, *error)

    def close(self) -> None:
        """End it where it stands."""
        self.coroutine.close()

    def _slice(self, go_on: Callable[..., Any], *given: Any) -> Any:
        began = self._now()
        try:
            return go_on(*given)
        finally:
            self.ended = self._now()
            if began <= self._until < self.ended:
                self.over = True
