"""Load of a schema: how much work it makes of a value, known before a value comes. Pure.

The validator is compiled code that nothing can interrupt: what would take it too long is not begun. Its work is at
most the schema's load, the checks that the busiest single part of a value may have to pass, times the parts of the
value. A reference back to a schema that is being followed counts once: the validator remembers what it found there.
"""

from __future__ import annotations

import functools
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
_CHARACTERS: Final = 64
_BITS: Final = 64

_LINEAR: Final = jsonschema_rs.RegexOptions(size_limit=PATTERN_SIZE)

_IN_PLACE_LISTS: Final = ("anyOf", "oneOf", "allOf")
_IN_PLACE: Final = ("not", "if", "then", "else")
_UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")


class _Load(msgspec.Struct, frozen=True):
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


def load_of(document: SchemaDocument) -> int:
    """The checks that one part of a value may have to pass, at most; more than `HEAVIEST` where it is no use to count.

    Time grows with the schema, however its references lead.
    """
    known: dict[int, _Load] = {}
    parts: dict[int, _Parts] = {}
    root = SchemaNode(document.root)
    stack = [root]
    while stack:
        node = stack[-1]
        if id(node.schema) in known:
            stack.pop()
            continue
        if id(node.schema) not in parts:
            found = parts[id(node.schema)] = _parts(document, node)
            # One that is being followed already is met again here: a circle.
            waiting = [part for part in found.all() if id(part.schema) not in known and id(part.schema) not in parts]
            if waiting:
                stack += waiting
                continue
        stack.pop()
        known[id(node.schema)] = _sum(node, parts[id(node.schema)], known)
    total = known[id(root.schema)]
    return max(total.here, total.below)


def checks(value: Json, load: int) -> int:
    """The checks that the value may take, counted until there are more than `MOST_CHECKS`."""
    most = MOST_CHECKS // load + 1
    return size(value, most) * load


def size(value: Json, most: int) -> int:
    """Parts of the value, long texts and integers as several; counting ends beyond `most`."""
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
            count += part.bit_length() // _BITS
    return count


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


def _sum(node: SchemaNode, parts: _Parts, known: dict[int, _Load]) -> _Load:
    def load(part: SchemaNode) -> _Load:
        return known.get(id(part.schema), _Load(1, 1))

    def side_by_side(groups: list[list[SchemaNode]]) -> int:
        return sum(max(max(load(part).here, load(part).below) for part in group) for group in groups)

    within = [load(part) for part in parts.here]
    here = _own(node.schema) + sum(found.here for found in within)
    names = _patterns(node.get("patternProperties"))
    below = max(side_by_side(parts.members) + names, side_by_side(parts.items)) + sum(found.below for found in within)
    if isinstance(node.schema, dict) and any(key in node.schema for key in _UNEVALUATED):
        # What is evaluated is found by looking at everything once more.
        here, below = 2 * here, 2 * below
    return _Load(min(here, HEAVIEST + 1), min(below, HEAVIEST + 1))


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
    if isinstance(schema.get("required"), list):
        count += len(schema["required"]) // _OF_LITERAL
    if isinstance(schema.get("pattern"), str):
        count += _pattern(schema["pattern"])
    if "multipleOf" in schema:
        count += _OF_DIVISION
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
