"""Events of one run in memory, in the pieces in which they came. Nothing here checks them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from toolpath.model.events import AnyEvent, decode_events, encode_events

#: Pieces with fewer events are joined with the next ones.
SMALL = 64
#: So many of the first events stay as they are: to write them costs a tenth of the steps they tell of, which a log
#: this short never gains back.
FIRST = 8_192

_Piece = tuple[AnyEvent, ...] | bytes


class EventLog:
    """Events in order, only ever added to.

    Of a long log all but the first and the latest are kept as their text. What is in them would else be walked through
    by every full collection of garbage, and takes a multiple of the memory.
    """

    __slots__ = ("_count", "_pieces", "_starts")

    def __init__(self, events: Sequence[AnyEvent] = ()) -> None:
        self._pieces: list[_Piece] = []
        self._starts: list[int] = []
        """How many events are before each piece."""
        self._count = 0
        self.extend(events)

    def __len__(self) -> int:
        return self._count

    @property
    def last(self) -> AnyEvent:
        """The latest event. Raises `IndexError` where there is none."""
        return _events(self._pieces[-1])[-1]

    def extend(self, events: Sequence[AnyEvent]) -> None:
        """Add events at the end."""
        if not events:
            return
        pieces = self._pieces
        latest = pieces[-1] if pieces else b""
        if type(latest) is tuple and len(latest) < SMALL:
            pieces[-1] = (*latest, *events)
        else:
            if self._count > FIRST and type(latest) is tuple:
                pieces[-1] = _packed(latest)
            pieces.append(tuple(events))
            self._starts.append(self._count)
        self._count += len(events)

    def read(self, after: int = 0, limit: int | None = None) -> list[AnyEvent]:
        """The events behind the first `after`, `limit` at most."""
        end = self._count if limit is None else min(self._count, after + limit)
        found: list[AnyEvent] = []
        at = max(0, bisect_right(self._starts, after) - 1)
        while after < end:
            piece, start = _events(self._pieces[at]), self._starts[at]
            found += piece[after - start : end - start]
            at += 1
            after = start + len(piece)
        return found


def _packed(piece: tuple[AnyEvent, ...]) -> _Piece:
    """The piece as text, but for what has none: memory keeps also what no file could."""
    try:
        return encode_events(piece)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return piece


def _events(piece: _Piece) -> Sequence[AnyEvent]:
    return decode_events(piece) if type(piece) is bytes else piece  # type: ignore[return-value]
