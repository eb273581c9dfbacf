"""Reads a plan while it is being written: gives each entry of its list of steps as soon as it is complete. Pure."""

from __future__ import annotations

import re
from typing import Final

from toolpath.values import Json, decode

_LONGEST: Final = 2_000_000
#: Of one entry, or of one text.
_LONGEST_PART: Final = 200_000
#: What opens the list of steps, at the top level of the answer.
_KEY: Final = "steps"
_MARK: Final = re.compile(r'["{}\[\]\\]')


class StepReader:
    """Takes the text of an answer piece by piece. Of prose around the answer nothing is taken."""

    __slots__ = (
        "_depth",
        "_entry",
        "_in_list",
        "_in_text",
        "_key",
        "_list_depth",
        "_position",
        "_taken",
        "_text",
        "_text_start",
        "is_broken",
    )

    def __init__(self) -> None:
        self.is_broken = False
        """An entry was no JSON or the text too long, so that what comes after cannot be told."""
        self._text = ""
        """What is not yet let go."""
        self._taken = 0
        self._position = 0
        self._depth = 0
        self._in_text = False
        self._text_start = 0
        self._key = ""
        """The text that was read last: the key of what opens next."""
        self._in_list = False
        self._list_depth = 0
        self._entry = -1
        """Where the entry begins that is being written; -1: none is."""

    def feed(self, piece: str) -> list[Json]:
        """Take the next piece and give the entries that it completes, in order; what is no JSON is left out."""
        found: list[Json] = []
        if self._taken > _LONGEST or len(self._text) > _LONGEST_PART:
            self.is_broken = True
            return found
        self._taken += len(piece)
        self._text += piece
        while (match := _MARK.search(self._text, self._position)) is not None:
            at, mark = match.start(), match.group()
            if self._in_text and mark == "\\":
                if at + 1 >= len(self._text):
                    # The escaped character is still to come.
                    return found
                self._position = at + 2
                continue
            self._position = at + 1
            if mark == '"':
                self._quote(at)
            elif not self._in_text and mark != "\\":
                self._bracket(mark, at, found)
        self._position = len(self._text)
        self._let_go()
        return found

    def _let_go(self) -> None:
        """Drop what is behind, so that the cost of a piece does not grow with the text before it."""
        kept = self._entry if self._entry >= 0 else self._text_start if self._in_text else self._position
        if kept <= 0:
            return
        self._text = self._text[kept:]
        self._position -= kept
        self._text_start -= kept
        self._entry = self._entry - kept if self._entry >= 0 else -1

    def _quote(self, at: int) -> None:
        if self._depth == 0:
            # Prose before the answer may quote things.
            return
        if self._in_text:
            self._key = self._text[self._text_start : at]
        self._text_start = at + 1
        self._in_text = not self._in_text

    def _bracket(self, mark: str, at: int, found: list[Json]) -> None:
        if mark in "{[":
            if mark == "{" and self._in_list and self._depth == self._list_depth:
                self._entry = at
            if mark == "[" and self._depth == 1 and self._key == _KEY and not self._in_list:
                self._in_list, self._list_depth = True, 2
            self._depth += 1
            return
        self._depth = max(self._depth - 1, 0)
        if not self._in_list:
            return
        if self._depth < self._list_depth:
            self._in_list = False
        elif self._depth == self._list_depth and self._entry >= 0:
            self._take(at + 1, found)

    def _take(self, end: int, found: list[Json]) -> None:
        try:
            found.append(decode(self._text[self._entry : end]))
        except (ValueError, RecursionError):
            # The whole answer is read by the tolerant reader at the end; only a head start is lost.
            self.is_broken = True
        self._entry = -1
