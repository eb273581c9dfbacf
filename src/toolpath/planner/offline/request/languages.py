"""Languages that a clause names, as a tool takes them that wants their codes: `from German into Polish`. Pure."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words
from toolpath.checks.request.codes import language_of
from toolpath.planner.offline.request.parts import ClausePart
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import Kit, ToolField

_SOURCES: Final = frozenset(("source", "from", "original", "origin", "src", "input"))
_TARGETS: Final = frozenset(("target", "to", "into", "destination", "dest", "tgt", "output"))
#: Before a language that something is in, and is translated out of.
_OUT_OF: Final = re.compile(
    r"\b(?:from|out\s+of|aus|vom|von|de|du|del|desde|depuis)\s+(?:the\s+|dem\s+|el\s+|le\s+)?(?:l['\u2019])?$|\bde\s+l['\u2019]$",
    re.IGNORECASE,
)
#: Before one that it is to be in.
_INTO: Final = re.compile(
    r"(?:\b(?:to|into|ins?|nach|auf|en|vers|al?|au|hacia)|à|->|\u2192)\s*(?:\b(?:the|das|dem|le|el)\s+)?(?:l['\u2019])?$",
    re.IGNORECASE,
)
#: So far before a language stands what says where from or where to.
_BEHIND: Final = 24
#: `de l'anglais`, whose article is of one piece with the word.
_ELIDED: Final = re.compile(r"^(?:l|d)['\u2019]", re.IGNORECASE)
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_WORDS: Final = ("name", "code")


def with_languages(kit: Kit, part: ClausePart, text: str) -> ClausePart:
    """The clause with the languages that it names as values, for a tool that takes codes of them."""
    if all(field.kind != "language" for field in kit.fields):
        return part
    found = [*_of_words(part), *(said for span in part.spans if span.kind in _WORDS for said in _of_name(span))]
    if not found:
        return part
    places = [(one.start, one.end) for one in found]
    spans = [one for one in part.spans if not any(one.start <= start < one.end for start, _ in places)]
    words = tuple(one for one in part.words if (one.start, one.end) not in places)
    spans = sorted((*spans, *found), key=lambda one: one.start)
    return msgspec.structs.replace(part, spans=tuple(_directed(spans, text)), words=words)


def affinity_of_language(span: Span, field: ToolField) -> float:
    """How likely a language is for a parameter of languages: none for that of the other way."""
    words = {*raw_words(field.name)}
    own = "from" if words & _SOURCES else "to" if words & _TARGETS else ""
    return 0.0 if own and span.unit and own != span.unit else 3.0 if own and span.unit else 2.4


def _of_words(part: ClausePart) -> list[Span]:
    return [
        Span("language", word.text, code, word.start, word.end)
        for word in part.words
        if word.text != part.verb and (code := language_of(_ELIDED.sub("", word.text))) is not None
    ]


def _of_name(span: Span) -> list[Span]:
    """The languages of what looks like a name: `German`, `English-French`; none where it says more than them."""
    words = [(found[0], found.start() + span.start) for found in _LETTERS.finditer(span.text)]
    codes = [language_of(word) for word, _ in words]
    return [
        Span("language", word, code, at, at + len(word))
        for (word, at), code in zip(words, codes, strict=True)
        if None not in codes
    ]


def _directed(spans: list[Span], text: str) -> list[Span]:
    """The values, the languages among them with where from or where to they are said: `from`, `to`, or neither."""
    directed: list[Span] = []
    for one in spans:
        before = text[max(0, one.start - _BEHIND) : one.start]
        way = "from" if _OUT_OF.search(before) else "to" if _INTO.search(before) else ""
        directed.append(msgspec.structs.replace(one, unit=way) if one.kind == "language" else one)
    return directed
