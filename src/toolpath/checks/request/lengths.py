"""Lengths of time that a text says, in four languages: `half an hour`, `anderthalb Stunden`, `two weeks`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, get_args

import msgspec

from toolpath.checks.request.counts import COUNTS
from toolpath.checks.request.units import words_for
from toolpath.checks.request.verbs import folded

TimeUnit = Literal["second", "minute", "hour", "day", "week", "month", "year"]
#: A French `an` is left out: `640 an Ines` is no year.
_WORDS: Final[dict[TimeUnit, tuple[str, ...]]] = {
    unit: tuple(word for word in words_for(unit) if word != "an") for unit in get_args(TimeUnit)
}
TIME_UNIT_OF: Final = {folded(word): unit for unit, words in _WORDS.items() for word in words}
"""Unit of time that a word names, the word without its accents."""
#: How many of the smallest unit of its kind each is: months and years are as long as their days.
_SCALES: Final[dict[str, tuple[str, int]]] = {
    "second": ("clock", 1),
    "minute": ("clock", 60),
    "hour": ("clock", 3_600),
    "day": ("clock", 86_400),
    "week": ("clock", 604_800),
    "month": ("calendar", 1),
    "year": ("calendar", 12),
}
WORDS_OF_UNITS: Final = {unit: frozenset(map(folded, words)) for unit, words in _WORDS.items()}
"""The units that a length of time may be said in, and the words for each."""
_ONES: Final = frozenset(
    ("another", "a", "an", "one", "ein", "eine", "einen", "einer", "einem", "un", "une", "una", "uno")
)
_DIGITS: Final = r"\d{1,3}(?:[.,]\d{3})+|\d+(?:[.,]\d{1,2})?"
_COUNT: Final = "|".join(sorted({*COUNTS, *_ONES, "fünf", "zwölf"}, key=len, reverse=True))
_FORMS: Final = {form for words in _WORDS.values() for word in words for form in (word, folded(word))}
_UNIT: Final = "|".join(sorted(_FORMS, key=len, reverse=True))
_AND_A_HALF: Final = r"\s+and\s+a\s+half|\s+et\s+demie?|\s+y\s+medi[oa]"
_COUNTED: Final = re.compile(
    rf"(?<![\w.,:-])(?:(?:(?P<digits>{_DIGITS})(?P<half>{_AND_A_HALF})?[\s-]*(?:more\s+|weitere\s+|autres?\s+)?|(?P<word>{_COUNT})(?P<half_more>{_AND_A_HALF})?[\s-]+(?:more\s+|weitere\s+|autres?\s+)?"
    rf"|(?P<halves>ander|ein|zwei|drei|vier|fünf|sechs)(?:th|einh)alb\s+)(?P<unit>{_UNIT})(?P<more>{_AND_A_HALF})?)(?!\w)",
    re.IGNORECASE,
)
#: Before or behind a length: it is so long from now on, or from where it ends.
_FURTHER: Final = re.compile(
    r"(?<!\w)(?:another|(?:a\s+)?further|(?:an?\s+)?(?:extra|additional)|weitere[nrs]?|noch|otr[oa]s?|encore)\s+$",
    re.IGNORECASE,
)
_LONGER: Final = re.compile(
    r"\s+(?:more|longer|länger|mehr|zusätzlich|de\s+plus|supplémentaires?|más|adicionales)(?!\w)(?!\s+(?:than|als|que))",
    re.IGNORECASE,
)
#: `hora y media` needs no article.
_BARE_HALVES: Final = re.compile(r"(?<!\w)(?P<of>hora|año|día|mes)\s+y\s+medi[oa](?!\w)", re.IGNORECASE)
_HALF: Final = re.compile(
    r"(?<![\w-])(?:(?:an?|one|eine?[nrm]?|une?|una?)\s+)?"
    r"(?:half(?:\s+an?|\s+of\s+an?)?[\s-]+|halbe[nrsm]?\s+|demi(?:e\s+|-)|medi[oa]\s+)(?P<of>[^\W\d_]+)(?!\w)",
    re.IGNORECASE,
)
_HALVES: Final[dict[str, tuple[int, TimeUnit]]] = {
    "minute": (30, "second"),
    "hour": (30, "minute"),
    "day": (12, "hour"),
    "year": (6, "month"),
}
_NAMED_FORMS: Final[tuple[tuple[str, int, TimeUnit], ...]] = (
    (
        r"three[\s-]quarters\s+of\s+an\s+hour|(?:eine\s+)?dreiviertelstunde|trois\s+quarts\s+d['\u2019]heure"
        r"|tres\s+cuartos\s+de\s+hora",
        45,
        "minute",
    ),
    (
        r"(?:a\s+)?quarter\s+of\s+an\s+hour|(?:an?\s+)?quarter[\s-]hour|(?:eine\s+)?viertelstunde"
        r"|(?:un\s+)?quart\s+d['\u2019]heure|(?:un\s+)?cuarto\s+de\s+hora",
        15,
        "minute",
    ),
    (r"(?:a|one|another)\s+fortnight", 14, "day"),
    (r"two\s+fortnights", 28, "day"),
    # A German `an` is no year: `Ticket 640 an Ines`.
    (r"un\s+an|1\s+an(?=\s*(?:$|[.,;!?]))", 1, "year"),
)
_NAMED: Final = tuple(
    (re.compile(rf"(?<![\w-])(?:{form})(?!\w)", re.IGNORECASE), value, unit) for form, value, unit in _NAMED_FORMS
)


class Length(msgspec.Struct, frozen=True):
    """A length of time that a text says."""

    start: int
    end: int
    value: float | int
    unit: TimeUnit
    is_plain: bool = False
    """It is said as a number of this unit, and not as `half an hour` or `1 hour 20 minutes`."""


def lengths_in(text: str, *, in_parts: bool = False) -> list[Length]:
    """The lengths of time in the text, no two overlapping, in its order; numbers in words up to twelve.

    What is said of one in two units is one length, `1 hour 20 minutes`, but for `in_parts`.
    """
    kept: list[Length] = []
    for one in (*_named(text), *_halves(text), *_counted(text)):
        if all(one.end <= other.start or other.end <= one.start for other in kept):
            kept.append(one)
    kept.sort(key=lambda one: one.start)
    whole: list[Length] = []
    for one in kept:
        last = whole[-1] if whole and not in_parts and _AND.fullmatch(text[whole[-1].end : one.start]) else None
        more = in_unit_of_time(last.value, last.unit, one.unit) if last is not None else None
        if last is not None and more is not None and more > one.value and last.unit != one.unit:
            whole[-1] = Length(last.start, one.end, _plain(more + one.value), one.unit)
        else:
            whole.append(one)
    return [_whole(one, text) for one in whole]


#: Between the parts of one length.
_AND: Final = re.compile(r"\s*(?:(?:,\s*)?(?:and|und|et|y)\s+|,\s*|\s)?", re.IGNORECASE)


def _whole(one: Length, text: str) -> Length:
    """The length with the words that say that it is added: `another two weeks`, `deux jours de plus`."""
    before = _FURTHER.search(text, max(0, one.start - _BEHIND), one.start)
    after = _LONGER.match(text, one.end)
    start, end = before.start() if before else one.start, after.end() if after else one.end
    return one if (start, end) == (one.start, one.end) else msgspec.structs.replace(one, start=start, end=end)


def in_unit_of_time(value: float, unit: str, wanted: str) -> float | int | None:
    """So long a time in another unit; None where it cannot be said in it, as months in days."""
    if unit == wanted:
        return _plain(value)
    own, other = _SCALES.get(unit), _SCALES.get(wanted)
    if own is None or other is None or own[0] != other[0]:
        return None
    return _plain(value * own[1] / other[1])


def _plain(value: float) -> float | int:
    return int(value) if float(value).is_integer() else value


def _named(text: str) -> Iterator[Length]:
    for form, value, unit in _NAMED:
        for found in form.finditer(text):
            yield Length(found.start(), found.end(), value, unit)


def _halves(text: str) -> Iterator[Length]:
    for found in _BARE_HALVES.finditer(text):
        before = _COUNT_BEFORE.search(text, max(0, found.start() - _BEHIND), found.start())
        if before is None:
            yield Length(found.start(), found.end(), 1.5, TIME_UNIT_OF[folded(found["of"])])
    for found in _HALF.finditer(text):
        half = _HALVES.get(TIME_UNIT_OF.get(folded(found["of"]), ""))
        if half is not None and _COUNTED_BEFORE.search(text, max(0, found.start() - _BEHIND), found.start()) is None:
            yield Length(found.start(), found.end(), *half)


_BEHIND: Final = 24
_COUNT_BEFORE: Final = re.compile(rf"(?<!\w)(?:{_DIGITS}|{_COUNT})\s+$", re.IGNORECASE)
#: `three and a half hours` are no half of one.
_COUNTED_BEFORE: Final = re.compile(r"\w\s+(?:and|et|y)\s+$", re.IGNORECASE)


def _counted(text: str) -> Iterator[Length]:
    for found in _COUNTED.finditer(text):
        if found["digits"]:
            value = _number(found["digits"])
        else:
            said = folded(found["word"] or found["halves"])
            value = 1 if said in _ONES or said == "ander" else COUNTS[said]
        is_more = bool(found["halves"] or found["half"] or found["half_more"] or found["more"])
        unit = TIME_UNIT_OF[folded(found["unit"])]
        yield Length(found.start(), found.end(), _plain(value + 0.5 * is_more), unit, is_plain=not is_more)


def _number(digits: str) -> float:
    """`1,000` and `1.000` are a thousand, `2,5` and `2.5` are two and a half."""
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", digits):
        return float(re.sub(r"[.,]", "", digits))
    return float(digits.replace(",", "."))
