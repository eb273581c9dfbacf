"""A tool's own time: whether it held the loop, or its thread, beyond its end. Others may hold the loop, too."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

T = TypeVar("T")


class OwnTime:
    """Watches one call. `until` is when its time is certainly over."""

    __slots__ = ("_coroutine", "_now", "_until", "over")

    def __init__(self, now: Callable[[], float], until: float) -> None:
        self._now = now
        self._until = until
        self._coroutine: Any = None
        self.over = False
        """It was at work itself when its time ended, and went on."""

    def of(self, coroutine: Any) -> OwnTime:
        """The awaitable that stands for the coroutine."""
        self._coroutine = coroutine
        return self

    def timed(self, call: Callable[..., T]) -> Callable[..., T]:
        """The function, which says in its thread whether it has taken too long."""

        def inside(*arguments: Any) -> T:
            try:
                return call(*arguments)
            finally:
                self.over = self._now() > self._until

        return inside

    def look(self) -> None:
        """It was called in the loop, and is back."""
        self.over = self._now() > self._until

    # A coroutine goes on in slices, between which others are at work.

    def __await__(self) -> Generator[Any, Any, Any]:
        return self

    def __iter__(self) -> OwnTime:
        return self

    def __next__(self) -> Any:
        # Most tools have no more than one slice: nothing is called for it that need not be.
        began = self._now()
        try:
            return self._coroutine.send(None)
        finally:
            if began <= self._until < self._now():
                self.over = True

    def send(self, value: Any) -> Any:
        """Go on, with what was waited for."""
        return self._slice(self._coroutine.send, value)

    def throw(self, *error: Any) -> Any:
        """Go on, with an error: a cancel, or what was waited for has failed."""
        return self._slice(self._coroutine.throw, *error)

    def close(self) -> None:
        """End it where it stands."""
        self._coroutine.close()

    def _slice(self, go_on: Callable[..., Any], *given: Any) -> Any:
        began = self._now()
        try:
            return go_on(*given)
        finally:
            if began <= self._until < self._now():
                self.over = True
