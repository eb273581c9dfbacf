"""Members of an object whose schema is split over several: `allOf`, references, alternatives. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from toolpath.json_schema.document import SchemaDocument, SchemaNode
from toolpath.values import Json, JsonObject

#: Parts that are looked into; more are left to the validator.
_MOST_PARTS: Final = 200
_CONDITIONAL: Final = ("anyOf", "oneOf")
_BRANCHES: Final = ("then", "else")


def with_members(schema: JsonObject) -> JsonObject:
    """The schema with every member that its parts declare among its own `properties`, and the required ones named.

    The parts stay: they say what fits. A member that is declared in an alternative alone may hold anything here. What
    declares all of its members itself is given back as it is.
    """
    if not any(key in schema for key in ("allOf", "$ref", *_CONDITIONAL, *_BRANCHES)):
        return schema
    document = SchemaDocument(schema)
    own = _mapping(schema.get("properties"))
    declared: dict[str, list[JsonObject]] = {}
    required = [name for name in _names(schema.get("required")) if isinstance(name, str)]
    for part, is_sure in _parts(document, SchemaNode(schema)):
        for name, member in _mapping(part.get("properties")).items():
            known = declared.setdefault(name, [])
            if is_sure and isinstance(member, dict):
                known.append(member)
        if is_sure:
            required += [name for name in _names(part.get("required")) if isinstance(name, str)]
    lifted = {name: _together(known) for name, known in declared.items() if name not in own}
    needed = list(dict.fromkeys(required))
    if not lifted and needed == _names(schema.get("required")):
        return schema
    whole: JsonObject = {**schema, "properties": {**own, **lifted}}
    return {**whole, "required": needed} if needed else whole


def _parts(document: SchemaDocument, start: SchemaNode) -> Iterator[tuple[SchemaNode, bool]]:
    """Each part in which the same object is described, and whether it holds whatever the object is."""
    waiting = [(part, is_sure) for part, is_sure in _below(document, start, is_sure=True)]
    seen: set[tuple[int, bool]] = {(id(start.schema), True)}
    count = 0
    while waiting and count < _MOST_PARTS:
        part, is_sure = waiting.pop(0)
        mark = (id(part.schema), is_sure)
        if mark in seen:
            continue
        seen.add(mark)
        count += 1
        yield part, is_sure
        waiting += _below(document, part, is_sure=is_sure)


def _below(document: SchemaDocument, node: SchemaNode, *, is_sure: bool) -> list[tuple[SchemaNode, bool]]:
    found = [(part, is_sure) for part in node.list("allOf")]
    target = document.target(node.get("$ref")) if node.get("$ref") is not None else None
    if target is not None:
        found.append((target, is_sure))
    found += [(part, False) for key in _CONDITIONAL for part in node.list(key)]
    found += [(part, False) for key in _BRANCHES if (part := node.child(key)) is not None]
    return found


def _together(known: list[JsonObject]) -> JsonObject:
    """The schema of one member of which several parts speak."""
    if len(known) < 2:
        return known[0] if known else {}
    default = next((one["default"] for one in known if "default" in one), None)
    has_default = any("default" in one for one in known)
    return {"allOf": known, "default": default} if has_default else {"allOf": known}


def _mapping(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _names(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
