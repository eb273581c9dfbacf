"""JSON text → tree of nodes with positions. The grammar of RFC 8259 and nothing more."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from json import JSONDecodeError, JSONDecoder
from typing import Any

from toolpath.errors import ReadError
from toolpath.notation.nodes import (
    MAX_NODES,
    MAX_STEPS,
    STEP_LISTS,
    DocumentNode,
    Repeat,
    refusal,
    too_deep,
    too_many,
    too_many_steps,
    whole_text,
)
from toolpath.values import MAX_DEPTH

_STRINGS = JSONDecoder()
_BLANK = re.compile(r"[ \t\n\r]*")
_COMMENT = re.compile(r"//|/\*|#")
COMMENT_HINT = "Leave it out, or write the plan as YAML, where a comment begins with # and a blank."
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", re.ASCII)
_WORDS = (("true", True), ("false", False), ("null", None))
#: Longer literals take quadratic time to convert; no float or integer of use is that long.
_MAX_DIGITS = 400


def read_json(text: str, *, file: str = "", most_steps: int = MAX_STEPS) -> DocumentNode:
    """The tree of a JSON text. Raises `ReadError` with line and column for anything else."""
    return _Json(text, file, most_steps).document()


class _Json:
    """One pass over one text."""

    def __init__(self, text: str, file: str, most_steps: int) -> None:
        self.text = text
        self.file = file
        self.count = self.steps = 0
        self.most_steps = most_steps
        self.of_steps = False
        """What is read next, if it is a list, is one of steps."""
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def document(self) -> DocumentNode:
        node, at = self._value(self._skip(0), 0, (0, 0))
        at = self._skip(at)
        if at != len(self.text):
            raise self._error("There is text after the end of the JSON value.", at)
        return node

    def _skip(self, at: int) -> int:
        match = _BLANK.match(self.text, at)
        return match.end() if match else at

    def _place(self, at: int) -> tuple[int, int]:
        line = bisect_right(self.starts, at)
        return line, at - self.starts[line - 1] + 1

    def _error(self, message: str, at: int, hint: str = "") -> ReadError:
        mark = _COMMENT.match(self.text, at)
        if mark is not None:
            message, hint = "A comment stands here, which JSON does not have.", COMMENT_HINT
        return refusal(message, self._place(min(at, len(self.text))), hint, file=self.file)

    def _value(self, at: int, depth: int, key: tuple[int, int]) -> tuple[DocumentNode, int]:
        self.count += 1
        if self.count > MAX_NODES:
            raise too_many(self._place(at), file=self.file)
        if depth > MAX_DEPTH:
            raise too_deep(self._place(at), file=self.file)
        first = self.text[at : at + 1]
        if first == "{":
            return self._object(at, depth, key)
        if first == "[":
            return self._array(at, depth, key)
        place = self._place(at)
        if first == '"':
            value, end = self._string(at)
            return DocumentNode(value, *place, *key), end
        for word, meaning in _WORDS:
            if self.text.startswith(word, at):
                return DocumentNode(meaning, *place, *key, word), at + len(word)
        return self._number(at, place, key)

    def _string(self, at: int) -> tuple[str, int]:
        try:
            value, end = _STRINGS.raw_decode(self.text, at)
        except JSONDecodeError as error:
            if self.text[error.pos : error.pos + 1] in "\r\n" or error.msg.startswith("Unterminated"):
                # Where the line ends is not where the fault is.
                raise self._error("A text in quotes is not closed.", at, "Close the quote that opens here.") from None
            raise self._error(f"This text in quotes is no JSON: {error.msg}.", error.pos) from None
        whole = whole_text(value)
        if whole is None:
            raise self._error("This text holds half a character (a lone surrogate escape).", at)
        return whole, end

    def _number(self, at: int, place: tuple[int, int], key: tuple[int, int]) -> tuple[DocumentNode, int]:
        match = _NUMBER.match(self.text, at)
        if match is None:
            what = (
                f"{self.text[at]!r} does not begin a JSON value."
                if at < len(self.text)
                else "The JSON text ends early."
            )
            raise self._error(what, at)
        written = match.group()
        if len(written) > _MAX_DIGITS:
            raise self._error(f"This number has more than {_MAX_DIGITS} digits.", at, "Write it as text, in quotes.")
        value: Any = float(written) if match.group(1) or match.group(2) else int(written)
        if not math.isfinite(value):
            raise self._error(f"The number {written} is too large.", at, "Write it as text, in quotes.")
        return DocumentNode(value, *place, *key, written), match.end()

    def _array(self, at: int, depth: int, key: tuple[int, int]) -> tuple[DocumentNode, int]:
        place = self._place(at)
        of_steps, self.of_steps = self.of_steps, False
        items: list[DocumentNode] = []
        at = self._skip(at + 1)
        if self.text.startswith("]", at):
            return DocumentNode(items, *place, *key), at + 1
        while True:
            item, at = self._value(at, depth + 1, (0, 0))
            items.append(item)
            if of_steps:
                self.steps += 1
                if self.steps > self.most_steps:
                    raise too_many_steps(self.most_steps, (item.line, item.column), file=self.file)
            at = self._skip(at)
            if self.text.startswith("]", at):
                return DocumentNode(items, *place, *key), at + 1
            at = self._comma(at, "]")

    def _object(self, at: int, depth: int, key: tuple[int, int]) -> tuple[DocumentNode, int]:
        place = self._place(at)
        members: dict[str, DocumentNode] = {}
        repeats: list[Repeat] = []
        at = self._skip(at + 1)
        if self.text.startswith("}", at):
            return DocumentNode(members, *place, *key), at + 1
        while True:
            if not self.text.startswith('"', at):
                raise self._error("A key in double quotes is expected here.", at)
            key_place = self._place(at)
            name, at = self._string(at)
            at = self._skip(at)
            if not self.text.startswith(":", at):
                raise self._error(f"A colon is expected after the key {name!r:.60}.", at)
            self.of_steps = name in STEP_LISTS
            item, at = self._value(self._skip(at + 1), depth + 1, key_place)
            self.of_steps = False
            if name in members:
                repeats.append(Repeat(name, *key_place))
            else:
                members[name] = item
            at = self._skip(at)
            if self.text.startswith("}", at):
                return DocumentNode(members, *place, *key, "", tuple(repeats)), at + 1
            at = self._comma(at, "}")

    def _comma(self, at: int, closing: str) -> int:
        if not self.text.startswith(",", at):
            raise self._error(f"A comma or {closing!r} is expected here.", at)
        return self._skip(at + 1)
