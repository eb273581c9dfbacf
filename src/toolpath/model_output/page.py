"""The text that a model wrote, with its places, its repairs, and the errors that quote where it broke."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from toolpath.errors import Finding, ReadError
from toolpath.model_output.found import ReaderResult
from toolpath.notation.nodes import DocumentNode

#: Characters that are read at all: several times what any model writes in one answer.
MAX_TEXT = 2_000_000
_AROUND = 30
_MAX_REPAIRS = 200

#: Blanks between tokens. Invisible characters count as blanks there; inside quotes they are data.
BLANK = " \t\r\n\f\v\u0085\u00a0\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff"
_BLANKS = re.compile(f"[{BLANK}]*")

#: What a reader of JSON makes of one value: the calls in it, or None where it is not of its format. The flag says
#: whether the model has marked the value as a call.
Shape = Callable[["Page", DocumentNode, bool], ReaderResult | None]


class Page:
    """One text while it is read. `shapes` are the formats of JSON values that are known, in order."""

    __slots__ = ("_absent", "_repairs", "_starts", "faults", "file", "shapes", "text")

    def __init__(self, text: str, *, file: str = "", shapes: tuple[Shape, ...] = ()) -> None:
        self.text = text
        self.file = file
        self.shapes = shapes
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._repairs: list[tuple[int, str]] = []
        self.faults = 0
        """How many errors were made on this page: a bound for texts that break at every character."""
        self._absent: dict[re.Pattern[str], int] = {}

    def place(self, at: int) -> tuple[int, int]:
        """Line and column, from 1, of a character."""
        at = min(at, len(self.text))
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1

    def offset(self, node: DocumentNode) -> int:
        """Where in the text the node stands."""
        return self._starts[node.line - 1] + node.column - 1 if node.line else 0

    def skip(self, at: int) -> int:
        """The first character from `at` on that is not blank."""
        match = _BLANKS.match(self.text, at)
        return match.end() if match else at

    def search(self, pattern: re.Pattern[str], at: int) -> re.Match[str] | None:
        """The pattern's first match from `at` on. What was not found once is not looked for again behind."""
        if at >= self._absent.get(pattern, len(self.text) + 1):
            return None
        match = pattern.search(self.text, at)
        if match is None:
            self._absent[pattern] = at
        return match

    def broken(self, message: str, at: int | DocumentNode, hint: str = "") -> ReadError:
        """The error that says what is wrong, where, and quotes the text around."""
        self.faults += 1
        if isinstance(at, DocumentNode):
            if not at.line:
                # The document was given as values: there is no text to quote.
                finding = Finding(code="unreadable", severity="error", message=message, hint=hint)
                where = f"{self.file}: " if self.file else ""
                return ReadError(f"{where}{message}", findings=[finding], hint=hint)
            at = self.offset(at)
        at = min(at, len(self.text))
        line, column = self.place(at)
        whole = f"{message} It broke here: {self._quoted(at)}"
        finding = Finding(code="unreadable", severity="error", message=whole, line=line, column=column, hint=hint)
        where = f"{self.file}:{line}:{column}" if self.file else f"line {line}, column {column}"
        return ReadError(f"{where}: {whole}", findings=[finding], hint=hint)

    def inside(self, error: ReadError, what: str, at: int | DocumentNode) -> ReadError:
        """The error of a text inside this one, at the place of that text."""
        line, column = self.place(self.offset(at) if isinstance(at, DocumentNode) else at)
        message = f"{what}, {error.message}"
        finding = Finding(code="unreadable", severity="error", message=message, line=line, column=column)
        where = f"{self.file}:{line}:{column}" if self.file else f"line {line}, column {column}"
        return ReadError(f"{where}: {message}", findings=[finding], hint=error.hint)

    def where(self, error: ReadError) -> int:
        """The character at which an error of this page broke."""
        if not error.findings:
            return 0
        finding = error.findings[0]
        return self.offset(DocumentNode(None, finding.line or 1, finding.column or 1))

    def _quoted(self, at: int) -> str:
        before = self.text[max(0, at - _AROUND) : at]
        after = self.text[at : at + _AROUND]
        start = "…" if at > _AROUND else ""
        end = "…" if at + _AROUND < len(self.text) else ""
        return f"{start}{visible(before)} >>> {visible(after) or '(the text ends)'}{end}"

    def repair(self, what: str, at: int) -> None:
        """Remember that something was read that is not written as it should be."""
        if len(self._repairs) < _MAX_REPAIRS:
            self._repairs.append((at, what))

    def repairs(self, spans: list[tuple[int, int]]) -> tuple[str, ...]:
        """The repairs inside these parts of the text, each kind with its first place."""
        first: dict[str, int] = {}
        for at, what in self._repairs:
            if any(start <= at <= end for start, end in spans):
                first[what] = min(at, first.get(what, at))
        return tuple(f"{what} (line {self.place(at)[0]}, column {self.place(at)[1]})" for what, at in first.items())


def visible(text: str) -> str:
    """The text on one line, with every character that does not show written as its code."""
    return "".join(
        character if character.isprintable() else {"\n": "⏎", "\r": "", "\t": " "}.get(character, _code(character))
        for character in text
    )


def _code(character: str) -> str:
    return f"\\u{ord(character):04x}"
