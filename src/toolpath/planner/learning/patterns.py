"""A request as a pattern: its fixed words, and the values in it that its plan passes on. Pure.

A request that differs from another one in these values alone, each of the same kind and none longer, is answered
by the same plan with other values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from toolpath.catalog.words import STOP
from toolpath.errors import ExpressionError
from toolpath.expressions.quoted import BRACES
from toolpath.expressions.scan import Placeholder, scan
from toolpath.model.plan import Call, Plan, every_step, freeze, with_calls
from toolpath.planner.learning.like_values import may_vary, stands_in
from toolpath.values import Json, walk

_MAX_SLOTS: Final = 12
_LONGEST: Final = 2_000
_BLANKS: Final = re.compile(r" +")
_QUOTE: Final = re.compile(r"[\"`\u201c\u201d\u201e\u00ab\u00bb]|(?<!\w)['\u2018\u2019]|['\u2018\u2019](?!\w)")
_END: Final = re.compile(r"(?<=[\w\"'\u201d\u00bb)])[.!]$")
_WORDS: Final = re.compile(r"\w+")
#: An amount right before a word makes it a unit, a currency or a kind of thing.
_AMOUNT_BEFORE: Final = re.compile(r"[\d.,%]\s?$")
_TEMPLATE: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_AMOUNT_AFTER: Final = re.compile(r"^\s?[\d%]")


class Pattern(msgspec.Struct, frozen=True):
    """Fixed pieces of text, and between each two of them the value of a slot."""

    pieces: tuple[str, ...]
    """One more than there are slots; without slots the whole text."""
    slots: tuple[str, ...]
    """The values that stood there, as they were written."""

    def match(self, text: str) -> dict[str, str] | None:
        """The value that each slot's value is replaced by in a text; None where the text is another request."""
        return self.match_plain(plain(text))

    def match_plain(self, text: str) -> dict[str, str] | None:
        """As `match`, for a text that is `plain` already."""
        if not self.slots:
            return {} if text == self.pieces[0] else None
        values = _between(self.pieces, text)
        if values is None:
            return None
        found: dict[str, str] = {}
        for number, (old, new) in enumerate(zip(self.slots, values, strict=True)):
            if found.setdefault(old, new) != new or not stands_in(new, old, quoted=_is_quoted(self.pieces, number)):
                return None
        return found


def plain(text: str) -> str:
    """The text as it is compared: without what stands around it, its first word as inside a sentence.

    A question mark stays, and so does all that stands in quotes.
    """
    text = text.strip()
    if _QUOTE.search(text) is None:
        text = _BLANKS.sub(" ", text)
    text = _END.sub("", text)
    first = _WORDS.match(text)
    return text[0].lower() + text[1:] if first is not None and first.group().istitle() else text


def pattern_of(text: str, plan: Plan, *, strict: bool = True) -> Pattern:
    """The pattern of a request and its plan: slots for the plan's values that stand in the request as whole words.

    None where the plan holds a value that the request does not: it may be made of one that does, such as a country of
    its capital, and would be wrong beside another one. `strict`: only what is plainly the name of one thing is a slot,
    since the plan changes something.
    """
    text = plain(text)
    exact = Pattern((text,), ())
    values = list(_values(plan))
    if len(text) > _LONGEST or any(re.search(r"\s{2}|[\t\n]", value) for value in values):
        return exact
    elsewhere = "\n".join(_elsewhere(plan))
    known = sorted({value for value in values if _is_slot(value, values, text, elsewhere)}, key=len, reverse=True)
    places = [place for place in _places(text, known) if _is_free(text, place, strict=strict)]
    if not places or len(places) > _MAX_SLOTS:
        return exact
    edges = [0, *(edge for place in places for edge in place), len(text)]
    pieces = tuple(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    slots = tuple(text[start:end] for start, end in places)
    if any(not piece.strip() for piece in pieces[1:-1]) or len(" ".join(pieces).split()) < 2:
        # Two values side by side cannot be told apart, and values alone say nothing of what to do.
        return exact
    fixed = {word.casefold() for piece in pieces for word in _WORDS.findall(piece)}
    if any(_without(value, slots, fixed) for value in (*values, *_beside_templates(plan))):
        return exact
    return Pattern(pieces, slots)


def _is_slot(value: str, values: Sequence[str], text: str, elsewhere: str) -> bool:
    """Whether a value stands in the text; of a number only where it is there as often as in the plan."""
    count = len(re.findall(_whole(value), text)) if value else 0
    if not count or re.search(_whole(value), elsewhere, re.IGNORECASE):
        return False
    return any(letter.isalpha() for letter in value) or values.count(value) <= count


def _is_free(text: str, place: tuple[int, int], *, strict: bool) -> bool:
    """Whether another value may stand at the place of one."""
    start, end = place
    value = text[start:end]
    quoted = _QUOTE.fullmatch(text[start - 1 : start]) is not None and _QUOTE.match(text, end) is not None
    if value[0].isalpha() and (_AMOUNT_BEFORE.search(text[:start]) or _AMOUNT_AFTER.search(text[end:])):
        return False
    return may_vary(value, quoted=quoted, strict=strict)


def _is_quoted(pieces: Sequence[str], slot: int) -> bool:
    before, after = pieces[slot], pieces[slot + 1]
    return bool(before and after and _QUOTE.match(before[-1]) and _QUOTE.match(after[0]))


def _without(value: str, slots: Sequence[str], fixed: set[str]) -> str:
    """The words that are left of a value without the slots in it, those that stay in the request, and small ones."""
    left = re.sub("|".join(map(_whole, sorted(set(slots), key=len, reverse=True))), " ", value)
    words = [word for word in _WORDS.findall(left) if word.casefold() not in fixed and word.casefold() not in STOP]
    return " ".join(words)


def _places(text: str, values: Sequence[str]) -> list[tuple[int, int]]:
    """Where the values stand, longer ones first where one is part of another, at most once at each place."""
    places: list[tuple[int, int]] = []
    for value in values:
        for match in re.finditer(_whole(value), text):
            if all(match.end() <= start or match.start() >= end for start, end in places):
                places.append(match.span())
    return sorted(places)


def _whole(value: str) -> str:
    """A value that is no part of a longer word, number, id, address or path."""
    return rf"(?<![\w@#/.-]){re.escape(value)}(?![\w@/]|[-.]\w)"


def _values(plan: Plan) -> Iterable[str]:
    """Texts and numbers that the plan's calls are given as they are."""
    for _, step in every_step(plan.block):
        if isinstance(step, Call):
            yield from _plain_values(step.inputs)


def _plain_values(value: Json) -> Iterable[str]:
    match value:
        case str():
            if "{{" not in value:
                yield value
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


def _elsewhere(plan: Plan) -> Iterable[str]:
    """All texts of the plan that no value is put into: conditions, templates, keys, names of tools and steps."""
    for _, step in every_step(plan.block):
        if isinstance(step, Call):
            yield from (part for one in _texts(step.inputs) for part in _templates(one))
            yield from (key for one in step.inputs.values() for key in _keys(one))
    bare = msgspec.structs.replace(
        plan,
        name="",
        description="",
        origin=type(plan.origin)(),
        steps=with_calls(plan.steps, lambda call: msgspec.structs.replace(call, inputs={})),
    )
    yield from _texts(freeze(bare))


def _templates(text: str) -> Iterable[str]:
    if "{{" in text:
        try:
            yield from (piece.text for piece in scan(text) if isinstance(piece, Placeholder))
        except ExpressionError:
            yield text


def _beside_templates(plan: Plan) -> Iterable[str]:
    """Text beside templates in what calls are given."""
    for _, step in every_step(plan.block):
        for text in _texts(step.inputs) if isinstance(step, Call) else ():
            if "{{" in text:
                yield " ".join(_TEMPLATE.split(text))


def _texts(value: object) -> Iterable[str]:
    match value:
        case str():
            yield value
        case dict():
            for item in value.values():
                yield from _texts(item)
        case list() | tuple():
            for item in value:
                yield from _texts(item)
        case _:
            pass


def _keys(value: Json) -> Iterable[str]:
    for _, one in walk(value):
        if isinstance(one, dict):
            yield from one


def _between(pieces: Sequence[str], text: str) -> list[str] | None:
    """The texts between the pieces, each found at its first place after the one before; None where one is missing."""
    if not text.startswith(pieces[0]) or not text.endswith(pieces[-1]):
        return None
    at, found = len(pieces[0]), []
    for number, piece in enumerate(pieces[1:], 1):
        end = len(text) - len(piece) if number == len(pieces) - 1 else text.find(piece, at + 1)
        if end <= at:
            return None
        found.append(text[at:end])
        at = end + len(piece)
    return found


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
        if isinstance(piece, Placeholder)
        else pattern.sub(lambda match: values[match.group()].replace("{{", BRACES), str(piece))
        for piece in pieces
    )
