"""Load of a schema: how much work it makes of a value, known before a value comes. Pure.

The validator is compiled code that nothing can interrupt: what would take it too long is not begun. Its work is at
most the schema's load, the checks that the busiest single part of a value may have to pass, times the parts of the
value. A reference back to a schema that is being followed counts once: the validator remembers what it found there.
A number that is no 64-bit integer costs more: it is compared with each number of a list, where others are looked up.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final

import jsonschema_rs
import msgspec

from toolpath.json_schema.document import PATTERN_SIZE, SchemaDocument, SchemaNode
from toolpath.values import Json, JsonObject

#: Checks that one validation may take: a tenth of a second, rather less.
MOST_CHECKS: Final = 4_000_000
#: Schemas with no more than this are not worth to look at how large a value is.
LIGHT: Final = 8
#: Checks of one part of a value beyond which a schema is refused.
HEAVIEST: Final = 200_000
#: What the dearer keywords cost, in checks, measured.
_OF_BACKTRACKING: Final = 500
_OF_DIVISION: Final = 200
_OF_LITERAL: Final = 2
#: What a comparison of two numbers costs where one has a fraction, or one of them more than 64 bits.
_OF_FRACTION: Final = 24
_OF_NUMBER: Final = 40
#: What a comparison of two long integers of one list costs, as `uniqueItems` makes of all pairs: they all hash alike.
_OF_PAIR: Final = 10
_CHARACTERS: Final = 64
_BITS: Final = 64

_LINEAR: Final = jsonschema_rs.RegexOptions(size_limit=PATTERN_SIZE)

_IN_PLACE_LISTS: Final = ("anyOf", "oneOf", "allOf")
_IN_PLACE: Final = ("not", "if", "then", "else")
_UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")


class SchemaLoad(msgspec.Struct, frozen=True):
    """The work that a schema makes of a value."""

    #: Checks that one part of a value may have to pass, at most; more than `HEAVIEST` where it is no use to count.
    part: int
    #: Checks more for a number that is no 64-bit integer.
    number: int
    #: Whether the items of some list have to differ.
    unique: bool

    @property
    def light(self) -> bool:
        """Whether it is not worth to look at how large a value is."""
        return self.part <= LIGHT and not self.number and not self.unique


class _PlaceLoad(msgspec.Struct, frozen=True):
    """Checks at the place itself, and at the busiest part below it."""

    here: int
    below: int


class _Parts(msgspec.Struct, frozen=True):
    """The schemas at one place: those for the same value, and those for what is inside it, in groups.

    Of a group one applies to each part, and the groups side by side.
    """

    here: list[SchemaNode]
    members: list[list[SchemaNode]]
    items: list[list[SchemaNode]]

    def all(self) -> list[SchemaNode]:
        """Every one of them."""
        return [*self.here, *(node for group in (*self.members, *self.items) for node in group)]


class _CountedWork(msgspec.Struct, frozen=True):
    """One kind of work that is counted: by a schema's own keywords, and by the patterns of names."""

    own: Callable[[JsonObject | bool], int]
    names: Callable[[Json], int]
    met_again: int
    most: int


def load_of(document: SchemaDocument) -> SchemaLoad:
    """The work of the schema. Time grows with its size, however its references lead."""
    order, parts = _innermost_first(document)
    return SchemaLoad(
        part=_most(order, parts, _CountedWork(_own, _patterns, 1, HEAVIEST + 1)),
        number=_most(order, parts, _CountedWork(_numbers_compared, lambda _: 0, 0, MOST_CHECKS + 1)),
        unique=any(isinstance(node.schema, dict) and node.schema.get("uniqueItems") is True for node in order),
    )


def _innermost_first(document: SchemaDocument) -> tuple[list[SchemaNode], dict[int, _Parts]]:
    """Every schema behind those that it consists of, and the parts of each by identity."""
    order: list[SchemaNode] = []
    placed: set[int] = set()
    parts: dict[int, _Parts] = {}
    stack = [SchemaNode(document.root)]
    while stack:
        node = stack[-1]
        if id(node.schema) in placed:
            stack.pop()
            continue
        if id(node.schema) not in parts:
            found = parts[id(node.schema)] = _parts(document, node)
            # One that is met again is done already, or being followed: a circle.
            waiting = [part for part in found.all() if id(part.schema) not in parts]
            if waiting:
                stack += waiting
                continue
        stack.pop()
        placed.add(id(node.schema))
        order.append(node)
    return order, parts


def _most(order: list[SchemaNode], parts: dict[int, _Parts], measure: _CountedWork) -> int:
    known: dict[int, _PlaceLoad] = {}
    for node in order:
        known[id(node.schema)] = _sum(node, parts[id(node.schema)], known, measure)
    root = known[id(order[-1].schema)]
    return max(root.here, root.below)


def excess(value: Json, load: SchemaLoad) -> str | None:
    """Why the value would take the validator too long; None where it does not."""
    if checks(value, load.part) > MOST_CHECKS:
        return f"too large to be compared with {load.part:,} schemas and literals part by part"
    if load.number or load.unique:
        numbers = _dear_numbers(value)
        if numbers.all * load.number > MOST_CHECKS:
            return "its numbers are too many, or too long, to be compared with the numbers of its schema one by one"
        if load.unique and numbers.long**2 * _OF_PAIR > MOST_CHECKS:
            return "its integers of more than 64 bits are too many, or too long, to be compared with one another"
    return None


def checks(value: Json, load: int) -> int:
    """The checks that the value may take, counted until there are more than `MOST_CHECKS`."""
    most = MOST_CHECKS // load + 1
    return size(value, most) * load


class _DearNumbers(msgspec.Struct, frozen=True):
    """The numbers of a value that are no 64-bit integers, and those of them that are integers; long ones as several."""

    all: int
    long: int


def _dear_numbers(value: Json) -> _DearNumbers:
    fractions = long = 0
    waiting: list[Json] = [value]
    while waiting:
        part = waiting.pop()
        kind = type(part)
        if kind is dict:
            waiting += part.values()
        elif kind is list:
            waiting += part
        elif kind is float:
            fractions += 1
        elif kind is int and part.bit_length() >= _BITS:
            long += 1 + _words(part) // _OF_NUMBER
    return _DearNumbers(fractions + long, long)


def size(value: Json, most: int) -> int:
    """Parts of the value, long texts and integers as several; counting ends beyond `most`.

    What is done with a long integer takes time with the square of its length.
    """
    count = 1
    waiting: list[Json] = [value]
    while waiting and count <= most:
        part = waiting.pop()
        kind = type(part)
        if kind is dict:
            count += 2 * len(part)
            if count <= most:
                waiting += part.values()
        elif kind is list:
            count += len(part)
            if count <= most:
                waiting += part
        elif kind is str:
            count += len(part) // _CHARACTERS
        elif kind is int:
            count += _words(part)
    return count


def _words(number: int) -> int:
    return (number.bit_length() // _BITS) ** 2 // 2


def _parts(document: SchemaDocument, node: SchemaNode) -> _Parts:
    schema = node.schema
    if not isinstance(schema, dict):
        return _Parts([], [], [])
    here = [part for key in _IN_PLACE_LISTS if key in schema for part in node.list(key)]
    here += [part for key in _IN_PLACE if key in schema and (part := node.child(key)) is not None]
    for key in ("dependentSchemas", "dependencies"):
        if key in schema:
            here += node.map(key).values()
    for key in ("$ref", "$dynamicRef", "$recursiveRef"):
        if key in schema and (target := document.target(schema[key])) is not None:
            here.append(target)
    members = [[*node.map("properties").values(), *_one(node, "additionalProperties")]]
    members += [[part] for part in node.map("patternProperties").values()]
    members += [_one(node, "propertyNames"), _one(node, "unevaluatedProperties")]
    items = [[*node.list("prefixItems"), *node.list("items"), *_one(node, "items"), *_one(node, "additionalItems")]]
    items += [_one(node, "contains"), _one(node, "unevaluatedItems")]
    return _Parts(here, [group for group in members if group], [group for group in items if group])


def _one(node: SchemaNode, key: str) -> list[SchemaNode]:
    found = node.child(key) if node.get(key) is not None else None
    return [] if found is None else [found]


def _sum(node: SchemaNode, parts: _Parts, known: dict[int, _PlaceLoad], measure: _CountedWork) -> _PlaceLoad:
    again = _PlaceLoad(measure.met_again, measure.met_again)

    def load(part: SchemaNode) -> _PlaceLoad:
        return known.get(id(part.schema), again)

    def side_by_side(groups: list[list[SchemaNode]]) -> int:
        return sum(max(max(load(part).here, load(part).below) for part in group) for group in groups)

    within = [load(part) for part in parts.here]
    here = measure.own(node.schema) + sum(found.here for found in within)
    names = measure.names(node.get("patternProperties"))
    below = max(side_by_side(parts.members) + names, side_by_side(parts.items)) + sum(found.below for found in within)
    if isinstance(node.schema, dict) and any(key in node.schema for key in _UNEVALUATED):
        # What is evaluated is found by looking at everything once more.
        here, below = 2 * here, 2 * below
    return _PlaceLoad(min(here, measure.most), min(below, measure.most))


def _own(schema: JsonObject | bool) -> int:
    """Checks by the keywords that look at the value itself."""
    if not isinstance(schema, dict):
        return 1
    count = 1
    listed = schema.get("enum")
    if isinstance(listed, list) and any(isinstance(option, list | dict) for option in listed):
        count += _OF_LITERAL * size(listed, HEAVIEST)
    if isinstance(schema.get("const"), list | dict):
        count += size(schema["const"], HEAVIEST) // _OF_LITERAL
    for literal in (listed, schema.get("const")):
        if isinstance(literal, list | dict):
            count += _OF_FRACTION * _dear_numbers(literal).all
    if isinstance(schema.get("required"), list):
        count += len(schema["required"]) // _OF_LITERAL
    if isinstance(schema.get("pattern"), str):
        count += _pattern(schema["pattern"])
    if "multipleOf" in schema:
        count += _OF_DIVISION
    return count


def _numbers_compared(schema: JsonObject | bool) -> int:
    """Checks of a number that has to be compared with each number of the literals."""
    if not isinstance(schema, dict):
        return 0
    literals = [literal for key in ("enum", "const") if isinstance(literal := schema.get(key), list | dict)]
    return _OF_NUMBER * sum(map(_numbers, literals))


def _numbers(literal: Json) -> int:
    count = 0
    waiting: list[Json] = [literal]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
        elif type(part) in (int, float):
            count += 1
    return count


def _patterns(patterns: Json) -> int:
    return sum(map(_pattern, patterns)) if isinstance(patterns, dict) else 0


@functools.lru_cache(1_000)
def _pattern(pattern: str) -> int:
    """The cost of a search: little where the engine never tries again."""
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, offline=True, pattern_options=_LINEAR)
    except ValueError:
        return _OF_BACKTRACKING
    return 2
