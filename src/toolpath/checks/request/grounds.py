"""Grounds that a value of a plan may rest on: words, numbers and times of its request, results, descriptions. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.amounts import CURRENCIES
from toolpath.checks.request.calendar_words import PERIODS, says_when
from toolpath.checks.request.concepts import STOPS, concepts_of
from toolpath.checks.request.counts import number_words
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.tokens import DATED, EDGES
from toolpath.checks.request.verbs import folded
from toolpath.model.plan import Basis
from toolpath.values import walk

_LONGEST: Final = 20_000
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_TOKEN: Final = re.compile(r"\S+")
#: What names one thing: an address, a place, an id, a number. Of these nothing is made up.
TELLING: Final = re.compile(r"\d|@|://|[\w-]\.[a-zA-Z]{2,}|/|\\|\w_\w")
#: Words of a name or a title; a longer text somebody has worded.
FEW: Final = 6
_PARTS: Final = re.compile(r"[/\\:?&=#,;|<>()\[\]{}\"'\s]+")
_DIGITS: Final = re.compile(r"\d+")
_AMOUNT: Final = re.compile(r"\d+(?:[.,]\d+)*")
CLOCK: Final = re.compile(r"\d{1,2}(?::\d{2}){1,2}|\d{1,2}\s?[ap]\.?m\.?|\bP(?=[\dT])[\dYMWDTHS.]+", re.IGNORECASE)
#: A date of a form that machines write, with or without a time.
MOMENT: Final = re.compile(r"\d{4}-\d{2}(?:-\d{2})?(?:[T ]\d{2}:\d{2}\S*)?|\d{1,2}:\d{2}(?::\d{2})?\S{0,6}")
OF_TIME: Final = frozenset(
    re.findall(
        r"\S+",
        """date day days week weeks month months year years hour hours minute minutes second seconds time when start
        end from until since due deadline duration period before after at""",
    )
)
_NOW: Final = frozenset(("now", "ago", "jetzt", "ahora", "upcoming", "maintenant"))
#: What numbers of a request are turned into: minutes, seconds, hundredths, thousands.
_SCALES: Final = (1, 60, 3_600, 24, 7, 1_000, 1_000_000, 100, 1_024, 86_400, 12, 30, 365)
_NUMBERS: Final = {
    **{word: float(number) for number in range(2, 13) for word in number_words(number)},
    **dict.fromkeys(("half", "halb", "halbe", "demi", "demie", "media", "medio"), 0.5),
    **dict.fromkeys(("couple", "twice", "both", "double", "pair", "second"), 2.0),
    **dict.fromkeys(("once", "one", "first"), 1.0),
    **dict.fromkeys(("twenty", "zwanzig", "vingt", "veinte"), 20.0),
    **dict.fromkeys(("thirty", "dreissig", "trente", "treinta"), 30.0),
    **dict.fromkeys(("hundred", "hundert", "cent", "cien"), 100.0),
    **dict.fromkeys(("thousand", "tausend", "mille", "mil"), 1000.0),
    "zero": 0.0,
    "no": 0.0,
    "quarter": 0.25,
    "third": 3.0,
    "dozen": 12.0,
    "fifteen": 15.0,
    "forty": 40.0,
    "fifty": 50.0,
    "sixty": 60.0,
    "ninety": 90.0,
    "million": 1e6,
    "last": -1.0,
    "percent": 0.01,
}


class Grounds:
    """Words, numbers and times of a request; where it says nothing, results of earlier steps and descriptions."""

    def __init__(self, request: str, catalog: Catalog, known: str = "") -> None:
        self.text = folded(request[:_LONGEST])
        self.known = folded(known)
        self._catalog = catalog
        self._request = request[:_LONGEST]

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the request that say something."""
        return frozenset(word for word in _WORD.findall(self.text) if word not in STOPS)

    @cached_property
    def concepts(self) -> frozenset[str]:
        """The concepts of its words."""
        return frozenset[str]().union(*(concepts_of(word) for word in self.words))

    @cached_property
    def runs(self) -> frozenset[str]:
        """Its runs of digits, without leading zeros."""
        return frozenset(run.lstrip("0") or "0" for run in _DIGITS.findall(self.text))

    @cached_property
    def numbers(self) -> frozenset[float]:
        """Its numbers, in digits and in words."""
        found = {_NUMBERS[word] for word in _WORD.findall(self.text) if word in _NUMBERS}
        for digits in _AMOUNT.findall(self.text):
            found.update(_read(digits))
        return frozenset(found)

    @cached_property
    def says_when(self) -> bool:
        """Whether it speaks of a time."""
        words = _WORD.findall(self.text)
        spoken = any(says_when(word) or word in PERIODS or word.rstrip("s") in PERIODS for word in words)
        spoken = spoken or any(
            word in OF_TIME or word in ("now", "ago", "jetzt", "ahora", "upcoming") for word in words
        )
        return spoken or any(DATED.fullmatch(token.strip(EDGES)) for token in self.text.split()) or self.says_clock

    @cached_property
    def says_clock(self) -> bool:
        """Whether it has a time of the day or a length of time in digits."""
        return CLOCK.search(self.text) is not None or any(run.isdigit() and len(run) == 4 for run in self.runs)

    @cached_property
    def descriptions(self) -> str:
        """All that tools say of themselves."""
        texts: list[str] = []
        for tool in self._catalog.tools.values():
            texts += [tool.description, *tool.limitations]
            texts += [value for _, value in walk(plain_inputs(tool)) if isinstance(value, str)]
            texts += [str(value) for one in tool.examples for _, value in walk(one.parameters)]
        return folded("\n".join(texts))

    def about(self, text: str) -> bool:
        """Whether some word of the text is one of the request, or stands for the same."""
        for word in _WORD.findall(text):
            plain = folded(word)
            if plain in STOPS:
                continue
            if plain in self.words or concepts_of(word) & self.concepts:
                return True
        return False

    def holds(self, text: str) -> bool:
        """Whether the request speaks of what the text does: of a name and a title, of at least half of its words."""
        words = [word for word in _WORD.findall(text) if folded(word) not in STOPS]
        told = sum(self.about(word) for word in words)
        return told > 0 and (len(words) > FEW or 2 * told >= len(words))

    def elsewhere(self, text: str) -> Basis:
        """The basis of a text of which the request says nothing."""
        plain = folded(text.strip(EDGES + " "))
        if plain and plain in self.known:
            return "result"
        return "description" if plain and len(plain) > 1 and plain in self.descriptions else "nothing"


def says_something(text: str) -> bool:
    """Whether any of the words of the text says something."""
    return any(folded(word) not in STOPS for word in _WORD.findall(text))


def _read(digits: str) -> Iterator[float]:
    for plain in {digits.replace(",", ""), digits.replace(".", "").replace(",", "."), digits.replace(",", ".")}:
        try:
            if len(plain) < 50:
                yield float(plain)
        except ValueError:
            continue


def is_same(number: float, said: float) -> bool:
    """Whether a number is one that is said, in the same unit or in another one."""
    if said == 0.5 and number % 15 == 0:
        # `an hour and a half` is 90 minutes.
        return True
    known = [scaled for scale in _SCALES for scaled in (said * scale, said / scale)]
    return any(abs(number - one) < 1e-9 * max(1.0, abs(number)) for one in known)


def telling(text: str) -> Sequence[str]:
    """The words of a text that name one thing."""
    return [token for found in _TOKEN.findall(text) if (token := found.strip(EDGES)) and TELLING.search(token)]


def is_in_request(token: str, grounds: Grounds) -> bool:
    """Whether the request says this address, place, id or number, whole or in its parts."""
    plain = folded(token)
    if plain in grounds.text:
        return True
    if MOMENT.fullmatch(token) or DATED.fullmatch(token) or CLOCK.fullmatch(token):
        return grounds.says_when
    if "@" in plain:
        return False
    if _AMOUNT.fullmatch(token.strip("$€£¥%+-~")):
        return any(is_same(number, one) for number in _read(token.strip("$€£¥%+-~")) for one in grounds.numbers)
    place = re.sub(r"^[a-z][a-z0-9+.-]*://(?:www\.)?", "", plain)
    parts = [part for part in _PARTS.split(place) if part.strip(EDGES + "-_~.")]
    return bool(parts) and all(_is_part(part.strip(EDGES), grounds) for part in parts)


def _is_part(part: str, grounds: Grounds) -> bool:
    if part in grounds.text:
        return True
    digits = _DIGITS.findall(part)
    letters = _WORD.findall(part)
    if digits:
        # `ev-31` for `event 31`.
        return all((run.lstrip("0") or "0") in grounds.runs for run in digits) and all(len(one) <= 4 for one in letters)
    if "." in part:
        return False
    return bool(letters) and all(
        folded(word) in grounds.words or concepts_of(word) & grounds.concepts for word in letters
    )


def is_code(text: str, grounds: Grounds) -> bool:
    """Whether a short text in capitals stands for a word of the request: `FR` for France, `EUR` for `€`."""
    plain = folded(text)
    if not plain.isalpha() or len(plain) > 3:
        return False
    if any(text.upper() in codes and said.search(grounds.text) for said, codes in CURRENCIES):
        return True
    words = _WORD.findall(grounds.text)
    initials = "".join(word[0] for word in words)
    return plain[:2] in initials or any(_runs_through(plain, word) for word in words)


def _runs_through(code: str, word: str) -> bool:
    letters = iter(word)
    return word.startswith(code[0]) and all(letter in letters for letter in code)
