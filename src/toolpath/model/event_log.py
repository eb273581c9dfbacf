"""Events of one run in memory, in the pieces in which they came. Nothing here checks them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from toolpath.model.events import AnyEvent, decode_events, encode_events

#: Pieces have at least so many events, but for the rest of a batch that came at once.
SMALL = 64
#: They have at most so many: whoever reads one event reads its whole piece, and a fork begins with thousands at once.
LARGE = 512
#: So many of the first events stay as they are: to write them costs a tenth of the steps they tell of, which a log
#: this short never gains back.
FIRST = 2_048

_Piece = tuple[AnyEvent, ...] | bytes


class EventLog:
    """Events in order, only ever added to.

    Of a long log all but the first and the latest are kept as their text. What is in them would else be walked through
    by every full collection of garbage, and takes a multiple of the memory.
    """

    __slots__ = ("_closed", "_last", "_latest", "_pieces", "_starts")

    def __init__(self, events: Sequence[AnyEvent] = ()) -> None:
        self._pieces: list[_Piece] = []
        self._starts: list[int] = []
        """How many events are before each piece."""
        self._closed = 0
        """How many are in the pieces."""
        self._latest: list[AnyEvent] = []
        """Those behind them."""
        self._last: AnyEvent | None = None
        """The last one of the pieces."""
        self.extend(events)

    def __len__(self) -> int:
        return self._closed + len(self._latest)

    @property
    def last(self) -> AnyEvent:
        """The latest event. Raises `IndexError` where there is none."""
        return self._latest[-1] if self._latest or self._last is None else self._last

    def extend(self, events: Sequence[AnyEvent]) -> None:
        """Add events at the end."""
        latest = self._latest
        latest += events
        if len(latest) >= SMALL:
            self._close()

    def _close(self) -> None:
        latest = tuple(self._latest)
        self._latest.clear()
        self._last = latest[-1]
        for at in range(0, len(latest), LARGE):
            piece = latest[at : at + LARGE]
            self._starts.append(self._closed)
            self._pieces.append(piece if self._closed < FIRST else _packed(piece))
            self._closed += len(piece)

    def read(self, after: int = 0, limit: int | None = None) -> list[AnyEvent]:
        """The events behind the first `after`, `limit` at most."""
        end = len(self) if limit is None else min(len(self), after + limit)
        found: list[AnyEvent] = []
        at = max(0, bisect_right(self._starts, after) - 1)
        while after < min(end, self._closed):
            piece, start = _events(self._pieces[at]), self._starts[at]
            found += piece[after - start : end - start]
            at += 1
            after = start + len(piece)
        return found + self._latest[max(after - self._closed, 0) : max(end - self._closed, 0)]


def _packed(piece: tuple[AnyEvent, ...]) -> _Piece:
    """The piece as text, but for what has none: memory keeps also what no file could."""
    try:
        return encode_events(piece)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return piece


def _events(piece: _Piece) -> Sequence[AnyEvent]:
    return decode_events(piece) if isinstance(piece, bytes) else piece
