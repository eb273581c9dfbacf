"""Times of day that a request names, in four languages: `half seven`, `um 20 Uhr`, `6 in the morning`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from toolpath.checks.request.counts import COUNTS
from toolpath.checks.request.verbs import folded

Half = Literal["", "a", "p"]
_HOURS_IN_WORDS: Final = {"one": 1, "ein": 1, "eins": 1, "une": 1, "una": 1, **COUNTS, "once": 11}
_SAID: Final = (
    "|".join(sorted(_HOURS_IN_WORDS, key=len, reverse=True)).replace("funf", "f[üu]nf").replace("zwolf", "zw[öo]lf")
)
_HOUR: Final = rf"(?:\d{{1,2}}|{_SAID})"
_MINUTES: Final = {"five": 5, "ten": 10, "twenty": 20, "twenty-five": 25, "funf": 5, "zehn": 10, "zwanzig": 20}


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w:.,-]){pattern}(?![\w:]|[.,]\d|-\w)", re.IGNORECASE)


#: With digits and a mark of the clock.
_TIME: Final = re.compile(
    r"(?<![\w:.])(?<![A-Za-z]-)(?:(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2})?\s?(?P<half>[ap]\.?m\b\.?)?(?:\s*uhr\b)?"
    r"|(?P<h>\d{1,2})(?:\.(?P<dotted>[0-5]\d))?\s?(?P<ampm>[ap]\.?m\b\.?)"
    # `um 7 am Montag`
    r"(?!\s+(?:\d|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend|morgen|vormittag|nachmittag|abend))"
    r"|(?P<uhr>\d{1,2})\s*(?:(?:uhr|h|heures)\b|h(?=\d{2}\b))\s?(?P<uhrminute>\d{2}\b(?!\.))?"
    r"|(?P<noon>noon|midday|mittags|midi|mediodía)\b|(?P<midnight>midnight|mitternacht|minuit|medianoche)\b)",
    re.IGNORECASE,
)
#: `9-11am`, `from 9 to 11:30 am`: the half of the day is said once.
_HOURS: Final = re.compile(
    r"(?<![\w:.,-])(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?:-|\u2013|to|until|till)"
    r"\s*(?P<until>\d{1,2})(?::\d{2})?\s?(?P<half>[ap])\.?m\b",
    re.IGNORECASE,
)
#: In words: pattern → minutes after the hour that it names. English ones leave open which half of the day.
_SPOKEN: Final = tuple(
    (_form(pattern), minutes)
    for pattern, minutes in (
        (rf"(?:half\s+past\s+(?P<en>{_HOUR})|half\s+(?P<en_half>{_SAID})|(?<=at )half\s+(?P<en_digits>\d{{1,2}}))", 30),
        (rf"(?:a\s+)?quarter\s+past\s+(?P<en>{_HOUR})", 15),
        (rf"(?:a\s+)?quarter\s+to\s+(?P<en>{_HOUR})", -15),
        (rf"(?P<more>five|ten|twenty|twenty-five)\s+past\s+(?P<en>{_HOUR})", 0),
        (rf"(?P<less>five|ten|twenty|twenty-five)\s+to\s+(?P<en>{_HOUR})", 0),
        (rf"(?P<en>{_HOUR})\s+o['\u2019]?clock", 0),
        (rf"halb\s+(?P<other>{_HOUR})(?:\s+uhr)?", -30),
        (rf"viertel\s+nach\s+(?P<other>{_HOUR})", 15),
        (rf"(?:viertel\s+vor|dreiviertel)\s+(?P<other>{_HOUR})", -15),
        (rf"(?P<more>fünf|zehn|zwanzig)\s+nach\s+(?P<other>{_HOUR})", 0),
        (rf"(?P<less>fünf|zehn|zwanzig)\s+vor\s+(?P<other>{_HOUR})", 0),
        (rf"(?P<other>{_SAID})\s+uhr", 0),
        (rf"(?P<other>{_HOUR})\s*(?:h|heures?)\s+et\s+demie?", 30),
        (rf"(?P<other>{_HOUR})\s*(?:h|heures?)\s+et\s+quart", 15),
        (rf"(?P<other>{_HOUR})\s*(?:h|heures?)\s+moins\s+le\s+quart", -15),
        (rf"(?P<other>{_SAID})\s+heures?", 0),
        (rf"(?:a\s+)?las?\s+(?P<other>{_HOUR})\s+y\s+media", 30),
        (rf"(?:a\s+)?las?\s+(?P<other>{_HOUR})\s+y\s+cuarto", 15),
        (rf"(?:a\s+)?las?\s+(?P<other>{_HOUR})\s+menos\s+cuarto", -15),
        (rf"a\s+las?\s+(?P<other>{_HOUR})(?:\s+horas)?", 0),
    )
)
#: An hour alone, which is one where the half of the day stands beside it: `6 in the morning`, `tonight at eight`.
_BARE: Final = _form(rf"(?P<bare>{_HOUR})")
_AT: Final = re.compile(r"\b(?:at|by|until|till|around|um|gegen|bis|ab|à|vers|a|las?)\s+$", re.IGNORECASE)
_FOR: Final = re.compile(r"\b(?:for|für|pour|para|of|from)\s+$", re.IGNORECASE)
#: `in the morning` and others that say of the number before them that it is an hour.
_BEHIND: Final = re.compile(
    r"\s+(?:(?:in\s+the|this)\s+(?:morning|afternoon|evening)|at\s+night|morgens|abends|nachmittags|nachts|früh"
    r"|du\s+(?:matin|soir)|de\s+l['\u2019]après-midi|de\s+la\s+(?:mañana|tarde|noche))(?!\w)",
    re.IGNORECASE,
)
_HALVES: Final = (
    (
        _form(
            r"(?:(?:in\s+the|this|of\s+the)\s+)?mornings?|morgens|früh|vormittags?|am\s+(?:morgen|vormittag)"
            r"|(?:du|ce)\s+matin|(?:de|por)\s+la\s+mañana|esta\s+mañana"
        ),
        "a",
    ),
    (
        _form(
            r"(?:(?:in\s+the|this|of\s+the)\s+)?(?:afternoon|evening)s?|at\s+night|tonight|(?:heute\s+)?abends?|nachmittags?"
            r"|am\s+(?:abend|nachmittag)|nachts|(?:du|ce)\s+soir|(?:de\s+l|cet)['\u2019]?\s?après-midi"
            r"|(?:de|por)\s+la\s+(?:tarde|noche)|esta\s+(?:tarde|noche)"
        ),
        "p",
    ),
)


class ClockTime(msgspec.Struct, frozen=True):
    """A time of day as it is said."""

    start: int
    end: int
    hour: int
    minute: int
    is_open: bool = False
    """It may be of either half of the day."""
    is_bare: bool = False
    """Its number alone: a time only beside a half of the day."""

    def told(self, half: Half) -> str | None:
        """`HH:MM`, in a half of the day that is said; None where it may be either, or is none."""
        hour = self.hour
        if self.is_open and not half:
            return None
        if half == "p" and hour < 12:
            hour += 12
        elif half == "a" and hour == 12:
            hour = 0
        elif half == "a" and hour > 12:
            return None
        return f"{hour:02d}:{self.minute:02d}"


class HalfOfDay(msgspec.Struct, frozen=True):
    """Where a text names a half of the day."""

    start: int
    end: int
    half: Half


def clocks_in(text: str) -> list[ClockTime]:
    """The times of day in the text, no two overlapping, the longest first where they would."""
    found = [*_ranges(text), *_spoken(text), *_written(text)]
    kept: list[ClockTime] = []
    for one in (*found, *_bare(text)):
        if all(one.end <= other.start or other.end <= one.start for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda one: one.start)


def halves_in(text: str) -> list[HalfOfDay]:
    """The halves of the day that the text names."""
    return sorted(
        (
            HalfOfDay(found.start(), found.end(), "a" if half == "a" else "p")
            for form, half in _HALVES
            for found in form.finditer(text)
        ),
        key=lambda one: one.start,
    )


def _ranges(text: str) -> Iterator[ClockTime]:
    for found in _HOURS.finditer(text):
        hour, until = int(found["hour"]), int(found["until"])
        # `11-1pm` begins in the other half: it is left to be asked about.
        if 0 < hour < until <= 12 and until < 12:
            hour += 12 if found["half"] in "pP" else 0
            end = found.end("minute" if found["minute"] else "hour")
            yield ClockTime(found.start(), end, hour, int(found["minute"] or 0))


def _written(text: str) -> Iterator[ClockTime]:
    for found in _TIME.finditer(text):
        end = found.start() + len(found[0].rstrip())
        if found["noon"] or found["midnight"]:
            yield ClockTime(found.start(), end, 12 if found["noon"] else 0, 0)
            continue
        hour = int(found["hour"] or found["h"] or found["uhr"])
        minute = int(found["minute"] or found["dotted"] or found["uhrminute"] or 0)
        half = (found["half"] or found["ampm"] or "").lower()
        if half.startswith("p") and hour < 12:
            hour += 12
        elif half.startswith("a") and hour == 12:
            hour = 0
        if hour < 24 and minute < 60:
            yield ClockTime(found.start(), end, hour, minute)


def _spoken(text: str) -> Iterator[ClockTime]:
    for form, minutes in _SPOKEN:
        for found in form.finditer(text):
            groups = found.groupdict()
            english = groups.get("en") or groups.get("en_half") or groups.get("en_digits")
            hour = _number(english or groups.get("other") or "")
            minutes_of = folded(groups.get("more") or groups.get("less") or "")
            past = minutes + _MINUTES.get(minutes_of, 0) * (-1 if groups.get("less") else 1)
            if not 0 < hour < 25:
                continue
            at = hour * 60 + past
            is_open = bool(english) and hour <= 12
            # `ten to twelve people` is no time.
            is_bare = is_open and bool(minutes_of)
            yield ClockTime(found.start(), found.end(), at // 60 % 24, at % 60, is_open=is_open, is_bare=is_bare)


def _bare(text: str) -> Iterator[ClockTime]:
    for found in _BARE.finditer(text):
        hour = _number(found["bare"])
        is_at, is_for = (
            _AT.search(text, max(0, found.start() - 12), found.start()),
            _FOR.search(text, max(0, found.start() - 12), found.start()),
        )
        if 0 < hour <= 12 and (is_at or (_BEHIND.match(text, found.end()) and not is_for)):
            yield ClockTime(found.start(), found.end(), hour, 0, is_open=True, is_bare=True)


def _number(said: str) -> int:
    return int(said) if said.isdigit() else _HOURS_IN_WORDS.get(folded(said), 0)
