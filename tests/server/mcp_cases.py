"""A shop of tools that do everything an MCP client may meet, and clients of both generations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client
from mcp.shared.memory import create_client_server_memory_streams
from mcp_types import ElicitResult

from toolpath import Tool, ToolContext, ToolFailed, Toolpath, tool
from toolpath.model.tool import Requires
from toolpath.server.mcp.service import McpService

MODES = ("legacy", "auto")

COMPOSITE = {
    "name": "twice",
    "description": "Doubles two times.",
    "parameters": {"n": {"type": "integer", "required": True}},
    "implementation": {
        "type": "composite",
        "steps": [
            {"tool": "double", "inputs": {"n": "{{ n }}"}, "on_success": {"map_outputs": {"result": "once"}}},
            {"tool": "double", "inputs": {"n": "{{ once }}"}, "on_success": {"map_outputs": {"result": "both"}}},
        ],
    },
}


def shop(tp: Toolpath) -> Toolpath:
    """The Toolpath with all tools of these tests."""
    gate = asyncio.Event()

    @tool(group="math", effect="read")
    async def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @tool(group="blog", effect="write", idempotent=True)
    async def create_author(name: str, email: str) -> dict[str, str]:
        """Create an author."""
        return {"id": f"author-{name}", "name": name, "email": email}

    @tool(effect="destructive")
    async def wipe() -> None:
        """Delete everything."""

    @tool(effect="read")
    async def fail(message: str = "It cannot be done.") -> str:
        """Fail."""
        raise ToolFailed(message)

    @tool(effect="read")
    async def slow() -> str:
        """Take for ever."""
        gate.set()
        await asyncio.sleep(3600)
        return "never"

    @tool(effect="read")
    async def steps(context: ToolContext, count: int = 3) -> str:
        """Report progress."""
        for number in range(count):
            context.progress(number + 1, count, f"step {number + 1}")
        return "done"

    @tool(effect="read")
    async def ask(context: ToolContext) -> dict[str, Any]:
        """Ask a person for a colour."""
        form = {
            "title": "Which colour?",
            "inputs": [
                {"name": "colour", "label": "Colour", "type": "select", "options": ["red", "blue"]},
                {"name": "times", "type": "integer", "required": False},
            ],
        }
        return dict(await context.ask(form))

    tp.add(add, create_author, wipe, fail, slow, steps, ask)
    tp.add(
        Tool(
            name="deploy",
            group="site",
            effect="write",
            input_schema={"type": "object", "properties": {"site": {"type": "string"}}, "required": ["site"]},
            output_schema={"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]},
            requires=Requires(approval=True),
            body=lambda site: {"url": f"https://{site}.example"},
        )
    )
    tp.gate = gate  # type: ignore[attr-defined]
    return tp


def answering(*answers: ElicitResult, asked: list[Any] | None = None) -> Any:
    """A client's person, who answers in this order."""
    waiting = list(answers)

    async def answer(context: Any, params: Any) -> ElicitResult:
        if asked is not None:
            asked.append(params)
        return waiting.pop(0)

    return answer


@asynccontextmanager
async def pipe(tp: Toolpath) -> AsyncIterator[Any]:
    """What a client is given to speak with a server over this Toolpath, as over a pipe."""
    server = McpService(tp).server
    async with create_client_server_memory_streams() as (ours, theirs):
        serving = asyncio.create_task(server.run(*theirs, server.create_initialization_options()))
        try:
            yield ours
        finally:
            for stream in (*ours, *theirs):
                await stream.aclose()
            await serving


@asynccontextmanager
async def talking(tp: Toolpath, mode: str, **client: Any) -> AsyncIterator[Client]:
    """A client in this process that speaks with a server over this Toolpath."""
    async with Client(pipe(tp), mode=mode, **client) as talk:
        yield talk
