"""Mentions in a request that could be arguments of whatever tool: quoted text, names, numbers, phrases. Pure.

The words of tools decide what becomes of them (`match.py`), so a mention keeps the words around it, a number what it
counts, and what is left is a phrase. Values with their kind and unit, as clauses have them, are `request/spans.py`.
Days, times of day, quotations and addresses are read in one place for both.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from toolpath.catalog.words import STOP
from toolpath.checks.request.clock import clocks_in
from toolpath.checks.request.tokens import QUOTED
from toolpath.checks.request.tongues import Tongue
from toolpath.planner.offline.marks import EMAIL, HANDLE, URL
from toolpath.planner.offline.match import is_unit
from toolpath.planner.offline.mention import Kind, Mention
from toolpath.planner.offline.number_words import numbers_in_words
from toolpath.planner.offline.proper_names import proper_names
from toolpath.planner.offline.request.moments import days_in
from toolpath.planner.offline.terms import CURRENCY
from toolpath.values import Json

#: Words on either side that are kept.
_BEFORE, _AFTER = 6, 3
_MOST = 300

#: `titled Bread and butter about baking`: a title without quotation marks ends where the sentence goes on.
_TITLED = re.compile(
    r"\b(?:en)?titled:?\s+(?P<title>[A-Z0-9][^\s,.;:!?\"']*(?:\s+(?!(?:about|by|with|for|from|saying|then|which|"
    r"that|where|starting|beginning|due|scheduled|\d{4}-\d{2}|T?\d{1,2}:\d{2}|(?:on|at)\s+T?\d+|and\s+(?:then|also|with|[a-z]+\s+(?:it|a|an|the))|on\s+(?:it|the|that|my))\b)[^\s,.;:!?\"']+){0,11})"
)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LIST = re.compile(
    r"\[[^\[\]]{0,500}(?:\[[^\[\]]{0,200}\][^\[\]]{0,50}){0,20}\]"
    r"|\((?:\s*-?\d+(?:\.\d+)?\s*,){1,9}\s*-?\d+(?:\.\d+)?\s*\)"
)
_OBJECT = re.compile(r"\{[^{}]{1,1000}\}")
_EXPRESSION = re.compile(
    r"(?<![\w.])(?:\d*\.?\d*[a-z](?:\s?(?:\^|\*\*)\s?\d+)|\d+(?:\.\d+)?[a-z]\b)"
    r"(?:\s?[-+*/]\s?(?:\d*\.?\d*[a-z](?:(?:\^|\*\*)\d+)?|\d+(?:\.\d+)?))*(?![\w(])"
)
_NUMBER = re.compile(
    r"(?<![\w.^])(?P<sign>-)?(?P<money>[$€£¥])?\s?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e-?\d+)?)(?P<ending>st|nd|rd|th)?"
    r"(?P<percent>\s?%)?(?:\s?(?P<scale>million|billion|thousand|k|m)\b(?!/))?"
)
_ENGLISH: Final[tuple[Tongue, ...]] = ("en",)
#: What says a number and is no number word.
_COUNTS = {"one": 1.0, "dozen": 12.0, "half": 0.5}
_COUNT = re.compile(r"\b(?:one|dozen|half)\b(?!-)", re.IGNORECASE)
#: `two numbers: 3 and 4` counts what is listed.
_COUNTS_LIST = re.compile(r"(?:\s+(?!in\b|at\b|for\b|with\b|and\b)[A-Za-z]+){1,5}?\s*(?::|\s[(\[]\s*-?\d)")
#: `four circles, where the first circle …`: what is told one by one is counted only.
_COUNTED = re.compile(r"(?:\s+[a-z-]+){0,2}?\s+(?P<one>[a-z]{2,})s\b", re.IGNORECASE)
#: `Windows 10`, `World War 2`: a short number at the end of a name; after a preposition it is one of its own.
_NUMBERED = re.compile(
    r"(?<![.!?]\s)(?<!^)\b(?!(?:In|At|On|For|Of|And|With|Top|The|About|First|Last|Next|"
    r"ID|Id|No|Number|Code|Case|Age|I)\b)"
    r"[A-Z][\w&]*(?: (?:of )?(?!ID\b|Id\b)[A-Z][\w&]*){0,6} \d{1,3}\b"
    r"(?![\w%/]|[.,:]\d| ?(?:%|st\b|nd\b|rd\b|th\b|[a-z]))"
)
_SCALES = {"thousand": 1_000, "k": 1_000, "million": 1_000_000, "m": 1_000_000, "billion": 1_000_000_000}
#: A place among files, or a name below another one; a plain word beside a slash is neither.
_PATH = re.compile(
    r"(?<![\w/.~:@+-])(?:(?:~|\.{1,2})?(?:/[\w.@~+-]{0,100}[\w~+-]){1,30}/?|[A-Za-z]:\\[\w.\\ -]{0,200}[\w]"
    r"|[\w.@~+-]{1,100}(?:/[\w.@~+-]{1,100}){1,30}\.\w{1,6}"
    r"|[a-z][\w.-]{0,60}[-_.\d][\w.-]{0,60}/[\w.-]{0,100}\w|[a-z]\w{0,100}/[\w.-]{0,60}[-_.\d][\w.-]{0,60}\w)(?![\w])"
)
#: A time that no clock has is one that was said, and is asked about.
_DIGITS_OF_TIME = re.compile(r"\bT?\d{1,2}:\d{2}(?::\d{2})?\b")
_MOMENT = re.compile(
    r"(?<![\w-])\d{4}-\d{2}-\d{2}[Tt ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d{2}:?\d{2})?(?!\w)"
)
_CODE = re.compile(
    r"(?<![\w.-])v?\d{1,6}(?:\.\d{1,6}){2,5}(?:[-+][\w.-]{0,40}\w)?(?![\w-]|\.\d)|(?<![\w.-])v\d[\d.]{0,9}\b"
    r"|\b(?=[\w-]{0,60}\d)(?=[\w-]{0,60}[A-Za-z])[A-Za-z0-9][\w-]{0,120}\w|\b[A-Za-z]\w*(?:_\w+)+\b"
    r"|\b[\w-]{1,100}(?:\.[\w-]{1,60}){0,6}\.(?:[a-z]{2,5})\b|\+?\d{1,4}(?:-\d{2,6}){1,4}\b|\b\d+x\d+\b"
)
#: What looks like a code and is a number with its unit, an ordinal, a decade or a compound word.
_NO_CODE = re.compile(
    r"\d+(?:st|nd|rd|th|k|m|kg|g|km|cm|mm|hz|ghz|s|h|l|ml|am|pm|d|w|gb|mb|in|ft|lbs?|mph|v|hours?|years?|days?)"
    r"|\d{4}s|\d+-[a-z]{2,}(?:-[a-z]+)?|(?-i:[a-z]{4,}|top|mid|pre|age|day|sub|non|[A-Z]?[a-z]{4,})-\d{1,2}|(?:i|e)\.(?:e|g)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-zÀ-ÿ][\wÀ-ÿ'\u2019/²^-]*|[%$€£]")
#: A number with what it counts, after which something else begins.
_COUNTING = re.compile(
    r"(?<![\w.])\d[\d,.]*[ -](?:square |cubic )?(?P<unit>[A-Za-z]{3,})"
    r"(?=[,;]|\s+(?:and|in|at|with|after|over|on|by|from|per|for)\s)"
)
_DIGIT_BEFORE = re.compile(r"\d[ -]?$")
_ARTICLE = re.compile(r"\s+(?:an?|the|my|our|some)\b", re.IGNORECASE)
#: Words that point back or hold a sentence together; none is a value.
_NO_VALUE = STOP | frozenset(
    re.findall(
        r"\S+",
        """he she his her him it its these those following specified mentioned obtained retrieved given previous used
        using provided same found made involving based related regarding named called titled result results above
        corresponding resulting afterwards once located upon within during between among per across through until till
        before above below near around along against toward towards via versus vs but nor yet
        without because since while whether if although however obtain possible able know see saying says entitled
        specific different certain various particular several additionally furthermore moreover meanwhile lastly finally
        afterward firstly secondly thirdly respectively""",
    )
)


#: More digits are no number that anybody means.
_MOST_DIGITS = 300


def mentions(text: str) -> list[Mention]:
    """Everything mentioned, in the order of the text, no two overlapping, phrases last."""
    return list(_mentions(text))


@lru_cache(maxsize=256)
def _mentions(text: str) -> tuple[Mention, ...]:
    """The same, kept: each tool that may be meant reads the same text."""
    taken: list[tuple[int, int]] = []
    found: list[Mention] = []
    for reader in _READERS:
        for mention in reader(text):
            if mention.start < mention.end and not _overlaps(taken, mention.start, mention.end):
                taken.append((mention.start, mention.end))
                taken.sort()
                found.append(mention)
                if len(found) >= _MOST:
                    break
    found.sort(key=lambda mention: mention.start)
    words = [(match.start(), match.end(), match.group().lower()) for match in _WORD.finditer(text)]
    placed = [_placed(text, mention, words) for mention in found]
    return (*placed, *(_placed(text, phrase, words) for phrase in _phrases(text, taken)))


def _placed(text: str, mention: Mention, words: Sequence[tuple[int, int, str]]) -> Mention:
    first = bisect_left(words, (mention.start, 0, ""))
    last = first
    while last < len(words) and words[last][0] < mention.end:
        last += 1
    while first and words[first - 1][1] > mention.start:
        first -= 1
    before = _until_stop(text, words[max(0, first - _BEFORE) : first], mention.start)
    if mention.kind == "number":
        before = [word for word in before if word not in _counted(text, mention.start)]
    after = []
    edge = mention.end
    for start, end, word in words[last : last + _AFTER]:
        if re.search(r"[.!?;,]\s", text[edge:start]):
            break
        after.append(word)
        edge = end
    unit = mention.unit
    if mention.kind == "number" and not unit and after and after[0] not in STOP:
        unit = after[0]
    return msgspec.structs.replace(mention, before=tuple(before), after=tuple(after), unit=unit)


def _counted(text: str, start: int) -> frozenset[str]:
    """The things that numbers before this one count: of `3 bedrooms, 2 bathrooms` it is bathrooms that are two."""
    found = _COUNTING.finditer(text, max(0, start - 60), start)
    return frozenset(match["unit"].lower() for match in found)


def _until_stop(text: str, words: Sequence[tuple[int, int, str]], start: int) -> list[str]:
    kept: list[str] = []
    for begin, end, word in reversed(words):
        if re.search(r"[.!?;]\s", text[end:start]):
            break
        kept.insert(0, word)
        start = begin
    return kept


def _quoted(text: str, begin: int = 0, end: int | None = None) -> Iterator[Mention]:
    for match in QUOTED.finditer(text, begin, len(text) if end is None else end):
        inner = next(group for group in match.groups() if group is not None)
        if not inner.strip():
            continue
        # A request that is quoted as a whole mentions nothing by that, but what is quoted in it.
        is_whole = len(match.group()) > 0.8 * len(text) and len(inner.split()) > 6
        if is_whole or (len(inner.split()) > 5 and inner.rstrip().endswith("?") and match.start() == 0):
            yield from _quoted(text, match.start() + 1, match.end() - 1)
            continue
        # A day in quotation marks is a day all the same.
        kind: Kind = "date" if _DAY.fullmatch(inner) and any(True for _ in days_in(inner, None)) else "quoted"
        yield Mention(kind, inner, inner.strip().rstrip(",") if len(inner) < 60 else inner, match.start(), match.end())


def _titles(text: str) -> Iterator[Mention]:
    for match in _TITLED.finditer(text):
        yield Mention("quoted", match["title"], match["title"], match.start("title"), match.end("title"))


def _addresses(text: str) -> Iterator[Mention]:
    for match in EMAIL.finditer(text):
        value = match.group().rstrip(".")
        yield Mention("email", value, value, match.start(), match.start() + len(value))
    for match in URL.finditer(text):
        yield Mention("url", match.group(), match.group(), match.start(), match.end())


def _handles(text: str) -> Iterator[Mention]:
    for match in HANDLE.finditer(text):
        yield Mention("handle", match.group(), match.group(), match.start(), match.end())


def _lists(text: str) -> Iterator[Mention]:
    for match in _LIST.finditer(text):
        try:
            value = msgspec.json.decode(match.group().replace("(", "[").replace(")", "]").replace("'", '"'))
        except ValueError:
            value = [_scalar(item) for item in match.group()[1:-1].split(",") if item.strip()]
        yield Mention("list", match.group(), value, match.start(), match.end())


def _scalar(item: str) -> Json:
    item = item.strip().strip("'\"")
    try:
        return int(item)
    except ValueError:
        pass
    try:
        return float(item)
    except ValueError:
        return item


def _paths(text: str) -> Iterator[Mention]:
    for match in _PATH.finditer(text):
        path = match.group().rstrip(".")
        yield Mention("code", path, path, match.start(), match.start() + len(path))


def _dates(text: str) -> Iterator[Mention]:
    for match in _MOMENT.finditer(text):
        if any(True for _ in days_in(match.group()[:10], None)):
            yield Mention("date", match.group(), match.group(), match.start(), match.end())
    for day in days_in(text, None):
        yield Mention("date", text[day.start : day.end], day.iso, day.start, day.end)
    for clock in clocks_in(text):
        if not clock.is_bare:
            said = text[clock.start : clock.end]
            yield Mention("time", said, said, clock.start, clock.end)
    for match in _DIGITS_OF_TIME.finditer(text):
        yield Mention("time", match.group(), match.group(), match.start(), match.end())


def _expressions(text: str) -> Iterator[Mention]:
    for match in _EXPRESSION.finditer(text):
        value = match.group().strip()
        if "^" in value or "**" in value or re.search(r"\d[a-z]\s?[-+*/]", value):
            yield Mention("expression", value, value.replace("^", "**"), match.start(), match.start() + len(value))


def _currencies(text: str) -> Iterator[Mention]:
    for match in CURRENCY.finditer(text):
        yield Mention("name", match.group(), match.group(), match.start(), match.end())


def _numbered(text: str) -> Iterator[Mention]:
    for match in _NUMBERED.finditer(text):
        yield Mention("name", match.group(), match.group(), match.start(), match.end())


def _objects(text: str) -> Iterator[Mention]:
    for match in _OBJECT.finditer(text):
        try:
            value = msgspec.json.decode(re.sub(r"(?<!\w)'|'(?!\w)", '"', match.group()))
        except ValueError:
            continue
        yield Mention("list", match.group(), value, match.start(), match.end())


def _codes(text: str) -> Iterator[Mention]:
    for match in _CODE.finditer(text):
        code = match.group()
        if not _NO_CODE.fullmatch(code):
            yield Mention("code", code, code, match.start(), match.end())


def _numbers(text: str) -> Iterator[Mention]:
    for match in _NUMBER.finditer(text):
        digits = match["digits"].replace(",", "")
        if len(digits) > _MOST_DIGITS:
            continue
        value: float | int = float(digits) if re.search(r"[.e]", digits) else int(digits)
        if match["scale"] and (match["money"] or len(match["scale"]) > 1):
            value = value * _SCALES[match["scale"]]
            value = int(value) if float(value).is_integer() else value
        if match["sign"]:
            value = -value
        unit = "%" if match["percent"] else match["money"] or ""
        if not unit:
            following = re.match(r"\s?-?(percent|[a-zA-Z°]+(?:/[a-z]+)?)", text[match.end() :])
            unit = (following.group(1).lower() if following else "").replace("percent", "%")
            unit = "" if unit in STOP else unit
        end = match.end()
        if match["scale"] and not match["money"] and len(match["scale"]) == 1:
            # `5m` are metres, `5k` alone is nothing known.
            unit, end = match["scale"], match.start("scale")
        yield Mention("number", text[match.start() : end], value, match.start(), end, unit)
    said = [(one.start, one.end, float(one.value)) for one in numbers_in_words(text, _ENGLISH)]
    for match in _COUNT.finditer(text):
        if match.group().lower() == "one" and not re.match(r"\s+[a-z]+", text[match.end() :]):
            continue
        said.append((match.start(), match.end(), _COUNTS[match.group().lower()]))
    for start, end, number in sorted(said):
        if not _COUNTS_LIST.match(text, end) and not _is_told_singly(text, end):
            yield Mention("number", text[start:end], int(number) if number.is_integer() else number, start, end)


def _is_told_singly(text: str, start: int) -> bool:
    """Whether the things counted here are told one by one further on."""
    counted = _COUNTED.match(text, start)
    if counted is None:
        return False
    told = rf"\bfirst\s+(?:[\w-]+\s+)?{re.escape(counted['one'])}\b"
    return re.search(told, text[counted.end() :], re.IGNORECASE) is not None


def _phrases(text: str, taken: Sequence[tuple[int, int]]) -> Iterator[Mention]:
    """Runs of telling words, without those that are mentions already."""
    run: list[tuple[int, int]] = []
    for match in [*_WORD.finditer(text)][:2_000]:
        start, end = match.span()
        word = match.group().lower()
        ends_run = word in _NO_VALUE or _overlaps(taken, start, end)
        ends_run = ends_run or _is_done_to(text, word, end) or _is_counted_in(text, word, start)
        if run and (ends_run or text[run[-1][1] : start].strip()):
            yield _phrase(text, run)
            run = []
        if not ends_run:
            run.append((start, end))
    if run:
        yield _phrase(text, run)


def _is_done_to(text: str, word: str, end: int) -> bool:
    """Whether the word says what is done to something: `attending a concert`."""
    return word.endswith("ing") and _ARTICLE.match(text, end) is not None


def _is_counted_in(text: str, word: str, start: int) -> bool:
    """Whether the word is the unit of the number before it."""
    return is_unit(word) and _DIGIT_BEFORE.search(text[max(0, start - 3) : start]) is not None


def _phrase(text: str, run: Sequence[tuple[int, int]]) -> Mention:
    start, end = run[0][0], run[-1][1]
    return Mention("phrase", text[start:end], text[start:end], start, end)


def _overlaps(taken: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    at = bisect_left(taken, (start, start))
    return (at < len(taken) and taken[at][0] < end) or (at > 0 and taken[at - 1][1] > start)


_READERS = (
    _objects,
    _quoted,
    _titles,
    _addresses,
    _handles,
    _paths,
    _lists,
    _dates,
    _expressions,
    _currencies,
    _numbered,
    _codes,
    _numbers,
    proper_names,
)
