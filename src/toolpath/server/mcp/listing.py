"""The catalogue as MCP tells it: names, schemas and hints of every published tool, and the way back. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from mcp_types import Tool as McpTool
from mcp_types import ToolAnnotations

from toolpath.catalog.names import mangle
from toolpath.catalog.snapshot import Catalog
from toolpath.errors import closest
from toolpath.json_schema.validate import Validator
from toolpath.model.tool import Tool
from toolpath.values import Json, JsonObject

#: Under which a result that is no object stands, since MCP's structured results are objects.
RESULT = "result"
#: Members of a schema that references inside it begin at.
_SHARED = ("$defs", "definitions")


class Published(msgspec.Struct, frozen=True, eq=False):
    """One tool with the name under which clients know it."""

    tool: Tool
    told: McpTool
    is_wrapped: bool
    """Its structured result is `{"result": …}`."""

    @property
    def name(self) -> str:
        """Name of the tool as clients write it."""
        return self.told.name

    def structured(self, output: Json) -> tuple[JsonObject | None, str]:
        """The output as its schema promises it, and what is wrong with it; None where nothing is promised."""
        schema = self.told.output_schema
        if schema is None:
            return (output if isinstance(output, dict) else None), ""
        value: JsonObject = {RESULT: output} if self.is_wrapped or not isinstance(output, dict) else output
        faults = Validator(schema).faults(value, 3)
        return value, "; ".join(f"{at or '/'}: {what}" for at, what in faults)


class ToolListing:
    """All tools that clients are told of, the server's own first."""

    def __init__(self, catalog: Catalog, own: Iterable[McpTool]) -> None:
        self.catalog = catalog
        self.own = tuple(own)
        reserved = {tool.name for tool in self.own}
        self.published = {
            published.name: published
            for tool in catalog.tools.values()
            if is_published(tool)
            for published in (published_tool(tool, reserved),)
        }
        self.tools = (*self.own, *(published.told for published in self.published.values()))

    def schema(self, name: str) -> JsonObject | None:
        """The input schema of a tool; None where there is none of that name."""
        published = self.published.get(name)
        if published is not None:
            return published.told.input_schema
        return next((tool.input_schema for tool in self.own if tool.name == name), None)

    def name_of(self, tool: Tool) -> str:
        """The name under which clients know the tool."""
        return _name(tool, {own.name for own in self.own})

    def nearest(self, name: str) -> tuple[str, ...]:
        """The names most like this one."""
        return closest(name[:200], (tool.name for tool in self.tools))


def is_published(tool: Tool) -> bool:
    """Whether clients are told of the tool: all are, but those whose metadata say `published: false`."""
    return tool.metadata.get("published") is not False


def published_tool(tool: Tool, reserved: set[str]) -> Published:
    """The tool as clients are told of it, under none of the reserved names."""
    schema = tool.output_schema
    is_wrapped = schema is not None and schema.get("type") != "object"
    told = McpTool(
        name=_name(tool, reserved),
        title=tool.title or None,
        description=tool.description,
        input_schema={"type": "object", **tool.input_schema},
        output_schema=_wrapped(schema) if schema is not None and is_wrapped else schema,
        annotations=annotations_of(tool),
        _meta={"toolpath/key": tool.key},
    )
    return Published(tool, told, is_wrapped)


def _name(tool: Tool, reserved: set[str]) -> str:
    name = mangle(tool.key)
    # No mangled name looks like this, so that it can be told apart from every other.
    return f"tool---{name}" if name in reserved else name


def annotations_of(tool: Tool) -> ToolAnnotations:
    """The hints that the tool's effect gives."""
    is_open = tool.annotations.get("openWorldHint")
    return ToolAnnotations(
        title=tool.title or None,
        read_only_hint=tool.is_read,
        destructive_hint=tool.effect == "destructive",
        idempotent_hint=tool.is_repeatable,
        open_world_hint=is_open if isinstance(is_open, bool) else None,
    )


def _wrapped(schema: JsonObject) -> JsonObject:
    inner = {name: value for name, value in schema.items() if name not in _SHARED}
    shared = {name: schema[name] for name in _SHARED if name in schema}
    return {"type": "object", "properties": {RESULT: inner}, "required": [RESULT], **shared}
