"""MCP servers for the tests, ended after each."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE
from tests.prepared.prepared import prepared

from toolpath.model.tool import Body
from toolpath.providers.mcp.provider import McpProvider

SERVERS = Path(__file__).parent.parent / "servers"


@pytest.fixture
def until() -> Callable[[Callable[[], Any]], Any]:
    """Waits for what only another process can bring about."""

    async def wait(holds: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE):
            while True:
                found = holds()
                if await found if inspect.isawaitable(found) else found:
                    return
                await asyncio.sleep(0.005)

    return wait


class Server:
    """A provider and its tools by name."""

    def __init__(self, provider: McpProvider) -> None:
        self.provider = provider

    async def call(self, name: str, context: Any = None, /, **inputs: Any) -> Any:
        tools = {tool.name: tool for tool in await self.provider.list_tools()}
        body = tools[name].body
        assert isinstance(body, Body)
        return await body.invoke(inputs, context)


@pytest.fixture
async def start() -> AsyncIterator[Callable[..., Server]]:
    """Makes servers of a script in `tests/servers`, and ends them after the test."""
    servers: list[Server] = []

    def make(script: str, *args: str, **settings: Any) -> Server:
        plain = [sys.executable, str(SERVERS / script), *args]
        command, *words = prepared("probe", *args) if script == "probe_server.py" else plain
        server = Server(McpProvider("probe", command=command, args=words, **settings))
        servers.append(server)
        return server

    yield make
    for server in servers:
        await server.provider.close()
