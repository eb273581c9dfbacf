"""Comparisons of a condition: what is compared with a number, and in which measure. Pure."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words
from toolpath.checks.request.comparisons import COMPARES, COMPARISONS, is_moved, is_small
from toolpath.checks.request.concepts import STOPS
from toolpath.checks.request.lengths import TIME_UNIT_OF
from toolpath.checks.request.measures import counts_in, is_stock
from toolpath.checks.request.units import MEASURES
from toolpath.checks.request.whens import OPPOSITE
from toolpath.planner.offline.request.parts import ClausePart
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import Kit, Listed, ToolField
from toolpath.planner.offline.request.values_of_fields import in_unit, measured
from toolpath.values import Json


def operands(part: ClausePart) -> frozenset[Span]:
    """The values of a condition that something is compared with: `at least three`."""
    found = [one for words, _ in COMPARISONS for one in words.finditer(part.text)]
    starts = [part.start + one.start() for one in found]
    ends = [part.start + one.end() for one in found]
    text = part.text
    numbers = [
        one for one in part.spans if one.value is not None and one.kind in ("number", "money", "percent", "duration")
    ]
    behind = frozenset(
        one
        for one in numbers
        if any(end <= one.start and _BETWEEN.fullmatch(text, end - part.start, one.start - part.start) for end in ends)
        or any(one.start <= at < one.end for at in starts)
    )
    # `300 euros or less`, and no `hive 3 weighs less than 20 kg`
    return behind or frozenset(
        one
        for one in numbers
        if any(one.end <= at and _UNIT.fullmatch(text, one.end - part.start, at - part.start) for at in starts)
    )


#: What stands between a comparison and its number, and between a number and the comparison behind it.
_BETWEEN: Final = re.compile(r"\s*(?:the|los|las|les|die|den|a\s+total\s+of)?\s*[€$£]?\s*", re.IGNORECASE)
_UNIT: Final = re.compile(r"\s*(?:[^\W\d_]+|[€$£%])?\s*")


def comparison(kit: Kit, part: ClausePart, step: str, turned: bool) -> str | None:
    """The comparison that a condition makes of a number that a tool gives; None where it makes none of one."""
    signs = [sign for words, sign in COMPARISONS if words.search(part.text)]
    numbers = operands(part)
    if not signs or len(numbers) != 1:
        return None
    number = next(iter(numbers))
    field = _compared(kit, part, number)
    amount = None if field is None else _amount(number, field)
    if field is None or amount is None:
        return None
    sign = OPPOSITE[signs[0]] if turned and not _OWN_NO.search(part.text) else signs[0]
    return f"{place_of(step, field)} {sign} {amount}"


def _compared(kit: Kit, part: ClausePart, number: Span) -> ToolField | None:
    """The number of a tool that a condition speaks of: by its name, its measure, or as the only one that there is."""
    given = {one.name for one in kit.required}
    # What it is asked with it gives back, and a number by which a thing goes is not much or little.
    fields = [
        one
        for one in kit.outputs
        if one.kind in ("number", "money", "percent", "duration") and one.name not in given and not one.is_name
    ]
    if number.kind == "number" and number.unit:
        # `fewer than 24 bottles`: no price, and no length of time.
        fields = [one for one in fields if one.kind == "number"]
    said = concepts_said(part)
    if _COUNTED & said and number.kind != "money":
        # `if the number is above 5`: how many they are, or the id, and no amount that has to be paid.
        fields = [one for one in fields if one.kind != "money" or one.concepts & (said - _COUNTED - _HOW_MANY)]
    things = frozenset[str]().union(*kit.named[1:]) if kit.named[1:] else frozenset()
    unit = unit_of(number)
    of_unit = [one for one in fields if unit and _counts_in(unit, one, kit)]
    spoken = [one for one in fields if one.concepts & said]
    spoken = [one for one in spoken if one in of_unit] or spoken
    spoken = spoken or of_unit
    spoken = spoken or [one for one in fields if _is_measured_by(one, said, number)]
    spoken = spoken or [one for one in fields if _LEFT.search(part.text) and is_stock(one.name)]
    spoken = spoken or [one for one in fields if one.described & said - STOPS]
    if not spoken and len(fields) == 1 and (things & said or {*part.spans} - {number}):
        # `over 500 rows in it`: the tool gives one number, of what is spoken of.
        spoken = fields
    return spoken[0] if len(spoken) == 1 else None


#: What is said of how many things there are, or of the number by which one goes; and of how much of something there is.
_COUNTED: Final = frozenset(("number", "count"))
_HOW_MANY: Final = frozenset(("quantity",))


def _amount(number: Span, field: ToolField) -> Json:
    """The number in the measure of what it is compared with; None where it is given in another one."""
    if number.kind != "duration":
        return measured(number, field)
    if field.kind == "duration":
        return in_unit(number, field)
    # `more than two months` of `months_overdue`
    is_counted = number.unit in {TIME_UNIT_OF.get(word, word) for word in raw_words(field.name)}
    return number.value if is_counted else None


def unit_of(number: Span) -> str:
    """The measure or the unit of time that a number is said in; empty where it is said in none."""
    if number.kind == "percent":
        return "percent"
    if number.kind == "money":
        return number.unit.casefold()
    return number.unit if number.unit in MEASURES or number.unit in TIME_UNIT_OF else ""


def _counts_in(unit: str, field: ToolField, kit: Kit) -> bool:
    return counts_in(unit, {"description": field.description}, field.name, kit.tool)


def uncompared(part: ClausePart) -> ClausePart:
    """The clause without its comparison: the numbers compared, and the words that compare them."""
    numbers = operands(part)
    told = [(part.start + found.start(), part.start + found.end()) for found in COMPARES.finditer(part.text)]
    return msgspec.structs.replace(
        part,
        spans=tuple(one for one in part.spans if one not in numbers),
        words=tuple(
            one
            for one in part.words
            if not any(start <= one.start and one.end <= end for start, end in told)
            and not (told and (is_small(one.text) or is_moved(one.text)))
        ),
    )


def place_of(step: str, field: ToolField | Listed) -> str:
    """Where a value of a step's output is, as an expression says it."""
    return ".".join((step, *field.path))


def concepts_said(part: ClausePart) -> frozenset[str]:
    """The concepts of the words of a clause."""
    return frozenset[str]().union(*(word.concepts for word in part.words)) if part.words else frozenset()


#: How much there is of something.
_LEFT: Final = re.compile(
    r"\b(?:left|remain\w*|in\s+stock|on\s+hand|down\s+to|running|run|übrig|noch|auf\s+lager|vorrätig|rest\w*|quedan?|hay)\b",
    re.IGNORECASE,
)
#: `no more than` is a comparison of its own.
_OWN_NO: Final = re.compile(r"\b(?:no|not)\s+(?:more|less|fewer|higher)\s+than\b", re.IGNORECASE)
_DEARER: Final = frozenset(("price", "cheapest", "cost"))


def _is_measured_by(field: ToolField, said: frozenset[str], number: Span) -> bool:
    """Whether the words of a comparison measure what the field gives: `cheaper` a price, `colder` a temperature."""
    if number.kind == "money" or said & _DEARER or "cheaper" in said:
        return field.kind == "money"
    if number.kind == "duration":
        return field.kind == "duration"
    return bool({"temperature", "temperatur"} & said) and bool(_HEAT & {field.name, *field.concepts})


_HEAT: Final = frozenset(("temperature", "celsius", "degrees"))
