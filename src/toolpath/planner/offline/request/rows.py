"""Rows of values, which share the word before them: of `from A and B to C` B is where A is. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.affinity import affinity, cue_of
from toolpath.planner.offline.request.clause_for_tool import JOINED
from toolpath.planner.offline.request.cues import CUES
from toolpath.planner.offline.request.parts import ClausePart
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import Kit, Toolbox, ToolField

_AND: Final = re.compile(r"\s*(?:,|,?\s*(?:and|und|et|y|e|sowie|&))\s*", re.IGNORECASE)
#: Words before two values that are for two parameters.
_BETWEEN: Final = frozenset(("between", "zwischen", "entre", "of", "von", "de"))


def is_of_row(part: ClausePart, at: int, field: ToolField, kit: Kit, box: Toolbox, text: str) -> bool:
    """Whether the value stands in a row that is said to be for another parameter."""
    first = None if field.is_list else _leader(part, at, text)
    if first is None:
        return False
    leader = part.spans[first]
    cues = {one.name: cue_of(leader, one, part, text) for one in kit.fields if affinity(leader, one, kit, box) > 0}
    return cues.get(field.name, 0.0) < 1 <= max(cues.values(), default=0.0)


def _leader(part: ClausePart, at: int, text: str) -> int | None:
    """The value that opens the row in which this one stands, where a word points to what that one is for."""
    spans = part.spans
    first = at
    while (
        first
        and spans[first - 1].kind == spans[at].kind
        and _AND.fullmatch(text[spans[first - 1].end : spans[first].start])
    ):
        first -= 1
    if first == at or spans[at].kind not in ("id", "name", "path", "email"):
        return None
    before = [word for word in part.words if word.end <= spans[first].start][-1:]
    is_pointed = bool(before) and folded(before[0].text) in CUES and folded(before[0].text) not in _BETWEEN
    return first if is_pointed else None


#: Characters between two values of one row.
_LONGEST: Final = 1_000


def are_in_row(one: Span, other: Span, part: ClausePart, text: str, used: Mapping[Span, str], name: str) -> bool:
    """Whether nothing but commas, `and` and others of the kind stand between, none of another parameter."""
    first, last = sorted((one, other), key=lambda span: span.start)
    between = text[first.end : last.start]
    if len(between) > _LONGEST:
        return False
    for span in part.spans:
        if first.end <= span.start and span.end <= last.start:
            if span.kind != one.kind or used.get(span, name) != name:
                return False
            between = between.replace(span.text, " , ", 1)
    return JOINED.fullmatch(between) is not None and bool(re.search(r"[,&]|\b(?:and|und|et|y|e)\b", between))


def is_mixed(one: Span, part: ClausePart, text: str, used: Mapping[Span, str], name: str) -> bool:
    """Whether the value stands in a row with one of another parameter: `4 and 9, 5 and 12`."""
    others = [span for span, taken in used.items() if taken not in (name, "option") and span.kind == one.kind]
    return any(are_in_row(one, span, part, text, used, name) for span in others)


#: Before the first of two values that are the ends of something.
_OPENS_RANGE: Final = re.compile(r"\b(?:between|zwischen|entre)\s+(?:the\s+|dem\s+|le\s+|el\s+)?$", re.IGNORECASE)


def is_within_range(start: int, end: int, spans: Sequence[Span], text: str) -> bool:
    """Whether what stands between these places joins the ends of a range: `between 1 and 15 April`."""
    first = next((one for one in spans if one.end == start), None)
    last = next((one for one in spans if one.start >= end), None)
    if first is None or last is None or first.kind != last.kind or re.search(r"[^\W_]{4,}", text[end : last.start]):
        return False
    return _OPENS_RANGE.search(text, max(0, first.start - 20), first.start) is not None
