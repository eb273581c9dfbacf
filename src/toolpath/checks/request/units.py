"""Units that amounts are said in, in four languages, and which words are the same one. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

#: Units, of which a parameter takes one: what is said in another is another number.
_UNITS: Final = (
    ("second seconds sec secs sekunde sekunden seconde secondes segundo segundos", "time"),
    ("minute minutes min mins minuten minuto minutos", "time"),
    ("hour hours hr hrs stunde stunden heure heures hora horas", "time"),
    ("day days tag tage tagen jour jours dia dias", "time"),
    ("week weeks woche wochen semaine semaines semana semanas", "time"),
    ("month months monat monate monaten mois mes meses", "time"),
    ("year years jahr jahre jahren an ans ano anos", "time"),
    ("rpm rpms", "turning"),
    ("celsius c", "heat"),
    ("fahrenheit f", "heat"),
    ("kelvin k", "heat"),
    ("kilogram kilograms kg kilo kilos kilogramm kilogramme kilogrammes kilogramo kilogramos", "weight"),
    ("gram grams g gramm gramme grammes gramo gramos", "weight"),
    ("milligram milligrams mg milligramm milligramme milligrammes miligramo miligramos", "weight"),
    ("pound pounds lb lbs pfund", "weight"),
    ("ton tons tonne tonnes tonnen tonelada toneladas t", "weight"),
    ("litre litres liter liters litern litro litros l", "volume"),
    ("millilitre millilitres milliliter milliliters mililitro mililitros ml", "volume"),
    ("kilometer kilometers kilometre kilometres km", "way"),
    ("mile miles meile meilen", "way"),
    ("meter meters metre metres", "way"),
)
UNIT_OF: Final = {word: (number, kind) for number, (words, kind) in enumerate(_UNITS) for word in words.split()}
"""Word, folded → its unit, and what that measures."""
AMBIGUOUS: Final = frozenset(("an", "c", "f", "min", "t", "l"))
"""Words that are other ones besides: `10 an Tom`, `a 5 min`."""


def words_of_unit(word: str) -> frozenset[str]:
    """The words, folded, for the same unit as a word; none where it is no unit."""
    unit = UNIT_OF.get(word)
    return frozenset(_UNITS[unit[0]][0].split()) if unit is not None else frozenset()


#: Words that say a half.
_HALVES: Final = frozenset(("half", "halb", "halbe", "halbes", "halben", "halber", "demi", "demie", "medio", "media"))


def says_amount(word: str, values: Collection[str]) -> bool:
    """Whether each part of a word says a half, or a unit, that one of these values, folded, is: `demi-litre`."""
    return all(
        (part in _HALVES and "0.5" in values) or any(one in values for one in words_of_unit(part))
        for part in word.split("-")
    )
