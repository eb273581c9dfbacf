"""Numbers that a text says in words, in four languages: `twenty-five`, `dreihundert`, `quatre-vingt-dix`. Pure.

The words are read by text2num; what is said here is which of them are numbers in a request.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

import msgspec
from text_to_num import find_numbers

from toolpath.checks.request.tongues import Tongue
from toolpath.checks.request.verbs import folded

_TOKEN: Final = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ]+(?:-[A-Za-zÀ-ÖØ-öø-ÿ]+)*|\d+|[^\w\s]")
#: More digits are nothing that anybody says in words.
_MOST: Final = 10**12
#: Words of other languages too: alone they are numbers only where the language is known.
_SHARED: Final = frozenset(("once", "cent", "cents", "mil", "mille", "sept", "elf", "on", "dos"))
#: Before a scale it is another number: `half a million`.
_PART: Final = frozenset(
    ("half", "quarter", "few", "several", "halbe", "halben", "paar", "medio", "media", "demi", "quelques", "varios")
)
_ARTICLES: Final = frozenset(("a", "an", "eine", "einen", "un", "une", "una"))


class NumberWords(msgspec.Struct, frozen=True):
    """A number said in words, with its place in the text."""

    value: int
    start: int
    end: int


class _Token:
    """A word as text2num takes it."""

    __slots__ = ("_word",)

    def __init__(self, word: str) -> None:
        self._word = word

    def text(self) -> str:
        return self._word

    def nt_separated(self, _previous: object) -> bool:
        """Whether a number ends before this word; punctuation is a word of its own here."""
        return False

    def not_a_number_part(self) -> bool:
        """Whether it can be no part of a number, though it looks like one."""
        return False


def numbers_in_words(text: str, tongues: Collection[Tongue]) -> tuple[NumberWords, ...]:
    """The numbers in words, in the order of the text, no two overlapping; neither ordinals nor a lone `one`.

    `tongues`: the languages that the text may be in.
    """
    return _numbers(text, tuple(sorted(tongues)))


@lru_cache(maxsize=256)
def _numbers(text: str, tongues: tuple[Tongue, ...]) -> tuple[NumberWords, ...]:
    places = [(found.start(), found.end()) for found in _TOKEN.finditer(text)]
    words = [text[start:end] for start, end in places]
    tokens = [_Token(word if word[0].isalpha() else ",") for word in words]
    found: list[NumberWords] = []
    for tongue in tongues:
        for one in find_numbers(tokens, tongue, 0.0):
            start, end = one.start, one.end
            said = [folded(word) for word in words[start:end]]
            is_known = len(tongues) == 1 or len(said) > 1 or said[0] not in _SHARED
            value = one.value
            if one.is_ordinal or not is_known or not 0 <= value < _MOST or int(value) != value:
                continue
            if len(said) == 1 and (value == 1 or (value >= 100 and _is_scaled([folded(one) for one in words[:start]]))):
                continue
            found.append(NumberWords(int(value), places[start][0], places[end - 1][1]))
    found.sort(key=lambda one: (one.start - one.end, one.start))
    kept: list[NumberWords] = []
    for number in found:
        if all(number.end <= other.start or other.end <= number.start for other in kept):
            kept.append(number)
    return tuple(sorted(kept, key=lambda one: one.start))


def _is_scaled(before: list[str]) -> bool:
    """Whether the word before makes another number of it: `3 million`, `half a million`."""
    if before and before[-1].isdigit():
        return True
    near = [word for word in before[-2:] if word not in _ARTICLES]
    return bool(near) and near[-1] in _PART
