"""Order in which waiting work is written: in lines, which take turns. What is heavy keeps nobody but its own line."""

from __future__ import annotations

from collections import deque
from typing import Generic, Protocol, TypeVar


class WaitingWork(Protocol):
    """A piece of work that waits."""

    line: str
    """What is written in order: pieces of other lines may go before it."""
    heavy: bool
    """Takes long."""


P = TypeVar("P", bound=WaitingWork)


class Lines(Generic[P]):
    """Pieces of work that wait, in one line for each whose order matters. Used by one thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._light: dict[str, deque[P]] = {}
        """Lines that begin with a light piece."""
        self._heavy: dict[str, deque[P]] = {}
        """Lines that begin with a heavy piece; the first one's turn is next."""
        self._was_light = False
        """The last group was one of light pieces."""

    def __bool__(self) -> bool:
        return bool(self._light or self._heavy)

    def put(self, piece: P) -> None:
        """Have the piece wait behind all others of its line."""
        line = self._light.get(piece.line) or self._heavy.get(piece.line)
        if line is not None:
            line.append(piece)
        else:
            self._place(piece.line, deque((piece,)))

    def group(self) -> list[P]:
        """The pieces to write next: light ones, or one heavy one. Where there are both, a group of each in turn."""
        self._was_light = bool(self._light) and not (self._heavy and self._was_light)
        return self._light_ones() if self._was_light else self._heavy_one()

    def _light_ones(self) -> list[P]:
        group: list[P] = []
        while self._light and len(group) < self._most:
            name = next(iter(self._light))
            line = self._light.pop(name)
            while line and not line[0].heavy and len(group) < self._most:
                group.append(line.popleft())
            self._place(name, line)
        return group

    def _heavy_one(self) -> list[P]:
        if not self._heavy:
            return []
        name = next(iter(self._heavy))
        line = self._heavy.pop(name)
        piece = line.popleft()
        self._place(name, line)
        return [piece]

    def _place(self, name: str, line: deque[P]) -> None:
        """Put the line where it belongs, behind others of its kind."""
        if line:
            (self._heavy if line[0].heavy else self._light)[name] = line
