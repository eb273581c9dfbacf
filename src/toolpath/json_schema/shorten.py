"""A smaller schema that means the same, for prompts."""

from __future__ import annotations

from typing import Final

import msgspec

from toolpath.json_schema.coerce import types_of
from toolpath.json_schema.document import MAX_NESTING, SchemaNode, subschemas
from toolpath.values import Json, JsonObject

_encoder: Final = msgspec.json.Encoder()
_NOISE: Final = frozenset(
    [
        "$schema",
        "$id",
        "$comment",
        "title",
        "examples",
        "example",
        "deprecated",
        "readOnly",
        "writeOnly",
        "markdownDescription",
    ]
)
#: Keywords that hold schemas under names of the user's own.
_NAMED: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SINGLE: Final = (
    "items",
    "additionalProperties",
    "additionalItems",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
)
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_SHORT: Final = 80
_WHOLE: Final = 1_000_000


class _Cut(msgspec.Struct, frozen=True):
    """Cut of a schema: characters of a description, and levels of nesting, that stay."""

    description: int
    depth: int


_STAGES: Final = (
    _Cut(_WHOLE, MAX_NESTING),
    _Cut(_SHORT, MAX_NESTING),
    _Cut(0, MAX_NESTING),
    *(_Cut(0, depth) for depth in (6, 4, 3, 2, 1)),
)


def shorten(schema: JsonObject, limit: int) -> JsonObject:
    """The schema in at most `limit` bytes of JSON, as far as that goes without saying what is not so.

    First titles, examples and the like go, then descriptions are cut and dropped, then what lies deep loses all but
    its type. The top level keeps its properties and what it requires, even where that is above the limit.
    """
    shortest: JsonObject = {}
    for cut in _STAGES:
        shortest = _without_lost_definitions(_shortened(schema, cut, 0))
        if len(_encoder.encode(shortest)) <= limit:
            break
    return shortest


def _shortened(schema: Json, cut: _Cut, depth: int) -> Json:
    if not isinstance(schema, dict):
        return schema
    if depth > cut.depth:
        return {"type": schema["type"]} if types_of(schema) else {}
    kept: JsonObject = {}
    for key, value in schema.items():
        if key in _NOISE:
            continue
        if key == "description":
            text = _sentence(value, cut.description)
            if text:
                kept[key] = text
            continue
        kept[key] = _keyword(key, value, cut, depth + 1)
    return kept


def _keyword(key: str, value: Json, cut: _Cut, depth: int) -> Json:
    match value:
        case dict() if key in _NAMED:
            return {name: _shortened(part, cut, depth) for name, part in value.items()}
        case dict() if key in _SINGLE:
            return _shortened(value, cut, depth)
        case list() if key in _LISTS:
            # An alternative is no deeper than the place it stands for.
            return [_shortened(part, cut, depth if key in ("prefixItems", "items") else depth - 1) for part in value]
        case _:
            return value


def _sentence(text: Json, limit: int) -> str:
    if not isinstance(text, str) or not limit:
        return ""
    words = " ".join(str(text).split())
    if len(words) <= limit:
        return words
    first = words.partition(". ")[0]
    return first + "." if len(first) < limit else words[: limit - 1].rpartition(" ")[0] + "…"


def _without_lost_definitions(schema: JsonObject) -> JsonObject:
    """The schema without definitions that nothing in it refers to any more."""
    while True:
        used = {
            reference.split("/")[2].replace("~1", "/").replace("~0", "~")
            for node in subschemas(SchemaNode(schema))
            if isinstance(reference := node.get("$ref"), str) and reference.startswith(("#/$defs/", "#/definitions/"))
        }
        kept = dict(schema)
        for key in ("$defs", "definitions"):
            named = schema.get(key)
            if isinstance(named, dict) and not _has_anchors(named):
                left = {name: part for name, part in named.items() if name in used}
                kept = {**kept, key: left} if left else {name: part for name, part in kept.items() if name != key}
        if kept == schema:
            return schema
        schema = kept


def _has_anchors(named: JsonObject) -> bool:
    return any(isinstance(part, dict) and part.keys() & {"$anchor", "$dynamicAnchor", "$id"} for part in named.values())
