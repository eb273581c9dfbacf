"""Kinds of values that a type admits, and the type that is left where some of them are known not to come. Pure.

A type is a JSON Schema that stands for itself, or None where nothing is known. Each answer holds for every value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from toolpath.checks.memory import SchemaMemory
from toolpath.checks.shapes import NEVER, Type, either, standalone
from toolpath.json_schema.coerce import literals_of
from toolpath.json_schema.describe import type_text
from toolpath.json_schema.document import SchemaNode
from toolpath.values import Json, JsonObject, type_name

Flat = JsonObject
Key = str | int

NUMERIC: Final = frozenset({"integer", "number"})
#: Says of numbers that they are not 0.
_NOT_ZERO: Final = "x-not-zero"
_MOST_TEXTS: Final = 5
_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_UNKNOWN: Final[JsonObject] = {}
_CONTEXT: Final = frozenset({"$defs", "definitions", "$schema", "$id", "id"})


class Kinds:
    """Answers for the types of one check."""

    __slots__ = ("_children", "_items", "_memory", "_not_null")

    def __init__(self, memory: SchemaMemory) -> None:
        self._memory = memory
        self._children = memory.children
        self._items = memory.items
        self._not_null = memory.not_null

    def flats(self, of: Type) -> list[Flat] | None:
        """The type as alternatives of one kind each, or of listed values; None where it may be of any kind."""
        found = None if of is None else self._memory.flats(of)
        return None if found is None or any("type" not in f and literals_of(f) is None for f in found) else found

    def names(self, of: Type) -> frozenset[str] | None:
        """The JSON types of its values; None: any."""
        found = self.flats(of)
        return None if found is None else frozenset(name for flat in found for name in _names(flat))

    def text(self, of: Type) -> str:
        """The type in a few words, its references followed."""
        found = None if of is None else self._memory.flats(of)
        if found is None:
            return type_text(of)
        texts = list(dict.fromkeys(type_text(flat) for flat in found))
        return " or ".join(texts[:_MOST_TEXTS]) + (" or more" if len(texts) > _MOST_TEXTS else "") or "nothing"

    def has(self, of: Type, key: Key) -> bool:
        """Every value of the type has something at the key."""
        found = self.flats(of)
        return found is not None and all(_has(flat, key) for flat in found)

    def child(self, of: Type, key: Key) -> Type:
        """The type of what is at the key, where there is something."""
        if of is None:
            return None
        mark = (id(self._memory.kept(of)), key)
        if mark not in self._children:
            self._children[mark] = self._child(of, key)
        return self._children[mark]

    def _child(self, of: JsonObject, key: Key) -> Type:
        place = self._memory.locate(of, (key,))
        if place.found == "found" and place.schema:
            return standalone(place.schema, place.root)
        found = self.flats(of)
        if not found or any(literals_of(flat) is None for flat in found):
            return None
        values = [value[key] for flat in found for value in literals_of(flat) or () if _is_at(value, key)]
        return {"enum": values} if values else NEVER

    def items(self, of: Type) -> Type:
        """The type of the elements of lists; what is no list has none."""
        if of is None:
            return None
        mark = id(self._memory.kept(of))
        if mark not in self._items:
            self._items[mark] = self._item(of)
        return self._items[mark]

    def _item(self, of: JsonObject) -> Type:
        found = self.flats(of)
        if found is None:
            return None
        parts: list[Type] = []
        for flat in found:
            literals = literals_of(flat)
            if literals is not None:
                values = [item for value in literals if isinstance(value, list) for item in value]
                parts += [{"enum": values}] if values else []
            elif flat["type"] == "array" and flat.get("maxItems") != 0:
                inner = _item_schemas(flat)
                if inner is None:
                    return None
                parts += [standalone(part, of) for part in inner]
        return either(parts) if parts else NEVER

    def values(self, of: Type) -> Type:
        """The type of the values of objects, whatever their keys."""
        found = self.flats(of)
        if of is None or found is None:
            return None
        parts: list[Type] = []
        for flat in found:
            literals = literals_of(flat)
            if literals is not None:
                listed = [item for value in literals if isinstance(value, dict) for item in value.values()]
                parts += [{"enum": listed}] if listed else []
            elif flat["type"] == "object":
                if flat.get("additionalProperties") is not False or "patternProperties" in flat:
                    more = flat.get("additionalProperties")
                    if not isinstance(more, dict) or not more or "patternProperties" in flat:
                        return None
                    parts.append(standalone(more, of))
                parts += [standalone(part, of) for part in flat.get("properties", {}).values() if part is not False]
        return either(parts) if parts else NEVER

    def is_filled(self, of: Type) -> bool:
        """Every list, text or object of the type has something in it."""
        found = self.flats(of)
        return found is not None and all(_is_filled(flat) for flat in found)

    def may_be_zero(self, of: Type) -> bool:
        """A number of the type may be 0."""
        found = self.flats(of)
        return found is None or any(_may_be_zero(flat) for flat in found)

    def least(self, of: Type) -> float:
        """A number that none of the type is below."""
        found = self.flats(of)
        return -float("inf") if found is None else min((_least(flat) for flat in found), default=float("inf"))

    def only(self, of: Type, kinds: Iterable[str]) -> Type:
        """The type of those values that are of these kinds; `integer` lies in `number`."""
        wanted = frozenset(kinds)
        return self._kept(of, lambda flat: _of_kinds(flat, wanted))

    def without_null(self, of: Type) -> Type:
        """The type of its values but null."""
        if of is None:
            return None
        known = self._not_null.get(id(of), _UNKNOWN)
        if known is _UNKNOWN:
            known = self._kept(of, lambda flat: _filtered(flat, lambda value: value is not None, drops="null"))
            self._not_null[id(self._memory.kept(of))] = known
        return known

    def true(self, of: Type) -> Type:
        """The type of those values that count as true."""
        return self._kept(of, _true)

    def false(self, of: Type) -> Type:
        """The type of those values that count as false."""
        return self._kept(of, _false)

    def not_zero(self, of: Type) -> Type:
        """The type of its values but the number 0."""
        return self._kept(of, _without_zero)

    def with_key(self, of: Type, key: str, inner: Callable[[Type], Type]) -> Type:
        """The type of those objects that have the key, and there what `inner` makes of it."""
        if of is None:
            return None
        part = inner(self.child(of, key))
        kept = self._kept(of, lambda flat: _required(flat, key))
        if part is None or not self.flats(kept):
            return kept
        return {"allOf": [kept, {"properties": {key: part}}]} if "$ref" not in str(part) + str(kept) else kept

    def _kept(self, of: Type, keep: Callable[[Flat], Flat | None]) -> Type:
        found = None if of is None else self._memory.flats(of)
        if found is None or of is None:
            return of
        kept = [(flat, changed) for flat in found if (changed := keep(flat)) is not None]
        if len(kept) == len(found) and all(flat is changed for flat, changed in kept):
            return of
        parts = [{key: value for key, value in changed.items() if key not in _CONTEXT} for _, changed in kept]
        if not parts:
            return NEVER
        return standalone(parts[0] if len(parts) == 1 else {"anyOf": parts}, of)


def _names(flat: Flat) -> list[str]:
    literals = literals_of(flat)
    return [flat["type"]] if literals is None else [type_name(value) for value in literals]


def _is_at(value: Json, key: Key) -> bool:
    if isinstance(value, dict):
        return key in value
    return isinstance(value, list | str) and isinstance(key, int) and -len(value) <= key < len(value)


def _has(flat: Flat, key: Key) -> bool:
    literals = literals_of(flat)
    if literals is not None:
        return all(_is_at(value, key) for value in literals)
    if flat["type"] == "object":
        return str(key) in flat.get("required", ())
    if not isinstance(key, int) or flat["type"] not in ("array", "string"):
        return False
    least = flat.get("minItems" if flat["type"] == "array" else "minLength", 0)
    return isinstance(least, int | float) and least >= (key + 1 if key >= 0 else -key)


def _item_schemas(flat: Flat) -> list[JsonObject] | None:
    """The schemas of a list's elements; None where they may be anything."""
    node = SchemaNode(flat)
    first = node.list("prefixItems") or node.list("items")
    rest = node.child("additionalItems" if isinstance(flat.get("items"), list) else "items")
    most = flat.get("maxItems")
    is_full = isinstance(most, int) and most <= len(first)
    if rest is None and not is_full:
        return None
    nodes = [*first, *([] if rest is None or is_full else [rest])]
    if any(part.schema is True for part in nodes):
        return None
    return [part.schema for part in nodes if isinstance(part.schema, dict)]


def _is_filled(flat: Flat) -> bool:
    literals = literals_of(flat)
    if literals is not None:
        return all(value for value in literals if isinstance(value, list | str | dict))
    match flat["type"]:
        case "array":
            least = flat.get("minItems", 0)
        case "string":
            least = flat.get("minLength", 0)
        case "object":
            least = max(flat.get("minProperties", 0), len(flat.get("required", ())))
        case _:
            return True
    return bool(least >= 1)


def _may_be_zero(flat: Flat) -> bool:
    literals = literals_of(flat)
    if literals is not None:
        return any(type(value) in (int, float) and value == 0 for value in literals)
    if flat["type"] not in NUMERIC or flat.get(_NOT_ZERO):
        return False
    bounds: dict[str, float] = {key: flat[key] for key in _BOUNDS if _is_number(flat.get(key))}
    is_negative = bounds.get("maximum", 0) < 0 or bounds.get("exclusiveMaximum", 1) <= 0
    return not (is_negative or bounds.get("minimum", 0) > 0 or bounds.get("exclusiveMinimum", -1) >= 0)


def _least(flat: Flat) -> float:
    literals = literals_of(flat)
    if literals is not None:
        return min((value for value in literals if type(value) in (int, float)), default=float("inf"))
    bounds = [flat[key] for key in ("minimum", "exclusiveMinimum") if _is_number(flat.get(key))]
    return max(bounds, default=-float("inf"))


def _is_number(value: Json) -> bool:
    return type(value) in (int, float)


def _filtered(flat: Flat, keep: Callable[[Json], bool], drops: str = "") -> Flat | None:
    literals = literals_of(flat)
    if literals is None:
        return None if flat.get("type") == drops else flat
    kept = [value for value in literals if keep(value)]
    return flat if len(kept) == len(literals) else {"enum": kept} if kept else None


def _of_kinds(flat: Flat, wanted: frozenset[str]) -> Flat | None:
    if "type" not in flat and literals_of(flat) is None:
        return {**flat, "type": sorted(wanted)}
    literals = literals_of(flat)
    if literals is not None:
        kept = [v for v in literals if type_name(v) in wanted or (type_name(v) in NUMERIC and "number" in wanted)]
        return flat if len(kept) == len(literals) else {"enum": kept} if kept else None
    name = flat["type"]
    if name in wanted or (name == "integer" and "number" in wanted):
        return flat
    return {**flat, "type": "integer"} if name == "number" and "integer" in wanted else None


def _true(flat: Flat) -> Flat | None:
    if literals_of(flat) is not None:
        return _filtered(flat, bool)
    match flat.get("type"):
        case "null":
            return None
        case "boolean":
            return {"enum": [True]}
        case "integer" | "number":
            return {**flat, _NOT_ZERO: True}
        case "string":
            return {**flat, "minLength": max(flat.get("minLength", 0), 1)}
        case "array":
            return {**flat, "minItems": max(flat.get("minItems", 0), 1)}
        case "object":
            return {**flat, "minProperties": max(flat.get("minProperties", 0), 1)}
        case _:
            return flat


def _false(flat: Flat) -> Flat | None:
    if literals_of(flat) is not None:
        return _filtered(flat, lambda value: not value)
    match flat.get("type"):
        case "boolean":
            return {"enum": [False]}
        case "integer" | "number":
            return {"enum": [0]} if _may_be_zero(flat) else None
        case "string":
            return None if flat.get("minLength", 0) else {"enum": [""]}
        case "array":
            return None if flat.get("minItems", 0) else {"enum": [[]]}
        case "object":
            return None if flat.get("minProperties", 0) or flat.get("required") else {"enum": [{}]}
        case _:
            return flat


def _without_zero(flat: Flat) -> Flat | None:
    if literals_of(flat) is not None:
        return _filtered(flat, lambda value: type(value) not in (int, float) or value != 0)
    return {**flat, _NOT_ZERO: True} if flat.get("type") in NUMERIC else flat


def _required(flat: Flat, key: str) -> Flat | None:
    literals = literals_of(flat)
    if literals is not None:
        return _filtered(flat, lambda value: isinstance(value, dict) and key in value)
    if flat.get("type") != "object":
        return None if "type" in flat else flat
    return {**flat, "required": [*flat.get("required", ()), key]}
