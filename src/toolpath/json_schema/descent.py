"""Descent into a value and its schema at once, to find where they do not fit. Pure.

The validator itself could tell, but it builds the faults of every branch of every alternative within alternatives:
time and memory that double with each level of a value. Here each schema is compared with each part of the value once,
and the work is counted.
"""

from __future__ import annotations

from typing import Final

import jsonschema_rs

from toolpath.json_schema.document import DRAFT_ADDRESSES, PATTERNS, SchemaDocument, SchemaNode
from toolpath.json_schema.faults import (
    SchemaFault,
    container_faults,
    fault_of,
    literal_fault,
    nearest,
    no_name,
    surplus,
    unwanted,
)
from toolpath.values import Json, JsonObject, pointer

#: Comparisons of a schema with a part of the value: a tenth of a second, rather less.
_MOST_STEPS: Final = 15_000
#: Faults that are kept of one place.
_MOST_FAULTS: Final = 20
#: Keywords that look at the value alone. `dependencies` too, where they are lists of names.
_LEAVES: Final = frozenset(
    [
        "type",
        "enum",
        "const",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "required",
        "dependentRequired",
        "contentEncoding",
        "contentMediaType",
    ]
)
_LITERALS: Final = ("const", "enum")


class TooMuchWork(Exception):  # a signal that never leaves the package
    """The value and its schema are too large to be compared part by part."""


class Descent:
    """One search for faults, with its budget."""

    __slots__ = ("_document", "_formats", "_known", "_leaves", "_steps")

    def __init__(self, document: SchemaDocument, *, formats: bool) -> None:
        self._document = document
        self._formats = formats
        self._known: dict[tuple[int, int], tuple[SchemaFault, ...]] = {}
        self._leaves: dict[int, jsonschema_rs.Validator | None] = {}
        self._steps = 0

    def faults(self, value: Json) -> tuple[SchemaFault, ...]:
        """Pairs of JSON pointer into the value and what is wrong there. Raises `TooMuchWork`."""
        try:
            return self._at(SchemaNode(self._document.root), value)
        except RecursionError:
            raise TooMuchWork from None

    def _at(self, node: SchemaNode, value: Json) -> tuple[SchemaFault, ...]:
        mark = (id(node.schema), id(value))
        known = self._known.get(mark)
        if known is not None:
            return known
        self._spend(1)
        # A reference that leads back here without going into the value adds nothing.
        self._known[mark] = ()
        found = self._known[mark] = tuple(dict.fromkeys(self._compared(node, value)))[:_MOST_FAULTS]
        return found

    def _spend(self, steps: int) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise TooMuchWork

    def _compared(self, node: SchemaNode, value: Json) -> list[SchemaFault]:
        schema = node.schema
        if not isinstance(schema, dict):
            return [] if schema else [SchemaFault("", unwanted(value))]
        found: list[SchemaFault] = []
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            if key in schema and (target := self._document.target(schema[key])) is not None:
                found += self._at(target, value)
        if "$ref" in schema and self._document.replaces_siblings:
            return found
        if isinstance(value, dict):
            found += self._object(node, schema, value)
        elif isinstance(value, list):
            found += self._array(node, schema, value)
        found += self._leaf(schema, value)
        for part in node.list("allOf"):
            found += self._at(part, value)
        for key in ("anyOf", "oneOf"):
            if key in schema:
                found += self._alternatives(node, key, value)
        refused = node.child("not")
        if refused is not None and not self._at(refused, value):
            found.append(SchemaFault("", no_name(refused.schema, value)))
        condition = node.child("if")
        if condition is not None:
            follows = node.child("else" if self._at(condition, value) else "then")
            found += self._at(follows, value) if follows is not None else ()
        return found

    def _leaf(self, schema: JsonObject, value: Json) -> list[SchemaFault]:
        """The faults by the keywords that look at the value alone."""
        if id(schema) not in self._leaves:
            self._leaves[id(schema)] = self._leaf_of(schema)
        validator = self._leaves[id(schema)]
        if validator is None or validator.is_valid(value):
            return []
        self._spend(20)
        found: list[SchemaFault] = []
        if isinstance(value, dict | list):
            found += container_faults(schema, value)
        else:
            told = self._leaf_of({key: wanted for key, wanted in schema.items() if key not in _LITERALS})
            if told is not None:
                found += [fault for error in told.iter_errors(value) for fault in fault_of(error, schema)]
        for key in _LITERALS:
            if key in schema and not self._is_listed(key, schema, value):
                found.append(literal_fault({key: schema[key]}, value))
        # Of all that looks at a whole array, only this is left.
        return found or [SchemaFault("", "expected items that all differ")]

    def _is_listed(self, key: str, schema: JsonObject, value: Json) -> bool:
        validator = self._leaf_of({key: schema[key]})
        return validator is None or validator.is_valid(value)

    def _leaf_of(self, schema: JsonObject) -> jsonschema_rs.Validator | None:
        own = {key: wanted for key, wanted in schema.items() if key in _LEAVES}
        named = schema.get("dependencies")
        if isinstance(named, dict):
            own["dependencies"] = {name: names for name, names in named.items() if isinstance(names, list)}
        if not own:
            return None
        listed = own.get("enum")
        self._spend(2 + (len(listed) // 100 if isinstance(listed, list) else 0))
        own["$schema"] = DRAFT_ADDRESSES[self._document.draft]
        return self._document.draft(own, validate_formats=self._formats, offline=True, pattern_options=PATTERNS)

    def _object(self, node: SchemaNode, schema: JsonObject, value: JsonObject) -> list[SchemaFault]:
        found: list[SchemaFault] = []
        properties, patterns = schema.get("properties") or {}, schema.get("patternProperties") or {}
        rest, names = node.child("additionalProperties"), node.child("propertyNames")
        for name, item in value.items():
            self._spend(len(patterns))
            parts = [part] if name in properties and (part := node.child("properties", name)) is not None else []
            parts += [
                part
                for pattern in patterns
                if self._document.matches(pattern, name)
                and (part := node.child("patternProperties", pattern)) is not None
            ]
            at = pointer(name)
            if not parts and rest is not None:
                if rest.schema is False:
                    found.append(SchemaFault(at, surplus(name, list(properties))))
                    self._spend(20)
                else:
                    parts = [rest]
            for part in parts:
                found += _below(at, self._at(part, item))
            if names is not None:
                found += _below(at, self._at(names, name))
            if len(found) >= _MOST_FAULTS:
                break
        for key in ("dependentSchemas", "dependencies"):
            for name, part in node.map(key).items():
                found += self._at(part, value) if name in value else ()
        return found

    def _array(self, node: SchemaNode, schema: JsonObject, value: list[Json]) -> list[SchemaFault]:
        first = node.list("prefixItems") or node.list("items")
        rest = node.child("additionalItems" if isinstance(schema.get("items"), list) else "items")
        found: list[SchemaFault] = []
        for index, part in enumerate(first[: len(value)]):
            found += _below(f"/{index}", self._at(part, value[index]))
        if rest is not None:
            for index in self._unfit(rest, value, len(first)):
                found += _below(f"/{index}", self._at(rest, value[index]))
                if len(found) >= _MOST_FAULTS:
                    break
        wanted = node.child("contains")
        if wanted is not None and not found:
            fits = len(value) - len(self._unfit(wanted, value, 0, every=True))
            least, most = schema.get("minContains", 1), schema.get("maxContains")
            if fits < least or (most is not None and fits > most):
                found.append(
                    SchemaFault("", f"{fits} of its {len(value)} items are of the kind that it has to contain")
                )
        return found

    def _unfit(self, part: SchemaNode, value: list[Json], start: int, *, every: bool = False) -> list[int]:
        """Numbers of items that do not fit; where not `every`, so many as may be told of."""
        validator = self._document.validator(part, formats=self._formats) if len(value) - start > _MOST_FAULTS else None
        if validator is None:
            return [index for index in range(start, len(value)) if self._at(part, value[index])]
        self._spend((len(value) - start) // 50)
        unfit: list[int] = []
        for index in range(start, len(value)):
            if not validator.is_valid(value[index]):
                unfit.append(index)
                if len(unfit) >= _MOST_FAULTS and not every:
                    break
        return unfit

    def _alternatives(self, node: SchemaNode, key: str, value: Json) -> list[SchemaFault]:
        branches = node.list(key)
        told: list[tuple[SchemaFault, ...]] = []
        fitting = 0
        for branch in branches:
            faults = self._at(branch, value)
            fitting += not faults
            if fitting and key == "anyOf":
                return []
            told.append(faults)
        return [] if fitting == 1 else nearest(key, told, fitting, value)


def _below(at: str, faults: tuple[SchemaFault, ...]) -> list[SchemaFault]:
    return [found._replace(at=at + found.at) for found in faults]
