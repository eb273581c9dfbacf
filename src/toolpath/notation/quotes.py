"""Quotes by which a YAML text cannot be read: one that is not closed, or closed within a word. Pure.

The parser notices such a quote lines further down, where the next one stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

#: Where a value, a key or an item of a list may begin with a quote.
_START: Final = re.compile(r"(?:^[ \t]*(?:- +)*|[:,][ \t]+|[\[{][ \t]*)(?=['\"])")
_COMMENT: Final = re.compile(r"(?:^|[ \t])#")
#: What may follow on a quoted text.
_AFTER: Final = re.compile(r"[ \t]*(?:$|[,:\]}]|#|\r)")
_FIELD: Final = re.compile(r"\s*(?:- +)*[\w.-]+:(?:\s|$)")
_BLOCK_SCALAR: Final = re.compile(r"(?:^|[ \t])[|>][+-]?[0-9]?[+-]?[ \t]*(?:#.*)?\r?$")
_ENDS: Final = {'"': re.compile(r'(?:[^"\\]|\\.)*+"'), "'": re.compile(r"(?:[^']|'')*+'")}


class QuoteFault(msgspec.Struct, frozen=True):
    """Fault of a quote: what is wrong, where, and what to do. Line and column count from 1."""

    line: int
    column: int
    message: str
    hint: str


class _Text(msgspec.Struct, frozen=True):
    """A quoted text: where it begins and where what follows on it does; None: it does not end. Counted from 0."""

    line: int
    column: int
    end: tuple[int, int] | None


def quote_fault(text: str, fault: int) -> QuoteFault | None:
    """The quote to blame for a text that cannot be read further in a line, counted from 0; None where it is none."""
    lines = text.split("\n")
    number = at = 0
    while number <= min(fault, len(lines) - 1):
        found = _next(lines, number, at)
        if found is None:
            number, at = _line_after(lines, number), 0
            continue
        if found.end is None or (found.end[0] == fault and _holds_fields(lines, found)):
            return QuoteFault(
                found.line + 1, found.column + 1, "a quote is not closed.", "Close the quote that opens here."
            )
        number, at = found.end
        if number == fault and not _AFTER.match(lines[number], at):
            return _within(number, at, lines[found.line][found.column])
    return None


def _next(lines: Sequence[str], number: int, at: int) -> _Text | None:
    """The next quoted text that begins in the line."""
    line = lines[number]
    start, comment = _START.search(line, at), _COMMENT.search(line, at)
    if start is None or (comment is not None and comment.start() < start.end()):
        return None
    column = start.end()
    mark = line[column]
    for last in range(number, len(lines)):
        rest = lines[last][column + 1 :] if last == number else lines[last]
        ended = _ENDS[mark].match(rest)
        if ended is not None:
            begin = column + 1 if last == number else 0
            return _Text(number, column, (last, begin + ended.end()))
    return _Text(number, column, None)


def _line_after(lines: Sequence[str], number: int) -> int:
    """The next line in which anything may begin: those of a text after `|` or `>` are passed over."""
    following = number + 1
    if _BLOCK_SCALAR.search(lines[number]):
        inside = _indent(lines[number])
        while following < len(lines) and (not lines[following].strip() or _indent(lines[following]) > inside):
            following += 1
    return following


def _holds_fields(lines: Sequence[str], found: _Text) -> bool:
    last = found.end[0] if found.end is not None else found.line
    return any(_FIELD.match(line) for line in lines[found.line + 1 : last + 1])


def _within(number: int, end: int, mark: str) -> QuoteFault:
    """A quote that ends the text within a word, as the apostrophe of `'it's'`."""
    if mark == "'":
        hint = "Write '' for an apostrophe, or put the text in double quotes."
    else:
        hint = 'Write \\" for a quote, or put the text in single quotes.'
    return QuoteFault(number + 1, end, "the text in quotes ends here, and more follows.", hint)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
