"""Days of a week as people say them: `last Friday`, `Friday next week`, `a week on Monday`. Pure."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Final

from toolpath.checks.request.calendar_words import WEEKDAY_NAMES, WEEKDAYS
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.span import Span

_DAY: Final = rf"(?P<day>{WEEKDAY_NAMES})"
_NEXT_WEEK: Final = (
    r"(?:of\s+)?next\s+week|nächste[rn]?\s+Woche|la\s+semaine\s+prochaine"
    r"|(?:de\s+)?la\s+(?:próxima\s+semana|semana\s+que\s+viene)"
)
_THIS_WEEK: Final = r"(?:of\s+)?this\s+week|diese[rn]?\s+Woche|(?:de\s+)?cette\s+semaine|(?:de\s+)?esta\s+semana"
_LAST_WEEK: Final = r"(?:of\s+)?last\s+week|letzte[rn]?\s+Woche|la\s+semaine\s+dernière|(?:de\s+)?la\s+semana\s+pasada"


def _said(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'-]){pattern}(?![\w'-])", re.IGNORECASE)


#: How a day of a week is said, and how many weeks its week is from today's.
_OF_WEEKS: Final = tuple(
    (_said(form), weeks)
    for week, weeks in ((_NEXT_WEEK, 1), (_THIS_WEEK, 0), (_LAST_WEEK, -1))
    for form in (rf"{_DAY},?\s+(?:{week})", rf"(?:{week}),?\s+(?:on\s+|am\s+|le\s+|el\s+)?{_DAY}")
)
_WEEK_LATER: Final = (
    _said(rf"{_DAY}\s+week(?!\s*(?:after|before|day|end|ly))"),
    _said(rf"(?:a|one)\s+week\s+(?:on|from)\s+{_DAY}"),
    _said(rf"{_DAY}\s+in\s+(?:a|one)\s+week"),
    _said(rf"{_DAY}\s+in\s+einer\s+Woche"),
)
_PAST: Final = (
    # `was away on Monday`
    _said(
        r"(?<=\w )(?:was|were|war|waren|était|étaient|estuvo|estaba|fue)\s+(?:[^\W\d_]+\s+){0,2}"
        rf"(?:on\s+|am\s+|le\s+|el\s+)?{_DAY}"
    ),
    # `the last Friday` is one of a month.
    _said(rf"(?:(?<!the )last|since(?:\s+last)?|letzten|vergangenen|seit(?:\s+letztem)?|depuis|desde\s+el)\s+{_DAY}"),
    _said(rf"{_DAY}\s+(?:dernier|passé|pasado)"),
)
#: What stays outside of a day that it leads to.
_LEADING: Final = ("since", "seit", "depuis", "desde", "was", "were", "war", "étai", "est", "fue")
_COMING: Final = _said(rf"(?:this|diesen|ce|este)\s+{_DAY}")
_NEXT: Final = _said(rf"(?:next|nächsten)\s+{_DAY}(?!\s+week)")


def days_of_weeks(text: str, today: date) -> Iterator[tuple[int, int, date]]:
    """The days of weeks that are told from today: where each is said, and which it is."""
    monday = today - timedelta(days=today.weekday())
    for pattern, weeks in _OF_WEEKS:
        for found in pattern.finditer(text):
            yield *found.span(), monday + timedelta(days=7 * weeks + _weekday(found))
    for pattern in _WEEK_LATER:
        for found in pattern.finditer(text):
            yield *found.span(), today + timedelta(days=7 + _ahead(found, today))
    for pattern in _PAST:
        for found in pattern.finditer(text):
            # `since` stays outside: it says which parameter the day is for.
            is_led = found[0].casefold().startswith(_LEADING)
            start = found.start("day") if is_led else found.start()
            yield start, found.end(), today - timedelta(days=(today.weekday() - _weekday(found)) % 7 or 7)
    for found in _COMING.finditer(text):
        if _weekday(found) > today.weekday():
            yield *found.span(), monday + timedelta(days=_weekday(found))


#: A day without its year that was so many days ago is as likely to be meant as that of next year.
_JUST_PAST: Final = 90
_YEAR: Final = re.compile(r"\d{4}")


def days_that_may_be_two(text: str, spans: Sequence[Span], today: date | None) -> Iterator[str]:
    """A question for each day of which people mean different ones.

    `next Friday`, while this week's is to come; `2 May`, which was last week and comes again in a year.
    """
    if today is None:
        return
    for span in spans:
        if span.kind == "day" and _A_DAY.fullmatch(span.text.strip()) and (before := _ANY.search(text[: span.start])):
            yield f"{f'{before.group()}{span.text}'!r}: which one is meant?"
        if span.kind == "day" and (behind := _FROM_IT.match(text, span.end)):
            yield f"{f'{span.text}{behind.group()}'!r}: which day is meant?"
        if span.kind == "day" and isinstance(span.value, str) and _YEAR.search(span.text) is None:
            with contextlib.suppress(ValueError):
                meant = date.fromisoformat(span.value)
                past = meant.replace(year=meant.year - 1)
                if 0 < (today - past).days <= _JUST_PAST:
                    yield f"{span.text!r}: is it {past.isoformat()}, or {meant.isoformat()}?"
    for found in _NEXT.finditer(text):
        if _weekday(found) > today.weekday():
            near = today + timedelta(days=_weekday(found) - today.weekday())
            yield f"{found[0]!r}: is it {near.isoformat()}, or {(near + timedelta(days=7)).isoformat()}?"


_A_DAY: Final = re.compile(rf"(?:{WEEKDAY_NAMES})s?", re.IGNORECASE)
#: Before a day of the week: any of them. `un` may be the number in `un lundi`, and is the same.
_ANY: Final = re.compile(
    r"\b(?:an?|any|some|one|another|either|irgendein\w*|ein(?:e[nms])?|une?|quelque|algún|uno?)\s+$", re.IGNORECASE
)


#: Behind a day of the week: another one, counted from what nobody says.
_FROM_IT: Final = re.compile(
    r"\s+(?:after|before|danach|darauf|davor|d['\u2019]après|suivant|précédent|siguiente|anterior)(?=\W*$|\s*[.,;!?])",
    re.IGNORECASE,
)


def _weekday(found: re.Match[str]) -> int:
    return WEEKDAYS[folded(found["day"])]


def _ahead(found: re.Match[str], today: date) -> int:
    return (_weekday(found) - today.weekday()) % 7 or 7
