"""Names of options of tools in four languages: `Tollwut` is `rabies`, `Frühschicht` the shift `early`. Pure.

A list of everyday things besides the words that a request is read by: it says what a value is, and never what is done.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from toolpath.checks.request.tongues import Tongue
from toolpath.checks.request.verbs import folded

_TONGUES: Final[tuple[Tongue, ...]] = ("en", "de", "fr", "es")
_ALL: Final = frozenset(_TONGUES)
#: Endings that a word may have besides the form in the list, and what stands there in its place.
_ENDINGS: Final = (
    *((ending, "") for ending in ("en", "er", "es", "em", "e", "n", "s", "x")),
    *(("a", "o"), ("as", "o"), ("os", "o"), ("es", "e")),
)
_LETTERS: Final = 3
#: Letters of the shortest word that two German ones are joined in, and what may join them.
_JOINED: Final = 8
_LINKS: Final = ("", "s", "n", "en", "e", "er")


@cache
def _table() -> dict[Tongue, dict[str, frozenset[str]]]:
    """Tongue → word, several joined by blanks → what it is called in English."""
    found: dict[Tongue, dict[str, frozenset[str]]] = {tongue: {} for tongue in _TONGUES}
    text = files(__package__).joinpath("translations.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        columns = [[folded(word.replace("_", " ")) for word in column.split()] for column in line.split("|")]
        for tongue, words in zip(_TONGUES, columns, strict=True):
            for word in words:
                found[tongue][word] = found[tongue].get(word, frozenset()) | {*columns[0]}
    return found


@lru_cache(maxsize=4_096)
def in_english(word: str, tongues: frozenset[Tongue] = _ALL) -> frozenset[str]:
    """English names of the thing that a word names, in whichever form; none where the list has it not."""
    plain = re.sub(r"^(?:l|d)['\u2019]", "", folded(word))
    found: frozenset[str] = frozenset()
    for tongue in tongues:
        table = _table()[tongue]
        forms = [plain, *(plain[: -len(end)] + other for end, other in _ENDINGS if plain.endswith(end))]
        known = next((one for one in forms if len(one) >= _LETTERS and one in table), None)
        found |= table[known] if known is not None else frozenset()
    return found or (_of_two(plain) if "de" in tongues else frozenset())


def _of_two(word: str) -> frozenset[str]:
    """English names of the first of two words that a German one is made of, where the second is in the list, too."""
    table = _table()["de"]
    for at in range(len(word) - _LETTERS, _LETTERS - 1, -1) if len(word) >= _JOINED else ():
        heads = (word[: at - len(link)] for link in _LINKS if word[:at].endswith(link))
        head = next((one for one in heads if one in table), None)
        if head is not None and any(word[at:].removesuffix(end) in table for end in ("", "en", "n", "e", "s")):
            return table[head]
    return frozenset()


def names_of(option: str) -> frozenset[tuple[str, ...]]:
    """Names of an option in any of the languages that are several words."""
    plain = folded(re.sub(r"[_-]+", " ", option))
    return frozenset(
        tuple(name.split())
        for table in _table().values()
        for name, english in table.items()
        if " " in name and plain in english
    )


def is_meant_alone(word: str, option: str, options: Collection[str], tongues: frozenset[Tongue]) -> bool:
    """Whether a word names this option of these and no other."""
    said = in_english(word, tongues)
    return [one for one in options if folded(re.sub(r"[_-]+", " ", one)) in said] == [option] if said else False


def says_part(word: str, values: Collection[str]) -> bool:
    """Whether a word names what one of these values, folded, says, or one of the words of an option: `lavado`."""
    said = in_english(word)
    return bool(said) and any(
        value.replace("_", " ") in said or bool(said & {*re.split(r"[_\s-]+", value)})
        for value in values
        if len(value) < _LONGEST
    )


#: Longer values are no options.
_LONGEST: Final = 40
