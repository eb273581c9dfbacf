"""Months and days of the week, as words of four languages say them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from toolpath.checks.request.verbs import folded

_MONTH_WORDS: Final = (
    "january jan januar janvier enero",
    "february feb februar février febrero",
    "march mar märz mars marzo",
    "april apr avril abril",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet julio",
    "august aug août agosto",
    "september sep sept septembre septiembre",
    "october oct oktober octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember décembre diciembre",
)
_WEEKDAY_WORDS: Final = (
    "monday montag lundi lunes",
    "tuesday dienstag mardi martes",
    "wednesday mittwoch mercredi miércoles",
    "thursday donnerstag jeudi jueves",
    "friday freitag vendredi viernes",
    "saturday samstag sonnabend samedi sábado",
    "sunday sonntag dimanche domingo",
)


def _numbered(words: Sequence[str], first: int) -> dict[str, int]:
    return {folded(name): number for number, names in enumerate(words, first) for name in names.split()}


def _pattern(words: Sequence[str]) -> str:
    """One of the words, with its accents or without, for a regular expression that ignores case."""
    names = {form for line in words for name in line.split() for form in (name, folded(name))}
    return "|".join(sorted(names, key=lambda name: (-len(name), name)))


#: Months from 1, as words of four languages say them.
MONTHS: Final = _numbered(_MONTH_WORDS, 1)
#: Days of the week, Monday 0.
WEEKDAYS: Final = _numbered(_WEEKDAY_WORDS, 0)
#: The same as alternatives of a regular expression.
MONTH_NAMES: Final = _pattern(_MONTH_WORDS)
WEEKDAY_NAMES: Final = _pattern(_WEEKDAY_WORDS)

#: Days of a month in words: `the fifteenth of August`.
DAYS_OF_MONTHS: Final = {
    word: number
    for number, word in enumerate(
        re.findall(
            r"\S+",
            """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
            fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third
            twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth
            thirty-first""",
        ),
        1,
    )
}
