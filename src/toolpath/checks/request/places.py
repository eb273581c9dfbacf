"""Places of values in a request: what stands right before and after one may make another thing of it. Pure.

`out of bed 12`, `the track after Hurt`, `room B12` for the course, a grade `A-`: each value is in the request, and the
call that takes it as it stands does something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from toolpath.checks.request.occurrences import goes_on, occurrences, whole_words
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.verbs import folded
from toolpath.model.tool import Tool
from toolpath.values import Json

#: Between a word that leads to a value, and the value.
_THE: Final = r"\s+(?:(?:the|dem|der|den|le|la|el)\s+)?(?:(?!and\b|to\b)[^\W\d_]+\s+)?\Z"
#: Before a value: what is meant lies elsewhere.
_BESIDE: Final = re.compile(
    r"(?<![\w-])(?P<words>out\s+of|away\s+from|next\s+to|close\s+to|ahead\s+of|in\s+front\s+of|opposite(?:\s+of"
    r"|\s+to)?|beside|besides|past"
    r"|via|beyond|below|beneath|underneath|near|nearby|behind|adjacent\s+to|following|preceding|neben|hinter|weg\s+von|vorbei\s+an"
    r"|jenseits\s+von"
    r"|à\s+côté\s+de|derrière|hors\s+de|près\s+de|al\s+lado\s+de|detrás\s+de|fuera\s+de|cerca\s+de|lejos\s+de)" + _THE,
    re.IGNORECASE,
)
_OUT_OF: Final = re.compile(r"(?<![\w-])(?P<words>from|von|aus|depuis|desde)" + _THE, re.IGNORECASE)
_ONE_OF_ORDER: Final = re.compile(
    r"(?<![\w-])(?P<words>the\s+(?!(?:second|minute|hour|day|week|month|year)\b)[^\W\d_]{3,}\s+(?:after|before))\s+\Z",
    re.IGNORECASE,
)
_SIGN: Final = re.compile(r"[+*\u2212-]?(?!\w)")
_WORD: Final = re.compile(r"(?<![\w-])(?P<word>[^\W\d_]+)\s+[\"']?\Z")
_COUNT: Final = re.compile(r"\d\s+\Z")
_NUMBER: Final = re.compile(r"(?<![\w.,])(?P<number>\d+(?:\.\d+)?)\s+\Z")
#: So far before a value stand the words that lead to it.
_NEAR: Final = 120
_GOES: Final = re.compile(
    r"\W*(?:\w+\s+){0,2}?(?:move|transfer|shift|relocate|verlege?|verschiebe?|déplace[rz]?|transfère|mueve|traslada)\b",
    re.IGNORECASE,
)
#: Words for a place that is left, which a parameter may take.
_LEFT: Final = re.compile(r"out\s+of|away\s+from|weg\s+von|hors\s+de|fuera\s+de", re.IGNORECASE)
_ORIGINS: Final = frozenset(("from", "source", "origin", "old", "previous", "von", "start", "departure", "current"))
#: Words of parameters that take to whom something goes.
_RECEIVERS: Final = frozenset(("to", "recipient", "recipients", "cc", "bcc"))
_PLACED: Final = frozenset(("near", "after", "before", "beside", "next", "via", "past", "behind", "following"))


def misplaced(seen: Seen) -> Iterator[str]:
    """A question for each value of an acting call that the request puts elsewhere than the call does."""
    for call, tool, _ in seen.acting:
        if tool is None:
            continue
        for name, value in call.inputs.items():
            for text in _texts(value):
                if len(text) > 100:
                    continue
                yield from _beside(seen, tool, name, text)
                yield from _graded(seen, text)
                yield from _measured(seen, text)
                yield from _of_other(seen, call.inputs, tool, name, text)


def _texts(value: Json) -> Iterator[str]:
    """The value as the request may write it."""
    match value:
        case bool() | None | dict():
            return
        case str():
            if value.strip():
                yield value.strip()
        case int() | float():
            yield f"{value:g}" if abs(value) < 1e6 else str(value)
        case list():
            for item in value:
                yield from _texts(item)


def _beside(seen: Seen, tool: Tool, name: str, text: str) -> Iterator[str]:
    """A question where the request says a place beside the value, or the one to leave, and the call takes it itself."""
    words = _words_of(name)
    if seen.parameters & _PLACED or seen.held.vocabulary & {"via", "near", "nearby", "beside"}:
        return
    found = _led_by(seen, _BESIDE, text)
    if found is not None and words & _ORIGINS and _LEFT.fullmatch(found.words):
        return
    if found is None:
        found = _led_by(seen, _ONE_OF_ORDER, text)
        # `the hour before 12:30`, and `the gallery after 81`.
        is_time = (
            found is not None and text[:1].isdigit() and found.words.split()[1].lower() not in seen.held.vocabulary
        )
        found = None if is_time else found
    if found is None and not words & _ORIGINS and (words & _RECEIVERS or _GOES.match(seen.plain)):
        found = _led_by(seen, _OUT_OF, text)
    if found is not None:
        said = " ".join(found.said.split())
        yield f"{said!r}: {tool.name} takes {text!r} itself as {name!r}. Which one is meant?"


class _Led(NamedTuple):
    """A value with the words before it."""

    words: str
    said: str
    """With the value."""


def _led_by(seen: Seen, before: re.Pattern[str], text: str) -> _Led | None:
    """The first place of a value with such words before it, which are the request's own and not handed on by it."""
    for start, end in occurrences(seen.request, text, ignoring_case=True):
        if goes_on(after := seen.request[end : end + 1]) or after == "-":
            continue
        first = max(0, start - _NEAR)
        found = before.search(seen.request, first, start)
        if found is not None and seen.plain[slice(*found.span("words"))] == found["words"]:
            return _Led(found["words"], seen.request[found.start() : end])
    return None


def _graded(seen: Seen, text: str) -> Iterator[str]:
    """A question where a sign after the value makes another one of it: `A-`, `B+`."""
    if not text[-1:].isalnum() or len(text) > 12:
        return
    signs = [
        found
        for start, end in occurrences(seen.request, text)
        if not goes_on(before := seen.request[start - 1 : start]) and before != "*"
        if (found := _SIGN.match(seen.request, end)) is not None
    ]
    if signs and all(one.group() and seen.request[one.end() : one.end() + 1] in ("", " ", ",", ".") for one in signs):
        yield f"{text + signs[0].group()!r}: the plan takes {text!r}. Which one is meant?"


def _is_unit(seen: Seen, inputs: dict[str, Json], found: re.Match[str]) -> bool:
    """Whether a word says what the number before it counts, which the call takes so: `80 litres diesel`."""
    counted = _NUMBER.search(seen.request, max(0, found.start("word") - _NEAR), found.start("word"))
    value = next((one for name, one in inputs.items() if folded(name) == folded(found["word"])), None)
    return counted is not None and value is not None and f"{value}" == counted["number"]


def _of_other(seen: Seen, inputs: dict[str, Json], tool: Tool, name: str, text: str) -> Iterator[str]:
    """A question where the request names the value as another parameter of the call: `room B12` for the course."""
    if not any(mark.isalpha() for mark in text):
        return
    # `Tag p-1 with dog` calls it nothing.
    commanded = {folded(clause.verb) for clause in seen.clauses if clause.mood == "command"}
    found = [
        match
        for start, end in occurrences(seen.request, text)
        if not goes_on(after := seen.request[end : end + 1]) and after != "-"
        if (match := _WORD.search(seen.request, max(0, start - _NEAR), start)) is not None
        if folded(match["word"]) not in commanded
    ]
    said = [folded(one["word"]) for one in found if not _is_unit(seen, inputs, one)]
    others = [other for other in inputs if other != name and folded(other) in said]
    if others and len(said) == 1 and folded(name) not in said and inputs[others[0]] != inputs[name]:
        yield f"The request calls {text!r} {others[0]!r}, and {tool.name} takes it as {name!r}. Which is right?"


def _measured(seen: Seen, text: str) -> Iterator[str]:
    """A question where the value begins with what a number before it counts: `litros de etanol` of `5 litros de …`."""
    words = text.split()
    if len(words) > 2 and folded(words[1]) in ("of", "de", "von"):
        for start, end in whole_words(seen.request, text, ignoring_case=True):
            counted = _COUNT.search(seen.request, max(0, start - _NEAR), start)
            if counted is not None and seen.plain[start:end] == seen.request[start:end]:
                said = seen.request[counted.start() : end]
                yield f"The plan takes {text!r} with what {said!r} counts. What is meant?"
                return


def _words_of(name: str) -> frozenset[str]:
    return frozenset(folded(word) for word in re.findall(r"[^\W\d_]+", name))
