"""A clause as one tool takes it: a day apart from its time, places in one, ranges, what is told as one text. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words
from toolpath.checks.request.calendar_words import MONTH_NAMES, MONTHS
from toolpath.checks.request.lengths import lengths_in
from toolpath.checks.request.nowadays import gives_several
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.cues import FIRSTS, LASTS
from toolpath.planner.offline.request.languages import with_languages
from toolpath.planner.offline.request.parts import ClausePart
from toolpath.planner.offline.request.periods import periods_in
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.told_texts import with_told
from toolpath.planner.offline.request.toolbox import Kit, ToolField
from toolpath.planner.offline.request.unit_fields import with_units

#: One way to read each comma: with several, a row of fifty numbers took for ever.
JOINED: Final = re.compile(
    r"[^\w,&]*(?:(?:and|und|et|y|e|as well as|sowie|plus|of|von|de|à|zu|to)(?!\w)[^\w,&]*|[,&][^\w,&]*)+(?:the\W+)*",
    re.IGNORECASE,
)
"""Between values that are said one after the other."""
#: Between the two ends of a range.
_RANGE: Final = re.compile(
    r"\s*(?:to|until|till|through|-|\u2013|bis(?:\s+zum)?|au|jusqu['\u2019]au|al?|hasta(?:\s+el)?|and|und|et|y)\s*(?:the\s+|den\s+|le\s+|el\s+)?",
    re.IGNORECASE,
)
_RANGED: Final = ("day", "moment", "time", "month")


def is_range(first: Span, last: Span, text: str) -> bool:
    """Whether two values are the ends of a range."""
    if first.kind != last.kind:
        return False
    return first.start == last.start or _RANGE.fullmatch(text[first.end : last.start]) is not None


def as_taken(
    kit: Kit, part: ClausePart, text: str, given: frozenset[str], today: date | None, *, with_words: bool
) -> ClausePart:
    """The clause with its values as the tool takes them. Not `with_words`: what is told is left as it is."""
    own = _monthly(kit, _placed(kit, _in_units(kit, _parted(kit, part)), text), text, today)
    own = _of_today(kit, own, today)
    own = with_units(kit, with_languages(kit, _periodic(kit, own, text, today), text), text)
    own = _without_bounds(own, text)
    return with_told(kit, own, given) if with_words else own


#: Words that say of a day or a number what it begins, where they are no part of a verb: `ab 1. Juni`.
_BOUNDING: Final = frozenset(("ab",))


def _without_bounds(part: ClausePart, text: str) -> ClausePart:
    starts = {one.start for one in part.spans}
    words = tuple(
        word
        for word in part.words
        if folded(word.text) not in _BOUNDING or not any(text[word.end : at] == " " for at in starts)
    )
    return part if len(words) == len(part.words) else msgspec.structs.replace(part, words=words)


def in_range(spans: Sequence[Span], at: int, field: ToolField, kit: Kit, text: str) -> float:
    """How much a value at one end of a range is for the parameter of that end: `from 22 to 25 May`."""
    ends = [one for one in kit.fields if one.kind == field.kind and not one.is_list]
    if len(ends) != 2 or spans[at].kind not in _RANGED:
        return 0.0
    is_last = at > 0 and is_range(spans[at - 1], spans[at], text)
    is_first = at + 1 < len(spans) and is_range(spans[at], spans[at + 1], text)
    return 1.5 if (is_first and field == ends[0]) or (is_last and field == ends[1]) else 0.0


_PAST_MONTH: Final = re.compile(r"\b(?:last|letzten|vergangenen|dernier|pasado)\b", re.IGNORECASE)
_MONTH: Final = re.compile(
    rf"(?<![\w-])(?:(?P<name>{MONTH_NAMES})(?:\s+(?:de\s+|of\s+)?(?P<year>\d{{4}}))?"
    r"|(?P<near>(?:this|last)\s+month|(?:diesen|letzten|vergangenen)\s+monat|ce\s+mois(?:-ci)?|le\s+mois\s+dernier"
    r"|este\s+mes|el\s+mes\s+pasado))(?![\w-])",
    re.IGNORECASE,
)


def _monthly(kit: Kit, part: ClausePart, text: str, today: date | None) -> ClausePart:
    """The clause with a month as a value, for a tool that takes one: `in April`."""
    if today is None or all(field.kind != "month" for field in kit.fields):
        return part
    for found in _MONTH.finditer(text, part.start, part.end):
        if any(one.start < found.end() and found.start() < one.end and one.kind != "name" for one in part.spans):
            continue
        if found["near"]:
            day = today.replace(day=1)
            day = (day - timedelta(days=1)) if _PAST_MONTH.search(found["near"]) else day
            year, month = day.year, day.month
        else:
            year, month = int(found["year"] or today.year), MONTHS[folded(found["name"])]
        span = Span("month", found[0], f"{year}-{month:02d}", found.start(), found.end())
        spans = [one for one in part.spans if one.end <= span.start or one.start >= span.end]
        words = tuple(word for word in part.words if word.end <= span.start or word.start >= span.end)
        return msgspec.structs.replace(
            part, spans=tuple(sorted((*spans, span), key=lambda one: one.start)), words=words
        )
    return part


#: Before a day that begins or ends something.
_BOUND: Final = re.compile(
    r"(?:\b(?:from|since|after|until|till|by|before|starting|beginning|to|through|ab|seit|bis|vor|nach|von|vom|zum|depuis|jusqu['\u2019]au"
    r"|avant|après|à\s+partir|du|au|desde|hasta|antes|después|del|al|partir)|[-\u2013])\s*(?:de[lr]?\s+|the\s+|dem\s+|el\s+|le\s+)?$",
    re.IGNORECASE,
)


def _periodic(kit: Kit, part: ClausePart, text: str, today: date | None) -> ClausePart:
    """The clause with a period as its first and its last day, for a tool that finds what is between two days."""
    days = [one for one in kit.fields if one.kind == "day" and not one.is_list]
    ends = [[one for one in days if names & {*raw_words(one.name)}] for names in (FIRSTS, LASTS)]
    if today is None or kit.is_acting or [len(one) for one in ends] != [1, 1]:
        return part
    part = _recent(part, today)
    said = [one for one in part.spans if one.kind in _RANGED]
    if said:
        (first, *more) = said
        is_bound = more or first.kind != "day" or _BOUND.search(text, max(0, first.start - 24), first.start)
        return part if is_bound else _with_ends(part, first.start, first.end, str(first.value), str(first.value))
    period = next((one for one in periods_in(part.text, today)), None)
    if period is None:
        return part
    start, end = part.start + period.start, part.start + period.end
    if any(one.start < end and start < one.end and one.kind not in ("name", "number") for one in part.spans):
        return part
    return _with_ends(part, start, end, period.first.isoformat(), period.last.isoformat())


#: So long after today a day of no year is rather the one that was, for who looks something up.
_FAR_AHEAD: Final = timedelta(days=273)


def _recent(part: ClausePart, today: date) -> ClausePart:
    """The clause with days of no year that are over, where the next such day is long to come."""
    return msgspec.structs.replace(part, spans=tuple(_before_today(one, today) for one in part.spans))


def _before_today(one: Span, today: date) -> Span:
    if one.kind != "day" or re.search(r"\d{4}", one.text):
        return one
    day = date.fromisoformat(str(one.value))
    if day - today < _FAR_AHEAD or (day.month, day.day) == (2, 29):
        return one
    return msgspec.structs.replace(one, value=day.replace(year=day.year - 1).isoformat())


def _with_ends(part: ClausePart, start: int, end: int, first: str, last: str) -> ClausePart:
    """The clause with two days in place of what stands there."""
    said = part.text[start - part.start : end - part.start]
    ends = (Span("day", said, first, start, end), Span("day", said, last, start, end, "last"))
    spans = [one for one in part.spans if one.end <= start or one.start >= end]
    words = tuple(word for word in part.words if word.end <= start or word.start >= end)
    spans = sorted((*spans, *ends), key=lambda one: one.start)
    return msgspec.structs.replace(part, spans=tuple(spans), words=words)


def _parted(kit: Kit, part: ClausePart) -> ClausePart:
    """The clause with a day and a time of day in place of a moment, for a tool that takes them apart."""
    kinds = {field.kind for field in kit.fields}
    if "moment" in kinds or not kinds & {"day", "time"} or all(one.kind != "moment" for one in part.spans):
        return part
    spans: list[Span] = []
    for one in part.spans:
        day, _, time = str(one.value).partition("T")
        if one.kind == "moment" and time:
            spans.append(msgspec.structs.replace(one, kind="day", value=day))
            spans.append(msgspec.structs.replace(one, kind="time", value=time[: len("HH:MM")]))
        else:
            spans.append(one)
    return msgspec.structs.replace(part, spans=tuple(spans))


def _of_today(kit: Kit, part: ClausePart, today: date | None) -> ClausePart:
    """The clause without today, for a tool that takes no day: `tonight at 21:00`, `how heavy is hive 7 today`."""
    kinds = {field.kind for field in kit.fields}
    if today is None or kinds & {"day", "moment", "month"}:
        return part
    own = [one for one in part.spans if one.kind == "day" and str(one.value) == today.isoformat()]
    times = {one.start for one in part.spans if one.kind == "time"} if "time" in kinds else set[int]()
    is_of_one = bool(kit.required) and not kit.is_acting and not gives_several(kit.tool)
    gone = [one for one in own if one.start in times or (is_of_one and _TODAY.fullmatch(one.text))]
    return msgspec.structs.replace(part, spans=tuple(one for one in part.spans if one not in gone)) if gone else part


#: Words for the day on which it is said.
_TODAY: Final = re.compile(r"today|tonight|heute|aujourd['\u2019]hui|hoy", re.IGNORECASE)


def _in_units(kit: Kit, part: ClausePart) -> ClausePart:
    """The clause with `1 hour 20 minutes` as two values, for a tool that takes hours and minutes apart."""
    if len({field.unit for field in kit.fields if field.kind == "duration"}) < 2:
        return part
    spans: list[Span] = []
    for one in part.spans:
        lengths = lengths_in(one.text, in_parts=True) if one.kind == "duration" else []
        if len(lengths) < 2:
            spans.append(one)
        for said in lengths if len(lengths) > 1 else ():
            start, end = one.start + said.start, one.start + said.end
            spans.append(Span("duration", one.text[said.start : said.end], said.value, start, end, said.unit))
    return msgspec.structs.replace(part, spans=tuple(spans))


def _placed(kit: Kit, part: ClausePart, text: str) -> ClausePart:
    """The clause with a place and what it lies in as one value, for a tool that reads: `Boston, MA`.

    Of several things the last has an `and` before it, so two with a comma alone between them are no list.
    """
    if kit.is_acting or all(field.kind != "place" or field.is_list for field in kit.fields):
        return part
    spans: list[Span] = []
    for at, one in enumerate(part.spans):
        before, after = part.spans[at - 1 : at], part.spans[at + 1 : at + 2]
        if not (spans and one.kind == "name" and _is_within(spans[-1:], one, text)):
            spans.append(one)
        elif _is_within(before, one, text) and not (after and JOINED.fullmatch(text[one.end : after[0].start])):
            whole = text[spans[-1].start : one.end]
            spans[-1] = msgspec.structs.replace(spans[-1], text=whole, value=whole, end=one.end)
        else:
            spans.append(one)
    return msgspec.structs.replace(part, spans=tuple(spans)) if len(spans) < len(part.spans) else part


def _is_within(before: Sequence[Span], one: Span, text: str) -> bool:
    """Whether nothing but a comma stands between two names."""
    return bool(before) and before[0].kind == "name" and text[before[0].end : one.start].strip() == ","
