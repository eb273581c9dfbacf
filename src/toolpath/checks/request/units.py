"""Units that amounts are said in, in four languages: the one table, of measures and of lengths of time. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import msgspec

from toolpath.checks.request.verbs import folded


class Unit(msgspec.Struct, frozen=True):
    """A unit: a parameter takes one of its kind, and what is said in another is another number."""

    name: str
    kind: str
    """What it measures."""


#: Of each unit its words, and how many of the smallest of its kind it is; None: it is not made into another one by
#: that. A letter alone is one behind a number, and nowhere else.
_TABLE: Final[tuple[tuple[Unit, float | None, str], ...]] = (
    (Unit("second", "time"), None, "second seconds sec secs sekunde sekunden seconde secondes segundo segundos"),
    (Unit("minute", "time"), None, "minute minutes min mins minuten minuto minutos"),
    (Unit("hour", "time"), None, "hour hours hr hrs stunde stunden std heure heures hora horas"),
    (Unit("day", "time"), None, "day days tag tage tagen jour jours día días"),
    (Unit("week", "time"), None, "week weeks woche wochen semaine semaines semana semanas"),
    (Unit("month", "time"), None, "month months monat monate monaten mois mes meses"),
    (Unit("year", "time"), None, "year years jahr jahre jahren an ans année années año años"),
    (Unit("rpm", "turning"), None, "rpm rpms"),
    (Unit("celsius", "heat"), 1.0, "celsius °c"),
    (Unit("celsius", "heat"), None, "c"),
    (Unit("fahrenheit", "heat"), None, "fahrenheit f"),
    (Unit("kelvin", "heat"), None, "kelvin k"),
    (Unit("microgram", "weight"), 0.001, "mcg µg"),
    (
        Unit("milligram", "weight"),
        1.0,
        "mg milligram milligrams milligramm milligramme milligrammes miligramo miligramos",
    ),
    (Unit("gram", "weight"), 1_000.0, "g gram grams gramm gramme grammes gramo gramos"),
    (
        Unit("kilogram", "weight"),
        1_000_000.0,
        "kg kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramo kilogramos",
    ),
    (Unit("tonne", "weight"), 1_000_000_000.0, "t tonne tonnes tonnen ton tons tonelada toneladas"),
    (Unit("pound", "weight"), None, "pound pounds lb lbs pfund"),
    (
        Unit("microlitre", "volume"),
        0.001,
        "µl ul microlitre microlitres microliter microliters mikroliter",
    ),
    (Unit("millilitre", "volume"), 1.0, "ml millilitre millilitres milliliter milliliters mililitro mililitros"),
    (Unit("centilitre", "volume"), 10.0, "cl"),
    (Unit("decilitre", "volume"), 100.0, "dl"),
    (Unit("litre", "volume"), 1_000.0, "l litre litres liter liters litern litro litros"),
    (Unit("millimetre", "way"), 1.0, "mm"),
    (Unit("centimetre", "way"), 10.0, "cm"),
    (Unit("metre", "way"), None, "meter meters metre metres"),
    (Unit("kilometre", "way"), 1_000_000.0, "km kilometre kilometres kilometer kilometers"),
    (Unit("mile", "way"), None, "mile miles meile meilen"),
    (Unit("kilometre an hour", "speed"), 1.0, "kmh km/h kph"),
    (Unit("metre a second", "speed"), 3.6, "m/s"),
    (Unit("mile an hour", "speed"), 1.609344, "mph"),
    (Unit("megabyte", "data"), 1.0, "mb megabyte megabytes"),
    (Unit("gigabyte", "data"), 1_000.0, "gb gigabyte gigabytes"),
    (Unit("terabyte", "data"), 1_000_000.0, "tb terabyte terabytes"),
    (Unit("millimetre of mercury", "pressure"), 1.0, "mmhg"),
    (Unit("beat a minute", "beats"), 1.0, "bpm"),
)
UNIT_OF: Final = {folded(word): unit for unit, _, words in _TABLE for word in words.split()}
"""Word, folded → its unit."""
MEASURES: Final = {
    folded(word): (unit.kind, scale) for unit, scale, words in _TABLE if scale is not None for word in words.split()
}
"""Words of the units that are made into one another: what they measure, and how many of its smallest one they are."""
AMBIGUOUS: Final = frozenset(("an", "c", "f", "min", "t", "l"))
"""Words that are other ones besides: `10 an Tom`, `a 5 min`."""


def words_for(name: str) -> tuple[str, ...]:
    """The words for a unit, as they are written."""
    return tuple(word for unit, _, words in _TABLE if unit.name == name for word in words.split())


def words_of_unit(word: str) -> frozenset[str]:
    """The words, folded, for the same unit as a word; none where it is no unit."""
    unit = UNIT_OF.get(word)
    return frozenset(map(folded, words_for(unit.name))) if unit is not None else frozenset()


#: Words that say a half.
_HALVES: Final = frozenset(("half", "halb", "halbe", "halbes", "halben", "halber", "demi", "demie", "medio", "media"))


def says_amount(word: str, values: Collection[str]) -> bool:
    """Whether each part of a word says a half, or a unit, that one of these values, folded, is: `demi-litre`."""
    return all(
        (part in _HALVES and "0.5" in values) or any(one in values for one in words_of_unit(part))
        for part in word.split("-")
    )
