"""Words in apposition to an id that no table has: `das Segelboot MB-204` says what the id says already. Pure.

An English word that is none of the tools' says that another thing is meant, whatever the id: `the piano MB-204`.
"""

from __future__ import annotations

import re
from typing import Final

from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.concepts import STOPS, is_known
from toolpath.checks.request.tongues import tongues_of
from toolpath.checks.request.verbs import folded, is_counter, is_reading, meanings_of
from toolpath.planner.offline.request.spelling import ordinary_words
from toolpath.planner.offline.request.toolbox import Toolbox, ToolField, is_like_examples

#: So far before an id stand the words that say what it is, and so many they are at most.
_NEAR: Final = 60
_WORDS: Final = re.compile(
    r"(?:^|(?<=[^\w'\u2019-]))(?P<words>[^\W\d_][\w'\u2019-]*(?:\s+[^\W\d_][\w'\u2019-]*)?)\s+\Z"
)
#: Words of a part of a thing, or of another one.
_PARTS: Final = words_of("""
remaining rest remainder partial partially half halved quarter other others another former previous current next second
third spare extra additional only entire whole every all both neither either not without except
restliche restlichen übrige übrigen andere anderen anderer teil halbe halben zweite dritte vorige vorigen
autre autres reste restant restante moitié deuxième second seconde troisième précédent précédente ancien ancienne
otro otra otros otras resto restante mitad segundo segunda tercer tercera anterior
""")


def is_own_id(value: str, field: ToolField, box: Toolbox) -> bool:
    """Whether a value says by its form what it is the id of: it begins, or looks, as the parameter's own ids do."""
    prefix = box.prefix_of(field)
    is_long = len(prefix) > 1 or (bool(prefix) and value[len(prefix) :].lstrip("-_#").isdigit())
    begins = is_long and value.casefold().startswith(prefix.casefold())
    return field.kind == "id" and any(map(str.isdigit, value)) and (begins or is_like_examples(value, field))


def apposed(text: str, start: int) -> frozenset[str]:
    """The words right before an id at this place that say no more than what it is, folded: none that is known."""
    if "en" in tongues_of(text):
        return frozenset()
    found = _WORDS.search(text[max(0, start - _NEAR) : start])
    if found is None:
        return frozenset()
    words = [folded(word) for word in found["words"].split()]
    if not _is_kind(words[-1]):
        return frozenset()
    return frozenset(words if len(words) > 1 and _is_kind(words[0]) and _is_led(text, start, found) else words[-1:])


def _is_led(text: str, start: int, found: re.Match[str]) -> bool:
    """Whether an article or a preposition stands before both words, so that the first is no verb."""
    at = max(0, start - _NEAR) + found.start("words")
    before = re.findall(r"[^\W\d_]+", text[max(0, at - 20) : at])
    return bool(before) and folded(before[-1]) in STOPS


def _is_kind(word: str) -> bool:
    """Whether a word is one that no table has: neither a verb, nor a thing that is known, nor English."""
    is_verb = bool(meanings_of(word)) or is_reading(word) or is_counter(word)
    is_other = word in STOPS or word in _PARTS or len(word) < 3 or word in ordinary_words()
    return not (is_other or is_verb or is_known(word))
