"""Allowed values told apart: what a text says once fills one parameter, unless it is said to be for both. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from toolpath.catalog.words import raw_words
from toolpath.checks.request.occurrences import in_small_letters
from toolpath.checks.request.seen import FOR_BOTH
from toolpath.planner.offline.found import Found
from toolpath.planner.offline.slots import Slot

#: What stands before a value, and names of parameters that it points to.
_LEADING = (
    frozenset(raw_words("from source base origin src von aus de desde depuis")),
    frozenset(raw_words("to into target destination quote dest nach zu en in vers a auf")),
)


def told_apart(slots: Sequence[Slot], single: Mapping[str, Found], text: str) -> dict[str, Found]:
    """The values, where those that several parameters took are shared out: each place in the text to one of them.

    A parameter for which no place is left has no value: it is asked for.
    """
    told = dict(single)
    if FOR_BOTH.search(text):
        return told
    taken: dict[str, list[Slot]] = {}
    for slot in slots:
        if slot.options and slot.type != "array" and slot.name in single and single[slot.name].mention is None:
            taken.setdefault(str(single[slot.name].value), []).append(slot)
    for value, several in taken.items():
        places = _places(several, text)
        if len(several) < 2 or not any(said == value for _, said in places):
            continue
        if sum(said == value for _, said in places) >= len(several):
            continue
        shared = _shared(several, places, text)
        for slot in several:
            told.pop(slot.name)
            if slot.name in shared:
                option = next(one for one in slot.options if str(one) == shared[slot.name])
                told[slot.name] = Found(option, 2.0, None, f"{option!r} is said")
    return told


def _places(slots: Sequence[Slot], text: str) -> list[tuple[int, str]]:
    """Where the text says values that one of the parameters allows, in its order; of two at one place the longer."""
    found: dict[int, str] = {}
    lowered = in_small_letters(text)
    for option in sorted({str(one) for slot in slots for one in slot.options}, key=lambda one: (len(one), one)):
        parts = re.split(r"[\s_-]+", option)
        if in_small_letters(max(parts, key=len)) not in lowered:
            continue
        words = r"[\s_-]+".join(map(re.escape, parts))
        found |= {said.start(): option for said in re.finditer(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE)}
    return sorted(found.items())


def _shared(slots: Sequence[Slot], places: Sequence[tuple[int, str]], text: str) -> dict[str, str]:
    """Which parameter each place fills: first where a word before it names the parameter, then in their order."""
    shared: dict[str, str] = {}
    left = [*places]
    for place in places:
        before = raw_words(text[max(0, place[0] - 40) : place[0]])[-1:]
        pointed = [slot for slot in slots if slot.name not in shared and _points(before, slot)]
        if len(pointed) == 1:
            shared[pointed[0].name] = place[1]
            left.remove(place)
    for slot in sorted(slots, key=lambda one: not one.required):
        free = next((place for place in left if place[1] in map(str, slot.options)), None)
        if slot.name not in shared and free is not None:
            shared[slot.name] = free[1]
            left.remove(free)
    return shared


def _points(before: Sequence[str], slot: Slot) -> bool:
    named = {*raw_words(slot.name)}
    return any(word in named or any(word in side and side & named for side in _LEADING) for word in before)
