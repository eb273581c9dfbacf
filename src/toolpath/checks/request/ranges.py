"""Ranges, of which a plan takes both ends for two things, or both together for one. Pure.

`Book a slot between 14:30 and 16:00` asks for one slot and not for two, `the bookings between BK-3 and BK-7` are more
than these two, and nothing is called `BK-3-BK-7`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from toolpath.checks.request.seen import Seen
from toolpath.model.plan import Call

_BETWEEN: Final = re.compile(
    r"\b(?:between|zwischen|entre)\s+(?:the\s+|den\s+|le\s+|el\s+)?(?P<first>[#\w][\w:./#-]*)(?:\s+[^\W\d_]+){0,2}?\s+"
    r"(?:and|und|et|y)\s+(?:the\s+|den\s+|le\s+|el\s+)?(?P<last>[#\w][\w:./#-]*)",
    re.IGNORECASE,
)
_DIGIT: Final = re.compile(r"\d")
#: Two ids of one form with a dash or points between them.
_TWO_IDS: Final = re.compile(r"(?P<head>[^\W\d_]+[-_#]?)\d+(?:-|\u2013|\.{2,3})(?P=head)\d+")


def ranges(seen: Seen) -> Iterator[str]:
    """A question for each range whose ends the acting calls take apart, and for each that one of them takes whole."""
    for found in _BETWEEN.finditer(seen.request):
        is_quoted = (
            seen.plain[found.start() : found.start("first")] != seen.request[found.start() : found.start("first")]
        )
        if is_quoted:
            continue
        if _DIGIT.search(found["first"]) and _DIGIT.search(found["last"]) and _is_apart(seen):
            yield f"{' '.join(found.group().split())!r}: which one is meant? The plan takes both ends, each by itself."
    for value in seen.own_values if seen.acting else ():
        if isinstance(value, str) and _TWO_IDS.fullmatch(value) is not None:
            yield f"Is {value!r} one thing, or all from the first to the last?"
        if isinstance(value, str) and _NEARLY.fullmatch(value) is not None:
            yield f"Which one is nearly {value!r}?"


#: An id with an ending that makes it another one.
_NEARLY: Final = re.compile(r"[\w-]{0,60}\d[\w-]{0,60}(?:ish|esque|like)", re.IGNORECASE)


def _is_apart(seen: Seen) -> bool:
    """Whether two acting calls of one tool differ in one value alone."""
    by_tool: dict[str, list[Call]] = {}
    for call, _, _ in seen.acting:
        by_tool.setdefault(call.tool, []).append(call)
    return any(_differ_once(calls) for calls in by_tool.values())


def _differ_once(calls: Sequence[Call]) -> bool:
    return any(
        one.inputs.keys() == other.inputs.keys()
        and sum(one.inputs[name] != other.inputs[name] for name in one.inputs) == 1
        for at, one in enumerate(calls)
        for other in calls[at + 1 :]
    )
