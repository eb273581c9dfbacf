"""Options of a parameter that a request names: by their words, by what their description says, by their code. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from rapidfuzz.fuzz import ratio

from toolpath.catalog.words import raw_words
from toolpath.checks.request.codes import country_of, is_language, language_of
from toolpath.checks.request.concepts import STOPS, concepts_of, listed_concepts
from toolpath.checks.request.tongues import tongues_of
from toolpath.checks.request.translations import in_english, is_meant_alone, names_of
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.denied import is_denied
from toolpath.planner.offline.request.parts import Word
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import ToolField
from toolpath.values import Json

#: A span of time as an option writes it: `30d`, `last_7_days`.
_SPAN: Final = re.compile(r"(?:last_?)?(\d{1,4})_?(min|h|d|w|m|y)(?:ours?|ays?|eeks?|onths?|ears?)?$", re.IGNORECASE)
_UNIT: Final = {"min": "minute", "h": "hour", "d": "day", "w": "week", "m": "month", "y": "year"}
_LONG: Final = 5
_ALIKE: Final = 80


def is_named(word: Word, option: Json) -> bool:
    """Whether a word is the option, letter by letter."""
    return folded(word.text) == folded(str(option).replace("_", " "))


def is_meant(word: Word, option: Json, field: ToolField, told: str, text: str = "") -> bool:
    """Whether a word stands for the option: a word of the same meaning, or one that is told of it alone.

    `told`: what the tools say of a parameter with these options; `text`: the request, which tells the tongue.
    """
    name = str(option).replace("_", " ")
    if word.is_stop:
        return False
    if {folded(name), *concepts_of(name) - listed_concepts(name)} & word.concepts:
        return True
    options = tuple(str(one) for one in field.options)
    if _are_languages(options):
        return language_of(word.text) == str(option)
    plain = folded(word.text)
    if _is_same_tongue(word.text, name):
        return True
    told_of = _glosses(options, told).get(str(option), ())
    if any(word.concepts & concepts_of(one) or _is_cognate(plain, one, ()) for one in told_of):
        return True
    return _is_cognate(plain, folded(name), options) or is_meant_alone(
        word.text, str(option), options, tongues_of(text)
    )


def _is_same_tongue(word: str, name: str) -> bool:
    """Whether a word and an option name the same language or the same country: `français` and `french`."""
    tongue, land = language_of(word), country_of(word) if len(word) > len("USA") else None
    return (tongue is not None and tongue == language_of(name)) or (land is not None and land == country_of(name))


def phrase_of(option: Json, words: Sequence[Word], text: str) -> tuple[Word, ...]:
    """The words that say an option of several, one after the other: `not planned`, `ácido fórmico`; none if none do."""
    names = folded(re.sub(r"[_-]+", " ", str(option))).split()
    rows = {one for one in (tuple(names), *names_of(str(option))) if len(one) > 1}
    for size in sorted({len(one) for one in rows}):
        for at in range(len(words) - size + 1):
            row = words[at : at + size]
            is_row = all(not text[one.end : other.start].strip(" -") for one, other in pairwise(row))
            if is_row and tuple(folded(one.text) for one in row) in rows:
                return tuple(row)
    return _turned_phrase(names, words, text) if len(names) > 1 else ()


def _turned_phrase(names: Sequence[str], words: Sequence[Word], text: str) -> tuple[Word, ...]:
    """The words beside one another that each say one of an option's, in another order: `lavado con alcohol`."""
    tongues = tongues_of(text)
    telling = [one for one in words if not one.is_stop]
    for at in range(len(telling) - len(names) + 1):
        row = telling[at : at + len(names)]
        said = [{folded(one.text), *in_english(one.text, tongues)} for one in row]
        is_near = all(len(text[one.end : other.start].split()) <= 1 for one, other in pairwise(row))
        is_all = all(any(name in own for own in said) for name in names)
        if is_near and is_all and all(own & {*names} for own in said):
            return tuple(row)
    return ()


def option_of_time(span: Span, field: ToolField) -> Json:
    """The option that is such a span of time: `30d` of `the last 30 days`; None where none is."""
    if span.kind != "duration":
        return None
    for option in field.options:
        found = _SPAN.fullmatch(str(option))
        if found is not None and int(found[1]) == span.value and _UNIT.get(found[2].lower()) == span.unit:
            return option
    return None


@lru_cache(maxsize=512)
def _are_languages(options: tuple[str, ...]) -> bool:
    return len(options) > 1 and all(is_language(one) for one in options)


@lru_cache(maxsize=512)
def _glosses(options: tuple[str, ...], description: str) -> Mapping[str, tuple[str, ...]]:
    """Words by which a description tells each option from the others: `notice: the tenant is moving out`."""
    if not description:
        return {}
    places = []
    for option in options:
        found = re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", description)
        if found is not None:
            places.append((found.start(), found.end(), option))
    places.sort()
    told: dict[str, set[str]] = {}
    for at, (_, end, option) in enumerate(places):
        until = places[at + 1][0] if at + 1 < len(places) else len(description)
        gloss = re.split(r"[;.,)]", description[end:until])[0]
        told[option] = {folded(word) for word in raw_words(gloss)} - STOPS - _DEGREES
    alone: dict[str, tuple[str, ...]] = {}
    for option, gloss in told.items():
        others = frozenset[str]().union(*(other for name, other in told.items() if name != option))
        alone[option] = tuple(sorted(gloss - others))
    return alone


#: Of options in a row: `sev1 is the worst`.
_DEGREES: Final = frozenset(("worst", "best", "highest", "lowest", "most", "default", "only"))


def _is_cognate(word: str, name: str, options: Sequence[str]) -> bool:
    """Whether a word is the option's as another language writes it, and of no other option: `explícito`."""
    if min(len(word), len(name)) < _LONG or word[0] != name[0] or ratio(word, name) < _ALIKE:
        return False
    others = [folded(one) for one in options if folded(one) != name]
    return all(ratio(word, other) < _ALIKE for other in others)


_NOT: Final = re.compile(r"^(?:un|in|non|nicht)-?(?=\w{4})")


def is_flagged(word: Word, telling: str) -> bool | None:
    """Whether a word says of a flag that it holds, or that it does not: `unexcused`; None: nothing of it."""
    plain = folded(word.text)
    if plain == telling or telling in listed_concepts(word.text) or _is_cognate(plain, telling, ()):
        return True
    bare = _NOT.sub("", plain)
    if bare != plain and (bare == telling or telling in listed_concepts(bare) or _is_cognate(bare, telling, ())):
        return False
    return None


def holds_in(word: Word, telling: str, text: str) -> bool | None:
    """The same in a text that may deny the word: `who has not paid` of `unpaid_only`."""
    positive = _NOT.sub("", telling)
    is_positive = positive != telling and (folded(word.text) == positive or positive in listed_concepts(word.text))
    return False if is_positive and is_denied(word, text) else is_flagged(word, telling)


def positives_of(telling: Iterable[str]) -> frozenset[str]:
    """The words of the name of a flag, and what those that deny something deny: `paid` of `unpaid`."""
    return frozenset(form for word in telling for form in (word, _NOT.sub("", word)))
