"""The same tool again with what came of it: `convert 5 GBP to USD, then to EUR`. Pure.

Where the tool gives nothing that it takes, the plan says the first values again, and `mandated` asks about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words
from toolpath.checks.request.plain_schemas import plain_outputs
from toolpath.checks.request.pointers import goes_on
from toolpath.planner.offline.draft import Draft
from toolpath.planner.offline.found import Found
from toolpath.planner.offline.linked_outputs import reference
from toolpath.planner.offline.outputs import FEEDS, feeds, outputs_of
from toolpath.planner.offline.slots import Slot
from toolpath.values import Json

_ENDS: Final = frozenset(("from", "to", "source", "target", "base", "origin", "destination", "start", "end", "input"))
_NUMBERS: Final = frozenset(("integer", "number"))
Values = Mapping[str, Found]


def onward(draft: Draft, text: str) -> Draft:
    """The calls of a tool, each going on from the one before, where the text says so and the tool can."""
    calls = draft.filling.calls
    if len(calls) < 2 or len(draft.ids) != len(calls) or any(draft.links) or goes_on(text, is_again=True) is None:
        return draft
    varying = [slot for slot in draft.candidate.slots if len({_told(call, slot) for call in calls}) > 1]
    ends = [(slot, _other_end(slot, draft.candidate.slots)) for slot in varying]
    goals = [(slot, other) for slot, other in ends if other is not None]
    if len(goals) != 1:
        return draft
    goal, begin = goals[0]
    if any(slot not in (goal, begin) for slot in varying) or any(goal.name not in call for call in calls):
        return draft
    carried = _carried(draft, {goal.name, begin.name})
    if carried is None:
        return draft
    name, path = carried
    going = [calls[0]]
    links: list[Mapping[str, Json]] = [{}]
    for number, call in enumerate(calls[1:], start=1):
        rest = {key: found for key, found in call.items() if key != name}
        going.append({**rest, begin.name: going[number - 1][goal.name]})
        links.append({name: "{{ " + reference(draft.ids[number - 1], path) + " }}"})
    filling = msgspec.structs.replace(draft.filling, calls=tuple(going))
    return msgspec.structs.replace(draft, filling=filling, links=tuple(links), ties=(FEEDS,))


def _told(call: Values, slot: Slot) -> str:
    return str(call[slot.name].value) if slot.name in call else ""


def _other_end(slot: Slot, slots: tuple[Slot, ...]) -> Slot | None:
    """The parameter where what this one ends begins: `from_currency` of `to_currency`."""
    own = set(raw_words(slot.name))
    if not own & {"to", "target", "destination", "end"}:
        return None
    return next(
        (
            one
            for one in slots
            if one is not slot
            and one.type == slot.type
            and set(raw_words(one.name)) & _ENDS
            and set(raw_words(one.name)) - _ENDS == own - _ENDS
        ),
        None,
    )


def _carried(draft: Draft, ends: set[str]) -> tuple[str, tuple[str | int, ...]] | None:
    """The one parameter that the tool's own output feeds, and the path of it there."""
    first = draft.filling.calls[0]
    shared = [slot for slot in draft.candidate.slots if slot.name in first and slot.name not in ends]
    schema = plain_outputs(draft.candidate.tool)
    kind = schema.get("type")
    alike = [slot for slot in shared if slot.type == kind or {slot.type, kind} <= _NUMBERS]
    if kind != "object":
        return (alike[0].name, ()) if len(alike) == 1 and isinstance(kind, str) else None
    fed = [
        (feeds(slot, output, draft.candidate), slot.name, output.path)
        for slot in shared
        for output in outputs_of(schema)
        if slot.type not in ("boolean", "any")
    ]
    best = max(fed, default=(0.0, "", ()))
    is_only = len({name for score, name, _ in fed if score >= FEEDS}) == 1
    return (best[1], best[2]) if best[0] >= FEEDS and is_only else None
