"""An output schema as a list of flat alternatives: one type each, no references, no `anyOf`, `oneOf` or `allOf`.

Together the alternatives admit every value of the schema and perhaps more, never fewer: what cannot be merged is left
out. So 'all of them fit' and 'none of them fits' hold for the schema itself.
"""

from __future__ import annotations

from typing import Final

from toolpath.json_schema.coerce import literals_of, types_of
from toolpath.json_schema.document import MAX_NESTING, SchemaDocument, SchemaNode
from toolpath.values import Json, JsonObject, canonical, type_name

_MOST_ALTERNATIVES: Final = 64
#: Schemas that are put together for one question, with what stands in them. Where both of an `allOf` lead back to
#: themselves, each level of a value would double them.
_MOST_PARTS: Final = 20_000
_COMPOUND: Final = ("$ref", "allOf", "anyOf", "oneOf")
_HIGHER: Final = frozenset(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"])
_LOWER: Final = frozenset(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"])
_ITEMS: Final = frozenset({"items", "prefixItems", "additionalItems"})


class Unclear(Exception):  # says that there is no answer; never leaves the package
    """A reference that leads nowhere, or more alternatives than are looked at."""


class Alternatives:
    """The flat alternatives of the schemas of one document, for one question."""

    __slots__ = ("_document", "_left")

    def __init__(self, document: SchemaDocument) -> None:
        self._document = document
        self._left = _MOST_PARTS

    def of(self, schema: JsonObject | bool) -> list[JsonObject]:
        """The flat alternatives of the schema; none where it admits nothing. Raises `Unclear`."""
        found: list[JsonObject] = []
        for flat in self._expanded(schema, 0):
            found += _by_type(flat)
            if len(found) > _MOST_ALTERNATIVES:
                raise Unclear("it has too many alternatives to look at")
        return found

    def _charge(self, parts: int) -> None:
        self._left -= parts
        if self._left < 0:
            raise Unclear("it has too many parts to put together")

    def _expanded(self, schema: JsonObject | bool, depth: int) -> list[JsonObject]:
        if depth > MAX_NESTING:
            raise Unclear("its references lead back to themselves")
        if isinstance(schema, bool):
            return [{}] if schema else []
        self._charge(1)
        document = self._document
        own = _own_keywords(schema)
        if not any(key in schema for key in _COMPOUND):
            return [own]
        node = SchemaNode(schema)
        found = [own]
        if "$ref" in schema:
            target = document.target(schema["$ref"])
            if target is None:
                raise Unclear(f"its reference {schema['$ref']!r} leads nowhere")
            referred = self._expanded(target.schema, depth + 1)
            if document.replaces_siblings:
                return referred
            found = self._product(found, referred)
        for part in node.list("allOf"):
            found = self._product(found, self._expanded(part.schema, depth + 1))
        for key in ("anyOf", "oneOf"):
            branches = node.list(key)
            if branches:
                admitted = [flat for branch in branches for flat in self._expanded(branch.schema, depth + 1)]
                found = self._product(found, admitted)
        return found

    def _product(self, left: list[JsonObject], right: list[JsonObject]) -> list[JsonObject]:
        if len(left) * len(right) > _MOST_ALTERNATIVES:
            raise Unclear("it has too many alternatives to look at")
        found = []
        for one in left:
            for other in right:
                self._charge(sum(len(value) for value in other.values() if isinstance(value, list | dict)))
                merged = _merged(one, other)
                if merged is not None:
                    found.append(merged)
        return found


def _own_keywords(schema: JsonObject) -> JsonObject:
    own = {key: value for key, value in schema.items() if key not in _COMPOUND}
    # Draft 4 marks a bound as exclusive beside it.
    for bound, mark in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(own.get(mark), bool):
            exclusive = own.pop(mark)
            if exclusive and bound in own:
                own[mark] = own.pop(bound)
    return own


def _merged(left: JsonObject, right: JsonObject) -> JsonObject | None:
    """The schema that admits what both admit, or a little more; None where it is seen that no value fits both."""
    if not left or not right:
        return left or right
    merged = dict(left)
    literals, others = literals_of(left), literals_of(right)
    if literals is not None and others is not None:
        shared = {canonical(other) for other in others}
        merged.pop("const", None)
        merged["enum"] = [literal for literal in literals if canonical(literal) in shared]
    for key, value in right.items():
        if key in ("const", "enum"):
            if literals is None:
                merged[key] = value
        elif key not in left:
            if key not in _ITEMS or not (left.keys() & _ITEMS):
                merged[key] = value
        else:
            merged[key] = _both(key, left[key], value, left, right)
    if "type" in merged and not types_of(merged):
        return None
    return merged


def _both(key: str, left: Json, right: Json, first: JsonObject, second: JsonObject) -> Json:
    match key:
        case "type":
            return _shared_types(types_of(first), types_of(second))
        case "properties" | "$defs" | "definitions" if isinstance(left, dict) and isinstance(right, dict):
            return {
                **left,
                **{name: {"allOf": [left[name], part]} if name in left else part for name, part in right.items()},
            }
        case "patternProperties" if isinstance(left, dict) and isinstance(right, dict):
            return {**right, **left}
        case "required" if isinstance(left, list) and isinstance(right, list):
            return [*left, *(name for name in right if name not in left)]
        case "additionalProperties":
            return False if left is False or right is False else {"allOf": [left, right]}
        case "items" if isinstance(left, dict | bool) and isinstance(right, dict | bool):
            has_first = "prefixItems" in first or "prefixItems" in second
            return left if has_first else {"allOf": [left, right]}
        case _ if key in _HIGHER and _are_numbers(left, right):
            return max(left, right)
        case _ if key in _LOWER and _are_numbers(left, right):
            return min(left, right)
        case _:
            return left


def _are_numbers(left: Json, right: Json) -> bool:
    return type(left) in (int, float) and type(right) in (int, float)


def _shared_types(left: tuple[str, ...], right: tuple[str, ...]) -> list[str]:
    shared = [name for name in left if name in right]
    if "integer" not in shared and (
        ("integer" in left and "number" in right) or ("number" in left and "integer" in right)
    ):
        shared.append("integer")
    return shared


def _by_type(flat: JsonObject) -> list[JsonObject]:
    types = types_of(flat)
    literals = literals_of(flat)
    if literals is not None:
        fitting = [literal for literal in literals if not types or _is_of(literal, types)]
        return [{"enum": fitting}] if fitting else []
    if len(types) < 2:
        return [{**flat, "type": types[0]}] if types else [flat]
    if "number" in types:
        types = tuple(name for name in types if name != "integer")
    return [{**flat, "type": name} for name in types]


def _is_of(value: Json, types: tuple[str, ...]) -> bool:
    kind = type_name(value)
    if kind in types or (kind == "integer" and "number" in types):
        return True
    return kind == "number" and "integer" in types and float(value).is_integer()
