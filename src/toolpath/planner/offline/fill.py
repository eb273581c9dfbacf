"""Arguments of one tool from a text: mentions matched with parameters, repeated ones as further calls. Pure.

Nothing is invented: a parameter that nothing in the text speaks of stays open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from toolpath.planner.offline.assign import MOST_CALLS, Chosen, assign, assign_phrases
from toolpath.planner.offline.dates import write_date
from toolpath.planner.offline.found import Found
from toolpath.planner.offline.mention import Mention
from toolpath.planner.offline.mentions import mentions
from toolpath.planner.offline.said import from_boolean, from_frequency, from_options, from_shown, from_unit
from toolpath.planner.offline.shape import shaped
from toolpath.planner.offline.slots import Slot
from toolpath.planner.offline.terms import code_of
from toolpath.values import Json


class Filling(msgspec.Struct, frozen=True):
    """Calls of one tool that a text asks for."""

    calls: tuple[Mapping[str, Found], ...]
    missing: tuple[Slot, ...]
    """Required parameters that nothing in the text speaks of."""
    used: frozenset[int]
    """Where the mentions used begin."""


def fill(slots: Sequence[Slot], text: str, *, about: frozenset[str] = frozenset()) -> Filling:
    """The calls that the text asks for; `about` are the words of the tool itself, which are no arguments."""
    found = shaped(mentions(text), slots, text)
    single: dict[str, Found] = {}
    for slot in slots:
        value = (
            from_options(slot, text) or from_boolean(slot, text) or from_unit(slot, found) or from_frequency(slot, text)
        )
        if value is not None:
            single[slot.name] = value
        elif slot.type == "object" and slot.fields:
            inner = fill(slot.fields, text, about=about)
            if inner.calls[0] and not inner.missing:
                single[slot.name] = Found(
                    {key: one.value for key, one in inner.calls[0].items()}, 0.6, None, "its fields"
                )
    spans = [(one.mention.start, one.mention.end) for one in single.values() if one.mention is not None]
    open_slots = [slot for slot in slots if slot.name not in single and slot.type not in ("boolean",)]
    free = [one for one in found if not any(start < one.end and one.start < end for start, end in spans)]
    chosen = assign(open_slots, free, text, about)
    assign_phrases(open_slots, chosen, [one for one in free if one.kind == "phrase"], about, text)
    for slot in open_slots:
        if slot.name not in chosen and (shown := from_shown(slot, text)) is not None:
            single[slot.name] = shown
    for slot in slots:
        if slot.required and slot.preset is not None and slot.name not in chosen and slot.name not in single:
            single[slot.name] = Found(slot.preset, 1.0, None, "its default")
    calls = _calls(slots, single, chosen, text)
    missing = tuple(slot for slot in slots if slot.required and any(slot.name not in call for call in calls))
    used = frozenset(one.start for group in chosen.values() for one, _ in group)
    return Filling(tuple(calls), missing, used)


def _calls(slots: Sequence[Slot], single: Mapping[str, Found], chosen: Chosen, text: str) -> list[dict[str, Found]]:
    """One call, or as many as the longest repetition; what is said once holds for all of them."""
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
    count = min(MOST_CALLS, max((len(group) for group in groups.values()), default=1))
    calls: list[dict[str, Found]] = [dict(single) for _ in range(count)]
    for name, values in groups.items():
        for index, call in enumerate(calls):
            one = values[index] if len(values) == count else _governing(values, index, groups, count)
            if one is not None:
                call[name] = one
    order = {slot.name: index for index, slot in enumerate(slots)}
    return [dict(sorted(call.items(), key=lambda item: order[item[0]])) for call in calls]


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


def _because(mention: Mention) -> str:
    return f"{mention.text[:60]!r}" if mention.kind != "quoted" else f"quoted {mention.text[:60]!r}"


def _value(slot: Slot, mention: Mention) -> Json:
    target = slot.item if slot.type == "array" and slot.item is not None and mention.kind != "list" else slot
    value = mention.value
    match target.type:
        case "integer" | "number" if isinstance(value, int | float):
            if mention.unit == "%" and target.type == "number":
                return round(value / 100, 10)
            return int(value) if target.type == "integer" and float(value).is_integer() else value
        case "string":
            if mention.kind == "date":
                return write_date(str(value), f"{target.description} {target.format}")
            text = str(value) if mention.kind != "number" else mention.text.strip()
            return code_of(target, text)
        case _:
            return value
