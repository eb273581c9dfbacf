"""Schemas of tools as requests are compared with them, in their plainest form; kept with the tool, which is frozen."""

from __future__ import annotations

from collections.abc import Iterator

from toolpath.json_schema.plain import plain_schema
from toolpath.model.tool import Tool
from toolpath.values import JsonObject


def plain_inputs(tool: Tool) -> JsonObject:
    """The schema of what the tool takes."""
    return _kept(tool, "_plain_inputs", tool.input_schema)


def plain_parameters(tool: Tool) -> Iterator[tuple[str, JsonObject]]:
    """Each of its parameters by name."""
    properties = plain_inputs(tool).get("properties")
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        if isinstance(schema, dict):
            yield name, schema


def plain_outputs(tool: Tool) -> JsonObject:
    """The schema of what the tool gives; an empty one where it says nothing of that."""
    return _kept(tool, "_plain_outputs", tool.output_schema or {})


def _kept(tool: Tool, name: str, schema: JsonObject) -> JsonObject:
    known = tool.__dict__.get(name)
    if known is None:
        known = tool.__dict__[name] = plain_schema(schema)
    return known
