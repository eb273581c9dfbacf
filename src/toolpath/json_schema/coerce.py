"""Lossless coercion of a value towards a schema: numeric text ↔ number, 1.0 → 1, "true" and "false" → boolean.

Whether the result is valid is for `validate.py` to say.
"""

from __future__ import annotations

import math
import operator
import re
from decimal import Decimal
from typing import Final, TypeGuard

from toolpath.json_schema.document import SchemaDocument, SchemaNode
from toolpath.json_schema.load import load_of, size
from toolpath.values import MAX_DEPTH, Json, JsonObject, type_name

#: A number as JSON writes it: `007`, `+5`, ` 5`, `0x1f` and `1_000` would lose what they say as text.
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?", re.ASCII)
_LONGEST_NUMBER: Final = 350
#: Bits of the largest integer written as text; Python itself refuses at 4,300 digits.
_LARGEST_INTEGER: Final = 14_000
#: Whole floats below it are written out, as JavaScript does.
_PLAIN_FLOAT: Final = 1e21
#: A tenth of a second, rather less. Beyond it the value stays as it is.
_MOST_STEPS: Final = 10_000
_STEPS_OF_ALTERNATIVES: Final = 5
_SCALARS_OF_STEP: Final = 10
#: Comparisons of the validator that take as long as one step here.
_CHECKS_OF_STEP: Final = 100
_TEXT_TRUTH: Final = {"true": True, "false": False}


def coerce(value: Json, schema: JsonObject | bool) -> Json:
    """The value with every part that its schema wants in another form changed into it, where nothing is lost.

    The same object where nothing changes; the value given is never changed itself. Alternatives (`anyOf`, `oneOf`)
    change a value only if it fits none as it is and exactly one coerced form fits. Raises `SchemaError` for a schema
    with alternatives that is no usable JSON Schema.
    """
    return coerce_in(SchemaDocument(schema), value)


def coerce_in(document: SchemaDocument, value: Json, node: SchemaNode | None = None) -> Json:
    """The same as `coerce`, for a place in a document that is already at hand."""
    try:
        return _Coercion(document).part(node or SchemaNode(document.root), value, 0)
    except (RecursionError, _TooMuchWork):
        return value


def text_to_number(text: str) -> int | float | None:
    """The number that the text writes, or None where it is no number or would lose digits."""
    if len(text) > _LONGEST_NUMBER or (found := _NUMBER.fullmatch(text)) is None or text == "-0":
        return None
    if found[1] is None and found[2] is None:
        return int(text)
    number = float(text)
    if not math.isfinite(number) or Decimal(text) != Decimal(repr(number)):
        return None
    return number


def number_to_text(number: float) -> str | None:
    """The number as text, or None for infinity, NaN and integers of thousands of digits.

    Equal numbers have the same text, `1` for 1.0 too.
    """
    if isinstance(number, int):
        return str(number) if number.bit_length() < _LARGEST_INTEGER else None
    if number.is_integer() and abs(number) < _PLAIN_FLOAT:
        return str(int(number))
    return repr(number) if math.isfinite(number) else None


def coerce_scalar(value: Json, types: tuple[str, ...]) -> Json:
    """A text, number or truth value as one of these JSON types, or the same object."""
    kind = type_name(value)
    if kind == "number" and "integer" in types and "number" not in types:
        if value.is_integer():
            whole = _whole(value)
            return value if whole is None else whole
    elif kind in types or (kind == "integer" and "number" in types):
        return value
    if kind == "string":
        return _from_text(value, types)
    if kind in ("integer", "number") and "string" in types:
        text = number_to_text(value)
        return value if text is None else text
    return value


def _from_text(text: str, types: tuple[str, ...]) -> Json:
    if "boolean" in types and text in _TEXT_TRUTH:
        return _TEXT_TRUTH[text]
    if "number" not in types and "integer" not in types:
        return text
    number = text_to_number(text)
    if isinstance(number, float) and "number" not in types:
        number = _whole(number)
    return text if number is None else number


def _whole(number: float) -> int | None:
    # Beyond 2**53 neighbouring integers share a float, so that the text it came from may have been another one.
    return int(number) if number.is_integer() and abs(number) < 2**53 else None


def types_of(schema: JsonObject) -> tuple[str, ...]:
    """The JSON types that `type` names; empty where it is not given."""
    named = schema.get("type")
    if isinstance(named, str):
        return (named,)
    return tuple(name for name in named if isinstance(name, str)) if isinstance(named, list) else ()


def literals_of(schema: JsonObject) -> list[Json] | None:
    """The values that `const` or `enum` lists, or None where neither is given."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return listed if isinstance(listed, list) else None


class _TooMuchWork(Exception):  # a signal that never leaves this file
    pass


class _Coercion:
    """One walk over value and schema together, with its budget. Depth is that of the value."""

    __slots__ = ("_load", "_members", "active", "document", "steps")

    def __init__(self, document: SchemaDocument) -> None:
        self.document = document
        self._load = 0
        self.steps = 0
        self.active: set[tuple[int, int]] = set()
        self._members: dict[tuple[int, str], list[SchemaNode]] = {}
        """By schema and name: what the schema says of the member, which is the same in each item of a list."""

    @property
    def load(self) -> int:
        """The cost of comparing one part of a value: looked at where there are alternatives at all."""
        if not self._load:
            self._load = load_of(self.document).part
        return self._load

    def part(self, node: SchemaNode, value: Json, depth: int) -> Json:
        schema = node.schema
        if not isinstance(schema, dict) or depth > MAX_DEPTH:
            return value
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise _TooMuchWork
        mark = (id(schema), depth)
        if mark in self.active:
            # A reference that leads back to itself without going into the value.
            return value
        self.active.add(mark)
        try:
            return self._by_keywords(node, schema, value, depth)
        finally:
            self.active.discard(mark)

    def _by_keywords(self, node: SchemaNode, schema: JsonObject, value: Json, depth: int) -> Json:
        if "$ref" in schema:
            target = self.document.target(schema["$ref"])
            if target is not None:
                value = self.part(target, value, depth)
            if self.document.replaces_siblings:
                return value
        match value:
            case dict():
                value = self._object(node, schema, value, depth)
            case list():
                value = self._array(node, schema, value, depth)
            case _:
                self.steps += len(schema["enum"]) // 2 if isinstance(schema.get("enum"), list) else 0
                value = _to_scalar(value, schema)
        for part in node.list("allOf") if "allOf" in schema else ():
            value = self.part(part, value, depth)
        for key in ("anyOf", "oneOf"):
            if key in schema:
                value = self._alternative(node.list(key), value, depth)
        return value

    def _object(self, node: SchemaNode, schema: JsonObject, value: JsonObject, depth: int) -> JsonObject:
        if not (schema.keys() & {"properties", "patternProperties", "additionalProperties"}):
            return value
        changed: JsonObject = {}
        for name, item in value.items():
            new = item
            for part in self._property(node, schema, name):
                new = self.part(part, new, depth + 1)
            if new is not item:
                changed[name] = new
        return {**value, **changed} if changed else value

    def _property(self, node: SchemaNode, schema: JsonObject, name: str) -> list[SchemaNode]:
        known = self._members.get((id(schema), name))
        if known is None:
            known = self._members[id(schema), name] = self._found(node, schema, name)
        return known

    def _found(self, node: SchemaNode, schema: JsonObject, name: str) -> list[SchemaNode]:
        self.steps += len(schema.get("patternProperties") or ()) // 4
        found = [part] if (part := node.child("properties", name)) is not None else []
        patterns = schema.get("patternProperties")
        if isinstance(patterns, dict):
            found += [
                part
                for pattern in patterns
                if self.document.matches(pattern, name)
                and (part := node.child("patternProperties", pattern)) is not None
            ]
        if not found and (part := node.child("additionalProperties")) is not None:
            found.append(part)
        return found

    def _array(self, node: SchemaNode, schema: JsonObject, value: list[Json], depth: int) -> list[Json]:
        first = node.list("prefixItems") or node.list("items")
        rest = node.child("additionalItems" if isinstance(schema.get("items"), list) else "items")
        if not first and rest is None:
            return value
        if not first and rest is not None and _all_fit(rest.schema, value):
            return value
        if not first and rest is not None and _is_scalar(rest.schema):
            self.steps += len(value) // _SCALARS_OF_STEP
            if self.steps > _MOST_STEPS:
                raise _TooMuchWork
            found = [_to_scalar(item, rest.schema) for item in value]
            return value if all(map(operator.is_, found, value)) else found
        changed: list[Json] | None = None
        for index, item in enumerate(value):
            part = first[index] if index < len(first) else rest
            if part is None:
                break
            new = self.part(part, item, depth + 1)
            if new is not item:
                changed = list(value) if changed is None else changed
                changed[index] = new
        return value if changed is None else changed

    def _alternative(self, branches: tuple[SchemaNode, ...], value: Json, depth: int) -> Json:
        self.steps += _STEPS_OF_ALTERNATIVES
        most = _MOST_STEPS * _CHECKS_OF_STEP // self.load
        self.steps += size(value, most) * self.load // _CHECKS_OF_STEP
        if self.steps > _MOST_STEPS:
            raise _TooMuchWork
        if any(self.document.accepts(branch, value) for branch in branches):
            return value
        found: list[Json] = []
        for branch in branches:
            new = self.part(branch, value, depth)
            if new is value or not self.document.accepts(branch, new):
                continue
            if not any(type(known) is type(new) and known == new for known in found):
                found.append(new)
        return found[0] if len(found) == 1 else value


_PLAIN: dict[Json, frozenset[type]] = {
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "string": frozenset({str}),
    "boolean": frozenset({bool}),
}


def _all_fit(schema: JsonObject | bool, values: list[Json]) -> bool:
    """Whether every item of a long list has the one type that its schema names: nothing of it would change."""
    if not isinstance(schema, dict) or not schema.keys().isdisjoint(("$ref", "allOf", "anyOf", "oneOf")):
        return False
    named = schema.get("type")
    known = _PLAIN.get(named) if isinstance(named, str) else None
    return known is not None and known.issuperset(map(type, values))


def _is_scalar(schema: JsonObject | bool) -> TypeGuard[JsonObject]:
    """Whether the schema says nothing but a type, so that each item is a moment's work."""
    return isinstance(schema, dict) and schema.keys() <= {"type", "title", "description"}


def _to_scalar(value: Json, schema: JsonObject) -> Json:
    types = types_of(schema)
    if types:
        return coerce_scalar(value, types)
    literals = literals_of(schema)
    if literals is None or value in literals:
        return value
    for literal in literals:
        new = coerce_scalar(value, (type_name(literal),))
        if new is not value and type(new) is type(literal) and new == literal:
            return new
    return value
