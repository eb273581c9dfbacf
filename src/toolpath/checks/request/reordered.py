"""Reordering of commands that come after the list they are for: `All late jobs: close them`. Pure.

`Every job that is late, close it`, `For every late job, send a note` and `Go through the late jobs and close each of
them` say what `Close every job that is late` says. Whoever reads a request reads that one order. What is quoted stays
as it is, and so does a list of which something is told: `All jobs are late, close them`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.tokens import QUOTED
from toolpath.checks.request.verbs import folded

#: More of a request is not looked at.
_LONGEST: Final = 2_000
#: Where a sentence begins, or what follows from the one before.
_OPENS: Final = (
    r"(?P<lead>(?:^\s*|(?<=[.!?;]\s)\s*|(?<=\n)[^\S\n]*|(?<=\w),?\s+so\s+)"
    r"(?:(?:hey|hi|hello|ok(?:ay)?|and|so|also|now|please|bitte|und|et|y)[,!]?\s+){0,4})"
)
_ALL: Final = (
    r"(?:all(?:\s+of)?(?:\s+(?:the|my|our|these|those))?|every|each(?:\s+of\s+the)?|every(?:one|body|thing)"
    r"|alle|jede[nrms]?|alles|tou(?:s|tes)\s+les|chaque|tod[oa]s\s+l[oa]s|cada|todo\s+lo)"
)
#: Verbs with which it is told of a list, and not only said which one it is.
_TELLS: Final = (
    r"(?:(?:is|are|was|were|has|have|had|do|does|did|can|could|should|must|will|would|may|might|needs?|wants?|goe?s?"
    r"|gets?|owes?|looks?|seems?)(?:n['\u2019]t)?|ist|sind|war|waren|hat|haben|soll|sollen|muss|müssen|kann|können|werden|wird"
    r"|est|sont|ont|doivent|doit|peuvent|es|son|están|está|han|ha|deben|debe|pueden|puede)\b"
)
#: From there on it is said which of a list are meant.
_RELATIVE: Final = r"(?:(?:that|who|which|whose|qui|que|dont|cuy[oa]s?)\b|,\s+(?:die|der|das|deren|dessen)\b)"
_LIST: Final = (
    rf"(?P<list>{_ALL}\b(?:\s+(?!{_TELLS}|{_RELATIVE})[^\s,:;.!?\n]+){{0,8}}?"
    rf"(?:(?:\s+|(?=,)){_RELATIVE}[^,:;.!?\n]{{1,100}}?)?)"
)
_KINDLY: Final = r"(?:(?:please|pls|just|then|bitte|dann|por\s+favor|(?:can|could)\s+you(?:\s+please)?)\s+)?"
_EACH: Final = (
    r"(?:(?:all|each|every\s+one)\s+of\s+(?:them|those)|them(?:\s+all)?|each(?:\s+one)?|those|it"
    r"|(?:jede[nrs]?|alle)\s+davon|sie(?:\s+alle)?|diese)"
)
_END: Final = r"(?P<rest>(?:(?=[\s,])[^.!?\n]*)?)"
#: `All late jobs: close them`; in French and Spanish with the pronoun at the verb.
_BEFORE: Final = re.compile(
    rf"{_OPENS}{_LIST}(?:\s*[,:;]|\s+[-\u2013\u2014])\s+{_KINDLY}"
    rf"(?:(?P<verb>[^\W\d_]+(?:\s+(?:up|out|off|back|to|with))?)\s+{_EACH}\b|(?P<verbe>[^\W\d_]+)-les\b){_END}",
    re.IGNORECASE,
)
_CLITIC: Final = re.compile(
    rf"{_OPENS}(?P<list>(?:tod[oa]s\s+l[oa]s|todo\s+lo\s+que|cada)\b[^,:;.!?\n]{{2,120}}?)\s*[,:]?\s+"
    rf"(?P<verb>(?=\w*[áéíóú])[^\W\d_]{{3,}}?)(?:l[oa]s?|les?)\b{_END}",
    re.IGNORECASE,
)
#: `For every late job, send a note`.
_FOR_EACH: Final = re.compile(
    rf"{_OPENS}(?P<for>for|für|pour|para)\s+{_LIST}\s*,\s+{_KINDLY}(?P<said>(?P<verb>[^\W\d_]+)\s[^.!?\n:\"]+?)(?=[.!\n]|$)",
    re.IGNORECASE,
)
#: `Go through the late jobs and close each of them`, `… and get me their owners`.
_THROUGH: Final = re.compile(
    rf"{_OPENS}(?:go|run|work)\s+through\s+(?P<list>[^,:;.!?\n]{{3,120}}?),?\s+and\s+(?:then\s+)?"
    rf"(?P<verb>[^\W\d_]+)(?:(?:\s+(?:up|out|off|back|to))?\s+(?P<each>{_EACH})\b|\s+(?:me\s+)?(?P<their>their\s+\w+)){_END}",
    re.IGNORECASE,
)
#: Words that begin no command.
_NO_VERB: Final = words_of("""
i we you he she they it and or but not no none some most many few both including except like because since though
there here this that these those with without of for to in on at by is are was were has have had do does did will
ich wir du ihr er nicht kein keine und oder aber mit ohne von ist sind war waren hat haben einige manche
je nous vous il elle ils elles ne pas et ou mais avec sans de est sont yo nosotros ellos no y o pero con sin es son
""")


@lru_cache(maxsize=16)
def reordered(text: str) -> str:
    """The request with each command before the list that it is for; the very text where none comes after it."""
    if len(text) > _LONGEST:
        return text
    text = _with(text, _BEFORE, _before)
    text = _with(text, _CLITIC, _before)
    text = _with(text, _FOR_EACH, _for_each)
    return _with(text, _THROUGH, _through)


def _with(text: str, pattern: re.Pattern[str], said_as: Callable[[re.Match[str], str], str | None]) -> str:
    """The text with what the pattern finds outside of quotations in another order."""
    plain = QUOTED.sub(lambda found: '"' * len(found.group()), text)
    found = pattern.search(plain)
    said = None if found is None else said_as(found, text)
    return text if found is None or said is None else f"{text[: found.start()]}{said}{text[found.end() :]}"


def _before(found: re.Match[str], text: str) -> str | None:
    groups = found.groupdict()
    at = "verb" if groups["verb"] is not None else "verbe"
    verb = text[slice(*found.span(at))]
    if not _is_verb(verb):
        return None
    verb = verb.translate(_PLAIN) if found.re is _CLITIC else verb
    listed, rest = text[slice(*found.span("list"))], text[slice(*found.span("rest"))]
    return f"{_lead(found)}{verb} {_lowered(listed)}{_joined(listed)}{rest}"


def _for_each(found: re.Match[str], text: str) -> str | None:
    if not _is_verb(found["verb"]):
        return None
    said, listed = text[slice(*found.span("said"))], text[slice(*found.span("list"))]
    pointed = re.match(rf"\w+\s+(?P<each>{_EACH})\b(?!['\u2019])", said, re.IGNORECASE)
    if pointed is not None:
        return f"{_lead(found)}{said[: pointed.start('each')]}{listed}{said[pointed.end('each') :]}"
    return f"{_lead(found)}{said.rstrip()} {found['for'].lower()} {listed}"


def _through(found: re.Match[str], text: str) -> str | None:
    if not _is_verb(found["verb"]):
        return None
    listed = text[slice(*found.span("list"))]
    listed = listed if re.match(rf"{_ALL}\b", listed, re.IGNORECASE) else f"all {listed}"
    start = "each" if found["each"] is not None else "their"
    said = text[found.start("verb") : found.start(start)]
    owned = "" if found["their"] is None else f"the {text[slice(*found.span('their'))].rsplit(maxsplit=1)[-1]} of "
    return f"{_lead(found)}{said}{owned}{_lowered(listed)}{text[slice(*found.span('rest'))]}"


def _lead(found: re.Match[str]) -> str:
    """The words before the command; a reason before it is a sentence of its own."""
    return ". " if _SO.match(found["lead"]) else found["lead"]


_SO: Final = re.compile(r",?\s+so\s", re.IGNORECASE)
_PLAIN: Final = str.maketrans("áéíóú", "aeiou")


def _is_verb(word: str) -> bool:
    """Whether a word may begin a command: whatever verb it is, others say whether a tool bears it."""
    plain = folded(word.split(maxsplit=1)[0])
    return plain not in _NO_VERB and not plain.endswith(("ing", "ed"))


def _lowered(listed: str) -> str:
    return listed[:1].lower() + listed[1:]


def _joined(listed: str) -> str:
    """The comma behind a German clause that says which are meant."""
    return "," if re.search(r",\s+(?:die|der|das|deren|dessen)\b", listed) else ""
