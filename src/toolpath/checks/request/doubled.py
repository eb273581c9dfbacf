"""Calls of one tool that differ in one value alone, or of which one thing is only compared with the other's. Pure.

`Move V-3 to Friday and Saturday` says two days for one move, and no plan that makes both is meant. `Empty T-4 before
T-5` and `cancel B-1 as with B-2` name a second thing without saying that it is to be done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.clauses import after_colon
from toolpath.checks.request.occurrences import whole_words
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.seen import Seen
from toolpath.model.plan import Call
from toolpath.model.tool import Tool
from toolpath.values import Json

#: Verbs of tools of which the second call undoes what the first one did.
_CHANGING: Final = frozenset(
    re.findall(
        r"\S+",
        """move reschedule postpone change set update edit modify adjust alter rename resize reassign transfer assign
        scale switch convert extend put shift relocate configure""",
    )
)
#: Words of a parameter whose number says which thing is meant.
_NUMBERED: Final = frozenset(("number", "no", "nr", "id", "key", "index", "issue", "row", "page", "code"))
#: What joins a thing to those before it, or begins anew.
_JOINS: Final = re.compile(
    r"[,;.:&+/\n!?]|\b(?:and|plus|then|also|too|both|und|sowie|dann|auch|beide|et|puis|aussi|ainsi|y|e|luego|también"
    r"|as\s+well)\b",
    re.IGNORECASE,
)
#: What only compares, places or puts in a row.
_COMPARES: Final = re.compile(
    r"\b(?:after|before|like|as|with|than|below|above|under|over|behind|beside|besides|next|instead|against|nach|vor|wie"
    r"|als|mit|neben|unter|über|hinter|après|avant|comme|avec|sous|sur|derrière|después|antes|como|con|bajo|sobre"
    r"|tras)\b",
    re.IGNORECASE,
)


def doubled(seen: Seen) -> Iterator[str]:
    """A question for each two calls that act and give one thing two values, or take a thing that is only compared."""
    by_tool: dict[str, list[tuple[Call, Tool]]] = {}
    for call, tool, is_bound in seen.acting:
        if tool is not None and not is_bound:
            by_tool.setdefault(call.tool, []).append((call, tool))
    for calls in by_tool.values():
        if len(calls) > 1:
            yield from _told_twice(calls)
            yield from _compared([call for call, _ in calls], seen)
            yield from _said_later([call for call, _ in calls], seen)
            yield from _unlike([call for call, _ in calls], seen)


def _unlike(calls: Sequence[Call], seen: Seen) -> Iterator[str]:
    """A question for each plain word that is taken for a thing beside another one that goes by a number: `T-4, hm`."""
    for name in calls[0].inputs:
        values = [value for call in calls if isinstance(value := call.inputs.get(name), str)]
        if not any(map(str.isdigit, "".join(values))):
            continue
        for value in values:
            if value.replace(" ", "").isalpha() and value == value.lower() and value in seen.plain:
                yield f"What is {value!r}? The others go by a number."


def _told_twice(calls: Sequence[tuple[Call, Tool]]) -> Iterator[str]:
    for (one, tool), (other, _) in pairwise(calls):
        names = [
            name for name in one.inputs.keys() | other.inputs.keys() if one.inputs.get(name) != other.inputs.get(name)
        ]
        if len(names) != 1 or len(one.inputs) < 2 or one.inputs.keys() != other.inputs.keys():
            continue
        first, second = one.inputs[names[0]], other.inputs[names[0]]
        is_change = bool(_CHANGING.intersection(raw_words(tool.name)[:1])) and not _is_thing(names[0], tool)
        is_amount = _is_number(first) and not _NUMBERED.intersection(raw_words(names[0]))
        if is_amount or is_change:
            yield f"{tool.name} would take {first!r} and then {second!r} for {names[0]!r} of one thing: which is meant?"


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_thing(name: str, tool: Tool) -> bool:
    """Whether a parameter says which thing is meant: the first of those that the tool needs."""
    required = plain_inputs(tool).get("required")
    return isinstance(required, list) and required[:1] == [name]


def _compared(calls: Sequence[Call], seen: Seen) -> Iterator[str]:
    for one, other in pairwise(calls):
        for name in one.inputs.keys() & other.inputs.keys():
            first, second = one.inputs[name], other.inputs[name]
            if not isinstance(first, str) or not isinstance(second, str) or first == second:
                continue
            places = [*whole_words(seen.request, first, ignoring_case=True)]
            later = [*whole_words(seen.request, second, ignoring_case=True)]
            if len(places) != 1 or len(later) != 1:
                continue
            (start, end) = sorted(((places[0].start, places[0].end), (later[0].start, later[0].end)))
            between = seen.request[start[1] : end[0]]
            if _COMPARES.search(between) and not _JOINS.search(between):
                words = " ".join(between.split())
                yield f"{words!r} stands between {first!r} and {second!r}: is it to be done with both?"


def _said_later(calls: Sequence[Call], seen: Seen) -> Iterator[str]:
    """A question for each call of several whose own value stands behind what is handed on, in another sentence."""
    tail = after_colon(seen.request)
    ended = _SENTENCE.search(tail)
    if ended is None:
        return
    end = len(seen.request) - len(tail) + ended.start()
    before, later = seen.request[:end], seen.request[end:]
    for call in calls:
        for name, value in call.inputs.items():
            is_own = isinstance(value, str) and all(one is call or one.inputs.get(name) != value for one in calls)
            if not is_own or any(True for _ in whole_words(before, str(value), ignoring_case=True)):
                continue
            if any(True for _ in whole_words(later, str(value), ignoring_case=True)):
                yield f"{call.id}: {value!r} is said behind what is handed on. Is it to be done with that, too?"


_SENTENCE: Final = re.compile(r"[.!?]\s+\S")
