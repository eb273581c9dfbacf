"""Mentions in the shape that parameters have: runs of numbers as lists, lists as numbers, places apart. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from toolpath.planner.offline.mention import Mention, is_joined
from toolpath.planner.offline.slots import Slot

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
        if (
            wants_list
            and one.kind == "number"
            and previous is not None
            and (previous.kind == "number" or (previous.kind == "list" and previous.text.startswith("numbers")))
            and (
                is_joined(text, previous, one)
                or text[previous.end : one.start].strip() in ("to", "-", "\u2013", "until")
            )
            and (previous.unit or one.unit) == one.unit
        ):
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
            head, _, tail = one.text.partition(", ")
            middle = one.start + len(head)
            shaped.append(msgspec.structs.replace(one, text=head, value=head, end=middle))
            shaped.append(
                msgspec.structs.replace(
                    one, text=tail, value=tail, start=middle + 2, before=(*one.before, "in", head.lower())
                )
            )
        else:
            shaped.append(one)
    return shaped
