"""Values that were cut out of a longer word of the request: `18` of `C-18`, `Phone` of `iPhone`. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from toolpath.checks.request.codes import codes_of
from toolpath.checks.request.counts import number_words
from toolpath.checks.request.held_values import texts_of
from toolpath.checks.request.occurrences import occurrences, whole_words
from toolpath.checks.request.tokens import COUNTED, DATED, EDGES
from toolpath.checks.request.units import words_of_unit
from toolpath.checks.request.verbs import folded
from toolpath.values import Json

#: A letter that is a word: neither `a` nor `I` at the beginning of another clause.
_LETTER: Final = re.compile(r"[ ]([B-HJ-Z])(?![\w'\u2019.-])")


#: So many letters the codes of languages and countries have at most, and units in short.
_CODE: Final = 2


def cut_out(text: str, values: Sequence[Json], *, shortened: bool = False) -> list[str]:
    """Values that stand in the request only as a part of something longer: `18` of `C-18`, `Phone` of `iPhone`.

    `shortened`: a word may stand for one that begins with it, as `EUR` for `euros`.
    """
    plain = folded(text)
    words = {*re.findall(r"[^\W\d_]+", plain)}
    found: list[str] = []
    for value in values:
        for said in texts_of(value):
            word = folded(said.strip())
            if not word or "{{" in word or len(word) > 200 or not (word[0].isalnum() and word[-1].isalnum()):
                continue
            if word.isdigit() and number_words(int(word)) & words:
                # `Give P-45 five stars`.
                continue
            if len(word) <= _CODE and any(word in codes_of(one) | words_of_unit(one) for one in words):
                # `vers l'anglais`, `un litre de lait`
                continue
            longer = _longer(word, plain) or _lettered(said.strip(), text, values)
            is_short = shortened and longer is not None and word.isalpha() and longer.startswith(word)
            if longer is not None and not is_short:
                found.append(f"{said.strip()!r} of {longer!r}")
    return list(dict.fromkeys(found))


def _longer(word: str, text: str) -> str | None:
    """The longer word that this one is cut out of, where it stands in the text nowhere by itself."""
    places = [place.start for place in islice(occurrences(text, word), 50)]
    first: str | None = None
    for start in places:
        end = start + len(word)
        left, right = start, end
        while left > 0 and _joins(text, left - 1):
            left -= 1
        while right < len(text) and _joins(text, right):
            right += 1
        whole = text[left:right].strip(EDGES + "-_/&")
        if whole == word or _is_same(word, whole):
            return None
        first = first or whole
    return first


def _lettered(said: str, text: str, values: Sequence[Json]) -> str | None:
    """The value with the letter after it, where the request never says it without one: `vitamin D`."""
    places = [*islice(whole_words(text, said, ignoring_case=True), 50)]
    found = [_LETTER.match(text, place.end) for place in places]
    letters = [one[1] for one in found if one is not None]
    taken = {one for value in values for one in texts_of(value)}
    return f"{said} {letters[0]}" if letters and len(letters) == len(places) and not taken & {*letters} else None


def _joins(text: str, at: int) -> bool:
    """Whether the character belongs to the token around it."""
    letter = text[at]
    if letter.isalnum() or letter == "_":
        return True
    if letter not in "-./:@\\#+&":
        return False
    return 0 < at < len(text) - 1 and text[at - 1].isalnum() and text[at + 1].isalnum()


def _is_same(word: str, whole: str) -> bool:
    """Whether the token says the word and no more than how it is counted, written or dated."""
    if word[0].isdigit():
        counted = COUNTED.fullmatch(whole)
        if whole.removeprefix(counted["number"] if counted is not None else whole) in ("k", "tsd", "mio"):
            # `52k` is no 52.
            return False
        if counted is not None and word in (counted["number"], counted["number"].replace(",", "")):
            return True
        if (DATED.fullmatch(whole) and word.isdigit()) or re.fullmatch(r"[\d.,:x*/+-]+", whole):
            return True
    counted = COUNTED.fullmatch(whole)
    if counted is not None and whole.removeprefix(counted["number"]) == word:
        # `200g`
        return True
    stripped = whole.removesuffix("s").removesuffix("'")
    if stripped == word.removesuffix("s"):
        return True
    parts = re.split(r"[-/&+:]", whole)
    # `Paris-based`, `and/or`: plain words that are joined are words all the same.
    return word.isalpha() and all(part.isalpha() for part in parts) and word in parts and len(parts) > 1
