"""Spans of a request that are values by their form: addresses, ids, paths, days, names; numbers: `quantities`. Pure.

What the words of tools make of a text, phrases among it, are `mentions.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import Final

import msgspec

from toolpath.catalog.words import STOP
from toolpath.checks.request.clock import ClockTime, HalfOfDay, clocks_in, halves_in
from toolpath.checks.request.concepts import STOPS, is_known
from toolpath.checks.request.tokens import QUOTED
from toolpath.checks.request.tongues import tongues_of
from toolpath.checks.request.verbs import folded, is_reading, meanings_of
from toolpath.planner.offline.marks import EMAIL, HANDLE, URL
from toolpath.planner.offline.request.moments import NUMBERED, Day, days_in
from toolpath.planner.offline.request.quantities import amounts_in, numbers_in
from toolpath.planner.offline.request.span import Kind, Span
from toolpath.values import Json

#: Several values in brackets; one alone may be a mark.
_LIST: Final = re.compile(
    r"\[[^\[\],]{1,80}(?:,[^\[\],]{1,80}){1,40}\]|\((?:\s*-?\d+(?:\.\d+)?\s*,){1,9}\s*-?\d+(?:\.\d+)?\s*\)"
)
_PHONE: Final = re.compile(r"(?<!\w)\+\d{1,3}(?:[ ()/-]{0,2}\d{1,6}){2,6}(?!\w)")
_IBAN: Final = re.compile(r"\b[A-Z]{2}\d{2}[A-Z0-9]{10,30}\b")
_PATTERN: Final = re.compile(r"(?<![\w/])\*\.\w{1,8}|(?<!\w)\.(\w{1,8})[- ](?:files?|Dateien|fichiers|archivos)\b")
_EXTENSION: Final = re.compile(
    r"\b(pdf|csv|txt|jpg|png|docx|xlsx|json|yaml|log|zip|md|html|mp3)(?=[- ]files?\b)", re.IGNORECASE
)
_PATH: Final = re.compile(
    r"(?<![\w/.~@+-])(?:(?:~|\.{1,2})?/[\w.@~+-]+(?:/[\w.@~+-]+)*/?"
    r"|[\w@~+-][\w.@~+-]*(?:/[\w.@~+-]+)+|[\w-]+(?:\.[\w-]+)*\.[a-zA-Z]\w{0,5})(?![\w])"
)
#: A day and its month, or a part of something: no path.
_DAY_AND_MONTH: Final = re.compile(r"\d{1,2}/\d{1,2}(?:/\d{2})?")
_NUMBERED: Final = re.compile(r"(?<![\w])#(\d{1,9})\b")
_ID: Final = re.compile(
    r"(?<![\w-])[A-Za-z]{1,8}[-_]\d+(?:[-_]\d+)*(?![\w-])"
    r"|(?<![\w.-])(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{2,40}(?![\w-])"
    r"|(?<![\w.-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])"
    r"|(?<![\w.-])[A-Za-z][\w]*-\d[\w.]*(?![\w-])"
    r"|(?<![\w.-])(?=[\w-]*\d)[A-Za-z]\w*(?:-\w+)+(?![\w-])"
)
#: Of a car.
_PLATE: Final = re.compile(r"(?<![\w.-])[A-ZÄÖÜ]{1,3}-[A-Z]{1,2} ?\d{1,4}[EH]?(?![\w-])")
#: Of a container: `registry.local/web:2.8.1`.
_IMAGE: Final = re.compile(r"(?<![\w/.:@-])[a-z][\w.-]*(?:/[\w.-]+)*:(?=[\w.-]*\d)[a-z\d][\w.-]*(?![\w:/-])(?<!\.)")
_VERSION: Final = re.compile(
    r"(?<![\w.-])v?\d+(?:\.\d+){2,3}(?:-[\w.]+)?(?![\w-]|\.\d)|(?<![\w.-])v\d+(?:\.\d+){0,3}(?![\w-]|\.\d)"
)
#: Letters and digits in one, which nothing is cut out of: `sev2`, `7b`.
_MIXED_CODE: Final = re.compile(r"(?<![\w.,:/-])(?:[A-Za-z]{1,12}\d{1,6}|\d{1,4}[a-z]{1,2})(?![\w-]|[.,:]\d)")
#: Digits and what they count.
_COUNTING: Final = re.compile(
    r"\d+(?:st|nd|rd|th|er|re|e|k|m|h|s|g|l|x|d|w|kg|mg|km|cm|mm|ml|gb|mb|min|am|pm)", re.IGNORECASE
)
_CODE: Final = re.compile(r"(?<![\w-])[a-zA-Z]\w*_\w+(?![\w-])|(?<![\w-])[A-Z]{2,}[A-Z0-9]{2,}(?![\w-])")
_NAME: Final = re.compile(
    r"[^\W\d_a-zß-ÿ][\w'\u2019.-]*(?<![.'\u2019-])(?:\s+(?:&\s+|of\s+|de\s+|von\s+"
    r"|van\s+)?[^\W\d_a-zß-ÿ][\w'\u2019-]*)*"
)
_MOST: Final = 200


def _lists(text: str) -> Iterator[Span]:
    """Values in brackets: `[1, 2, 6]`, `(3, 4)`."""
    for found in _LIST.finditer(text):
        if listed(found[0]) is not None:
            yield _plain("list", found)


def _formed(text: str, forms: Sequence[re.Pattern[str]]) -> Iterator[Span]:
    """Ids of the forms that tools show in their examples: `7b`."""
    for form in forms:
        for found in form.finditer(text):
            yield _plain("id", found)


def listed(text: str) -> list[Json] | None:
    """The values of a list in brackets; None where it is none."""
    try:
        return msgspec.json.decode(text.replace("(", "[").replace(")", "]").replace("'", '"'), type=list[Json])
    except ValueError:
        return None


def spans_of(text: str, today: date | None = None, forms: Sequence[re.Pattern[str]] = ()) -> list[Span]:
    """The values in the text, in its order, no two overlapping. `forms`: how ids of the tools at hand look."""
    return [*_spans(text, today, tuple(forms))]


@lru_cache(maxsize=64)
def _spans(text: str, today: date | None, forms: tuple[re.Pattern[str], ...]) -> tuple[Span, ...]:
    taken = bytearray(len(text) + 1)
    found: list[Span] = []
    for read in (
        _lists,
        _marked,
        lambda said: _formed(said, forms),
        _paths,
        lambda said: _moments(said, today),
        amounts_in,
        _ids,
        numbers_in,
    ):
        for span in read(text):
            if span.start < span.end and len(found) < _MOST and not any(taken[span.start : span.end]):
                taken[span.start : span.end] = b"\1" * (span.end - span.start)
                found.append(span)
    hidden = "".join(" " if taken[at] else letter for at, letter in enumerate(text))
    is_german = "de" in tongues_of(text)
    found += [one for one in _names(hidden, text, is_german=is_german) if one.start < one.end][:_MOST]
    return tuple(sorted(found, key=lambda one: one.start))


def _plain(kind: Kind, found: re.Match[str], group: int | str = 0) -> Span:
    return Span(kind, found[group], found[group], found.start(group), found.end(group))


def _marked(text: str) -> Iterator[Span]:
    for found in QUOTED.finditer(text):
        inner = next(group for group in found.groups() if group is not None)
        yield Span("quoted", found[0], inner.strip(), found.start(), found.end())
    for found in EMAIL.finditer(text):
        yield _plain("email", found)
    for found in URL.finditer(text):
        yield _plain("url", found)
    for found in _PHONE.finditer(text):
        yield _plain("phone", found)
    for found in HANDLE.finditer(text):
        yield Span("name", found[0], found[0], found.start(), found.end())
    for found in _IBAN.finditer(text):
        yield _plain("iban", found)


def _paths(text: str) -> Iterator[Span]:
    for found in _IMAGE.finditer(text):
        if not re.fullmatch(r"[a-z]+:\d+", found[0]):
            yield _plain("id", found)
    for form in (_PLATE, _VERSION):
        for found in form.finditer(text):
            if not re.fullmatch(r"\d{1,2}\.\d{1,2}\.\d{2,4}", found[0]):
                yield _plain("id", found)
    for found in _PATTERN.finditer(text):
        yield Span("pattern", found[0], f"*.{found[1]}" if found[1] else found[0], found.start(), found.end())
    for found in _EXTENSION.finditer(text):
        yield Span("pattern", found[0], f"*.{found[1].lower()}", found.start(), found.end())
    for found in _PATH.finditer(text):
        path = found[0].rstrip(".")
        if not _is_path(path):
            continue
        kind: Kind = "slash" if "/" in path and not path.startswith((".", "/", "~")) else "path"
        yield Span(kind, path, path, found.start(), found.start() + len(path))
    for found in _NUMBERED.finditer(text):
        yield Span("number", found[0], int(found[1]), found.start(), found.end(), "#")
    for found in re.finditer(r"(?<=\w)#(\d{1,9})\b", text):
        yield Span("number", found[0], int(found[1]), found.start(), found.end(), "#")


def _is_path(text: str) -> bool:
    """Whether it is none of the things that look like one: `25/05/2026`, `e.g`."""
    is_day = NUMBERED.fullmatch(text) or _DAY_AND_MONTH.fullmatch(text)
    return not is_day and re.fullmatch(r"(?:[a-z]\.)+[a-z]", text, re.IGNORECASE) is None


def _moments(text: str, today: date | None) -> Iterator[Span]:
    """Days, times of day, and both where they stand beside each other with the half of the day that is said."""
    taken: set[int] = set()
    for found in _STAMP.finditer(text):
        if _iso_day(found["day"]):
            taken |= {*range(*found.span())}
            yield Span("moment", found[0], f"{found['day']}T{found['time']}", found.start(), found.end())
    said: list[Day | ClockTime | HalfOfDay] = []
    halves = {(one.start, one.end): one for one in halves_in(text)}
    named: list[Day | ClockTime | HalfOfDay] = [*days_in(text, today), *clocks_in(text), *halves.values()]
    for one in named:
        if not taken & {*range(one.start, one.end)}:
            taken |= {*range(one.start, one.end)}
            said.append(one)
    said.sort(key=lambda one: one.start)
    rows: list[list[Day | ClockTime | HalfOfDay]] = []
    for one in said:
        row = rows[-1] if rows else []
        if row and type(one) not in map(type, row) and _BESIDE.fullmatch(text[row[-1].end : one.start]):
            row.append(one)
        else:
            rows.append([one])
    for row in rows:
        yield from _of_row(text, row)


#: A moment as machines write it, with its zone where it says one.
_STAMP: Final = re.compile(
    r"(?<![\w-])(?P<day>\d{4}-\d{2}-\d{2})[Tt](?P<time>\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d{2}:?\d{2})?)(?!\w)"
)


def _iso_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _of_row(text: str, row: Sequence[Day | ClockTime | HalfOfDay]) -> Iterator[Span]:
    day = next((one for one in row if isinstance(one, Day)), None)
    clock = next((one for one in row if isinstance(one, ClockTime)), None)
    half = next((one for one in row if isinstance(one, HalfOfDay)), None)
    if half is None and day is not None and _TONIGHT.fullmatch(text[day.start : day.end]):
        half = HalfOfDay(day.start, day.end, "p")
    if clock is None or (clock.is_bare and half is None):
        if day is not None:
            yield Span("day", text[day.start : day.end], day.iso, day.start, day.end)
        return
    told = clock.told(half.half if half is not None else "")
    used = [one for one in row if told is not None or isinstance(one, ClockTime)]
    if told is None and day is not None:
        yield Span("day", text[day.start : day.end], day.iso, day.start, day.end)
    start, end = min(one.start for one in used), max(one.end for one in used)
    if day is not None and told is not None:
        yield Span("moment", text[start:end], f"{day.iso}T{told}", start, end)
    else:
        # `half seven`, of which nothing says whether it is of the morning: it is asked.
        yield Span("time", text[start:end], told, start, end)


#: Between a day and the time of it.
_BESIDE: Final = re.compile(
    r"[\s,]*(?:at|um|gegen|à|vers|a|las?|on|am|le|el|T|in\s+the|this|bis|by)?[\s,]*", re.IGNORECASE
)
_TONIGHT: Final = re.compile(r"tonight", re.IGNORECASE)


def _ids(text: str) -> Iterator[Span]:
    for found in _ID.finditer(text):
        yield _plain("id", found)
    for found in _CODE.finditer(text):
        yield _plain("code", found)
    for found in _MIXED_CODE.finditer(text):
        if not _COUNTING.fullmatch(found[0]):
            yield _plain("code", found)


#: What names of places begin with, though it is a word of its own: `New York`.
_OPENING: Final = frozenset(("new", "north", "south", "east", "west", "great", "mount", "port", "fort", "lake"))
#: So far before a word stand its article and what says how it is.
_BEHIND: Final = 80
#: Before a word with a capital that is no name: German things have one, too.
_GERMAN_THING: Final = re.compile(
    r"\b(?:der|die|das|den|dem|des|ein|eine[nmrs]?|mein\w{0,2}|dein\w{0,2}|sein\w{0,2}|ihr\w{0,2}|unser\w{0,2}|kein\w{0,2}"
    r"|diese[nmrs]?|jede[nmrs]?|alle[nr]?|welche[nmrs]?|zum|zur|vom|beim|im|am)\s+(?:[a-zäöüß]+e[nmrs]?\s+)?$",
    re.IGNORECASE,
)


#: Behind a name that opens a sentence.
_MAY_OPEN: Final = re.compile(
    r"['\u2019]s?\b|\s*(?:$|[,:;&?!-]|\.(?:\s|$))|\s+(?:and|und|et|y|or|is|are|was|has|had|have|can|could|will|would|wants?|needs?|says?|said|should"
    r"|must|got|gets|just|called|asked|paid|goes|did|does|ist|hat|will|kann|braucht|soll|est|a|veut|es|ha|quiere|tiene)\b"
)


def _opens(text: str, at: int) -> bool:
    """Whether a sentence begins here."""
    while at and text[at - 1].isspace():
        at -= 1
    return not at or text[at - 1] in ".!?:"


def _names(text: str, whole: str, *, is_german: bool = False) -> Iterator[Span]:
    """Runs of words with a capital that are no words of everyday tools. `whole`: the text with its other values."""
    for found in _NAME.finditer(text):
        opens = _opens(text, found.start())
        if is_german and opens and " " not in found[0] and text[found.end() :].strip():
            # What opens a German command is its verb.
            continue
        if (
            is_german
            and " " not in found[0]
            and found[0][1:].islower()
            and _GERMAN_THING.search(text[max(0, found.start() - _BEHIND) : found.start()])
        ):
            continue
        words = [(one.start() + found.start(), one[0]) for one in re.finditer(r"[^\s]+", found[0])]
        if opens and " " not in found[0] and not _MAY_OPEN.match(whole, found.end()):
            # What opens a command is its verb: `Throw it out`.
            continue
        is_first = opens
        while (
            words
            and not _is_joined(words)
            and (_is_common(words[0][1]) or (is_first and len(words) == 1 and _is_verb(words[0][1])))
        ):
            if not is_first and not is_german and _is_begun(words):
                break
            words = words[1:]
            is_first = False
        while words and (_is_common(words[-1][1]) and not _is_kept(words)):
            words = words[:-1]
        if words:
            start, end = words[0][0], words[-1][0] + len(words[-1][1])
            yield Span(
                "name",
                text[start:end],
                text[start:end].removesuffix("'s") if text[end:].strip() else text[start:end],
                start,
                end,
            )


def _is_joined(words: list[tuple[int, str]]) -> bool:
    """Whether the first word is one of a firm's: `Haus & Co`, `Fish & Sons`."""
    return len(words) > 2 and words[1][1] == "&"


def _is_begun(words: list[tuple[int, str]]) -> bool:
    """Whether the first word belongs to the name after it: `New York`, `Los Angeles`; a verb begins no name."""
    first, second = words[0][1], words[1][1] if len(words) > 1 else ""
    is_opening = folded(first) in _OPENING or not _is_verb(first)
    return bool(second) and is_opening and first.istitle() and not _is_common(second)


def _is_common(word: str) -> bool:
    plain = folded(word)
    return plain in STOPS or plain in STOP or is_known(word) or _is_verb(word)


def _is_verb(word: str) -> bool:
    return bool(meanings_of(word)) or is_reading(word)


def _is_kept(words: list[tuple[int, str]]) -> bool:
    """Whether the last word belongs to a name before it, as in `Brandt Design`: a name of a name is one."""
    return len(words) > 1 and any(not _is_common(word) for _, word in words[:-1]) and words[-1][1].istitle()
