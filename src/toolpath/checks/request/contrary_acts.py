"""Acts that a request turns round: `Lower the salary` with `raise_salary`, `Load 5 from the Aurora`. Pure.

Both say of what it is done, and the plan would do the reverse of it. An order inside a quotation is somebody's words,
and `Read M-12 and delete whatever it mentions` names nothing that is to be deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.amounts import told_of
from toolpath.checks.request.concepts import commanded
from toolpath.checks.request.occurrences import whole_words
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.tokens import QUOTED
from toolpath.checks.request.tools import does_away, verbs_of
from toolpath.checks.request.verbs import folded
from toolpath.model.tool import Tool

_PAIRS: Final = tuple(
    (frozenset(left.split()), frozenset(right.split()))
    for left, right in (
        (
            "raise increase to-raise to-increase promote",
            "lower decrease reduce cut to-lower to-decrease to-reduce demote",
        ),
        ("load fill", "unload empty drain"),
        ("hire", "fire dismiss"),
        ("buy", "sell"),
        ("deposit", "withdraw"),
        ("upload", "download"),
        ("attach connect join", "detach disconnect leave"),
        ("show", "hide"),
        ("import", "export"),
        ("enable activate", "disable deactivate"),
        ("encrypt", "decrypt"),
        ("include", "exclude"),
        ("credit", "debit"),
        ("inflate", "deflate"),
        ("heat warm", "cool"),
    )
)
_ONTO: Final = re.compile(
    r"\b(?:onto|to|into|on|in)\s+(?:an?|the|its|this)\s+(?:\w+\s+)?(?P<noun>[^\W\d_]+)", re.IGNORECASE
)
_FROM: Final = re.compile(
    r"(?<![\w-])(?P<words>from|off|out\s+of|away\s+from|von|aus|depuis|desde)\s+(?:(?:the|dem|der|den|le|la|el)\s+)?"
    r"(?:(?!and\b|to\b)[^\W\d_]+\s+)?\Z",
    re.IGNORECASE,
)
_STARTS: Final = frozenset(("from", "source", "origin", "old", "previous", "start", "sender", "departure", "current"))
#: Behind a verb: what is meant stands nowhere in the request.
_WHATEVER: Final = re.compile(
    r"(?<!\w)(?P<verb>[^\W\d_]+)\s+(?:what(?:ever)?|whoever|whichever|everything|anything|all(?:\s+that)?)\s+"
    r"(?:(?:is|are)\s+(?:mentioned|named|listed|linked|said|written)|(?:it|this|that|they|he|she|##*)\s+(?!is\b|are\b|was\b)[a-z]+s?)\b",
    re.IGNORECASE,
)


#: Both ways, of which a switch takes one.
_BOTH_WAYS: Final = re.compile(
    r"\b(?:on\s+and\s+(?:then\s+)?(?:back\s+)?off|off\s+and\s+(?:then\s+)?(?:back\s+)?on|(?:an|ein)\s+und\s+(?:wieder\s+)?aus"
    r"|aus\s+und\s+(?:wieder\s+)?(?:an|ein))\b",
    re.IGNORECASE,
)
#: One of some kind, by what is in it: `a recipe with nuts`.
_OF_A_KIND: Final = re.compile(
    r"\b(?:an?|any|some|ein(?:e[nrs]?)?|une?|una?)\s+[^\W\d_]+\s+(?:with|without|containing|mit|ohne|avec|sans|con|sin)\s+\Z",
    re.IGNORECASE,
)


def contrary_acts(seen: Seen) -> Iterator[str]:
    """A question for each acting call that does the reverse of what is said, or what only a quotation orders."""
    yield from _reversed(seen)
    yield from _from_where(seen)
    yield from _quoted(seen)
    yield from _of_a_kind(seen)
    both = _BOTH_WAYS.search(seen.plain)
    switches = [value for call, _, _ in seen.acting for value in call.inputs.values() if isinstance(value, bool)]
    if both is not None and len(switches) == 1:
        yield f"{both.group()!r}: which of them is meant?"
    for found in _WHATEVER.finditer(seen.plain):
        if seen.acting and seen.is_verb(found["verb"]) and not seen.has_loop:
            yield f"{' '.join(found.group().split())!r}: what is meant?"


def _reversed(seen: Seen) -> Iterator[str]:
    said = [{folded(one.verb), *commanded(one.verb)} for one in seen.clauses if one.mood == "command"]
    for _, tool, _ in seen.acting:
        own = {*raw_words(tool.name)[:1]} if tool is not None else set[str]()
        for pair in _PAIRS:
            for mine, other in (pair, pair[::-1]):
                if own & mine and any(one & other for one in said) and not any(one & mine for one in said):
                    yield f"{tool.name if tool else ''} does the reverse of what is commanded. What is to be done?"


def _from_where(seen: Seen) -> Iterator[str]:
    """A question for what a tool brings something to, where the request says that it comes from there."""
    for call, tool, _ in seen.acting:
        for name, value in call.inputs.items() if tool is not None else ():
            if tool is None or not isinstance(value, str) or _STARTS.intersection(raw_words(name)):
                continue
            leads = [
                _FROM.search(seen.request, max(0, one.start - 60), one.start)
                for one in whole_words(seen.request, value, ignoring_case=True)
            ]
            if leads and all(leads) and _is_goal(tool, name):
                yield f"{call.id}: {value!r} is where it comes from. What is {name!r} to be?"


def _is_goal(tool: Tool, name: str) -> bool:
    words = raw_words(tool.name)
    if "from" in words and {*words[words.index("from") + 1 :]} & {*raw_words(name)}:
        # `order_from_supplier`
        return False
    own = {*map(folded, raw_words(name)), *map(folded, raw_words(told_of(tool, name)))}
    return any(folded(found["noun"]) in own for found in _ONTO.finditer(tool.description))


def _of_a_kind(seen: Seen) -> Iterator[str]:
    """A question for what a thing of some kind has, where a call does away with a thing of that name."""
    for call, tool, _ in seen.acting:
        for value in call.inputs.values() if does_away(tool) else ():
            places = [*whole_words(seen.request, value)] if isinstance(value, str) else []
            if len(places) == 1 and _OF_A_KIND.search(seen.request, max(0, places[0].start - 60), places[0].start):
                yield f"{call.id}: {value!r} is what it has. Which one is meant?"


def _quoted(seen: Seen) -> Iterator[str]:
    """A question for each acting call all of whose values stand in one quotation that begins with its verb."""
    for found in QUOTED.finditer(seen.request):
        said = found.group().strip("\"'“”„«»` ")
        words = re.findall(r"[^\W\d_]+", said)
        for call, tool, _ in seen.acting:
            if tool is None or len(words) < 2 or not ({folded(words[0]), *commanded(words[0])} & verbs_of(tool)):
                continue
            values = [str(value) for value in call.inputs.values() if not isinstance(value, bool | list | dict)]
            if values and all(one in said and one != said for one in values):
                yield f"{call.id}: {said!r} is quoted. Is it to be done?"
