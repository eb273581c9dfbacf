"""How long a store that is away is tried: said around what is done, heard by stores that wait."""

from __future__ import annotations

import contextvars
from collections.abc import Iterator
from contextlib import contextmanager


class _Bound:
    """The bound of one scope; what outlives the scope is not bound by it."""

    __slots__ = ("holds", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.holds = True


_bound: contextvars.ContextVar[_Bound | None] = contextvars.ContextVar("toolpath_patience", default=None)


@contextmanager
def waiting_at_most(seconds: float) -> Iterator[None]:
    """What is inside answers somebody who waits: a store that is away is tried for so long at most.

    Tasks that are begun inside are bound too, until the scope ends.
    """
    bound = _Bound(seconds)
    token = _bound.set(bound)
    try:
        yield
    finally:
        bound.holds = False
        _bound.reset(token)


@contextmanager
def waiting_long() -> Iterator[None]:
    """What is inside, as the drive of a run, answers nobody: the store's own patience counts."""
    token = _bound.set(None)
    try:
        yield
    finally:
        _bound.reset(token)


def most_patience() -> float | None:
    """Seconds for which a store may be tried here; None: as long as it sees fit."""
    bound = _bound.get()
    return bound.seconds if bound is not None and bound.holds else None
