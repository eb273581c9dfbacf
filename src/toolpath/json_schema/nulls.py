"""Nulls as arguments: whether a schema takes one."""

from __future__ import annotations

from toolpath.json_schema.coerce import types_of
from toolpath.json_schema.document import SchemaDocument, SchemaNode
from toolpath.values import JsonObject, pointer


def drops_null(schema: JsonObject, name: str) -> bool:
    """Whether null for a property of an object's schema is left out of the object, or accepted."""
    properties = schema.get("properties")
    part = properties.get(name) if isinstance(properties, dict) else None
    if part is None:
        return False
    return name not in schema.get("required", ()) or admits_null(schema, name)


def admits_null(schema: JsonObject, name: str) -> bool:
    """Whether null fits a property of an object's schema, whatever its references lead to."""
    properties = schema.get("properties")
    part = properties.get(name) if isinstance(properties, dict) else None
    if not isinstance(part, dict | bool):
        return False
    types = types_of(part) if isinstance(part, dict) else ()
    if types and "null" not in types:
        return False
    return SchemaDocument(schema).accepts(SchemaNode(part, f"/properties{pointer(name)}"), None)
