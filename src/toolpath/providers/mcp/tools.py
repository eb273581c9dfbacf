"""Tools of a server, read into `Tool` from what it says of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from toolpath.model.tool import Body, Effect, Tool
from toolpath.values import JsonObject, digest

if TYPE_CHECKING:
    from mcp_types import Tool as McpTool

_ILLEGAL = re.compile(r"[^A-Za-z0-9_.-]")
_LONGEST_TEXT = 20_000


def effect_of(annotations: JsonObject) -> tuple[Effect, bool]:
    """The effect, and whether the tool is idempotent, that a server's hints claim. No hint: it writes."""
    if annotations.get("readOnlyHint") is True:
        return "read", True
    effect: Effect = "destructive" if annotations.get("destructiveHint") is True else "write"
    return effect, annotations.get("idempotentHint") is True


def tools_of(
    found: Iterable[McpTool],
    *,
    server: str,
    identity: str,
    trusts_annotations: bool,
    body: Callable[[str], Body],
) -> list[Tool]:
    """The tools of one server. `body` makes the body of a tool from the server's own name for it."""
    names: dict[str, None] = {}
    tools = []
    for item in found:
        annotations: JsonObject = (
            item.annotations.model_dump(mode="json", by_alias=True, exclude_none=True) if item.annotations else {}
        )
        effect, is_idempotent = effect_of(annotations) if trusts_annotations else ("write", False)
        name = _free_name(item.name, names)
        names[name] = None
        title = item.title or annotations.get("title") or ""
        metadata: JsonObject = {} if name == item.name else {"mcp_name": item.name}
        tools.append(
            Tool(
                name=name,
                group=server,
                title=str(title)[:_LONGEST_TEXT],
                description=(item.description or "")[:_LONGEST_TEXT],
                category="external",
                input_schema=_schema(item.input_schema),
                output_schema=item.output_schema,
                effect=effect,
                idempotent=is_idempotent,
                server=server,
                server_identity=identity,
                annotations=annotations,
                metadata=metadata,
                body=body(item.name),
            )
        )
    return tools


def _free_name(name: str, taken: dict[str, None]) -> str:
    """The server's name where it can be one of ours, else the nearest that is free and always the same."""
    legal = _ILLEGAL.sub("_", name)[:128] or "_"
    if legal == name and legal not in taken:
        return legal
    if legal not in taken:
        return legal
    return f"{legal[:115]}-{digest(name)[7:19]}"


def _schema(schema: Any) -> JsonObject:
    return dict(schema) if isinstance(schema, dict) and schema else {"type": "object"}
