"""Values carried into a part of a request from the rest of it: for the tool before, or once for all. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from toolpath.planner.offline.draft import Draft
from toolpath.planner.offline.fill import Filling, fill
from toolpath.planner.offline.found import Found
from toolpath.planner.offline.slots import Slot

Calls = tuple[Mapping[str, Found], ...]


def without_repeats(filling: Filling) -> Filling:
    """Each call once: what is said again in other words is no second call."""
    told: dict[tuple[tuple[str, str], ...], Mapping[str, Found]] = {}
    for call in filling.calls:
        told.setdefault(tuple((name, str(found.value)) for name, found in call.items()), call)
    return Filling(tuple(told.values()), filling.missing, filling.used)


def carried(filling: Filling, earlier: Sequence[Draft], *, is_plural: bool) -> Filling:
    """With what another tool was told last under the same name: `and the humidity` is asked of the same place.

    `is_plural`: it is asked of all that the other one was told, as in `of both`.
    """
    names = {slot.name for slot in filling.missing}
    source = next(
        (draft for draft in reversed(earlier) if any(names & call.keys() for call in draft.filling.calls)), None
    )
    if source is None:
        return filling
    several = source.filling.calls if is_plural and len(filling.calls) == 1 else source.filling.calls[-1:]
    return without_repeats(
        _with(filling, tuple({name: found for name, found in told.items() if name in names} for told in several))
    )


def widened(
    filling: Filling, text: str, earlier: Sequence[Draft], *, about: frozenset[str], is_plural: bool
) -> Filling:
    """With what the request as a whole says: what holds for several calls is often said once, elsewhere."""
    if not filling.missing:
        return filling
    wider = _unlike(fill(filling.missing, _untold(text, [filling]), about=about).calls, filling.missing, earlier)
    free = [slot for slot in filling.missing if slot.classes == {"text"}]
    if free:
        wider = _retold(wider, free, _untold(text, [filling, *(draft.filling for draft in earlier)]), about)
    return _with(filling, wider if len(filling.calls) == 1 and is_plural else wider[:1])


def _unlike(calls: Calls, slots: Sequence[Slot], earlier: Sequence[Draft]) -> Calls:
    """The calls without what is another tool's value of another kind: the place of a trip is no thing to be cooked."""
    kinds: dict[str, set[str]] = {}
    for draft in earlier:
        for slot in draft.candidate.slots:
            for call in draft.filling.calls:
                if slot.name in call and slot.type == "string":
                    kinds.setdefault(str(call[slot.name].value), set()).update(slot.classes, slot.words)
    own = {slot.name: {*slot.classes, *slot.words} for slot in slots}
    return tuple(
        {name: found for name, found in call.items() if own[name] & kinds.get(str(found.value), own[name])}
        for call in calls
    )


def _with(filling: Filling, outer: Sequence[Mapping[str, Found]]) -> Filling:
    """Each call with what it lacks of each of the others."""
    calls = tuple({**told, **call} for told in outer for call in filling.calls)
    missing = tuple(slot for slot in filling.missing if any(slot.name not in call for call in calls))
    return Filling(calls, missing, filling.used)


def _retold(calls: Calls, free: Sequence[Slot], text: str, about: frozenset[str]) -> Calls:
    """The calls with free texts from another text."""
    texts = fill(free, text, about=about).calls[0]
    names = {slot.name for slot in free}
    return tuple({**{name: found for name, found in call.items() if name not in names}, **texts} for call in calls)


def _untold(text: str, fillings: Sequence[Filling]) -> str:
    """The text without the names and quotations that are taken: a title is no content, and somebody's name neither."""
    for filling in fillings:
        for found in (found for call in filling.calls for found in call.values()):
            mention = found.mention
            if mention is not None and mention.kind in ("name", "quoted", "email", "code"):
                text = re.sub(rf"(?<!\w){re.escape(mention.text)}(?!\w)", lambda match: " " * len(match.group()), text)
    return text
