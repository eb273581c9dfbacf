"""Numbers that say how things are, by how much they change or what they stay below, taken for what comes of it. Pure.

`Cool T-9 from 8 degrees`, `by 8 degrees` and `to under 8 degrees` say no degrees that it is to have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.amounts import holders, told_of
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.units import UNIT_OF
from toolpath.checks.request.verbs import folded
from toolpath.model.tool import Tool

_NUMBER: Final = r"(?P<number>\d{1,15}(?:[.,]\d{1,15})?)"
#: A change by a number and what it counts, whatever verb says it.
_BY: Final = re.compile(rf"(?<!\w)(?:by|um)\s+{_NUMBER}\s*°?\s*(?!uhr\b|[ap]\.?m\b)[^\W\d_]+", re.IGNORECASE)
_TO_A: Final = re.compile(
    r"\b(?:to|at|auf|à|a)\s+(?:an?|the|its|this|eine[nr]?|une?|una?)\s+(?:\w+\s+)?(?P<noun>[^\W\d_]+)"
)
#: So much of what a parameter counts, behind a word that says how it was.
_FROM: Final = re.compile(
    rf"(?<!\w)(?P<words>(?:from|von|desde)\s+{_NUMBER}\s*(?P<unit>°|%|[^\W\d_]+))"
    r"(?!\s+(?:to|until|auf|bis|à|a|hasta)\b)",
    re.IGNORECASE,
)
#: Behind a verb or `to` it is a bound; an invoice over 50 euros has them, and over 3 months is how long.
_OVER: Final = re.compile(
    rf"(?<!\w)(?P<before>[^\W\d_]+)\s+(?:over|under)\s+[€$£]?{_NUMBER}"
    r"(?!\s*(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)\b)(?!\w|[.,]\d)",
    re.IGNORECASE,
)
_STARTS: Final = frozenset(("from", "start", "since", "source", "begin", "old", "current", "origin"))
_BOUNDS: Final = frozenset(
    ("max", "min", "maximum", "minimum", "over", "under", "above", "below", "limit", "threshold")
)


def levels(seen: Seen) -> Iterator[str]:
    """A question for each number of an acting call that the request says of something else than what comes of it."""
    for found in _BY.finditer(seen.request):
        if any(_says_what_comes_of_it(tool, name) for tool, name in holders(found["number"], seen)):
            yield f"{_said(found)!r}: the plan takes {found['number']!r} for what comes of it."
    for found in _FROM.finditer(seen.request):
        for tool, name in holders(found["number"], seen):
            if not _STARTS.intersection(raw_words(name)) and _counts(tool, name, folded(found["unit"])):
                yield f"{_said(found)!r} says how it was: what is {name!r} to be?"
    for found in _OVER.finditer(seen.request):
        before = folded(found["before"])
        for _, name in holders(found["number"], seen):
            if (before in ("to", "for") or seen.is_verb(before)) and not _BOUNDS.intersection(raw_words(name)):
                yield f"{_said(found)!r} is a bound. What is {name!r} to be?"


def _said(found: re.Match[str]) -> str:
    return " ".join(found.group().split())


def _counts(tool: Tool, name: str, unit: str) -> bool:
    """Whether the parameter counts in these units, as far as anybody says."""
    words = {*map(folded, raw_words(name)), *map(folded, raw_words(told_of(tool, name)))}
    return unit in words or not unit.isalpha() or unit in UNIT_OF


def _says_what_comes_of_it(tool: Tool, name: str) -> bool:
    """Whether the tool brings something to what the parameter takes: `Cool a tank to a temperature.`"""
    own = {*map(folded, raw_words(name)), *map(folded, raw_words(told_of(tool, name)))}
    return any(folded(found["noun"]) in own for found in _TO_A.finditer(tool.description))
