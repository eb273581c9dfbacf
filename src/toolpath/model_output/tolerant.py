"""JSON as models damage it → tree of nodes: single quotes, Python's words, bare keys, trailing commas, comments.

Only what can mean one thing is read, and each repair is noted on the page. Nothing is evaluated.
"""

from __future__ import annotations

import math
import re
from typing import Any

from toolpath.model_output.page import BLANK, Page
from toolpath.notation.nodes import MAX_NODES, DocumentNode, Repeat, whole_text
from toolpath.values import MAX_DEPTH

_GAP = re.compile(rf"[{BLANK}]*")
_STRANGE = re.compile(r"[^ \t\r\n]")
_COMMENT = re.compile(r"(?://|#)[^\n]*")
_COMMENT_END = re.compile(r"\*/")
_NUMBER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")
_STRINGS = {
    '"""': re.compile(r'"""((?:[^"\\]|\\.|"(?!""))*+)"""', re.DOTALL),
    "'''": re.compile(r"'''((?:[^'\\]|\\.|'(?!''))*+)'''", re.DOTALL),
    '"': re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL),
    "'": re.compile(r"'((?:[^'\\]++|\\.)*+)'", re.DOTALL),
    "“": re.compile(r"“([^\u201c\u201d\\]*+)”"),
}
#: Quotes that some models use as single tokens; what is between them is taken as it is.
_VERBATIM = ('<|"|>', "<escape>")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_PLAIN_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"true": True, "false": False, "null": None}
_PYTHON_WORDS = {"True": True, "False": False, "None": None}
#: What cannot go on a value, and so ends the text of one: a fence, a token of a model, a closing tag.
STOP = re.compile(r"```|</|<[|\uff5c]|<\w+[|\uff5c]>|\[/|\Z")
_MAX_DIGITS = 400


class Values:
    """Reads values from one page. `cut` is where the one closing bracket was missing that may be missing."""

    __slots__ = ("count", "cut", "page", "python", "text")

    def __init__(self, page: Page, *, python: bool = False) -> None:
        self.page = page
        self.text = page.text
        self.python = python
        """Backslashes are read as Python reads them."""
        self.count = 0
        self.cut: int | None = None

    def whole(self, at: int) -> tuple[DocumentNode, int]:
        """The value that begins here, with all its brackets: of arguments alone, a missing one may hide more."""
        node, end = self.value(at)
        if self.cut is not None:
            raise self.page.broken("The text ends early.", self.cut, "It may have been cut off.")
        return node, end

    def skip(self, at: int) -> int:
        """Past blanks and comments."""
        while True:
            gap = _GAP.match(self.text, at)
            end = gap.end() if gap else at
            if end > at and _STRANGE.search(self.text, at, end):
                self.page.repair("invisible or unusual blanks", at)
            if self.text[end : end + 1] not in ("/", "#"):
                return end
            if self.text.startswith("/*", end):
                comment = self.page.search(_COMMENT_END, end + 2)
            else:
                comment = _COMMENT.match(self.text, end)
            if comment is None:
                return end
            self.page.repair("a comment", end)
            at = comment.end()

    def value(self, at: int, depth: int = 0) -> tuple[DocumentNode, int]:
        """The value that begins here, and where it ends. Raises `ReadError` where there is none."""
        self.count += 1
        if self.count > MAX_NODES:
            raise self.page.broken(f"There are more than {MAX_NODES:,} values.", at)
        if depth > MAX_DEPTH:
            raise self.page.broken(f"The nesting is deeper than {MAX_DEPTH} levels.", at)
        first = self.text[at : at + 1]
        match first:
            case "{":
                return self._object(at, depth)
            case "[" | "(":
                return self._array(at, depth)
            case '"' | "'" | "“" | "<":
                text, end = self.string(at)
                return DocumentNode(text, *self.page.place(at)), end
            case _:
                return self._word_or_number(at)

    def string(self, at: int) -> tuple[str, int]:
        """The text in quotes that begins here, and where it ends."""
        for quotes in _VERBATIM:
            if self.text.startswith(quotes, at):
                return self._verbatim(at, quotes)
        opening = self.text[at : at + 3] if self.text[at : at + 3] in _STRINGS else self.text[at : at + 1]
        pattern = _STRINGS.get(opening)
        if pattern is None:
            raise self.page.broken("A value is expected here.", at)
        match = pattern.match(self.text, at)
        if match is None:
            raise self.page.broken(f"The text that begins with {opening} is not closed.", at)
        if opening != '"' and not self.python:
            self.page.repair(f"text in {opening} instead of double quotes", at)
        raw = match.group(1)
        if not self.python and opening == '"' and "\n" in raw:
            self.page.repair("a line break inside quotes", at)
        whole = whole_text(self._unescaped(raw, match.start(1), self.python or opening != '"'))
        if whole is None:
            raise self.page.broken("This text holds half a character (a lone surrogate).", at)
        return whole, match.end()

    def _verbatim(self, at: int, quotes: str) -> tuple[str, int]:
        start = at + len(quotes)
        end = self.text.find(quotes, start)
        if end < 0:
            raise self.page.broken(f"The text that begins with {quotes} is not closed.", at)
        return self.text[start:end], end + len(quotes)

    def _unescaped(self, raw: str, at: int, python: bool) -> str:
        if "\\" not in raw:
            return raw

        def character(match: re.Match[str]) -> str:
            code = match.group(1)
            if len(code) == 5 or (len(code) == 3 and python):
                return chr(int(code[1:], 16))
            plain = _PLAIN_ESCAPES.get(code)
            if plain is not None and not (python and code == "/"):
                return plain
            if code == "'":
                if not python:
                    self.page.repair("\\' inside double quotes", at + match.start())
                return "'"
            if python and code not in "01234567NUux":
                return {"\n": "", "a": "\a", "v": "\v"}.get(code, match.group())
            raise self.page.broken(
                f"\\{code[:1]} is no escape here.", at + match.start(), "Write \\\\ for a backslash."
            )

        return _ESCAPE.sub(character, raw)

    def _word_or_number(self, at: int) -> tuple[DocumentNode, int]:
        number = _NUMBER.match(self.text, at)
        if number is not None:
            return self._number(number), number.end()
        word = _WORD.match(self.text, at)
        written = word.group() if word else ""
        if written in _WORDS:
            return DocumentNode(_WORDS[written], *self.page.place(at)), at + len(written)
        if written in _PYTHON_WORDS:
            if not self.python:
                self.page.repair(f"{written} as Python writes it", at)
            return DocumentNode(_PYTHON_WORDS[written], *self.page.place(at)), at + len(written)
        if STOP.match(self.text, at):
            raise self.page.broken("The text ends before the value does.", at, "It may have been cut off.")
        if written in ("NaN", "Infinity", "inf", "nan"):
            raise self.page.broken(f"JSON has no {written}.", at)
        raise self.page.broken("A value is expected here.", at)

    def _number(self, match: re.Match[str]) -> DocumentNode:
        written = match.group()
        if len(written) > _MAX_DIGITS:
            raise self.page.broken(f"This number has more than {_MAX_DIGITS} digits.", match.start())
        value: Any = float(written) if match.group(1) or match.group(2) else int(written)
        if (isinstance(value, int) and not -(2**63) <= value < 2**64) or not math.isfinite(value):
            raise self.page.broken("This number is too large.", match.start(), "Write it as text, in quotes.")
        if written[0] == "+":
            self.page.repair("a number with a plus sign", match.start())
        return DocumentNode(value, *self.page.place(match.start()), 0, 0, written)

    def _array(self, at: int, depth: int) -> tuple[DocumentNode, int]:
        closing = "]" if self.text[at] == "[" else ")"
        if closing == ")":
            if not self.python and depth == 0:
                raise self.page.broken("A value is expected here.", at)
            self.page.repair("a tuple", at)
        start = at
        items: list[DocumentNode] = []
        at = self.skip(at + 1)
        while not self.text.startswith(closing, at):
            item, at = self.value(at, depth + 1)
            items.append(item)
            at, cut = self._next(at, closing, depth, item)
            if cut:
                return DocumentNode(items, *self.page.place(start)), at
        return DocumentNode(items, *self.page.place(start)), at + 1

    def _object(self, at: int, depth: int) -> tuple[DocumentNode, int]:
        start = at
        members: dict[str, DocumentNode] = {}
        repeats: list[Repeat] = []
        at = self.skip(at + 1)
        while not self.text.startswith("}", at):
            place = self.page.place(at)
            name, at = self._key(at)
            item, at = self.value(self.skip(at), depth + 1)
            if name in members:
                repeats.append(Repeat(name, *place))
            else:
                members[name] = DocumentNode(item.value, item.line, item.column, *place, item.written, item.repeats)
            at, cut = self._next(at, "}", depth, item)
            if cut:
                return DocumentNode(members, *self.page.place(start), 0, 0, "", tuple(repeats)), at
        return DocumentNode(members, *self.page.place(start), 0, 0, "", tuple(repeats)), at + 1

    def _key(self, at: int) -> tuple[str, int]:
        if self.text[at : at + 1] in ('"', "'", "“", "<"):
            name, end = self.string(at)
        else:
            word = _WORD.match(self.text, at)
            if word is None:
                ended = STOP.match(self.text, at)
                message = "The text ends before the object does." if ended else "A key in double quotes is expected."
                raise self.page.broken(message, at, "It may have been cut off." if ended else "")
            self.page.repair("a key without quotes", at)
            name, end = word.group(), word.end()
        end = self.skip(end)
        if not self.text.startswith(":", end):
            raise self.page.broken(f"A colon is expected after the key {name!r:.60}.", end)
        return name, end + 1

    def _next(self, at: int, closing: str, depth: int, item: DocumentNode) -> tuple[int, bool]:
        """Past the comma, or to the bracket that closes; and whether that bracket is missing at the end of all."""
        at = self.skip(at)
        if self.text.startswith(closing, at):
            return at, False
        if self.text.startswith(",", at):
            after = self.skip(at + 1)
            if self.text.startswith(closing, after):
                self.page.repair("a trailing comma", at)
            return after, False
        if STOP.match(self.text, at) is None:
            raise self.page.broken(f"A comma or {closing!r} is expected here.", at)
        # One bracket of the outermost value alone, after something that is itself closed: nothing else can be lost.
        if depth or not isinstance(item.value, dict | list) or self.cut is not None:
            raise self.page.broken(f"The text ends before {closing!r}.", at, "It may have been cut off.")
        self.cut = at
        self.page.repair(f"a missing {closing!r} at the end", at)
        return at, True
