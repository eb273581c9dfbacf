"""Conditions of a request: where they stand, and what of a tool's output they speak of. Pure."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words
from toolpath.checks.request.blockers import PLEASE
from toolpath.checks.request.comparisons import COMPARES, NEGATED, NOTHING, UNLESS
from toolpath.checks.request.concepts import STOPS, concepts_of, listed_concepts
from toolpath.checks.request.contraries import contrary
from toolpath.checks.request.presence import amount_told, denies_presence, is_of_ours, tells_presence
from toolpath.checks.request.unparted import command_at
from toolpath.checks.request.verbs import folded
from toolpath.model.plan import Call
from toolpath.planner.offline.request.compared import comparison, concepts_said, operands, place_of
from toolpath.planner.offline.request.fitting import Fitted
from toolpath.planner.offline.request.parts import ClausePart
from toolpath.planner.offline.request.toolbox import Kit, ToolField
from toolpath.values import Json, JsonObject

_IF: Final = (
    r"(?:(?:(?:but|aber|mais|pero)\s+)?(?:only\s+(?:if|when)|nur\s+(?:wenn|falls)|seulement\s+si|s[oó]lo\s+si|if"
    r"|provided(?:\s+that)?|providing(?:\s+that)?|assuming(?:\s+that)?"
    r"|(?:as|so)\s+long\s+as|on\s+condition\s+that|unless|falls|wenn|sofern|si|s['\u2019]il|s['\u2019]elle|außer wenn"
    r"|sauf si|a menos que))"
)
_LEAD: Final = r"(?:(?:hey|hi|hello|ok(?:ay)?|and|but|so|also|then|please|bitte|well|oh)[,!]?\s+)*"
_THEN: Final = (
    r"(?:,\s*(?:then\s+|dann\s+|alors\s+|entonces\s+)?(?:please\s+|bitte\s+)?|\s+then\s+|\s+(?=please\s|bitte\s))"
)
_FIRST: Final = re.compile(
    rf"^\s*{_LEAD}(?P<word>{_IF}|in\s+case)\s+(?P<condition>.+?){_THEN}"
    r"(?P<body>.+?)(?:[,;]\s*(?P<other>or\s+else|otherwise|else|sonst|sinon|si\s+no(?!\s+(?:est|es\b|son|ha|han|hay|tiene|se\b|fue|queda|existe|aparece|l[oae]s?\s+h))),?\s+(?P<else>.+?))?$",
    re.IGNORECASE | re.DOTALL,
)
#: `Lock the door, and if it rains, close the window`: what stands before depends on nothing.
_LATER: Final = re.compile(
    rf"^(?P<before>.+?),?\s+(?:and|und|et|y)(?:\s+then|\s+also)?,?\s+(?={_IF}\s+.+?{_THEN}.)(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_LAST: Final = re.compile(
    rf"^(?P<body>.+?)(?<!\band)(?<!\bund),?\s+(?P<word>{_IF})\s+(?P<condition>(?:(?!\s[-\u2013\u2014]\s)[^,;(])+?)"
    r"(?:[,;]\s*(?P<other>or\s+else|otherwise|else|sonst|sinon|si\s+no(?!\s+(?:est|es\b|son|ha|han|hay|tiene|se\b|fue|queda|existe|aparece|l[oae]s?\s+h))),?\s+(?P<else>.+?))?"
    r"(?:\s[-\u2013\u2014(]\s*.+|,?\s+(?:please|thanks|thank\s+you|pls|bitte))?[.!]?$",
    re.IGNORECASE | re.DOTALL,
)
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\s*\n\s*")
#: Names of numbers that count something.
_COUNTING: Final = frozenset(
    ("count", "total", "rows", "size", "length", "stock", "copies", "quantity", "number", "items", "available")
)


_HOLDS: Final = re.compile(r"\b(?:says|contains?|mentions?|enthält|contient|contiene|includes?)\b", re.IGNORECASE)


class Conditional(msgspec.Struct, frozen=True):
    """A request with a condition: places of its parts in the text."""

    condition: tuple[int, int]
    body: tuple[int, int]
    is_negated: bool
    """`unless`."""
    other: tuple[int, int] | None = None
    """What is to be done otherwise."""


class Stretch(msgspec.Struct, frozen=True):
    """A part of a request that is read by itself: places in the text, and its condition, where it has one."""

    start: int
    end: int
    condition: Conditional | None = None


class ConditionReading(msgspec.Struct, frozen=True):
    """A condition over the output of a step."""

    step: str
    tool: str
    when: str
    other: str
    """What holds where it does not; empty where that is not known."""
    read: Fitted | None = None
    """The call that reads it, where no step does yet."""


def stretches(text: str, hidden: str) -> list[Stretch]:
    """The parts of a request with a condition, one after the other; without one the request is one part.

    `hidden`: the same text with its values blanked out.
    """
    hidden = _with_commas(hidden)
    # `s'il te plaît` is no condition.
    hidden = PLEASE.sub(lambda kind: kind.group() if kind.group().isalpha() else "#" * len(kind.group()), hidden)
    found: list[Stretch] = []
    start = 0
    for cut in [*_SENTENCE.finditer(hidden), None]:
        end = len(text) if cut is None else cut.start()
        found += _of_sentence(hidden, start, end)
        start = end if cut is None else cut.end()
    return found if any(one.condition is not None for one in found) else [Stretch(0, len(text))]


def _with_commas(hidden: str) -> str:
    """The text with a comma before the command where a condition before it has none: `if it is late cancel it`."""
    for opened in _OPENED.finditer(hidden):
        stop = _STOP.search(hidden, opened.end())
        at = command_at(hidden[: stop.start() if stop is not None else len(hidden)], opened.end())
        hidden = hidden if at is None else f"{hidden[: at - 1]},{hidden[at:]}"
    return hidden


_OPENED: Final = re.compile(rf"(?:^|[.!?;,\n]|\b(?:and|und|et|y))\s*{_LEAD}{_IF}\s+", re.IGNORECASE)
_STOP: Final = re.compile(r"[,.;!?\n]")


def _of_sentence(hidden: str, start: int, end: int) -> list[Stretch]:
    said = hidden[start:end]
    if not said.strip():
        return []
    found = _FIRST.match(said)
    if found is None and (later := _LATER.match(said)) is not None and not _FIRST.match(later["before"]):
        rest = start + later.start("rest")
        return [*_of_sentence(hidden, start, start + later.end("before")), *_of_sentence(hidden, rest, end)]
    found = found or _LAST.match(said)
    if found is None:
        return [Stretch(start, end)]

    def place(group: str) -> tuple[int, int]:
        return start + found.start(group), start + found.end(group)

    other = place("else") if found["else"] else None
    condition = Conditional(place("condition"), place("body"), bool(UNLESS.match(found["word"])), other)
    return [Stretch(start, end, condition)]


def predicate(kit: Kit, part: ClausePart, step: str, *, is_negated: bool) -> str | None:
    """The condition as an expression over the output of a step; None where no value of it is spoken of."""
    joints = [*_AND.finditer(part.text)]
    if joints and not is_negated:
        ends = [*(part.start + one.start() for one in joints), part.end]
        starts = [part.start, *(part.start + one.end() for one in joints)]
        parts = [narrowed(part, start, end) for start, end in zip(starts, ends, strict=True)]
        tests = [_test(kit, one, step, is_negated=False) for one in parts]
        looked_at = [str(one).split(" ")[0] for one in tests]
        # Of the opposite of several nothing is said, and nothing is two things at once.
        is_clear = None not in tests and len({*looked_at}) == len(tests)
        return "{{ " + " and ".join(map(str, tests)) + " }}" if is_clear else None
    found = _test(kit, part, step, is_negated=is_negated)
    return None if found is None else "{{ " + found + " }}"


_AND: Final = re.compile(r"\s+(?:and|und|et|y)\s+", re.IGNORECASE)


def narrowed(part: ClausePart, start: int, end: int) -> ClausePart:
    """The part of a clause between two places."""
    return msgspec.structs.replace(
        part,
        text=part.text[start - part.start : end - part.start],
        start=start,
        end=end,
        words=tuple(one for one in part.words if start <= one.start and one.end <= end),
        spans=tuple(one for one in part.spans if start <= one.start and one.end <= end),
    )


def _test(kit: Kit, part: ClausePart, step: str, *, is_negated: bool) -> str | None:
    turned = bool(NEGATED.search(part.text)) != is_negated
    nothing = _nothing(kit, part, step, is_negated)
    if nothing is not None:
        return nothing
    for read in (_flag, _option, comparison, _truth, _equality, _presence):
        found = read(kit, part, step, turned)
        if found is not None:
            return found
    return None


def _literal(value: Json) -> str:
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"


def _option(kit: Kit, part: ClausePart, step: str, turned: bool) -> str | None:
    # Of a state that is any text, `open` is none of the options that another value has.
    is_free = any(field.kind == "text" and field.name in _STATES for field in kit.outputs)
    said = concepts_said(part)
    for field in kit.outputs:
        for option in field.options:
            names = [re.escape(name) for name in re.split(r"[\s_-]+", str(option)) if name]
            phrase = r"[\s_-]+".join(names)
            if len(names) > 1 and re.search(rf"(?<!\w){phrase}(?!\w)", part.text, re.IGNORECASE):
                return f"{place_of(step, field)} {'!=' if turned else '=='} {_literal(option)}"
    for exact in (True, False):
        for word in part.words:
            for field in kit.outputs:
                if is_free and not exact and not field.concepts & said:
                    continue
                for option in field.options:
                    name = str(option).replace("_", " ")
                    if folded(word.text) == folded(name) or (
                        not exact
                        and not word.is_stop
                        and {folded(name), *concepts_of(name) - listed_concepts(name)} & word.concepts
                    ):
                        return f"{place_of(step, field)} {'!=' if turned else '=='} {_literal(option)}"
    alike = [
        (field, option)
        for field in kit.outputs
        for option in field.options
        if any(not word.is_stop and listed_concepts(str(option)) & listed_concepts(word.text) for word in part.words)
    ]
    if len(alike) == 1 and not is_free:
        # `being cleaned` of `cleaning`: of all that it may be, one thing.
        field, option = alike[0]
        return f"{place_of(step, field)} {'!=' if turned else '=='} {_literal(option)}"
    return None


_STATES: Final = frozenset(("state", "status", "stage", "phase", "condition"))


def _nothing(kit: Kit, part: ClausePart, step: str, turned: bool) -> str | None:
    found = NOTHING.search(part.text)
    if found is None:
        return None
    said = concepts_said(part)
    counts = [field for field in kit.outputs if field.kind == "number" and field.is_whole]
    spoken = [one for one in counts if one.concepts & said] or [one for one in counts if one.name in _COUNTING]
    return f"{place_of(step, spoken[0])} {'!=' if turned else '=='} 0" if len(spoken) == 1 else None


def _flag(kit: Kit, part: ClausePart, step: str, turned: bool) -> str | None:
    """A flag of several words, all of which a condition says: `bin_full` of `the bin of the vacuum is full`."""
    for field in kit.outputs:
        telling = [one for one in raw_words(field.name) if one not in _PALE]
        said = [concepts_of(one) & concepts_said(part) for one in telling]
        if field.kind == "bool" and len(telling) > 1 and all(said):
            return f"not {place_of(step, field)}" if turned else place_of(step, field)
    return None


#: Words of the names of flags that say nothing of what holds.
_PALE: Final = frozenset(("is", "has", "been", "was", "only", "are", "have"))


def _truth(kit: Kit, part: ClausePart, step: str, turned: bool) -> str | None:
    switches = [one for one in kit.outputs if one.kind == "bool"]
    for field in switches:
        if any(contrary(word.text) & field.concepts and not word.concepts & field.concepts for word in part.words):
            # `offline`
            return place_of(step, field) if turned else f"not {place_of(step, field)}"
    for field in kit.outputs:
        if field.kind == "bool" and any(word.concepts & field.concepts for word in part.words if not word.is_stop):
            return f"not {place_of(step, field)}" if turned else place_of(step, field)
    return None


def _equality(kit: Kit, part: ClausePart, step: str, turned: bool) -> str | None:
    sign = "!=" if turned else "=="
    for span in part.spans:
        if span.kind == "email":
            fields = [one for one in kit.outputs if one.kind == "email"]
            if len(fields) == 1:
                return f"{place_of(step, fields[0])} {sign} {_literal(span.value)}"
        if span.kind in ("quoted", "name"):
            said = concepts_said(part)
            if span.kind == "quoted" and _HOLDS.search(part.text):
                texts = [one for one in kit.outputs if one.name in ("content", "body", "text")]
                if len(texts) == 1:
                    return f"{_literal(span.value)} {'not in' if turned else 'in'} {place_of(step, texts[0])}"
            named = [one for one in kit.outputs if one.kind in ("company", "person", "place") and one.concepts & said]
            if len(named) == 1:
                return f"{place_of(step, named[0])} {sign} {_literal(span.value)}"
    return None


def _presence(kit: Kit, part: ClausePart, step: str, turned: bool) -> str | None:
    """Whether a count or the tool's one list holds something: `if copies are available`, `if you find nobody`."""
    if operands(part):
        return None
    is_denied = NEGATED.search(part.text) is not None
    # What else denies, as `nobody`, `turned` does not know of.
    turned = turned if is_denied else turned != denies_presence(part.text)
    said = concepts_said(part)
    given = {one.name for one in kit.required}
    counts = [one for one in kit.outputs if one.kind == "number" and one.is_whole and one.name not in given]
    owing = [one for one in kit.outputs if one not in counts and _is_spoken_amount(one, said)]
    if len(owing) == 1 and not is_of_ours(part.text):
        return f"{place_of(step, owing[0])} {'==' if turned else '>'} 0"
    spoken = sorted((one for one in counts if one.concepts & said), key=lambda one: -len(one.concepts & said))
    if spoken and (len(spoken) == 1 or len(spoken[0].concepts & said) > len(spoken[1].concepts & said)):
        return f"{place_of(step, spoken[0])} {'==' if turned else '>'} 0"
    if len(kit.lists) != 1 or not kit.lists[0].path:
        return None
    return f"{place_of(step, kit.lists[0])} | length {'==' if turned else '>'} 0"


def _is_spoken_amount(field: ToolField, said: frozenset[str]) -> bool:
    """Whether a condition speaks of an amount that is nothing where all is well: what is owed."""
    told = amount_told(
        {"type": "number" if field.kind in ("number", "money") else "", "description": field.description}
    )
    own = frozenset[str]().union(*map(concepts_of, raw_words(told))) if told else frozenset()
    return bool(told) and bool((field.concepts | own) & said - STOPS)


def speaks_of(kit: Kit, part: ClausePart, reading: ConditionReading) -> bool:
    """Whether a condition says the name of a value that it is read of."""
    said = concepts_said(part)
    return any(
        one.concepts & said and re.search(rf"\b{re.escape(place_of(reading.step, one))}\b", reading.when)
        for one in kit.outputs
    )


def reading_of(kit: Kit, part: ClausePart, step: str, *, is_negated: bool) -> ConditionReading | None:
    """The condition and its opposite over the output of a step; None where no value of it is spoken of."""
    when = predicate(kit, part, step, is_negated=is_negated)
    other = predicate(kit, part, step, is_negated=not is_negated)
    return None if when is None else ConditionReading(step, kit.key, when, other or "")


def is_told(kit: Kit, part: ClausePart, reading: ConditionReading, inputs: JsonObject, *, is_negated: bool) -> bool:
    """Whether a condition on a list says no more than that it holds something, or nothing; any other one is told."""
    found = _HELD.search(reading.when)
    if found is None:
        return True
    if COMPARES.search(part.text) or NOTHING.search(part.text):
        # That it is empty says nothing of what it holds besides: a table of its columns.
        return " | length" not in reading.when
    is_there = (found["sign"] == ">") != is_negated
    call = Call(id=reading.step, tool=kit.key, inputs=inputs)
    return tells_presence(part.text, call, kit.tool, found["path"].split("."), is_there=is_there)


#: That a list or a count holds something, or nothing.
_HELD: Final = re.compile(r"\{\{ \w+\.(?P<path>[\w.]+)(?: \| length)? (?P<sign>>|==) 0 \}\}")


def holds_nothing(when: str, step: str) -> bool:
    """Whether it is a condition that a step finds nothing, so that nothing of it can be taken."""
    return re.search(rf"(?<![\w.]){re.escape(step)}\.[\w.]+(?: \| length)? == 0\b", when) is not None


def without_told(kit: Kit, part: ClausePart) -> ClausePart:
    """A condition without the words for what the tool gives, which are no value that it is asked with: `degraded`."""
    given = {one.name for one in kit.required}
    told = frozenset[str]().union(
        *(one.concepts | one.described for one in kit.outputs if one.name not in given),
        *(concepts_of(str(option)) for one in kit.outputs for option in one.options),
    )
    return msgspec.structs.replace(part, words=tuple(one for one in part.words if not one.concepts & told))
