"""Tools for requests in words: a name, what it is for, what it gives, and a parameter for each field."""

from __future__ import annotations

from typing import Any

from toolpath.model.tool import Effect, Tool
from toolpath.values import JsonObject


def tool(
    key: str, description: str, effect: Effect, given: JsonObject | None = None, /, **fields: dict[str, Any]
) -> Tool:
    """A tool with these parameters; optional is one whose name ends in `_`, or whose schema has a default.

    `given`: the fields of what it gives; without them it says nothing of that.
    """
    group, _, name = key.rpartition(".")
    optional = {name for name, schema in fields.items() if name.endswith("_") or "default" in schema}
    return Tool(
        group=group,
        name=name,
        description=description,
        effect=effect,
        input_schema={
            "type": "object",
            "properties": {name.rstrip("_"): schema for name, schema in fields.items()},
            "required": [name for name in fields if name not in optional],
        },
        output_schema=None if given is None else {"type": "object", "properties": given},
    )
