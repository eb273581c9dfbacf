"""Days and times that a request names, in four languages. Pure: today is given, or nothing relative is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

import msgspec

from toolpath.checks.request.said import COUNTS, IN_DAYS, MONTHS, WEEKDAYS
from toolpath.checks.request.verbs import folded

#: With what is short for them: as a date's month it is clear, as a word by itself it is not.
_MONTHS: Final = {
    **MONTHS,
    "janner": 1,
    "ene": 1,
    "fev": 2,
    "mrz": 3,
    "abr": 4,
    "ago": 8,
    "okt": 10,
    "dez": 12,
    "dic": 12,
}
_RELATIVE: Final = {
    "today": 0,
    "heute": 0,
    "aujourd'hui": 0,
    "hoy": 0,
    "tonight": 0,
    "tomorrow": 1,
    "morgen": 1,
    "demain": 1,
    "manana": 1,
    "yesterday": -1,
    "gestern": -1,
    "hier": -1,
    "ayer": -1,
    "ubermorgen": 2,
}
_FEW: Final = {
    **dict.fromkeys(("a", "an", "einem", "einer", "un", "une", "una"), 1),
    **{word: number for word, number in COUNTS.items() if number <= 10},
}
_WORD: Final = r"[^\W\d_]+"
_ISO: Final = re.compile(r"(?<![\w-])(\d{4})-(\d{1,2})-(\d{1,2})(?![\w-])")
_DOTTED: Final = re.compile(r"(?<![\w.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?![\w])")
_DAY_FIRST: Final = re.compile(
    rf"(?<![\w.:-])(\d{{1,2}})(?:st|nd|rd|th|\.|er)?\s+(?:of\s+"
    rf"|de\s+)?({_WORD})\.?(?:,?\s+(?:de\s+|del\s+)?(\d{{4}}))?(?!\w)"
)
_MONTH_FIRST: Final = re.compile(rf"(?<!\w)({_WORD})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(\d{{4}}))?(?![\w:])")
#: `from 1 to 4 June 2026`: the month is said once.
_RANGE: Final = re.compile(
    rf"(?<![\w.:-])(\d{{1,2}})\.?\s*(?:to|until|till|-|\u2013|bis(?:\s+zum)?|au|al"
    rf"|a)\s*(?=\d{{1,2}}\.?\s+(?:de\s+)?({_WORD})\.?(?:,?\s+(?:de\s+)?(\d{{4}}))?)"
)
_PLAIN: Final = re.compile(rf"(?<![\w'])(?:(?:next|this|nächsten|diesen)\s+)?({_WORD}(?:'hui)?)(?!\w)", re.IGNORECASE)
_TIME: Final = re.compile(
    r"(?<![\w:.])(?:(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2})?\s?(?P<half>[ap]\.?m\b\.?)?(?:\s*uhr\b)?"
    r"|(?P<h>\d{1,2})\s?(?P<ampm>[ap]\.?m\b\.?)|(?P<uhr>\d{1,2})\s*(?:(?:uhr|h|heures)\b|h(?=\d{2}\b))\s?(?P<uhrminute>\d{2})?"
    r"|(?P<noon>noon|midday|mittags|midi|mediodía)\b)",
    re.IGNORECASE,
)


class Day(msgspec.Struct, frozen=True):
    """A day that a text names."""

    start: int
    end: int
    iso: str


def days_in(text: str, today: date | None) -> Iterator[Day]:
    """The days named, in no order; one that does not exist is none. Without `today` none that is relative to it."""
    for found in _ISO.finditer(text):
        yield from _day(found, (found[1], found[2], found[3]))
    for found in _DOTTED.finditer(text):
        yield from _day(found, (found[3], found[2], found[1]))
    for found in _RANGE.finditer(text):
        month = _MONTHS.get(folded(found[2]))
        year = found[3] or (str(today.year) if today else "")
        if month and year and (iso := _iso(year, month, found[1])):
            yield Day(found.start(), found.end(1), iso)
    for pattern, day, name in ((_DAY_FIRST, 1, 2), (_MONTH_FIRST, 2, 1)):
        for found in pattern.finditer(text):
            month = _MONTHS.get(folded(found[name]))
            if month is None or (
                found[name].islower() and folded(found[name]) in ("may", "mar", "mai") and not found[3]
            ):
                continue
            if found[3]:
                yield from _day(found, (found[3], month, found[day]))
            elif today is not None:
                yield from _next(found, today, month, int(found[day]))
    if today is not None:
        yield from _relative(text, today)


#: Several words that count from today, before their last word is read alone: `the day after tomorrow`.
_FAR: Final = (
    (
        re.compile(
            r"(?<![\w-])(?:(?:the\s+)?day\s+after\s+tomorrow|pasado\s+mañana|après-demain)(?![\w-])", re.IGNORECASE
        ),
        2,
    ),
    (
        re.compile(
            r"(?<![\w-])(?:(?:the\s+)?day\s+before\s+yesterday|vorgestern|avant-hier|anteayer)(?![\w-])", re.IGNORECASE
        ),
        -2,
    ),
)


def _relative(text: str, today: date) -> Iterator[Day]:
    for pattern, days in _FAR:
        for found in pattern.finditer(text):
            yield Day(found.start(), found.end(), (today + timedelta(days=days)).isoformat())
    for found in IN_DAYS.finditer(text):
        said = folded(found["ahead"] or found["ago"] or found["back"])
        number = int(said) if said.isdigit() else _FEW.get(said, 1)
        unit = folded(found["unit"] or found["agounit"] or found["backunit"])
        ahead = number * (7 if unit.startswith(("week", "woche", "semain", "semana")) else 1)
        day = today + timedelta(days=ahead if found["ahead"] else -ahead)
        yield Day(found.start(), found.end(), day.isoformat())
    for found in _PLAIN.finditer(text):
        word = folded(found[1])
        if word in _RELATIVE:
            yield Day(found.start(1), found.end(), (today + timedelta(days=_RELATIVE[word])).isoformat())
        elif word in WEEKDAYS:
            ahead = (WEEKDAYS[word] - today.weekday()) % 7 or 7
            yield Day(found.start(), found.end(), (today + timedelta(days=ahead)).isoformat())


def _next(found: re.Match[str], today: date, month: int, day: int) -> Iterator[Day]:
    """The next such day; of a year that is not said."""
    year = today.year if (month, day) >= (today.month, today.day) else today.year + 1
    iso = _iso(str(year), month, str(day))
    if iso:
        yield Day(found.start(), found.end(), iso)


def _day(found: re.Match[str], parts: tuple[str, str | int, str]) -> Iterator[Day]:
    iso = _iso(*parts)
    if iso:
        yield Day(found.start(), found.end(), iso)


def _iso(year: str, month: str | int, day: str) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None


def times_in(text: str) -> Iterator[tuple[int, int, str]]:
    """The times of day named: start, end, and `HH:MM`."""
    for found in _TIME.finditer(text):
        if found["noon"]:
            yield found.start(), found.end(), "12:00"
            continue
        hour = int(found["hour"] or found["h"] or found["uhr"])
        minute = int(found["minute"] or found["uhrminute"] or 0)
        half = (found["half"] or found["ampm"] or "").lower()
        if half.startswith("p") and hour < 12:
            hour += 12
        elif half.startswith("a") and hour == 12:
            hour = 0
        if hour < 24 and minute < 60:
            yield found.start(), found.start() + len(found[0].rstrip()), f"{hour:02d}:{minute:02d}"
