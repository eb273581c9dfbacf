"""Words of four languages that say when: months, days of the week, periods, days from now on. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from toolpath.checks.request.counts import COUNTS
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
#: Words that say when, and have to be somewhere in the plan.
WHEN: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """today tonight tomorrow yesterday noon midnight weekend later soon daily weekly monthly yearly hourly
        twice thrice nightly annually immediately-after heute morgen übermorgen mittag mitternacht täglich
        wöchentlich monatlich stündlich zweimal aujourd'hui demain midi minuit quotidiennement hebdomadaire
        mensuel hoy mañana mediodía medianoche diariamente semanalmente mensualmente""",
    )
)
#: Periods, and parts of a day.
PERIODS: Final = frozenset(
    re.findall(
        r"\S+",
        """week month year weekend quarter hour day morning evening afternoon woche monat jahr semaine mois
        semana mes""",
    )
)
#: Words before a period that say which one: `next week`.
COMING: Final = frozenset(
    re.findall(
        r"\S+",
        """next this coming following last nachste nachsten nachstes diese dieses prochaine prochain cette ce
        proxima proximo esta este""",
    )
)
_OF_TIME: Final = frozenset((*WEEKDAYS, *MONTHS, *COUNTS, *WHEN))


def says_when(word: str) -> bool:
    """Whether the word is a day, a month, a count or a time, which `uncovered` looks for by itself."""
    return folded(word) in _OF_TIME


_FEW: Final = (
    r"\d{1,3}|an?|einem|einer|une?|una|two|three|four|five|six|seven|eight|nine|ten|zwei|drei|vier|fünf|sechs|sieben"
    r"|acht"
    r"|neun|zehn|deux|trois|quatre|cinq|sept|huit|neuf|dix|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez"
)
_DAYS: Final = r"days?|weeks?|tag(?:en)?|wochen?|jours?|semaines?|d[ií]as?|semanas?"
IN_DAYS: Final = re.compile(
    rf"(?<![\w-])(?:(?:in|dans|dentro\s+de)\s+(?P<ahead>{_FEW})\s+(?P<unit>{_DAYS})"
    rf"|(?P<ago>{_FEW})\s+(?P<agounit>{_DAYS})\s+ago|(?:vor|il\s+y\s+a"
    rf"|hace)\s+(?P<back>{_FEW})\s+(?P<backunit>{_DAYS}))(?![\w-])",
    re.IGNORECASE,
)
"""Days that are counted from the one on which it is said: `in 3 days`, `vor zwei Wochen`."""
