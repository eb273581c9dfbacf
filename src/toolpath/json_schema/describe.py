"""A schema in a few words, for messages: `array of objects`, `string (date-time)`, `integer 1 to 14`."""

from __future__ import annotations

from typing import Final

from toolpath.json_schema.coerce import literals_of, types_of
from toolpath.json_schema.faults import listed
from toolpath.values import Json, JsonObject

_DEEPEST: Final = 4
_MOST_ALTERNATIVES: Final = 5
_PLURALS: Final = {
    "string": "strings",
    "integer": "integers",
    "number": "numbers",
    "boolean": "booleans",
    "array": "arrays",
    "object": "objects",
    "null": "nulls",
}


def type_text(schema: JsonObject | bool | None) -> str:
    """The kind of value that the schema describes; `anything` where it does not say, a reference by its name."""
    return _text(schema, 0)


def _text(schema: Json, depth: int) -> str:
    if schema is False:
        return "nothing"
    if not isinstance(schema, dict):
        return "anything"
    literals = literals_of(schema)
    if literals is not None:
        return f"one of {listed(literals)}" if len(literals) != 1 else listed(literals)
    types = types_of(schema)
    if types:
        return " or ".join(_of_type(name, schema, depth) for name in types)
    for key in ("anyOf", "oneOf", "allOf"):
        parts = schema.get(key)
        if isinstance(parts, list) and parts and depth < _DEEPEST:
            return _joined([_text(part, depth + 1) for part in parts], " and " if key == "allOf" else " or ")
    if isinstance(reference := schema.get("$ref"), str):
        return reference.rpartition("/")[2].strip("#") or "the same again"
    if "properties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else "anything"


def _joined(texts: list[str], word: str) -> str:
    texts = list(dict.fromkeys(texts))
    more = [f"{len(texts) - _MOST_ALTERNATIVES} more"] if len(texts) > _MOST_ALTERNATIVES else []
    return word.join(texts[:_MOST_ALTERNATIVES] + more)


def _of_type(name: str, schema: JsonObject, depth: int) -> str:
    match name:
        case "array" if isinstance(schema.get("items"), dict) and depth < _DEEPEST:
            inner = _text(schema["items"], depth + 1)
            return "array" if inner == "anything" else f"array of {_PLURALS.get(inner, inner)}"
        case "string" if isinstance(schema.get("format"), str):
            return f"string ({schema['format']})"
        case "integer" | "number":
            return name + _range(schema)
        case _:
            return name


def _range(schema: JsonObject) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    low = low if low is not None else schema.get("exclusiveMinimum")
    high = high if high is not None else schema.get("exclusiveMaximum")
    if low is None:
        return "" if high is None else f" up to {high}"
    return f" from {low}" if high is None else f" {low} to {high}"
