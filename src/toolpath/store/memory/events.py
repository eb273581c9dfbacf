"""The events of one run in memory, in the pieces in which they came. Nothing here checks them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from toolpath.model.events import AnyEvent

#: Pieces with fewer events are joined with the next ones.
SMALL = 64


class EventLog:
    """Events in order, only ever added to.

    A list of them would be walked through by every full collection of garbage, however long it is. Events are left out
    of these, and so are tuples that hold nothing else.
    """

    __slots__ = ("_count", "_pieces", "_starts")

    def __init__(self) -> None:
        self._pieces: list[tuple[AnyEvent, ...]] = []
        self._starts: list[int] = []
        """How many events are before each piece."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def last(self) -> AnyEvent:
        """The latest event. Raises `IndexError` where there is none."""
        return self._pieces[-1][-1]

    def extend(self, events: Sequence[AnyEvent]) -> None:
        """Add events at the end."""
        if not events:
            return
        if self._pieces and len(self._pieces[-1]) < SMALL:
            self._pieces[-1] = (*self._pieces[-1], *events)
        else:
            self._pieces.append(tuple(events))
            self._starts.append(self._count)
        self._count += len(events)

    def read(self, after: int = 0, limit: int | None = None) -> list[AnyEvent]:
        """The events behind the first `after`, `limit` at most."""
        end = self._count if limit is None else min(self._count, after + limit)
        found: list[AnyEvent] = []
        at = max(0, bisect_right(self._starts, after) - 1)
        while after < end:
            piece, start = self._pieces[at], self._starts[at]
            found += piece[after - start : end - start]
            at += 1
            after = start + len(piece)
        return found
