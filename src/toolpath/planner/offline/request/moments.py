"""Days and times that a request names, in four languages. Pure: today is given, or nothing relative is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import chain
from typing import Final

import msgspec

from toolpath.checks.request.said import COUNTS, IN_DAYS, MONTHS, WEEKDAY_NAMES, WEEKDAYS
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.weekdays import days_of_weeks

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
_PLAIN: Final = re.compile(rf"(?<![\w'])(?:(?:next|nächsten)\s+)?({_WORD}(?:'hui)?)(?!\w)", re.IGNORECASE)
#: `Friday, `, before the day itself.
_WEEKDAY_BEFORE: Final = re.compile(rf"(?<![\w'-])({WEEKDAY_NAMES}),?\s+(?:(?:the|den|dem|le|el)\s+)?$", re.IGNORECASE)
#: `on the 24th`: a day of this month or of the next, where nothing follows that is counted: `the 2nd floor`.
_DAY_ALONE: Final = re.compile(
    rf"(?:(?P<weekday>(?<![\w'-]){WEEKDAY_NAMES}),?\s+|\b(?:on|to|by|from|until|till|through)\s+)"
    r"(?P<said>the\s+(?P<number>\d{1,2})(?:st|nd|rd|th))"
    r"(?=\s*(?:$|[.,;:!?)]|(?:at|from|to|until|till|and|instead|please|not|with|for|in)\b))",
    re.IGNORECASE,
)
_ORDINALS: Final = {
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
_ORDINAL_OF: Final = re.compile(
    rf"(?<![\w-])(?:the\s+)?({'|'.join(sorted(_ORDINALS, key=len, reverse=True))})\s+of\s+({_WORD})"
    r"(?:,?\s+(\d{4}))?(?!\w)",
    re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"(?<![\w:.])(?:(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2})?\s?(?P<half>[ap]\.?m\b\.?)?(?:\s*uhr\b)?"
    r"|(?P<h>\d{1,2})\s?(?P<ampm>[ap]\.?m\b\.?)|(?P<uhr>\d{1,2})\s*(?:(?:uhr|h|heures)\b|h(?=\d{2}\b))\s?(?P<uhrminute>\d{2})?"
    r"|(?P<noon>noon|midday|mittags|midi|mediodía)\b)",
    re.IGNORECASE,
)


#: `9-11am`, `from 9 to 11:30 am`: the half of the day is said once.
_HOURS: Final = re.compile(
    r"(?<![\w:.,-])(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?:-|\u2013|to|until|till)"
    r"\s*(?P<until>\d{1,2})(?::\d{2})?\s?(?P<half>[ap])\.?m\b",
    re.IGNORECASE,
)


class Day(msgspec.Struct, frozen=True):
    """A day that a text names."""

    start: int
    end: int
    iso: str


def days_in(text: str, today: date | None) -> Iterator[Day]:
    """The days named, in no order; one that does not exist is none. Without `today` none that is relative to it.

    Of two that overlap the first is meant.
    """
    for day in chain(_dates(text, today), _ordinals(text, today)):
        weekday = _WEEKDAY_BEFORE.search(text, max(0, day.start - 20), day.start)
        is_same = weekday is not None and date.fromisoformat(day.iso).weekday() == WEEKDAYS[folded(weekday[1])]
        # A weekday that the date is not stays beside it: which of the two is meant is asked.
        yield Day(weekday.start(), day.end, day.iso) if weekday is not None and is_same else day
    if today is not None:
        yield from _days_alone(text, today)
        yield from (Day(start, end, day.isoformat()) for start, end, day in days_of_weeks(text, today))
        yield from _relative(text, today)


def _dates(text: str, today: date | None) -> Iterator[Day]:
    """Days that are said with their month."""
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


def _ordinals(text: str, today: date | None) -> Iterator[Day]:
    """Days whose number is said in words: `the first of July`."""
    for found in _ORDINAL_OF.finditer(text):
        month = _MONTHS.get(folded(found[2]))
        day = _ORDINALS[found[1].casefold()]
        if month is not None and found[3]:
            yield from _day(found, (found[3], month, str(day)))
        elif month is not None and today is not None:
            yield from _next(found, today, month, day)


def _days_alone(text: str, today: date) -> Iterator[Day]:
    """Days that are said with their number alone, the next such one; with a weekday where it is that."""
    for found in _DAY_ALONE.finditer(text):
        months = (
            (today.year + (today.month + ahead - 1) // 12, (today.month + ahead - 1) % 12 + 1) for ahead in range(3)
        )
        coming = (date.fromisoformat(iso) for year, month in months if (iso := _iso(str(year), month, found["number"])))
        day = next((one for one in coming if one >= today), None)
        if day is None:
            continue
        if found["weekday"] is None:
            yield Day(found.start("said"), found.end("said"), day.isoformat())
        elif WEEKDAYS[folded(found["weekday"])] == day.weekday():
            yield Day(found.start("weekday"), found.end("said"), day.isoformat())


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
    for found in _HOURS.finditer(text):
        hour, until = int(found["hour"]), int(found["until"])
        # `11-1pm` begins in the other half: it is left to be asked about.
        if 0 < hour < until <= 12 and until < 12:
            hour += 12 if found["half"] in "pP" else 0
            yield (
                found.start(),
                found.end("minute" if found["minute"] else "hour"),
                f"{hour:02d}:{found['minute'] or '00'}",
            )
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
