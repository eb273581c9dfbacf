"""Numbers that say how things are, by how much they change or what they stay below, taken for what comes of it. Pure.

`Cool T-9 from 8 degrees`, `by 8 degrees` and `to under 8 degrees` say no degrees that it is to have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.amounts import holders, is_money, shares, told_of
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
_BOUNDS: Final = frozenset(("max", "min", "maximum", "minimum", "over", "under", "above", "below", "threshold"))


#: A sign right before a number, and no line of a list; `AC-7` is an id.
_BELOW_ZERO: Final = re.compile(rf"(?<=[^\S\n])(?<![\d:=/] )[-\u2212\u2013]{_NUMBER}(?![\w/:-]|[.,]\d)")
_TO: Final = re.compile(rf"(?<!\w)(?:to|auf|à|a|hasta)\s+{_NUMBER}\s*(?:%|[^\W\d_]+)", re.IGNORECASE)
_BY_A: Final = re.compile(r"\b(?:by|um|de)\b", re.IGNORECASE)
_TO_WHAT: Final = re.compile(r"\b(?:to|auf|à|new|neu\w*|nouve\w+|nuev\w+)\b", re.IGNORECASE)
_TIMES: Final = re.compile(rf"{_NUMBER}\s*(?:times|x|mal|fois|veces)(?!\w)(?!\s*\d)", re.IGNORECASE)
_MONEY: Final = re.compile(rf"[€$£]\s?{_NUMBER}|(?<![\w.,-])(?P<amount>\d[\d.,]*)\s?(?:[€$£]|[^\W\d_]+)")


def levels(seen: Seen) -> Iterator[str]:
    """A question for each number of an acting call that the request says of something else than what comes of it."""
    yield from _of_others(seen)
    yield from _signed(seen)
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


def _signed(seen: Seen) -> Iterator[str]:
    """A question for each number below nothing, and for what is to come of it where a tool takes a change."""
    for found in _BELOW_ZERO.finditer(seen.request):
        is_share = any(isinstance(value, float) and -1 < value < 0 for value in seen.values)
        if is_share or any(holders(found["number"], seen)):
            yield f"{found.group()!r}: is it below nothing? The plan takes {found['number']!r}."
    for found in _TO.finditer(seen.request):
        for tool, name in (*holders(found["number"], seen), *shares(found, seen)):
            told = f"{tool.description} {told_of(tool, name)}"
            if _BY_A.search(told_of(tool, name)) and not _TO_WHAT.search(told):
                yield f"{_said(found)!r}: is that what comes of it? The plan takes it for how much it changes."


def _of_others(seen: Seen) -> Iterator[str]:
    """A question for each number that says how often, or how much money, and that a call takes for something else."""
    for found in _TIMES.finditer(seen.request):
        for tool, name in holders(found["number"], seen):
            if not _OFTEN.intersection(raw_words(f"{name} {told_of(tool, name)}")):
                yield f"{_said(found)!r} says how often. What is {name!r} to be?"
    for found in _MONEY.finditer(seen.request):
        if not is_money(found.group()):
            continue
        for tool, name in holders(found["number"] or found["amount"], seen):
            if {"percent", "percentage", "prozent"}.intersection(raw_words(f"{name} {told_of(tool, name)}")):
                yield f"{_said(found)!r} is no percentage. What is {name!r} to be?"


_OFTEN: Final = frozenset(("times", "time", "count", "repeat", "repeats", "often"))


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
