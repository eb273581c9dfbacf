"""What tools tell of themselves: the words of their names, descriptions, parameters and outputs. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.concepts import STOPS, is_known, listed_concepts
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.match import is_like
from toolpath.planner.offline.request.spelling import ordinary_words
from toolpath.planner.offline.request.toolbox import Kit

WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")

#: Parameters that take any words: what to look for.
SOUGHT: Final = frozenset(("query", "text", "q", "term", "terms", "keyword", "keywords", "search", "question", "topic"))


class ToolWords(msgspec.Struct, frozen=True):
    """What all tools of a request tell of themselves."""

    stems: frozenset[str]
    concepts: frozenset[str]

    def tells(self, word: str) -> bool:
        """Whether some tool speaks of it, in this word or another one for the same."""
        return (
            stem(word) in self.stems
            or bool(listed_concepts(word) & self.concepts)
            or any(is_like(stem(word), one) for one in self.stems if one[:4] == word[:4])
        )


def told_of(kits: Sequence[Kit]) -> ToolWords:
    """Words and concepts of all these tools together."""
    return _of(frozenset[str]().union(*map(words_told, kits)))


def told_of_acts(kits: Sequence[Kit]) -> ToolWords:
    """The same without outputs: that something was calibrated once says of no tool that it calibrates."""
    return _of(frozenset[str]().union(*map(_words_told_of_act, kits)))


def _of(words: frozenset[str]) -> ToolWords:
    return ToolWords(
        frozenset(map(stem, words)),
        frozenset[str]().union(*(listed_concepts(word) for word in words)) - {"show", "list"},
    )


def words_told(kit: Kit) -> frozenset[str]:
    """The words of a tool's name, description, parameters and outputs; kept with it, since tools are frozen."""
    known = kit.tool.__dict__.get("_told_words")
    if isinstance(known, frozenset):
        return known
    texts: list[str] = []
    for field in (*kit.outputs, *(one for listed in kit.lists for one in listed.fields)):
        texts += [field.name, field.description, *map(str, field.options)]
    texts += [".".join(listed.path) for listed in kit.lists]
    words = _words_told_of_act(kit) | _words_in(texts)
    kit.tool.__dict__["_told_words"] = words
    return words


def _words_told_of_act(kit: Kit) -> frozenset[str]:
    known = kit.tool.__dict__.get("_told_of_act")
    if isinstance(known, frozenset):
        return known
    texts = [kit.key, kit.tool.name, kit.tool.title or "", kit.tool.description[:2_000]]
    for field in kit.fields:
        texts += [field.name, field.description, *map(str, field.options)]
    words = kit.tool.__dict__["_told_of_act"] = _words_in(texts)
    return words


def _words_in(texts: Sequence[str]) -> frozenset[str]:
    return frozenset(folded(word) for text in texts for word in (*raw_words(text), *WORD.findall(text))) - STOPS


def is_ordinary(word: str) -> bool:
    """Whether it is a word of the language that everybody knows: no jargon, no short form, no name."""
    return is_known(word) or word in ordinary_words()


def is_plain_word(word: str, *, is_english: bool) -> bool:
    """Whether it is a word that everybody knows; of other tongues than English the tables have things alone."""
    return is_ordinary(word) if is_english else any(not one.startswith("to-") for one in listed_concepts(word))
