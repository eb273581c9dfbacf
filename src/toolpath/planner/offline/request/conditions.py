"""Conditions of a request: where they stand, and what of a tool's output they speak of. Pure."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from toolpath.checks.request.blockers import PLEASE
from toolpath.checks.request.concepts import concepts_of, listed_concepts
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.parts import Part
from toolpath.planner.offline.request.toolbox import Field, Kit
from toolpath.values import Json

_IF: Final = (
    r"(?:if|in case|provided(?:\s+that)?|assuming|falls|wenn|sofern|si|s['\u2019]il"
    r"|s['\u2019]elle|unless|außer wenn|sauf si|a menos que)"
)
_FIRST: Final = re.compile(
    rf"^(?P<word>{_IF})\s+(?P<condition>.+?)(?:,\s*(?:then\s+|dann\s+|alors\s+|entonces\s+)?"
    rf"|\s+then\s+)(?P<body>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_LAST: Final = re.compile(
    rf"^(?P<body>.+?),?\s+(?P<word>{_IF})\s+(?P<condition>[^,;]+?)(?:[,;]\s*(?P<other>otherwise"
    rf"|else|sonst|sinon|si no)\s+(?P<else>.+?))?[.!]?$",
    re.IGNORECASE | re.DOTALL,
)
_NEGATED: Final = re.compile(
    r"\b(?:not|isn['\u2019]t|aren['\u2019]t|hasn['\u2019]t|doesn['\u2019]t|never|nicht|kein\w*"
    r"|pas|no|nunca|unless|sauf|menos)\b",
    re.IGNORECASE,
)
_UNLESS: Final = re.compile(r"^(?:unless|außer|sauf|a menos)", re.IGNORECASE)
_COMPARISONS: Final = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), sign)
    for words, sign in (
        (
            r"(?:supérieure?s?|mayor(?:es)?|superior(?:es)?)\s+(?:à|a|que|de)|größer als|höher als|exceeds?|übersteigt",
            ">",
        ),
        (r"(?:inférieure?s?|menor(?:es)?|inferior(?:es)?)\s+(?:à|a|que|de)|kleiner als|niedriger als", "<"),
        (r"at least|mindestens|au moins|al menos", ">="),
        (r"at most|höchstens|au plus|como mucho", "<="),
        (
            r"(?:less|fewer|cheaper|colder|lower|smaller|weniger|kälter|billiger|moins"
            r"|menos)\b(?:\s+\w+)?\s+(?:than|als|que|de)|(?:colder|less|cheaper|weniger)\s+(?:than"
            r"|als)|below|under|unter|menos de|moins de",
            "<",
        ),
        (
            r"(?:more|higher|warmer|hotter|dearer|greater|larger|mehr|wärmer|plus"
            r"|más)\b(?:\s+\w+)?\s+(?:than|als|que|de)|above|over|über|más de|plus de",
            ">",
        ),
    )
)
_NOTHING: Final = re.compile(
    r"\b(?:empty|leer|vide|vacía|vacío)\b|\b(?:no|keine|aucune|ninguna)\s+(?:rows?|entries"
    r"|items|zeilen|lignes|filas)\b",
    re.IGNORECASE,
)
_HOLDS: Final = re.compile(r"\b(?:says|contains|mentions|enthält|contient|contiene|includes)\b", re.IGNORECASE)


class Conditional(msgspec.Struct, frozen=True):
    """A request with a condition: places of its parts in the text."""

    condition: tuple[int, int]
    body: tuple[int, int]
    is_negated: bool
    """`unless`."""
    other: tuple[int, int] | None = None
    """What is to be done otherwise."""


def conditional(text: str, hidden: str) -> Conditional | None:
    """The condition of a request. `hidden`: the same text with its values blanked out."""
    # `s'il te plaît` is no condition.
    hidden = PLEASE.sub(lambda kind: "#" * len(kind.group()), hidden)
    found = _FIRST.match(hidden) or _LAST.match(hidden)
    if found is None:
        return None
    groups = found.re.groupindex
    other = found.span("else") if "else" in groups and found["else"] else None
    return Conditional(found.span("condition"), found.span("body"), bool(_UNLESS.match(found["word"])), other)


def predicate(kit: Kit, part: Part, step: str, *, is_negated: bool) -> str | None:
    """The condition as an expression over the output of a step; None where no value of it is spoken of."""
    turned = bool(_NEGATED.search(part.text)) != is_negated
    for read in (_option, _nothing, _comparison, _truth, _equality):
        found = read(kit, part, step, turned)
        if found is not None:
            return "{{ " + found + " }}"
    return None


def _at(step: str, field: Field) -> str:
    return ".".join((step, *field.path))


def _literal(value: Json) -> str:
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"


def _option(kit: Kit, part: Part, step: str, turned: bool) -> str | None:
    for exact in (True, False):
        for word in part.words:
            for field in kit.outputs:
                for option in field.options:
                    name = str(option).replace("_", " ")
                    if folded(word.text) == folded(name) or (
                        not exact
                        and not word.is_stop
                        and {folded(name), *concepts_of(name) - listed_concepts(name)} & word.concepts
                    ):
                        return f"{_at(step, field)} {'!=' if turned else '=='} {_literal(option)}"
    return None


def _nothing(kit: Kit, part: Part, step: str, turned: bool) -> str | None:
    counts = [field for field in kit.outputs if field.kind == "number" and field.is_whole]
    if _NOTHING.search(part.text) is None or len(counts) != 1:
        return None
    return f"{_at(step, counts[0])} == 0"


def _comparison(kit: Kit, part: Part, step: str, turned: bool) -> str | None:
    sign = next((sign for words, sign in _COMPARISONS if words.search(part.text)), None)
    numbers = [
        one for one in part.spans if one.kind in ("number", "money", "percent", "duration") and one.value is not None
    ]
    if sign is None or len(numbers) != 1:
        return None
    fields = [one for one in kit.outputs if one.kind in ("number", "money", "percent", "duration")]
    said = frozenset[str]().union(*(word.concepts for word in part.words)) if part.words else frozenset()
    spoken = [one for one in fields if one.concepts & said] or fields
    if numbers[0].kind == "money" and len(spoken) != 1:
        spoken = [one for one in spoken if one.kind == "money"]
    if len(spoken) != 1:
        return None
    if turned:
        sign = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}[sign]
    return f"{_at(step, spoken[0])} {sign} {numbers[0].value}"


def _truth(kit: Kit, part: Part, step: str, turned: bool) -> str | None:
    for field in kit.outputs:
        if field.kind == "bool" and any(word.concepts & field.concepts for word in part.words if not word.is_stop):
            return f"not {_at(step, field)}" if turned else _at(step, field)
    return None


def _equality(kit: Kit, part: Part, step: str, turned: bool) -> str | None:
    sign = "!=" if turned else "=="
    for span in part.spans:
        if span.kind == "email":
            fields = [one for one in kit.outputs if one.kind == "email"]
            if len(fields) == 1:
                return f"{_at(step, fields[0])} {sign} {_literal(span.value)}"
        if span.kind in ("quoted", "name"):
            said = frozenset[str]().union(*(word.concepts for word in part.words)) if part.words else frozenset()
            if span.kind == "quoted" and _HOLDS.search(part.text):
                texts = [one for one in kit.outputs if one.name in ("content", "body", "text")]
                if len(texts) == 1:
                    return f"{_literal(span.value)} {'not in' if turned else 'in'} {_at(step, texts[0])}"
            named = [one for one in kit.outputs if one.kind in ("company", "person", "place") and one.concepts & said]
            if len(named) == 1:
                return f"{_at(step, named[0])} {sign} {_literal(span.value)}"
    return None
