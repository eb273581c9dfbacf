"""Occurrences of a text in another one, as whole words. No pattern is made of the text: that takes longer. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple


class Occurrence(NamedTuple):
    """Where a text stands in another one."""

    start: int
    end: int


def occurrences(text: str, said: str, *, ignoring_case: bool = False) -> Iterator[Occurrence]:
    """Every place of `said` in the text, also within words; none overlaps another."""
    if not said:
        return
    if ignoring_case:
        text, said = in_small_letters(text), in_small_letters(said)
    at = text.find(said)
    while at >= 0:
        yield Occurrence(at, at + len(said))
        at = text.find(said, at + len(said))


def whole_words(text: str, said: str, *, ignoring_case: bool = False) -> Iterator[Occurrence]:
    """Every place of `said` in the text where no word goes on before or after it."""
    if not said:
        return
    if ignoring_case:
        text, said = in_small_letters(text), in_small_letters(said)
    at = text.find(said)
    while at >= 0:
        end = at + len(said)
        is_whole = not (goes_on(text[at - 1 : at]) or goes_on(text[end : end + 1]))
        if is_whole:
            yield Occurrence(at, end)
        at = text.find(said, end if is_whole else at + 1)


def goes_on(letter: str) -> bool:
    """Whether a word goes on with this character; no character: it does not."""
    return letter.isalnum() or letter == "_"


@lru_cache(maxsize=1_024)
def in_small_letters(text: str) -> str:
    """The text in small letters, each at its place."""
    if text.isascii():
        return text.lower()
    return "".join(map(_small, text))


def _small(letter: str) -> str:
    # `ß` would be two, and places in the text others.
    for small in (letter.casefold(), letter.lower()):
        if len(small) == 1:
            return small
    return letter
