"""Schemas at random, and values that fit them and are no better than they have to be."""

from __future__ import annotations

from random import Random
from typing import Any

Schema = dict[str, Any]
Json = Any

DEFINITIONS: dict[str, Schema] = {
    "row": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}, "required": ["k"]},
    "tree": {
        "type": "object",
        "properties": {
            "label": {"type": "string"},
            "size": {"type": "number", "minimum": 1},
            "parent": {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]},
            "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
        },
        "required": ["label", "children"],
        "additionalProperties": False,
    },
    "colour": {"type": "string", "enum": ["red", "green", "blue"]},
    "maybe": {"type": ["string", "null"]},
}
NAMES = ("id", "name", "count", "total", "tags", "rows", "note", "owner", "data", "items", "kind", "my key", "0")


def scalar(chance: Random) -> Schema:
    """A text, a number, a truth value, or one of a few values."""
    return chance.choice(
        [
            {"type": "string"},
            {"type": "string"},
            {"type": "string", "minLength": 1},
            {"type": "string", "format": "date-time"},
            {"type": "integer"},
            {"type": "integer", "minimum": 1},
            {"type": "number"},
            {"type": "number", "exclusiveMinimum": 0, "maximum": 50},
            {"type": "boolean"},
            {"enum": ["a", "b"]},
            {"enum": [1, 2, 3]},
            {"enum": ["a", None]},
            {"const": "fixed"},
            {"type": "string", "enum": ["x", "y"]},
            {"$ref": "#/$defs/colour"},
        ]
    )


def schema(chance: Random, depth: int = 2) -> Schema:
    """Any schema; its references are to `DEFINITIONS`."""
    match chance.randrange(18) if depth else 0:
        case 0 | 1 | 2 | 3 | 4:
            return scalar(chance)
        case 5:
            return {"type": [chance.choice(["string", "integer", "number", "object"]), "null"]}
        case 6:
            return {"anyOf": [schema(chance, depth - 1), {"type": "null"}]}
        case 7:
            return {chance.choice(["anyOf", "oneOf"]): [{"type": "string"}, {"type": "integer"}]}
        case 8 | 9:
            found: Schema = {"type": "array", "items": schema(chance, depth - 1)}
            return {**found, "minItems": chance.choice([1, 2])} if chance.random() < 0.5 else found
        case 10:
            return {"type": "array", "items": {"$ref": "#/$defs/row"}, **chance.choice([{}, {"minItems": 1}])}
        case 11:
            parts = [scalar(chance), scalar(chance)]
            tuple_: Schema = {"type": "array", "prefixItems": parts, "items": False}
            return {**tuple_, "minItems": 2} if chance.random() < 0.6 else tuple_
        case 12:
            return {"$ref": f"#/$defs/{chance.choice(list(DEFINITIONS))}"}
        case 13:
            return {"allOf": [object_schema(chance, depth - 1), {"$ref": "#/$defs/row"}]}
        case 14:
            return {
                "type": "object",
                "patternProperties": {"^n_": {"type": "number"}},
                "additionalProperties": chance.choice([False, {"type": "string"}]),
            }
        case 15:
            return {"type": "object", "additionalProperties": scalar(chance)}
        case _:
            return object_schema(chance, depth)


def object_schema(chance: Random, depth: int = 2) -> Schema:
    """An object of which most properties are required."""
    names = chance.sample(NAMES, chance.randint(2, 5))
    found: Schema = {"type": "object", "properties": {name: schema(chance, depth - 1) for name in names}}
    found["required"] = [name for name in names if chance.random() < 0.7]
    match chance.randrange(4):
        case 0:
            found["additionalProperties"] = False
        case 1:
            found["additionalProperties"] = {"type": "string"}
        case _:
            pass
    return found


def narrowed(part: Schema, chance: Random) -> Schema:
    """The schema, or one that admits less by a keyword that is about all of the value."""
    if "$ref" in part or chance.random() < 0.7:
        return part
    return {**part, **chance.choice(_NARROWER.get(str(part.get("type")), [{"not": {"const": "x"}}]))}


_NARROWER: dict[str, list[Schema]] = {
    "string": [{"pattern": "^[ab]"}, {"maxLength": 3}, {"not": {"const": "x"}}, {"contentEncoding": "base64"}],
    "integer": [{"multipleOf": 2}, {"not": {"const": 1}}],
    "number": [{"multipleOf": 0.5}, {"if": {"minimum": 1}, "then": {"maximum": 2}}],
    "array": [{"uniqueItems": True}, {"contains": {"type": "string"}}, {"maxItems": 2}],
    "object": [
        {"minProperties": 1},
        {"maxProperties": 2},
        {"propertyNames": {"maxLength": 4}},
        {"dependentRequired": {"k": ["v"]}},
        {"dependentSchemas": {"k": {"required": ["v"]}}},
        {"if": {"required": ["k"]}, "then": {"required": ["v"]}},
    ],
}


def whole(part: Schema) -> Schema:
    """The schema as a document of its own."""
    return {**part, "$defs": DEFINITIONS}


def value(part: Schema | bool, chance: Random, depth: int = 0) -> Json:  # noqa: C901  # one case a keyword
    """A value that fits: optional parts are mostly absent, lists mostly as short as they may be."""
    if isinstance(part, bool):
        return None
    if "$ref" in part:
        return value(DEFINITIONS[part["$ref"].rpartition("/")[2]], chance, depth + 1)
    if "const" in part:
        return part["const"]
    if "enum" in part:
        return chance.choice(part["enum"])
    for key in ("anyOf", "oneOf"):
        if key in part:
            branches = part[key]
            return value(branches[-1] if depth > 4 else chance.choice(branches), chance, depth + 1)
    if "allOf" in part:
        found: dict[str, Json] = {}
        for inner in part["allOf"]:
            found = {**value(inner, chance, depth + 1), **{k: v for k, v in found.items() if k not in ("k", "v")}}
        return found
    kind = part.get("type", "null")
    match chance.choice(kind) if isinstance(kind, list) else kind:
        case "string":
            if part.get("format") == "date-time":
                return "2025-01-01T00:00:00Z"
            return chance.choice(["x", "12", "true", "größe {{ x }}", *([] if part.get("minLength") else ["", ""])])
        case "integer":
            return chance.choice([1, 7, 2.0, 10**9, *([] if "minimum" in part else [0, 0, -7])])
        case "number":
            least = "minimum" in part or "exclusiveMinimum" in part
            return chance.choice([1, 1.5, 40, *([] if least else [0, 0.0, -2, 1e9])])
        case "boolean":
            return chance.random() < 0.5
        case "array":
            return _list(part, chance, depth)
        case "object":
            return _object(part, chance, depth)
        case _:
            return None


def _list(part: Schema, chance: Random, depth: int) -> list[Json]:
    least = part.get("minItems", 0)
    if "prefixItems" in part:
        size = max(least, chance.choice([0, 1, 2]))
        return [value(inner, chance, depth + 1) for inner in part["prefixItems"][:size]]
    size = least if depth > 4 else least + chance.choice([0, 0, 0, 1, 2])
    return [value(part["items"], chance, depth + 1) for _ in range(size)]


def _object(part: Schema, chance: Random, depth: int) -> dict[str, Json]:
    required = part.get("required", ())
    properties = part.get("properties", {})
    given = {
        name: value(inner, chance, depth + 1)
        for name, inner in properties.items()
        if name in required or (depth < 5 and chance.random() < 0.3)
    }
    more = part.get("additionalProperties")
    if isinstance(more, dict) and chance.random() < 0.3:
        given["extra"] = value(more, chance, depth + 1)
    elif more is None and "patternProperties" not in part and chance.random() < 0.2:
        given["more"] = chance.choice([None, "more", [1]])
    if "patternProperties" in part and chance.random() < 0.5:
        given["n_1"] = 1.5
    return given
