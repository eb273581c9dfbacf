"""A value that a JSON Schema describes, for stand-ins: of the right types, and always the same."""

from __future__ import annotations

from typing import Any

from toolpath.values import Json

_DEEPEST = 12
_OF_TYPE: dict[str, Json] = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "null": None}


def sample(schema: Any) -> Json:
    """A value of the schema: its first example, default or word, else one of its type with all described fields."""
    return _sample(schema, schema, 0)


def _sample(schema: Any, root: Any, depth: int) -> Json:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return None
    for name in ("const", "default"):
        if name in schema:
            found: Json = schema[name]
            return found
    for name in ("examples", "enum"):
        if isinstance(schema.get(name), list) and schema[name]:
            first: Json = schema[name][0]
            return first
    if isinstance(schema.get("$ref"), str):
        return _sample(_pointed(root, schema["$ref"]), root, depth + 1)
    for name in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(name), list) and schema[name]:
            return _sample(schema[name][0], root, depth + 1)
    return _of_kind(schema, root, depth)


def _of_kind(schema: dict[str, Any], root: Any, depth: int) -> Json:
    kinds = schema.get("type")
    kind = kinds[0] if isinstance(kinds, list) and kinds else kinds
    if kind == "object" or (kind is None and "properties" in schema):
        parts = schema.get("properties") or {}
        return {name: _sample(part, root, depth + 1) for name, part in parts.items()}
    if kind == "array":
        return [_sample(schema.get("items"), root, depth + 1)] * min(int(schema.get("minItems", 1)), 20)
    found: Json = _OF_TYPE.get(kind) if isinstance(kind, str) else None
    if kind in ("integer", "number") and isinstance(schema.get("minimum"), int | float):
        found = schema["minimum"]
    elif kind == "string" and isinstance(schema.get("minLength"), int):
        found = "text".ljust(min(schema["minLength"], 1000), "x")
    return found


def _pointed(root: Any, reference: str) -> Any:
    found = root
    for part in reference.removeprefix("#/").split("/") if reference.startswith("#/") else ():
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found
