"""Periods that a request names, in four languages: `last week`, `in June`, `le mois dernier`. Pure: today is given.

A tool that finds things between two days takes the first and the last of them; one that takes a month takes the month.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

import msgspec

from toolpath.checks.request.calendar_words import MONTH_NAMES, MONTHS
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.moments import last_of_month

#: How far a period is from the one of today, as each language says it.
_NEAR: Final[tuple[tuple[str, int], ...]] = (
    (r"this|current|diese[rnsm]?|der\s+laufenden?|laufende[rnsm]?|cette|ce|est[ea]", 0),
    (r"last|previous|past|letzte[rnsm]?|vergangene[rnsm]?|vorige[rnsm]?", -1),
    (r"next|coming|nächste[rnsm]?|kommende[rnsm]?|la\s+próxima|el\s+próximo", 1),
)
#: The same behind the period: `la semaine dernière`.
_BEHIND: Final[tuple[tuple[str, int], ...]] = (
    (r"derni(?:er|ère)|passée?|pasad[oa]|-ci", -1),
    (r"prochaine?|próxim[oa]|que\s+viene", 1),
)
_WEEK: Final = r"week|woche|semaine|semana"
_WEEKEND: Final = r"weekend|week-end|wochenende|fin\s+de\s+semana"
_MONTH: Final = r"month|monats?|mois|mes"
_YEAR: Final = r"year|jahre?s?|année|año"
_UNIT: Final = (
    rf"(?:(?P<weekend>{_WEEKEND})|(?P<week>{_WEEK})|(?P<month>{_MONTH})|(?P<year>{_YEAR}))(?![\w-]|['\u2019]s\s)"
)


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){pattern}", re.IGNORECASE)


_FORMS: Final = (
    *((_form(rf"(?:the\s+)?(?:{near})\s+{_UNIT}"), distance) for near, distance in _NEAR),
    *(
        (_form(rf"(?:la\s+|le\s+|l['\u2019]|el\s+)?{_UNIT}\s*(?:{behind})(?!\w)"), distance)
        for behind, distance in _BEHIND
    ),
)
#: A month by its name, behind a word that says that something is in it: `in June`, `of May 2025`, `en junio`.
_OF_MONTH: Final = re.compile(
    r"(?<!\w)(?:in|of|for|during|im|in\s+diesem|vom|seit|en|de|du\s+mois\s+de|pour|para|au\s+mois\s+de|del\s+mes\s+de)\s+"
    rf"(?P<said>(?P<name>{MONTH_NAMES})(?:\s+(?:de\s+|of\s+)?(?P<of>\d{{4}}))?)(?!\w)(?!\s+\d|\.\s?\d|['\u2019]|\s+[A-Z][a-z])",
    re.IGNORECASE,
)
#: It is spoken of what is over.
_OVER: Final = re.compile(
    r"\b(?:did|was|were|had|have|has|spent|sold|paid|used|made|got|came|went|hat|haben|war|waren|hatte\w*|wurde\w*|ont|avait|était|étaient"
    r"|fue|fueron|hubo|tuvo|\w{3,}(?:é|ó|aron|ieron))\b",
    re.IGNORECASE,
)


class PeriodOfDays(msgspec.Struct, frozen=True):
    """A period that a text names, with its first and its last day."""

    start: int
    end: int
    first: date
    last: date
    is_month: bool = False


def periods_in(text: str, today: date) -> Iterator[PeriodOfDays]:
    """The periods in the text, counted from today. A month of no year is this year's, or the last where it is over."""
    for form, distance in _FORMS:
        for found in form.finditer(text):
            # `ce mois-ci` is this one, whatever stands behind it in other tongues.
            is_here = found[0].endswith("-ci")
            days = _of_unit(found, 0 if is_here else distance, today)
            if days is not None:
                yield PeriodOfDays(found.start(), found.end(), *days, is_month=found["month"] is not None)
    for found in _OF_MONTH.finditer(text):
        month = MONTHS[folded(found["name"])]
        if found["name"].islower() and folded(found["name"]) in _OTHER_WORDS and not found["of"]:
            continue
        year = int(found["of"]) if found["of"] else today.year
        if not found["of"] and month > today.month and _OVER.search(text):
            year -= 1
        if year not in _YEARS:
            continue
        start, end = found.span("said")
        yield PeriodOfDays(start, end, date(year, month, 1), last_of_month(year, month), is_month=True)


#: Other numbers are no year of which anybody speaks, and the calendar ends somewhere.
_YEARS: Final = range(1900, 2201)
#: Words that are no month where they have no capital.
_OTHER_WORDS: Final = frozenset(("may", "march", "mar", "sept", "mars"))


def _of_unit(found: re.Match[str], distance: int, today: date) -> tuple[date, date] | None:
    """The first and the last day of a week, a weekend, a month or a year; None where the calendar has none."""
    if today.year + distance not in _YEARS or today.year not in _YEARS:
        return None
    monday = today - timedelta(days=today.weekday())
    if found["week"]:
        first = monday + timedelta(days=7 * distance)
        return first, first + timedelta(days=6)
    if found["weekend"]:
        first = monday + timedelta(days=5 + 7 * distance)
        return first, first + timedelta(days=1)
    if found["month"]:
        at = today.year * 12 + today.month - 1 + distance
        return date(at // 12, at % 12 + 1, 1), last_of_month(at // 12, at % 12 + 1)
    return date(today.year + distance, 1, 1), date(today.year + distance, 12, 31)
