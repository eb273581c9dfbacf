"""Days and times that a request names, in four languages. Pure: today is given, or nothing relative is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import chain
from typing import Final

import msgspec

from toolpath.checks.request.calendar_words import DAYS_OF_MONTHS, IN_DAYS, MONTHS, WEEKDAY_NAMES, WEEKDAYS
from toolpath.checks.request.counts import COUNTS
from toolpath.checks.request.tongues import tongues_of
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
_ORDINAL: Final = r"(?:st|nd|rd|th|er|\.)?"
#: `from 1 to 4 June 2026`, `between the 1st and the 4th of June`: the month is said once.
_RANGE: Final = re.compile(
    rf"(?<![\w.:-])(?P<start>(?P<first>\d{{1,2}}){_ORDINAL})\s*(?:to|until|till|through|and|-|\u2013|bis(?:\s+zum)?|und|au|et|al?|hasta|y)"
    rf"\s*(?:the\s+|den\s+|dem\s+|le\s+|el\s+)?(?P<last>(?P<day>\d{{1,2}}){_ORDINAL}\s+(?:of\s+|de\s+)?(?P<month>{_WORD})\.?"
    r"(?:,?\s+(?:de\s+|del\s+)?(?P<year>\d{4}))?)(?!\w)"
)
#: `August 1 to 15`, `June 3-9, 2026`.
_RANGE_OF_MONTH: Final = re.compile(
    rf"(?<!\w)(?P<start>(?P<month>{_WORD})\.?\s+(?P<first>\d{{1,2}})(?:st|nd|rd|th)?)\s*(?:to|until|till|through|-|\u2013)\s*"
    r"(?P<last>(?:the\s+)?(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(?P<year>\d{4}))?)"
    r"(?=\s*(?:$|[.,;:!?)]|(?:for|at|in|with|and|please|on|by|under|instead)\b))"
)
#: The numbers of a day with strokes or hyphens between them, the year last or first: `25/05/2026`, `2026/05/25`.
NUMBERED: Final = re.compile(
    r"(?<![\w./-])(?:(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})"
    r"|(?P<first>\d{1,2})(?P<mark>[/-])(?P<second>\d{1,2})(?P=mark)(?P<last>\d{4}))(?![\w/-])"
)
#: A day and its month without a year, behind a word that a day follows: `on 25/5`, `am 25.5.`, `bis 25.05.26`.
_SHORT: Final = re.compile(
    r"(?<!\w)(?:on|by|from|to|until|till|since|am|vom|zum|bis(?:\s+zum)?|ab(?:\s+dem)?|seit(?:\s+dem)?|le|du|au|el|al|del|desde|hasta)\s+"
    r"(?P<said>(?:(?P<first>\d{1,2})/(?P<second>\d{1,2})(?:/(?P<short>\d{2}))?|(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.(?P<year>\d{2})?)(?![\w/]|\.?\d))",
    re.IGNORECASE,
)
#: `end of June`, `by the end of the month`.
_LAST_OF: Final = re.compile(
    r"(?<!\w)(?:(?:the\s+)?end\s+of\s+(?:the\s+)?|ende\s+(?:des\s+|dieses\s+)?|(?:la\s+)?fin\s+(?:du\s+|de\s+|d['\u2019])?|fin(?:al(?:es)?)?\s+(?:de\s+)?)"
    rf"(?P<of>{_WORD})(?:\s+(?P<year>\d{{4}}))?(?!\w)",
    re.IGNORECASE,
)
_MONTH_ITSELF: Final = frozenset(("month", "monats", "mois", "mes"))
_YEAR_ITSELF: Final = frozenset(("year", "jahres", "annee", "ano"))
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
#: The same where other languages say it: `am 23.`, `le 23 à 20 h`, `hasta el 23`.
_DAYS_ALONE: Final = (
    _DAY_ALONE,
    re.compile(
        rf"(?:(?P<weekday>(?<![\w'-]){WEEKDAY_NAMES}),?\s+(?:den\s+|dem\s+)?|\b(?:am|zum|vom|ab(?:\s+dem)?|bis(?:\s+zum)?|seit\s+dem)\s+)"
        r"(?P<said>(?P<number>\d{1,2})\.)(?=\s*(?:$|[,;:!?)]|(?:um|ab|bis|von|und|statt|bitte|nicht|mit|für|in|ein|eine\w?|frei)\b))",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:(?P<weekday>(?<![\w'-]){WEEKDAY_NAMES})\s+|\b(?:jusqu['\u2019]au|avant\s+le|depuis\s+le|à\s+partir\s+du)\s+|\ble\s+(?=\d{{1,2}}\s+à\s+\d))"
        r"(?P<said>(?P<number>\d{1,2}))(?=\s*(?:$|[.,;:!?)](?!\d)|(?:à|pour|avec|et)\s))",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:(?P<weekday>(?<![\w'-]){WEEKDAY_NAMES})\s+|\b(?:hasta|desde|antes\s+d)\s?el\s+(?:día\s+)?|\bel\s+(?:día\s+|(?=\d{{1,2}}\s+a\s+las?\s)))"
        r"(?P<said>(?P<number>\d{1,2}))(?=\s*(?:$|[.,;:!?)](?!\d)|(?:a|para|con|y)\s))",
        re.IGNORECASE,
    ),
)
_ORDINAL_OF: Final = re.compile(
    rf"(?<![\w-])(?:the\s+)?({'|'.join(sorted(DAYS_OF_MONTHS, key=len, reverse=True))})\s+of\s+({_WORD})"
    r"(?:,?\s+(\d{4}))?(?!\w)",
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
    for found in (*_RANGE.finditer(text), *_RANGE_OF_MONTH.finditer(text)):
        yield from _ends(found, today)
    yield from _numbered(text, today)
    yield from _last_days(text, today)
    for pattern, day, name in ((_DAY_FIRST, 1, 2), (_MONTH_FIRST, 2, 1)):
        for found in pattern.finditer(text):
            month = _MONTHS.get(folded(found[name]))
            if month is None or (not found[3] and _may_be_no_month(found, name)):
                continue
            if found[3]:
                yield from _day(found, (found[3], month, found[day]))
            elif today is not None:
                yield from _next(found, today, month, int(found[day]))


def _ends(found: re.Match[str], today: date | None) -> Iterator[Day]:
    """The two days of a range whose month is said once; both are of the year that the last one is of."""
    month = _MONTHS.get(folded(found["month"]))
    if month is None or (
        not found["year"] and (today is None or (found["month"].islower() and found["month"] in _AMBIGUOUS))
    ):
        return
    year = int(found["year"]) if found["year"] else _year_of(found, today, month, int(found["day"])) if today else 0
    first, last = _iso(str(year), month, found["first"]), _iso(str(year), month, found["day"])
    if first and last:
        yield Day(found.start("start"), found.end("start"), first)
        yield Day(found.start("last"), found.end("last"), last)


#: Words that are no month where no number says so.
_AMBIGUOUS: Final = frozenset(("may", "mar"))


def _numbered(text: str, today: date | None) -> Iterator[Day]:
    """Days whose month is a number: of two that may be it, the first one, but where days come first."""
    is_day_first = tongues_of(text) <= {"de", "fr", "es"}
    for found in NUMBERED.finditer(text):
        if found["year"]:
            yield from _day(found, (found["year"], found["month"], found["day"]))
        else:
            day, month = _in_order(int(found["first"]), int(found["second"]), is_day_first=is_day_first)
            yield from _day(found, (found["last"], month, str(day)))
    for found in _SHORT.finditer(text):
        if found["first"]:
            day, month = _in_order(int(found["first"]), int(found["second"]), is_day_first=is_day_first)
        else:
            day, month = int(found["day"]), int(found["month"])
        short = found["short"] or found["year"]
        is_german = found["first"] or short or "de" in tongues_of(text)
        if not 0 < month < 13 or (not short and today is None) or not is_german:
            # Elsewhere `to 1.2.` is a number.
            continue
        year = 2000 + int(short) if short else _year_of(found, today, month, day) if today else 0
        iso = _iso(str(year), month, str(day))
        if iso:
            yield Day(found.start("said"), found.end("said"), iso)


def _in_order(first: int, second: int, *, is_day_first: bool) -> tuple[int, int]:
    """The day and the month of two numbers."""
    if first > 12 or (is_day_first and second <= 12):
        return first, second
    return second, first


def _last_days(text: str, today: date | None) -> Iterator[Day]:
    for found in _LAST_OF.finditer(text):
        of = folded(found["of"])
        month = _MONTHS.get(of)
        if month is not None and (found["year"] or today is not None):
            year = int(found["year"]) if found["year"] else today.year + (month < today.month) if today else 0
            yield Day(found.start(), found.end(), last_of_month(year, month).isoformat())
        elif today is not None and of in _MONTH_ITSELF:
            yield Day(found.start(), found.end(), last_of_month(today.year, today.month).isoformat())
        elif today is not None and of in _YEAR_ITSELF:
            yield Day(found.start(), found.end(), date(today.year, 12, 31).isoformat())


def last_of_month(year: int, month: int) -> date:
    """The last day of a month."""
    return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)


def _may_be_no_month(found: re.Match[str], name: int) -> bool:
    """Whether it may be another word: `4 may leave`; with the day before it, `4 mai` is none."""
    is_month_first = name == 1
    return found[name].islower() and folded(found[name]) in ({*_AMBIGUOUS, "mai"} if is_month_first else _AMBIGUOUS)


def _ordinals(text: str, today: date | None) -> Iterator[Day]:
    """Days whose number is said in words: `the first of July`."""
    for found in _ORDINAL_OF.finditer(text):
        month = _MONTHS.get(folded(found[2]))
        day = DAYS_OF_MONTHS[found[1].casefold()]
        if month is not None and found[3]:
            yield from _day(found, (found[3], month, str(day)))
        elif month is not None and today is not None:
            yield from _next(found, today, month, day)


def _days_alone(text: str, today: date) -> Iterator[Day]:
    """Days that are said with their number alone, the next such one; with a weekday where it is that."""
    for found in chain.from_iterable(form.finditer(text) for form in _DAYS_ALONE):
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


#: Before words that are the morning, and no day: `de la mañana`, `am Morgen`.
_OF_THE_DAY: Final = re.compile(r"\b(?:la|esta|am|guten|jeden)\s+$", re.IGNORECASE)


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
        if word in _RELATIVE and not _OF_THE_DAY.search(text, max(0, found.start(1) - 8), found.start(1)):
            yield Day(found.start(1), found.end(), (today + timedelta(days=_RELATIVE[word])).isoformat())
        elif word in WEEKDAYS:
            ahead = (WEEKDAYS[word] - today.weekday()) % 7 or 7
            yield Day(found.start(), found.end(), (today + timedelta(days=ahead)).isoformat())


#: Before a day that is over.
_SINCE: Final = re.compile(
    r"\b(?:since|seit(?:\s+dem)?|depuis(?:\s+le)?|desde(?:\s+el)?)\s+(?:the\s+)?$", re.IGNORECASE
)


def _next(found: re.Match[str], today: date, month: int, day: int) -> Iterator[Day]:
    """The next such day of a year that is not said; the last one where it is over."""
    iso = _iso(str(_year_of(found, today, month, day)), month, str(day))
    if iso:
        yield Day(found.start(), found.end(), iso)


def _year_of(found: re.Match[str], today: date, month: int, day: int) -> int:
    if _SINCE.search(found.string, max(0, found.start() - 16), found.start()):
        return today.year if (month, day) <= (today.month, today.day) else today.year - 1
    return today.year if (month, day) >= (today.month, today.day) else today.year + 1


def _day(found: re.Match[str], parts: tuple[str, str | int, str]) -> Iterator[Day]:
    iso = _iso(*parts)
    if iso:
        yield Day(found.start(), found.end(), iso)


def _iso(year: str, month: str | int, day: str) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
