"""Arguments of one tool from a text: mentions matched with parameters, repeated ones as further calls. Pure.

Nothing is invented: a parameter that nothing in the text speaks of stays open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import msgspec

from toolpath.catalog.words import STOP, stem
from toolpath.planner.offline.assigned_mentions import MOST_CALLS, Chosen, assign, assign_phrases, assign_rest
from toolpath.planner.offline.found import Found
from toolpath.planner.offline.match import is_like, words_of
from toolpath.planner.offline.mention import Mention, is_joined
from toolpath.planner.offline.mentions import mentions
from toolpath.planner.offline.proper_names import without_verb
from toolpath.planner.offline.slots import Slot
from toolpath.planner.offline.terms import code_of
from toolpath.planner.offline.told_apart import told_apart
from toolpath.planner.offline.unmentioned import (
    from_boolean,
    from_frequency,
    from_listed_options,
    from_options,
    from_shown,
    from_unit,
)
from toolpath.planner.offline.written_dates import write_date
from toolpath.values import Json

_HAVING = re.compile(r"\b(?:with|having|whose|aged|costing|weighing|measuring)\b", re.IGNORECASE)
_IN_PERCENT = re.compile(r"\b(?:in|as)\s+(?:an?\s+)?percent(?:age)?s?\b|\(%\)", re.IGNORECASE)
_DECIMAL = re.compile(r"\bdecimal|\bfraction|\b0?\.\d|between 0 and 1", re.IGNORECASE)
_RESPECTIVE = re.compile(r"\b(?:respectively|in\s+that\s+order|correspondingly)\b", re.IGNORECASE)


#: What is counted is one case after another.
_OCCASIONS = frozenset(map(stem, ("pairs", "sets", "cases", "scenarios", "times", "examples", "calculations")))
_APART = frozenset(("different", "separate", "distinct", "further", "other", "more"))


class Filling(msgspec.Struct, frozen=True):
    """Calls of one tool that a text asks for."""

    calls: tuple[Mapping[str, Found], ...]
    missing: tuple[Slot, ...]
    """Required parameters that nothing in the text speaks of."""
    used: frozenset[int]
    """Where the mentions used begin."""


def fill(slots: Sequence[Slot], text: str, *, about: frozenset[str] = frozenset(), is_all: bool = False) -> Filling:
    """The calls that the text asks for; `about` are the words of the tool itself, which are no arguments.

    `is_all`: the text is all that is said of the tool, so that what is left of it may be what is left open.
    """
    told = [without_verb(one, text, about) for one in mentions(text)]
    found = [one for one in told if one is not None and not _counts_calls(one, slots, about)]
    found = shaped(found, slots, text)
    single, several = _said_outright(slots, text, found, about)
    open_slots = [slot for slot in slots if slot.name not in {*single, *several} and slot.type not in ("boolean",)]
    free = _free(found, slots, single, several, about)
    chosen = assign(open_slots, free, text, about)
    assign_phrases(open_slots, chosen, [one for one in free if one.kind == "phrase"], about, text)
    if is_all:
        assign_rest(open_slots, chosen, free, about)
    for slot in open_slots:
        if slot.name not in chosen and (shown := from_shown(slot, text)) is not None:
            single[slot.name] = shown
    for slot in slots:
        if slot.required and slot.preset is not None and slot.name not in {*chosen, *single, *several}:
            single[slot.name] = Found(slot.preset, 1.0, None, "its default")
    calls = _calls(slots, single, several | _values(slots, chosen), text)
    missing = tuple(slot for slot in slots if slot.required and any(slot.name not in call for call in calls))
    used = frozenset(one.start for group in chosen.values() for one, _ in group)
    return Filling(tuple(calls), missing, used)


def _counts_calls(mention: Mention, slots: Sequence[Slot], about: frozenset[str]) -> bool:
    """Whether the number says how often the tool is wanted: `three different triangles`, `two pairs of numbers`."""
    if mention.kind != "number" or not mention.text.replace("-", "").isalpha() or not isinstance(mention.value, int):
        return False
    after = mention.after[:3]
    things = [stem(word) for word in after if word.endswith("s")][:1]
    if mention.value < 2 or not things or any(word in STOP for word in after[: after.index(_plural(after))]):
        return False
    is_own = things[0] in _OCCASIONS or (after[0] in _APART and any(is_like(things[0], own) for own in about))
    return is_own and not any(is_like(things[0], own) for slot in slots for own in {*slot.words, *slot.described})


def _plural(words: Sequence[str]) -> str:
    return next(word for word in words if word.endswith("s"))


def _said_outright(
    slots: Sequence[Slot], text: str, found: Sequence[Mention], about: frozenset[str]
) -> tuple[dict[str, Found], dict[str, list[Found]]]:
    """Values that the text says in words that only one parameter knows; by name, one value each or several."""
    single: dict[str, Found] = {}
    several: dict[str, list[Found]] = {}
    for slot in slots:
        if listed := from_listed_options(slot, text):
            several[slot.name] = listed
            continue
        value = (
            from_options(slot, text)
            or from_boolean(slot, text)
            or from_unit(slot, found, text)
            or from_frequency(slot, text)
        )
        if value is not None:
            single[slot.name] = value
        elif slot.type == "object" and slot.fields:
            inner = fill(slot.fields, text, about=about)
            if inner.calls[0] and not inner.missing:
                fields = {key: one.value for key, one in inner.calls[0].items()}
                single[slot.name] = Found(fields, 0.6, None, "its fields")
    return told_apart(slots, single, text), several


def _free(
    found: Sequence[Mention],
    slots: Sequence[Slot],
    single: Mapping[str, Found],
    several: Mapping[str, Sequence[Found]],
    about: frozenset[str],
) -> list[Mention]:
    """Mentions that no value was made of yet, and that are not the tool's own name."""
    values = [*single.values(), *(one for group in several.values() for one in group)]
    spans = [(one.mention.start, one.mention.end) for one in values if one.mention is not None]
    said = {
        str(value).casefold()
        for one in single.values()
        if one.mention is None
        for value in (one.value if isinstance(one.value, list) else [one.value])
    }
    said |= {slot.name.casefold() for slot in slots if "_" in slot.name}
    return [
        one
        for one in found
        if not any(start < one.end and one.start < end for start, end in spans)
        and not (one.kind in ("name", "quoted", "code") and (one.text.casefold() in said or _is_tool(one, about)))
    ]


def _is_tool(mention: Mention, about: frozenset[str]) -> bool:
    """Whether the mention is the tool's own name, as in `use the 'get_time' function`."""
    is_called = bool({"function", "tool", "api", "method"} & {*mention.before[-2:], *mention.after[:1]})
    return is_called and "_" in mention.text and all(word in about for word in words_of(mention.text))


def _values(slots: Sequence[Slot], chosen: Chosen) -> dict[str, list[Found]]:
    """The chosen values, by the types of the parameters."""
    groups: dict[str, list[Found]] = {}
    for slot in slots:
        group = chosen.get(slot.name)
        if not group:
            continue
        values = [Found(_value(slot, mention), score, mention, _because(mention)) for mention, score in group]
        if slot.type == "array" and all(mention.kind != "list" for mention, _ in group):
            together = [one.value for one in values]
            values = [Found(together, values[0].sure, values[0].mention, values[0].because)]
        groups[slot.name] = values
    return groups


def _calls(
    slots: Sequence[Slot], single: Mapping[str, Found], groups: Mapping[str, Sequence[Found]], text: str
) -> list[dict[str, Found]]:
    """One call, or as many as the repetitions ask for; what is said once holds for all of them."""
    order = {slot.name: index for index, slot in enumerate(slots)}
    crossed = _crossed(groups, text)
    made = [{**single, **call} for call in crossed] if crossed is not None else _side_by_side(single, groups)
    return [dict(sorted(call.items(), key=lambda item: order[item[0]])) for call in made]


def _side_by_side(single: Mapping[str, Found], groups: Mapping[str, Sequence[Found]]) -> list[dict[str, Found]]:
    """As many calls as the longest repetition has values."""
    count = min(MOST_CALLS, max((len(group) for group in groups.values()), default=1))
    calls: list[dict[str, Found]] = [dict(single) for _ in range(count)]
    for name, values in groups.items():
        for index, call in enumerate(calls):
            one = values[index] if len(values) == count else _governing(values, index, groups, count)
            if one is not None:
                call[name] = one
    return calls


def _crossed(groups: Mapping[str, Sequence[Found]], text: str) -> list[dict[str, Found]] | None:
    """A call for every pair of two lists, `in Rome and Oslo for 2 and 3 days`; None where they are no such lists.

    `respectively` says that they go along with each other instead, and so does what the things named have: `Ann and Bob
    with the emails …`.
    """
    several = {name: group for name, group in groups.items() if len(group) > 1}
    if len(several) != 2 or _RESPECTIVE.search(text) or not all(_is_list(group, text) for group in several.values()):
        return None
    (one, lefts), (other, rights) = several.items()
    spans = sorted(
        (group[0].mention.start, group[-1].mention.end)
        for group in several.values()
        if group[0].mention is not None and group[-1].mention is not None
    )
    if len(spans) < 2 or spans[0][1] > spans[1][0] or len(lefts) * len(rights) > MOST_CALLS:
        return None
    if len(lefts) == len(rights) and _HAVING.search(text, spans[0][1], spans[1][0]):
        return None
    rest = {name: group[0] for name, group in groups.items() if len(group) == 1}
    return [{**rest, one: left, other: right} for left in lefts for right in rights]


def _is_list(group: Sequence[Found], text: str) -> bool:
    """Whether the values are said one after the other, with nothing but conjunctions between them."""
    return all(
        left.mention is not None and right.mention is not None and is_joined(text, left.mention, right.mention)
        for left, right in pairwise(group)
    )


def _governing(group: Sequence[Found], index: int, groups: Mapping[str, Sequence[Found]], count: int) -> Found | None:
    """Of a parameter said less often than there are calls: what was said last before this call's own."""
    if len(group) == 1:
        return group[0]
    lead = next(one for one in groups.values() if len(one) == count)[index].mention
    if lead is None:
        return group[-1]
    nearest = min(group, key=lambda one: abs((one.mention.start if one.mention else 0) - lead.start))
    earlier = [one for one in group if one.mention is not None and one.mention.start <= lead.start]
    return earlier[-1] if earlier else nearest


def _is_in_percent(slot: Slot) -> bool:
    """Whether the parameter says that 5% is 5, not 0.05."""
    return bool(_IN_PERCENT.search(slot.description)) and not _DECIMAL.search(slot.description)


def _because(mention: Mention) -> str:
    return f"{mention.text[:60]!r}" if mention.kind != "quoted" else f"quoted {mention.text[:60]!r}"


def _value(slot: Slot, mention: Mention) -> Json:
    target = slot.item if slot.type == "array" and slot.item is not None and mention.kind != "list" else slot
    value = mention.value
    match target.type:
        case "integer" | "number" if isinstance(value, int | float):
            if mention.unit == "%" and target.type == "number" and not _is_in_percent(target):
                return round(value / 100, 10)
            return int(value) if target.type == "integer" and float(value).is_integer() else value
        case "string":
            if mention.kind == "date":
                return write_date(str(value), f"{target.description} {target.format}")
            text = str(value) if mention.kind != "number" else mention.text.strip()
            return code_of(target, text)
        case _:
            return value


_PLACES = frozenset(["city", "state", "country", "region", "province", "location", "area"])


def shaped(found: Sequence[Mention], slots: Sequence[Slot], text: str) -> list[Mention]:
    """The mentions in the shape the parameters have: runs of numbers as lists, lists as numbers, places apart."""
    wants_list = any(
        slot.type == "array" and slot.item is not None and slot.item.type in ("integer", "number", "any")
        for slot in slots
    )
    has_array = any(slot.type in ("array", "any", "string") for slot in slots)
    has_parts = sum(bool(set(slot.words) & _PLACES) for slot in slots) > 1
    shaped: list[Mention] = []
    for one in found:
        previous = shaped[-1] if shaped else None
        if wants_list and previous is not None and _goes_on(previous, one, text):
            values = previous.value if previous.kind == "list" else [previous.value]
            shaped[-1] = msgspec.structs.replace(
                previous, kind="list", text="numbers", value=[*values, one.value], end=one.end, after=one.after
            )
        elif one.kind == "list" and not has_array and all(isinstance(value, int | float) for value in one.value):
            shaped += [
                msgspec.structs.replace(one, kind="number", text=str(value), value=value, start=one.start + place)
                for place, value in enumerate(one.value)
            ]
        elif one.kind == "name" and has_parts and ", " in one.text:
            shaped += _places_apart(one)
        else:
            shaped.append(one)
    return shaped


def _goes_on(previous: Mention, one: Mention, text: str) -> bool:
    """Whether a number goes on with the run of numbers before it: `3, 4 and 5`, `3 to 5`."""
    is_run = previous.kind == "number" or (previous.kind == "list" and previous.text.startswith("numbers"))
    if one.kind != "number" or not is_run:
        return False
    is_range = text[previous.end : one.start].strip() in ("to", "-", "\u2013", "until")
    return (is_range or is_joined(text, previous, one)) and (previous.unit or one.unit) == one.unit


def _places_apart(one: Mention) -> tuple[Mention, Mention]:
    """A place and the one that it is in: `Paris, France`."""
    head, _, tail = one.text.partition(", ")
    middle = one.start + len(head)
    return (
        msgspec.structs.replace(one, text=head, value=head, end=middle),
        msgspec.structs.replace(one, text=tail, value=tail, start=middle + 2, before=(*one.before, "in", head.lower())),
    )
