"""Places in a row that a request counts in words: `third period`, `zweiter Stock`, `le troisième cours`. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.parts import Word

_WORDS: Final = {
    folded(word): number
    for number, words in enumerate(
        (
            "first erste ersten erster erstes premier première primer primera primero",
            "second zweite zweiten zweiter zweites deuxième second seconde segundo segunda",
            "third dritte dritten dritter drittes troisième tercer tercera tercero",
            "fourth vierte vierten vierter quatrième cuarto cuarta",
            "fifth fünfte fünften fünfter cinquième quinto quinta",
            "sixth sechste sechsten sechster sixième sexto sexta",
            "seventh siebte siebten siebter septième séptimo séptima",
            "eighth achte achten achter huitième octavo octava",
            "ninth neunte neunten neunter neuvième noveno novena",
            "tenth zehnte zehnten zehnter dixième décimo décima",
            "eleventh elfte elften elfter onzième",
            "twelfth zwölfte zwölften zwölfter douzième",
        ),
        1,
    )
    for word in words.split()
}


def place_in_row(word: str) -> int | None:
    """The place in a row that a word says: 3 of `third`."""
    return _WORDS.get(folded(word))


def ordinal_before(words: Sequence[Word], is_thing: Callable[[Word], bool]) -> tuple[int, tuple[Word, Word]] | None:
    """The place in a row that stands right before such a thing, with both words; None where none does."""
    for word, thing in pairwise(words):
        number = place_in_row(word.text)
        if number is not None and thing.start - word.end == 1 and is_thing(thing):
            return number, (word, thing)
    return None
