"""Notes: requests without a verb that say a thing and its values, and mean the one tool that takes them. Pure.

`P-1087: temp 38.4, pulse 112` can be nothing but what is written down of P-1087; `table for 4 on Friday at 8, Okafor`
nothing but a booking. Each word has to be one of the tool's, of a value, a unit, or one of a closed list that stands
beside values; no other tool may take the same. What sets something is no note, unless it is asked for with a `please`:
`Kitchen 20 degrees` may say how warm it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.blockers import blocked_by, words_of
from toolpath.checks.request.calendar_words import MONTHS, WEEKDAYS
from toolpath.checks.request.concepts import STOPS, listed_concepts
from toolpath.checks.request.counts import COUNTS
from toolpath.checks.request.lengths import TIME_UNIT_OF
from toolpath.checks.request.namings import is_short
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.remainders import says_nothing
from toolpath.checks.request.seen import FOR_BOTH, STRUCK_OUT, Seen, is_offered
from toolpath.checks.request.tools import acts, has_been_done
from toolpath.checks.request.verbs import folded, is_reading
from toolpath.model.plan import Call
from toolpath.model.tool import Tool

_WORD: Final = re.compile(r"[^\W\d_][\w'\u2019-]*")
#: Verbs of tools that write down, or make, what a note says.
_NOTING: Final = frozenset(
    ("record", "log", "enter", "note", "save", "track", "add", "create", "make", "book", "reserve", "order")
)
#: Verbs of tools that make something so, where a statement may say that it is so.
_SETTING: Final = frozenset(("set",))
_PLEASE: Final = re.compile(
    r"\b(?:please|pl[sz]|plss|bitte|s['\u2019]il (?:te|vous) pla[iî]t|s[tv]p|por favor|porfa(?:vor)?|xfa)\b",
    re.IGNORECASE,
)
#: Words that say that something is so, and nothing of a wish.
_STATES: Final = re.compile(
    r"\b(?:is|are|am|got|get|gets|has|have|had|does|did|do|went|goes|go|took|takes|take|wants?|needs?|costs?|comes?|came"
    r"|ist|sind|hat|haben|geht|kommt|braucht|nimmt|est|sont|ont|va|prend|son|ha|han|va|toma|wrong|ok|fine|still)\b"
)
#: So many values at least, besides what says which thing it is.
_FEWEST: Final = 2


def is_note(seen: Seen) -> bool:
    """Whether the request is a note of what its one acting tool takes, and nothing else."""
    tools = [tool for _, tool, _ in seen.calls if tool is not None]
    calls = [call for call, _, _ in seen.calls]
    if not tools or len(tools) != len(seen.acting) or len({tool.key for tool in tools}) != 1:
        return False
    tool, said = tools[0], seen.plain
    verb = raw_words(tool.name)[:1]
    is_wanted = bool(_SETTING.intersection(verb)) and _PLEASE.search(seen.whole) is not None
    is_noting = (is_wanted or bool(_NOTING.intersection(verb))) and tool.effect == "write"
    if not is_noting or said.rstrip().endswith(("?", "\uff1f")) or blocked_by(said) is not None:
        return False
    if STRUCK_OUT.search(seen.whole) is not None:
        # What somebody else wrote, or is struck out, is written down by nobody.
        return False
    if _STATES.search(folded(said)) is not None or has_been_done(said, tool) or is_reading(_first(said)):
        return False
    is_whole = all(len(call.inputs) >= _FEWEST and _holds_all(call, tool) for call in calls)
    names = frozenset[str]().union(*(call.inputs.keys() for call in calls))
    others = [one for one in seen.tools_left if acts(one) and names <= _parameters(one)]
    if _is_twice(calls):
        return False
    if _is_shared(calls) and FOR_BOTH.search(said) is None:
        # `MB-204 and MB-205: 80 litres`: of each, or of both together?
        return False
    return is_whole and not others and _says_only_values(said, tool, seen)


def _first(text: str) -> str:
    found = _WORD.search(text)
    return found.group() if found is not None else ""


def _parameters(tool: Tool) -> frozenset[str]:
    properties = plain_inputs(tool).get("properties")
    return frozenset(properties) if isinstance(properties, dict) else frozenset()


def _holds_all(call: Call, tool: Tool) -> bool:
    """Whether the call has all that its tool needs, said in the request and read from no other step."""
    required = plain_inputs(tool).get("required")
    is_needed = all(name in call.inputs for name in required) if isinstance(required, list) else True
    return is_needed and not any("{{" in str(value) for value in call.inputs.values())


def _is_shared(calls: Sequence[Call]) -> bool:
    """Whether two calls take the same number."""
    numbers = [
        (name, value)
        for call in calls
        for name, value in call.inputs.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    return len(set(numbers)) < len(numbers)


def _is_twice(calls: Sequence[Call]) -> bool:
    """Whether two calls are of the same thing: two numbers that are one value of it."""
    things = [tuple(one for one in call.inputs.items() if isinstance(one[1], str)) for call in calls]
    return len(set(things)) < len(things)


def _says_only_values(said: str, tool: Tool, seen: Seen) -> bool:
    """Whether each word is one of the tool's, of a value, a unit, or of those that may stand beside values."""
    words = _Words(said, tool, seen)
    found = [*_WORD.finditer(said)]
    # `A-231 please on Friday at 14:00`: a thing, a day and a time say nothing of what is to be done.
    speaks_of_it = any(words.speaks_of_it(_plain(one.group())) for one in found)
    return words.are_names and speaks_of_it and all(words.is_told(one) for one in found)


class _Words:
    """The words that a note of a tool may have, and where."""

    def __init__(self, said: str, tool: Tool, seen: Seen) -> None:
        values = [
            (str(value), is_offered(value, tool, name))
            for call, _, _ in seen.calls
            for name, value in call.inputs.items()
        ]
        self.said = said
        self.own = {word for name in (tool.name, *_parameters(tool)) for word in raw_words(name)} - STOPS - _RELATIVE
        self.texts = {word for value, is_fixed in values if not is_fixed for word in _words(value)}
        self.options = [folded(value) for value, is_fixed in values if is_fixed]
        self.meant = frozenset[str]().union(*(listed_concepts(word) for word in (*self.own, *self.options)))
        self.are_names = all(is_fixed or _is_one_name(value, said) for value, is_fixed in values)
        self.has_day = bool(seen.held.dates)
        self.has_clock = any(_CLOCK.fullmatch(text) for text in seen.held.texts)

    def speaks_of_it(self, word: str) -> bool:
        """Whether it names what the tool does, takes or counts, and is more than a value."""
        return word in _UNITS or (word not in self.texts and word not in COUNTS and self._is_named(word))

    def is_told(self, found: re.Match[str]) -> bool:
        """Whether a word of the note is one that may stand there."""
        word, following = _plain(found.group()), _FOLLOWING.match(self.said, found.end())
        is_counted = _COUNTED.search(self.said[: found.start()]) is not None
        number, then = (following["number"], _plain(following["word"] or "")) if following is not None else (None, "")
        return (
            word in _BESIDE
            or (is_counted and word in _UNITS)
            or self._is_named(word)
            or self._is_moment(word, then, is_counted=is_counted)
            or self._is_before(word, then, is_number=number is not None)
        )

    def _is_named(self, word: str) -> bool:
        """Whether it is a word of a value, or what the tool calls one."""
        root = word.removesuffix("s")
        if word in self.texts or word in COUNTS:
            return True
        if len(root) >= _LETTERS and any(one.startswith(root) for one in self.options):
            return True
        if word in STOPS or word in _RELATIVE:
            return False
        is_cut = len(word) >= _LETTERS and not says_nothing(word) and is_short(word, self.own)
        return is_cut or not self.own.isdisjoint((word, root)) or bool(listed_concepts(word) & self.meant)

    def _is_moment(self, word: str, then: str, *, is_counted: bool) -> bool:
        """Whether it is of a day or a time of day, which the calls hold."""
        is_day = word in _DAYS or (word in _NEXT and then in WEEKDAYS)
        is_hour = word in _OF_CLOCKS or (is_counted and word in _HOURS)
        return (self.has_day and is_day) or (self.has_clock and is_hour)

    def _is_before(self, word: str, then: str, *, is_number: bool) -> bool:
        """Whether it stands before what it may stand before: `for 4`, `in the kitchen`, `on Friday`, `at 8`."""
        is_named = self._is_named(then) or then in _TITLES
        return (
            (word in _OF and (is_number or is_named))
            or (word in _IN and not is_number and is_named)
            or (word in _ON and self.has_day and (is_number or then in _DAYS | _NEXT))
            or (word in _AT and self.has_clock and (is_number or then in COUNTS or then in _OF_CLOCKS))
        )


def _plain(word: str) -> str:
    return folded(word).removesuffix("'s").strip("'-")


def _words(text: str) -> Iterator[str]:
    yield from (_plain(word) for word in _WORD.findall(text))


def _is_one_name(value: str, said: str) -> bool:
    """Whether a text is an id, one word, or a name by its capitals or its marks: `Kitchen only` is none."""
    words = _WORD.findall(value)
    telling = [word for word in words if folded(word) not in _OF_NAMES]
    if any(folded(word) in STOPS or says_nothing(folded(word)) for word in telling):
        return False
    if len(telling) < 2 or all(word[0].isupper() for word in telling):
        return True
    return re.search(rf"(?:^|[,:;\n])\s*{re.escape(value)}\s*(?:$|[,:;.\n])", said) is not None


_ARTICLES: Final = r"the|an?|der|die|das|den|dem|des|eine?[nmr]?|le|la|les|l['\u2019]|une?|el|los|las|una"
#: What stands behind a word: a number, which may be blanked, or the next word that is no article.
_FOLLOWING: Final = re.compile(
    rf"\s+(?:(?:{_ARTICLES})\s+)?(?:(?P<number>[€$£]?[\d#])|(?P<word>[^\W\d_][\w'\u2019-]*))", re.IGNORECASE
)
_COUNTED: Final = re.compile(r"[\d#]\s*°?\s*$")
#: Words that may stand beside values, wherever they do.
_TITLES: Final = words_of("mr mrs ms dr herr frau m mme mlle sr sra")
_BESIDE: Final = _TITLES | words_of(
    "please pls bitte and und et y the a an der die das den dem des ein eine einen einem einer le la les l un une"
    " el los las una"
)
#: Words before their value, a thing, a day, a time of day.
_OF: Final = words_of("for of für von vom pour de du des d para del")
_IN: Final = words_of("in im dans en")
_ON: Final = words_of("on am le el")
_AT: Final = words_of("at um à a las la")
_DAYS: Final = frozenset((*WEEKDAYS, *MONTHS)) | words_of(
    "today tomorrow tonight heute morgen aujourd'hui demain hoy mañana"
)
_NEXT: Final = words_of("next nächsten nächste nächster nächstem kommenden prochain prochaine próximo")
#: Words of names that say of values which one of several they are, and of days a past one.
_RELATIVE: Final = words_of("last next first past previous new old current")
_OF_NAMES: Final = words_of("de la del di da du le van von der den of the and und y et") | _TITLES
_UNITS: Final = (frozenset(TIME_UNIT_OF) - {"an"}) | words_of(
    "degrees degree celsius fahrenheit grad degrés degré grados grado c f kg kilo kilos kilogram kilograms g gram grams"
    " gramm grammes gramos lb lbs pounds pound pfund t tons tonnes tonnen l litre litres liter liters litros ml cm m mm"
    " km metres meters meter mètres metros euro euros eur dollar dollars usd gbp chf franken percent prozent"
    " piece pieces pcs unit units stück pièces piezas unidades people persons personen personnes personas guests h"
)
_HOURS: Final = words_of("am pm uhr h o'clock")
#: Words of a time of day: `half seven`.
_OF_CLOCKS: Final = words_of("half quarter past halb viertel demie quart media cuarto menos")
_CLOCK: Final = re.compile(r"(?:\d{4}-\d\d-\d\dt)?\d\d:\d\d(?::\d\d)?")
#: A shorter word is short for no name, and the beginning of no option.
_LETTERS: Final = 3
