"""Scanner of the templates in a text. Knows strings and brackets only; every other character stays as it is."""

from __future__ import annotations

import re

from msgspec import Struct

from toolpath.errors import ExpressionError

#: Templates in one string, and characters of one expression.
MAX_TEMPLATES = 1_000
MAX_SOURCE = 10_000

_mark = re.compile(r"'[^'\\]*(?:\\.[^'\\]*)*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\"|[()\[\]{}'\"]", re.DOTALL)


class Placeholder(Struct, frozen=True):
    """One `{{ … }}`."""

    text: str
    """As written, braces included."""
    source: str
    """What is between the braces."""
    offset: int
    """Where `source` begins in the string, in characters from 0."""


def scan(text: str) -> tuple[str | Placeholder, ...]:
    """The literal pieces and the templates of the text, in order. Raises `ExpressionError` where one is not closed."""
    found: list[str | Placeholder] = []
    position = count = 0
    while (start := text.find("{{", position)) >= 0:
        if start > position:
            found.append(text[position:start])
        end = _end(text, start)
        found.append(Placeholder(text[start:end], text[start + 2 : end - 2], start + 2))
        count += 1
        if count > MAX_TEMPLATES:
            raise ExpressionError(
                f"The text holds more than {MAX_TEMPLATES} templates.", code="expression_too_large", offset=start
            )
        position = end
    if position < len(text):
        found.append(text[position:])
    return tuple(found)


def _end(text: str, start: int) -> int:
    """Where the template that begins at `start` ends: the first `}}` outside of strings and brackets."""
    if text[start + 2 : start + 3] in ("-", "+"):
        raise ExpressionError(
            "`{{-` and `{{+` are whitespace control, which is not of this language.",
            code="forbidden_expression",
            offset=start,
            hint="Put a space after the braces.",
        )
    limit = start + 2 + MAX_SOURCE
    opened: list[tuple[str, int]] = []
    for found in _mark.finditer(text, start + 2, limit + 2):
        mark = found.group()
        if mark in "'\"":
            if len(text) > limit:
                break
            raise ExpressionError(
                "A text in quotes is not closed.", code="expression_syntax", offset=found.start(), hint="Close it."
            )
        if mark in "([{":
            opened.append((mark, found.start()))
        elif mark == "}" and not (opened and opened[-1][0] == "{"):
            _refuse_open(opened)
            if text.startswith("}}", found.start()):
                return found.end() + 1
            raise ExpressionError(
                "The template ends with a single `}`.",
                code="expression_syntax",
                offset=found.start(),
                hint="End it with `}}`.",
            )
        elif mark in ")]}" and opened:
            # Whether it is the right one, the parser says.
            opened.pop()
    if len(text) > limit:
        raise ExpressionError(
            f"The expression is longer than {MAX_SOURCE} characters.", code="expression_too_large", offset=start
        )
    if text.startswith("{{", start + 2):
        raise ExpressionError(
            "A template stands in a template.",
            code="expression_syntax",
            offset=start,
            hint="One pair of braces is enough: take the inner one out.",
        )
    raise ExpressionError(
        "The template is not closed.",
        code="expression_syntax",
        offset=start,
        hint="End it with `}}`; for two plain braces write {{ '{{' }}.",
    )


def _refuse_open(opened: list[tuple[str, int]]) -> None:
    """Raise where a bracket is open when the template ends."""
    if opened:
        mark, at = opened[-1]
        closing = {"(": ")", "[": "]"}[mark]
        raise ExpressionError(
            f"The bracket `{mark}` is not closed.",
            code="expression_syntax",
            offset=at,
            hint=f"Close it with `{closing}`.",
        )
