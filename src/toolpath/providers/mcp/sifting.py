"""Filter of lists of tools that servers send: a malformed tool is taken out and named, so that it hides no other."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Self

from mcp.shared.message import SessionMessage
from mcp_types import Tool as McpTool
from pydantic import ValidationError

from toolpath.values import Json, JsonObject

Dropped = Callable[[str, str], None]
"""Told the name of a malformed tool, and what is wrong with it."""


class Sifting:
    """A transport, as the `mcp` library wants one, whose lists of tools hold tools alone."""

    def __init__(self, transport: AbstractAsyncContextManager[Any], dropped: Dropped) -> None:
        self._transport = transport
        self._dropped = dropped

    async def __aenter__(self) -> tuple[Any, Any]:
        reader, writer = await self._transport.__aenter__()
        return _Reader(reader, self._dropped), writer

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._transport.__aexit__(kind, error, trace)


class _Reader:
    """The server's messages, sifted."""

    def __init__(self, reader: Any, dropped: Dropped) -> None:
        self._reader = reader
        self._dropped = dropped

    async def __aenter__(self) -> Self:
        await self._reader.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._reader.__aexit__(*error)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return self._sifted(await self._reader.__anext__())

    async def receive(self) -> Any:
        """The next message."""
        return self._sifted(await self._reader.receive())

    async def aclose(self) -> None:
        """Close what is read from."""
        await self._reader.aclose()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def _sifted(self, message: Any) -> Any:
        if isinstance(message, SessionMessage):
            result = getattr(message.message, "result", None)
            if isinstance(result, dict) and isinstance(result.get("tools"), list):
                result["tools"] = [tool for tool in result["tools"] if self._is_tool(tool)]
        return message

    def _is_tool(self, tool: Json) -> bool:
        fault = fault_of(tool)
        if fault:
            name = tool.get("name") if isinstance(tool, dict) else None
            self._dropped(str(name)[:200] if name else "a tool without a name", fault)
        return not fault


def fault_of(tool: Json) -> str:
    """The fault that keeps an entry of a list from being a tool; empty: none."""
    try:
        McpTool.model_validate(tool, by_name=False)
    except (ValidationError, RecursionError) as error:
        if not isinstance(error, ValidationError):
            return "it is nested too deeply"
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"
    assert isinstance(tool, dict)
    schema: JsonObject = tool["inputSchema"]
    return "" if schema.get("type") == "object" else "inputSchema: its type has to be 'object'"
