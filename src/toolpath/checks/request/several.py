"""Several things that a request speaks of, where a call takes one, or how they are for a name: `the empty files`. Pure.

A call for one thing is made with its name. What stands before several of them, or says how one is, names none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.concepts import STOPS, listed_concepts
from toolpath.checks.request.occurrences import whole_words
from toolpath.checks.request.seen import Seen, is_offered
from toolpath.checks.request.tools import fits
from toolpath.checks.request.verbs import folded
from toolpath.model.tool import Tool

_NEXT: Final = re.compile(r"\s+(?P<word>[^\W\d_]+)")
_LAST: Final = re.compile(r"(?P<word>[^\W\d_]+)\s+\Z")
#: German adjectives after these stand before several things where they end so: `die leeren Dateien`.
_GERMAN: Final = re.compile(r"\b(?:die|alle|meine|unsere|deine|ihre)\s+\Z", re.IGNORECASE)
#: How a thing is; nothing is called so.
_STATES: Final = words_of("""
empty full old older oldest new newer newest recent latest stale fresh unused used spare large larger largest big
bigger biggest small smaller smallest long short slow slowest fast fastest broken dirty clean wrong right other same
open closed locked unlocked active inactive idle temporary obsolete outdated duplicate redundant unread overdue pending
failed expired
leere leeren alte alten neue neuen kaputte kaputten offene offenen grosse grossen kleine kleinen
vide vides vieux anciens ancien ancienne anciennes ouvert ouverte ouverts ouvertes
vacio vacia vacios vacias viejo vieja viejos viejas antiguo antigua antiguos antiguas abierto abierta abiertos abiertas
""")
_THE: Final = re.compile(
    r"\b(?:the|my|our|these|those|all|les|mes|nos|ces|los|las|mis|nuestr[oa]s)\s+(?P<what>[^\W\d_]+(?:\s+[^\W\d_]+){0,3})",
    re.IGNORECASE,
)


def several(seen: Seen) -> Iterator[str]:
    """A question for each acting call that stands for several things, and for each value that says how they are."""
    asked = [*_taken_for_names(seen)]
    yield from asked
    if not asked and not seen.has_loop:
        yield from _taken_for_one(seen)


def _taken_for_one(seen: Seen) -> Iterator[str]:
    """A question for each call of a tool for one thing, where the request commands it of several without a name."""
    counts = Counter(call.tool for call, _, _ in seen.acting)
    for call, tool, _ in seen.acting:
        if tool is None or counts[call.tool] > 1 or any(isinstance(value, list) for value in call.inputs.values()):
            continue
        things = frozenset(map(folded, raw_words(tool.name))) - STOPS
        for clause in seen.clauses:
            found = _THE.search(clause.text) if clause.mood == "command" and fits(clause.verb, tool) else None
            if found is None:
                continue
            words = [*takewhile(lambda word: folded(word) not in STOPS, found["what"].split())]
            many = next((at for at, word in enumerate(words) if _is_many(folded(word), things)), None)
            if many is not None:
                yield f"{call.id}: which are {' '.join(words[: many + 1])!r}? The plan has one call for them."


def _taken_for_names(seen: Seen) -> Iterator[str]:
    for call, tool, _ in seen.acting:
        if tool is None:
            continue
        for name, value in call.inputs.items():
            if not isinstance(value, str) or value != value.lower() or not value.replace(" ", "").isalpha():
                continue
            if is_offered(value, tool, name):
                continue
            places = [*whole_words(seen.plain, value, ignoring_case=True)]
            if len(places) != 1:
                # It is quoted, or said again.
                continue
            said = _said_of(seen.plain, places[0].start, places[0].end, value, _things(tool, name))
            if said is not None:
                yield f"{call.id}: which {said} are meant? The plan takes {value!r} for the name of one."


def _things(tool: Tool, name: str) -> frozenset[str]:
    """Words for what the tool is for, and for what the parameter is called."""
    return frozenset(map(folded, (*raw_words(tool.name), *raw_words(name)))) - STOPS


def _said_of(text: str, start: int, end: int, value: str, things: frozenset[str]) -> str | None:
    """The words that choose several things, or say how one is; None where the value may be a name."""
    words = value.split()
    before, after = _LAST.search(text, max(0, start - 60), start), _NEXT.match(text, end)
    last, following = (folded(one["word"]) if one is not None else "" for one in (before, after))
    if last and _is_one(last, things):
        # `the table old tables`: so it is called; `les fichiers vides` are several.
        return f"{last} {value}" if _is_many(last, things) else None
    if len(words) > 1 and _is_many(folded(words[-1]), things):
        return value
    if following and _is_one(following, things):
        is_german = folded(value).endswith("en") and _GERMAN.search(text, max(0, start - 20), start) is not None
        if is_german or _is_many(following, things) or all(folded(word) in _STATES for word in words):
            return f"{value} {following}"
    return None


def _is_one(word: str, things: frozenset[str]) -> bool:
    concepts = listed_concepts(word)
    return any(stem(word) == stem(one) or concepts & listed_concepts(one) for one in things)


def _is_many(word: str, things: frozenset[str]) -> bool:
    """Whether the word is several of what the tool takes one of; of a tool for several it is none."""
    return word.endswith(("s", "x")) and len(word) > 3 and word not in things and _is_one(word, things)
