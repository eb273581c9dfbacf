"""Values that the calls of a plan hold, to be compared with words of its request. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from typing import Final

import msgspec

from toolpath.checks.request.occurrences import goes_on, whole_words
from toolpath.checks.request.tokens import COUNTED, EDGES
from toolpath.checks.request.verbs import folded
from toolpath.values import Json

RUNS: Final = re.compile(r"\d+")
_ISO: Final = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})")


class HeldValues(msgspec.Struct, frozen=True):
    """Values that the calls of a plan hold, to be compared with words of a request."""

    texts: tuple[str, ...]
    """Values, folded."""
    numbers: frozenset[float]
    amounts: frozenset[float]
    """Numbers that stand for themselves, not as a part of a date, a time or an id; lengths of lists."""
    runs: frozenset[str]
    """Every run of digits in any value, without leading zeros."""
    dates: tuple[date, ...]
    vocabulary: frozenset[str]
    """Words of the tools: names, descriptions, parameters, allowed values."""

    def has(self, text: str) -> bool:
        """Whether a value holds the text as whole words."""
        said = folded(text)
        return any(True for value in self.texts for _ in whole_words(value, said))

    def has_text(self, text: str) -> bool:
        """Whether a value holds the text letter by letter."""
        return any(folded(text) in value for value in self.texts)

    def names(self, word: str) -> bool:
        """Whether a value holds the word, and not as a part of an address."""
        said = folded(word)
        return any(not _is_in_address(value, *place) for value in self.texts for place in whole_words(value, said))


def _is_in_address(text: str, start: int, end: int) -> bool:
    """Whether a word of the text is a part of an address: `ann` of `ann@example.org`, `example` of it."""
    if text[start - 1 : start] == "@" or text[end : end + 1] == "@":
        return True
    is_after = text[start - 1 : start] == "." and start > 1 and goes_on(text[start - 2 : start - 1])
    return is_after or (text[end : end + 1] == "." and goes_on(text[end + 1 : end + 2]))


def held_values(values: Sequence[Json], vocabulary: Collection[str], counts: Collection[int] = ()) -> HeldValues:
    """The words, numbers and dates in these values of calls. `counts`: how often the plan calls each of its tools."""
    texts = [text for value in values for text in texts_of(value)]
    dates: list[date] = []
    for text in texts:
        for year, month, day in _ISO.findall(text):
            try:
                dates.append(date(int(year), int(month), int(day)))
            except ValueError:
                continue
    return HeldValues(
        texts=tuple(folded(" ".join(text.split())) for text in texts),
        numbers=frozenset(number for value in values for number in numbers_of(value)),
        amounts=frozenset([*(amount for value in values for amount in _amounts(value)), *map(float, counts)]),
        runs=frozenset(run.lstrip("0") or "0" for text in texts for run in RUNS.findall(text)),
        dates=tuple(dates),
        vocabulary=frozenset(folded(word) for word in vocabulary),
    )


def texts_of(value: Json) -> Iterator[str]:
    """Every text and number in a value, and the names in it, as texts."""
    match value:
        case str():
            yield value
        case bool() | None:
            pass
        case int() | float():
            yield str(value)
        case list():
            for item in value:
                yield from texts_of(item)
        case dict():
            for key, item in value.items():
                yield str(key)
                yield from texts_of(item)


def numbers_of(value: Json) -> Iterator[float]:
    """Every number in a value, those in its texts with them."""
    match value:
        case bool() | None:
            pass
        case int() | float():
            yield float(value)
        case str():
            for found in re.findall(r"\d+(?:[.,]\d+)*", value):
                yield from readings_of(found)
        case list():
            for item in value:
                yield from numbers_of(item)
        case dict():
            for item in value.values():
                yield from numbers_of(item)


def _amounts(value: Json) -> Iterator[float]:
    match value:
        case bool() | None:
            pass
        case int() | float():
            yield float(value)
        case str():
            for token in re.split(r"[\s,;()]+", value):
                counted = COUNTED.fullmatch(token.strip(EDGES))
                if counted is not None and not _NUMBERED.match(token):
                    yield from readings_of(counted["number"])
            for digits in _PERIOD.findall(value):
                yield from (float(run) for run in RUNS.findall(digits))
        case list():
            yield float(len(value))
            for item in value:
                yield from _amounts(item)
        case dict():
            for item in value.values():
                yield from _amounts(item)


#: The beginning of an id, as `10-A`.
_NUMBERED: Final = re.compile(r"\d+-\w")
#: A length of time as ISO 8601 writes it: `PT10M`.
_PERIOD: Final = re.compile(r"(?<!\w)P(?=[\dT])(?:\d+[YMWD]){0,4}(?:T(?:\d+[HMS]){1,3})?(?!\w)")


def readings_of(digits: str) -> Iterator[float]:
    """The numbers that digits with separators may be: `1.000` is one, and a thousand."""
    for plain in (digits.replace(",", ""), digits.replace(".", "").replace(",", "."), digits.replace(",", ".")):
        try:
            if len(plain) < 300:
                yield float(plain)
        except ValueError:
            continue
