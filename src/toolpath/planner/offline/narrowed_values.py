"""Values that a list is narrowed to: each as the request means it, or it is asked about. Pure.

`Cancel the trips near pier 3` is none of the list of pier 3, and a plain word that fills a parameter, with nothing said
for what it stands, is a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.concepts import STOPS, concepts_of, listed_concepts
from toolpath.checks.request.verbs import folded
from toolpath.model.plan import Call
from toolpath.planner.offline.request.cues import CUES
from toolpath.planner.offline.request.named import takes_a_name
from toolpath.planner.offline.request.picks import PICKED
from toolpath.planner.offline.request.toolbox import Kit, ToolField
from toolpath.values import Json

WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
#: What begins a reason.
_WHY: Final = re.compile(
    r"(?:\b(?:because|since|due\s+to|weil|wegen|car|parce\s+que|à\s+cause\s+de|porque|por)|[:,(\u2013-])\s*"
    r"(?:of\s+)?(?:the\s+|der\s+|die\s+|las?\s+|les?\s+|el\s+)?$",
    re.IGNORECASE,
)
_SOUGHT: Final = frozenset(("query", "text", "q", "term", "terms", "keyword", "keywords", "search", "words"))
#: Words that stand before what is looked for: `every tape`, `the cheapest olive oil`.
_BEFORE: Final = re.compile(
    r"\b(?:each|every|all(?:\s+(?:of\s+)?(?:the|my|our))?|alle|jede\w?|chaque|tou(?:s|tes)\s+les|cada|tod[oa]s\s+l[oa]s)\s+$"
    r"|\b(?:for|about|für|zu|pour|sur|para|sobre)\s+(?:the\s+|das\s+|les?\s+)?$",
    re.IGNORECASE,
)
_ARTICLES: Final = frozenset(
    ("the", "my", "our", "der", "die", "das", "den", "dem", "la", "le", "les", "el", "los", "las")
)
#: Words behind which stands what narrows a list.
_OF: Final = frozenset(
    re.findall(r"\S+", "from von aus desde de du of der des del by par por in bei en dans im at chez under below")
)
#: Words before a place, which is nobody's name.
_PLACED: Final = re.compile(r"\b(?:from|in|at|aus|im|in|desde|en|dans)\s+(?:the\s+)?$", re.IGNORECASE)
#: Words before a value which say that it is not just this one that is meant, and words of parameters that say so.
_COMPARES: Final = re.compile(
    r"\b(?:near|around|before|after|beyond|past|above|below|over|under|up\s+to|until|outside|close\s+to|next\s+to|behind"
    r"|vor|hinter|über|unter|neben|ab|bis|avant|après|derrière|près\s+d[eu]|jusqu['\u2019]\w*"
    r"|antes\s+de|después\s+de|detrás\s+de|cerca\s+de|hasta)\s+(?:the\s+|l[ae]s?\s+|el\s+)?(?:[^\W\d_]+\s+)?$",
    re.IGNORECASE,
)
_ONWARD: Final = re.compile(
    r"\s+(?:on(?:wards?)?|(?:and|or)\s+(?:above|below|up|over|under|more|less|older|later|higher|lower)|oder\s+mehr|ou\s+plus"
    r"|o\s+más)(?=\s*(?:$|[.,!]))",
    re.IGNORECASE,
)
_COMPARING: Final = frozenset(
    re.findall(
        r"\S+",
        "min max minimum maximum before after since until near radius than least most over under above below within",
    )
)
#: Words before where something goes.
_TO: Final = re.compile(
    r"\b(?:to|into|onto|auf|nach|zum?|zur|in\s+(?:den|die|das)|à|au|vers|a|al|hacia)\s+(?:the\s+|l[ae]s?\s+|[^\W\d_]+\s+)?$",
    re.IGNORECASE,
)
#: Words before what things have, or are about.
_WITH: Final = re.compile(r"\b(?:with|containing|about|mit|über|avec|sur|con|sobre)\s+$", re.IGNORECASE)
#: Letters that the words beside a value have.
_NEAR: Final = 40


class GoneOver(msgspec.Struct, frozen=True):
    """A list that writes go over: the call that gives it, and the writes that are made for what is in it."""

    read: Call
    lister: Kit
    writes: tuple[Call, ...]


def doubts_of_values(one: GoneOver, text: str, plain: str, unquoted: str, kits: dict[str, Kit]) -> Iterator[str]:
    """A question for each value that is not just what is said, and for each that nothing says the meaning of."""
    yield from _inexact(one, text, plain)
    for field, value in _guessed(one, plain, unquoted, kits):
        yield f"Is {value!r} meant as {field.name!r}?"


def _inexact(one: GoneOver, text: str, plain: str) -> Iterator[str]:
    """Questions where a list is not narrowed just so: `near pier 3`, `damaged and stored`, one of several for `it`."""
    words = {stem(folded(found)) for found in WORD.findall(plain)}
    taken = {str(value) for call in one.writes for value in call.inputs.values()}
    for field in one.lister.fields:
        value = one.read.inputs.get(field.name)
        if value is None or field.kind in ("day", "moment", "time", "bool"):
            continue
        others = [str(option) for option in field.options if option != value and str(option) not in taken]
        other = next((option for option in others if stem(folded(option)) in words), None)
        if other is not None and not field.is_list:
            yield f"Is {other!r} meant, too, besides {value!r}?"
        at = _place(str(value), text)
        told = {*raw_words(field.name), *raw_words(field.description)}
        found = _COMPARES.search(text[:at]) or _ONWARD.match(text, at + len(str(value)))
        if at >= 0 and not told & _COMPARING and found is not None:
            yield f"Is {field.name!r} to be {value!r}, or what is meant by {found[0].strip()!r}?"
    first = any("[0]" in str(value) for call in one.writes for value in call.inputs.values())
    names = {folded(of.path[-1]) for of in one.lister.lists if of.path}
    said = {folded(word) for word in WORD.findall(plain)}
    if first and PICKED.search(plain) is None and any(name in said and name.endswith("s") for name in names):
        yield f"Which one of {one.lister.key} is meant?"


def _is_of_contents(field: ToolField, one: GoneOver) -> bool:
    """Whether a list can be narrowed by this text and by no other one, which names nobody, and one item is taken."""
    texts = [of for of in one.lister.fields if of.kind in ("text", "place", "person", "company")]
    taken = [str(value) for call in one.writes for value in call.inputs.values()]
    return texts == [field] and field.kind == "text" and not takes_a_name(field) and any("[0]" in of for of in taken)


def _guessed(one: GoneOver, plain: str, text: str, kits: dict[str, Kit]) -> Iterator[tuple[ToolField, Json]]:
    """Plain words that a list is narrowed to, or that a write takes though it need not, and nothing says for what."""
    for field in one.lister.fields:
        value = one.read.inputs.get(field.name)
        if field.name == "name" and (place := _place(value, text)) >= 0 and _PLACED.search(text[:place]) is not None:
            yield field, value
        if _is_said_once(field, value, one.writes, text) or _is_goal(field, value, one.writes, text):
            yield field, value
        at = _place(value, plain) if field.kind in ("text", "place", "person", "company") else -1
        if (
            at < 0
            or str(value)[:1].isupper()
            or str(value) in field.examples
            or _is_named(field, plain[:at], plain[at + len(str(value)) :])
        ):
            continue
        if _points(plain[:at], field) or (field.name in _SOUGHT and _is_looked_for(plain[:at])):
            continue
        if _WITH.search(plain[:at]) is not None and _is_of_contents(field, one):
            # `recipes with leeks`, of which the first one is taken
            continue
        yield field, value
    for call in one.writes:
        for field in kits[call.tool].fields:
            value = call.inputs.get(field.name)
            if field.required or field.kind not in ("text", "place") or not isinstance(value, str) or "{{" in value:
                continue
            at = _place(value, text)
            if at >= 0 and not _is_named(field, text[:at], "") and _WHY.search(text[:at]) is None:
                yield field, value


def _is_said_once(field: ToolField, value: Json, writes: Sequence[Call], text: str) -> bool:
    """Whether a list is narrowed to what a write takes as something else, and the text says it only once."""
    if not isinstance(value, str | int) or isinstance(value, bool) or field.options:
        return False
    others = [name for call in writes for name, taken in call.inputs.items() if taken == value or _has(taken, value)]
    return bool(others) and field.name not in others and text.count(str(value)) < 2


def _has(taken: Json, value: Json) -> bool:
    """Whether a text that a write takes has the value in it."""
    return isinstance(taken, str) and isinstance(value, str) and "{{" not in taken and bool(value) and value in taken


def _is_goal(field: ToolField, value: Json, writes: Sequence[Call], text: str) -> bool:
    """Whether a list is narrowed to where its things are to go: `move all that lie at pier 3 to pier 12`."""
    if not any(field.name in call.inputs and call.inputs[field.name] != value for call in writes):
        return False
    found = re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", text)
    return found is not None and _TO.search(text[: found.start()]) is not None


def _place(value: Json, plain: str) -> int:
    """Where a text says a value in plain words; -1: nowhere."""
    if not isinstance(value, str) or not value:
        return -1
    found = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", plain)
    return found.start() if found is not None else -1


def _is_named(field: ToolField, before: str, behind: str) -> bool:
    """Whether a word beside a value names its parameter: `with the tag draft`, `the batch namespace`."""
    words = [word for word in WORD.findall(before[-_NEAR:])[-3:] if folded(word) not in STOPS]
    own = listed_concepts(field.name) | field.concepts
    return any(concepts_of(word) & own for word in (*words[-1:], *WORD.findall(behind[:_NEAR])[:1]))


def _is_looked_for(before: str) -> bool:
    """Whether what follows is what a list is of: `every tape`, `the cheapest olive oil`, `macros for refunds`."""
    end = len(before.rstrip())
    return _BEFORE.search(before) is not None or any(found.end() == end for found in PICKED.finditer(before))


def _points(before: str, field: ToolField) -> bool:
    """Whether a word before a value points to its parameter: `in the hall` to a room, `from github` to a sender."""
    words = [word for word in map(folded, WORD.findall(before[-_NEAR:])) if word not in _ARTICLES]
    last = words[-1] if words else ""
    return last in _OF and bool(CUES.get(last, frozenset()) & {field.name, *raw_words(field.name)})
