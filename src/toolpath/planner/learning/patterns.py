"""A request as a pattern: its fixed words, and the values in it that its plan passes on. Pure.

A request that differs from another one in these values alone is answered by the same plan with other values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from toolpath.catalog.words import STOP
from toolpath.checks.request.blockers import takes_back
from toolpath.checks.request.said import asks_for_more
from toolpath.errors import ExpressionError
from toolpath.expressions.quoted import BRACES
from toolpath.expressions.scan import Template, scan
from toolpath.model.plan import Call, Plan, every_step, with_calls
from toolpath.values import Json

_MAX_SLOTS: Final = 12
_LONGEST: Final = 2_000
_BLANKS: Final = re.compile(r"\s+")
#: What joins one thing to do to the next: a value that holds it is more than a value.
_LETTERS: Final = re.compile(r"(?<![^\s(,])[^\W\d_]+(?:['\u2019][^\W\d_]+)?(?![^\s,.;:!?)])")
_JOINS: Final = re.compile(r"\b(?:and|then|or|but|after|before|also)\b|[;\n]|[.!?]\s", re.IGNORECASE)
#: Words whose meaning changes with the day.
_MOVING: Final = re.compile(
    r"\b(?:now|today|tonight|tomorrow|yesterday|current(?:ly)?|latest|recent(?:ly)?|next|last|past|this|ago|soon|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)


class Pattern(msgspec.Struct, frozen=True):
    """Fixed pieces of text, and between each two of them the value of a slot."""

    pieces: tuple[str, ...]
    """One more than there are slots, in lower case; without slots the whole text as it was written."""
    slots: tuple[str, ...]
    """The values that stood there, as they were written."""

    def match(self, text: str) -> dict[str, str] | None:
        """The value that each slot's value is replaced by in a text; None where the text is another request."""
        text = plain(text)
        if not self.slots:
            return {} if text == self.pieces[0] else None
        values = _between(self.pieces, text)
        if values is None:
            return None
        found: dict[str, str] = {}
        for old, new in zip(self.slots, values, strict=True):
            if found.setdefault(old, new) != new or not _is_like(old, new):
                return None
        return found


def plain(text: str) -> str:
    """The text with single blanks and without what stands around it."""
    return _BLANKS.sub(" ", text).strip(" .!?")


def is_timeless(text: str) -> bool:
    """What the request asks for does not change with the day on which it is asked."""
    return _MOVING.search(text) is None


def pattern_of(text: str, plan: Plan) -> Pattern:
    """The pattern of a request and its plan: slots for the plan's values that stand in the request as whole words.

    None where the plan holds a value that the request does not: it may be made of one that does, such as a country of
    its capital, and would be wrong beside another one.
    """
    text = plain(text)
    exact = Pattern((text,), ())
    values = list(_values(plan))
    known = sorted({value for value in values if _is_slot(value, values, text)}, key=len, reverse=True)
    if len(text) > _LONGEST or len(known) > _MAX_SLOTS or any(not _is_made_of(value, known) for value in values):
        return exact
    places = _places(text, known)
    edges = [0, *(edge for place in places for edge in place), len(text)]
    pieces = tuple(text[start:end].lower() for start, end in zip(edges[::2], edges[1::2], strict=True))
    if any(not piece.strip() for piece in pieces[1:-1]) or len(" ".join(pieces).split()) < 2:
        # Two values side by side cannot be told apart, and values alone say nothing of what to do.
        return exact
    return Pattern(pieces, tuple(text[start:end] for start, end in places)) if places else exact


def _is_slot(value: str, values: Sequence[str], text: str) -> bool:
    """Whether a value stands in the text; of a number only where it is there as often as in the plan."""
    count = len(re.findall(_whole(value), text)) if value else 0
    return count > 0 and (len(value) > 2 or values.count(value) <= count)


def _is_made_of(value: str, known: Sequence[str]) -> bool:
    return any(re.search(_whole(one), value) for one in known)


def _places(text: str, values: Sequence[str]) -> list[tuple[int, int]]:
    """Where the values stand, longer ones first where one is part of another, at most once at each place."""
    places: list[tuple[int, int]] = []
    for value in values:
        for match in re.finditer(_whole(value), text):
            if all(match.end() <= start or match.start() >= end for start, end in places):
                places.append(match.span())
    return sorted(places)


def _whole(value: str) -> str:
    return rf"(?<!\w){re.escape(value)}(?!\w)"


def _values(plan: Plan) -> Iterable[str]:
    """Texts and numbers that the plan's calls are given as they are."""
    for _, step in every_step(plan.block):
        if isinstance(step, Call):
            yield from _plain_values(step.inputs)


def _plain_values(value: Json) -> Iterable[str]:
    match value:
        case str():
            if "{{" not in value:
                yield plain(value)
        case bool() | None:
            pass
        case int() | float():
            yield str(value)
        case dict():
            for item in value.values():
                yield from _plain_values(item)
        case list():
            for item in value:
                yield from _plain_values(item)
        case _:
            pass


def _between(pieces: Sequence[str], text: str) -> list[str] | None:
    """What stands between the pieces, each found at its first place after the one before; None where one is missing."""
    low = text.lower()
    if len(low) != len(text) or not low.startswith(pieces[0]):
        return None
    at, found = len(pieces[0]), []
    for number, piece in enumerate(pieces[1:], 1):
        is_last = number == len(pieces) - 1
        end = len(low) - len(piece) if is_last else low.find(piece, at + 1)
        if end <= at or not low.endswith(pieces[-1]):
            return None
        found.append(text[at:end])
        at = end + len(piece)
    return found


def _is_like(old: str, new: str) -> bool:
    """Whether a value is of the form of another: a number for a number, about as many words, no second request."""
    if _number(old) is not None and (_number(new) is None or old.isdigit() != new.isdigit()):
        return False
    if ("@" in old) != ("@" in new) or ("://" in old) != ("://" in new):
        return False
    if _JOINS.search(new) and not _JOINS.search(old):
        return False
    if any(letter.isdigit() for letter in old) != any(letter.isdigit() for letter in new):
        return False
    return new == new.strip() and len(new.split()) <= len(old.split()) and is_timeless(new) and not _adds(old, new)


def _adds(old: str, new: str) -> bool:
    """Whether a value says something besides naming a thing, which the one before did not: `not`, `all`, `of Ann`."""
    before = {word.casefold() for word in _LETTERS.findall(old)}
    words = [word.casefold() for word in _LETTERS.findall(new)]
    return any(word not in before and (word in STOP or takes_back(word) or asks_for_more(word)) for word in words)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def with_values(plan: Plan, values: Mapping[str, str]) -> Plan:
    """The plan with other values in the inputs of its calls."""
    changed = {old: new for old, new in values.items() if old != new}
    if not changed:
        return plan
    return msgspec.structs.replace(plan, steps=with_calls(plan.steps, lambda call: _with_values(call, changed)))


def _with_values(call: Call, values: Mapping[str, str]) -> Call:
    return msgspec.structs.replace(call, inputs=_replaced(call.inputs, values))


def _replaced(value: Json, values: Mapping[str, str]) -> Json:
    match value:
        case str():
            return _replaced_text(value, values)
        case bool() | None:
            return value
        case int() | float():
            new = values.get(str(value))
            return value if new is None else type(value)(new)
        case dict():
            return {key: _replaced(item, values) for key, item in value.items()}
        case list():
            return [_replaced(item, values) for item in value]
        case _:
            return value


def _replaced_text(text: str, values: Mapping[str, str]) -> str:
    # All at once, so that a new value is never taken for an old one.
    pattern = re.compile("|".join(_whole(old) for old in sorted(values, key=len, reverse=True)))
    try:
        pieces = scan(text)
    except ExpressionError:
        return text
    return "".join(
        piece.text
        if isinstance(piece, Template)
        else pattern.sub(lambda match: values[match.group()].replace("{{", BRACES), str(piece))
        for piece in pieces
    )
