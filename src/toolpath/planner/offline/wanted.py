"""Wanted things: the act that a request commands and what it is done to, or what a question asks for. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.concepts import STOPS
from toolpath.checks.request.sentences import bare, clauses_of
from toolpath.checks.request.tools import fits
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import Toolbox

Determiner = Literal["", "one", "own", "the"]

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_ONE: Final = words_of("a an another ein eine einen einem einer un une una uno")
_OWN: Final = words_of(
    "my our your his her their mein meine meinen meinem meiner unser unsere unseren mon ma mes notre nos mi mis"
)
_THE: Final = words_of("the this that these those der die das den dem le la les el los las")
#: What may stand between a verb and its thing: `Comment on the weather`, `Call me a taxi`, `Buy two tickets`.
_BEFORE: Final = words_of("""
me us everyone everybody mir uns nous nos on up down off out back all some any more new old other please mal bitte
two three four five six seven eight nine ten zwei drei deux trois dos tres neue neuen neuer nouveau nouvelle nueva nuevo
""")
#: What a question asks for stands after these words.
_ASKED: Final = re.compile(
    r"\W*(?:what(?:['\u2019]s|\s+(?:is|are|was|were))\s+(?P<det>the|an?|my|our)|how\s+(?:many|much)"
    r"|was\s+(?:ist|sind)\s+(?P<der>der|die|das|eine?)|wie\s?viele?"
    r"|quel(?:le)?s?\s+(?:est|sont)\s+(?P<le>le|la|les)|combien\s+d(?:e\s|['\u2019])"
    r"|cu[aá]l(?:es)?\s+(?:es|son)\s+(?P<el>el|la|los|las)|cu[aá]nt[oa]s?)\s*(?=\S)",
    re.IGNORECASE,
)


#: After a number: what it counts.
_COUNTS: Final = re.compile(r"\s+(?!(?:of|to|on|in|by|for|from)\b)[a-z]{3,}", re.IGNORECASE)


class Wanted(msgspec.Struct, frozen=True):
    """Act and thing that a request of one clause wants."""

    verb: str
    """None of a question: empty."""
    is_command: bool
    """The verb is one of commands, or of a tool."""
    thing: tuple[str, ...]
    """The words for the thing, without what is a value by its form."""
    determiner: Determiner
    is_value: bool
    """A value stands where the thing does: an id, a name, what is quoted."""
    is_named: bool
    """A name stands right behind the thing, as in `the painting The Scream`."""


def wanted(text: str, spans: Sequence[Span], box: Toolbox) -> Wanted | None:
    """Act and thing that the request wants; None where it says several things, or says neither an act nor a thing."""
    said = bare(text)
    asked = _ASKED.match(said)
    if asked is not None:
        names = [one for one in asked.groupdict().values() if one]
        start = text.find(said) + asked.end() if said in text else -1
        return _after("", text, start, spans, _determiner(names[:1]), is_command=False) if start >= 0 else None
    found = clauses_of(said, lambda word: any(fits(word, kit.tool) for kit in box.kits))
    if len(found) != 1 or found[0].mood not in ("command", "other"):
        return None
    verb = found[0].verb or next(iter(_WORD.findall(found[0].text)), "")
    at = re.search(rf"(?<!\w){re.escape(verb)}(?!\w)", text) if verb else None
    if at is None or folded(verb) in STOPS:
        return None
    return _after(verb, text, at.end(), spans, "", is_command=found[0].mood == "command")


def _after(
    verb: str, text: str, start: int, spans: Sequence[Span], determiner: Determiner, *, is_command: bool
) -> Wanted:
    """The thing that is spoken of from here on: up to a preposition, a mark or a value."""
    words: list[str] = []
    last = start
    is_value = is_named = False
    while (found := _WORD.search(text, last)) is not None or not words:
        span = next(
            (one for one in spans if one.start < (found.end() if found else len(text)) and one.end > last), None
        )
        if span is not None and span.kind == "number" and _COUNTS.match(text, span.end) and not span.unit:
            last = span.end
            continue
        if span is not None and text[last : span.start].strip(" (") == "":
            is_value, is_named = not words, bool(words)
            break
        if found is None or text[last : found.start()].strip():
            break
        word, last = folded(found.group()), found.end()
        if word in _BEFORE and not words:
            continue
        if not words and not determiner and (kind := _determiner([word])):
            determiner = kind
            continue
        if word in STOPS:
            break
        words.append(word)
    return Wanted(verb, is_command, (*words,), determiner, is_value, is_named)


def _determiner(words: Sequence[str]) -> Determiner:
    word = folded(words[0]) if words else ""
    return "one" if word in _ONE else "own" if word in _OWN else "the" if word in _THE else ""
