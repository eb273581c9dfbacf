"""MCP servers and models that one process keeps on PostgreSQL are those of another one, which nobody tells of them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_servers.server_cases import PROGRAM, SECRET
from tests.models.model_cases import BARE, DONE, KEY, agent, at
from tests.store.store_cases import dropped, postgres_connection, postgres_url

from toolpath import Toolpath
from toolpath.access.sealing import KEY_VARIABLE, new_key
from toolpath.testing.model_server import ModelServer
from toolpath.values import JsonObject
from toolpath.workspace.mcp_servers.checking import ServerDraft
from toolpath.workspace.models.models import ModelDraft

pytestmark = [pytest.mark.mcp, pytest.mark.postgres]

LISTENER = Path(__file__).parent.parent / "servers" / "listening_process.py"
ADD: JsonObject = {"steps": [{"id": "sum", "tool": "probe.add", "inputs": {"a": 1, "b": 2}}], "outputs": "{{ sum }}"}


class Other:
    """The other process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def runs(self, plan: JsonObject) -> Any:
        """What comes of the plan there."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(plan).encode() + b"\n")
        return json.loads(await self._process.stdout.readline())


@pytest.fixture
async def store(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    schema = f"changes_{os.getpid()}_{uuid.uuid4().hex[:8]}"
    monkeypatch.setenv(KEY_VARIABLE, new_key())
    await dropped(schema)
    yield postgres_url(schema)
    await dropped(schema)


@pytest.fixture
async def other(store: str) -> AsyncIterator[Other]:
    words = [sys.executable, str(LISTENER), store]
    process = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield Other(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


async def kept(store: str) -> str:
    """All records of the store, as its tables have them."""
    connection = await postgres_connection(store)
    try:
        schema = store.partition("schema=")[2].partition("&")[0]
        rows = await connection.fetch(f'SELECT r::text FROM "{schema}".records r')  # a name of the test's own
    finally:
        await connection.close()
    return "\n".join(row[0] for row in rows)


async def test_servers_of_one_process_are_called_by_another_as_long_as_they_are_there(store: str, other: Other) -> None:
    async with Toolpath(store) as tp:
        assert await other.runs(ADD) == {"findings": ["unknown_tool"]}
        server = await tp.mcp_servers.add(PROGRAM)
        assert await other.runs(ADD) == {"status": "completed", "outputs": {"sum": 3}}
        off = await tp.mcp_servers.enable(server, enabled=False)
        assert "findings" in await other.runs(ADD)
        on = await tp.mcp_servers.enable(off)
        changed = await tp.mcp_servers.change(on, ServerDraft(timeout=20))
        assert (await other.runs(ADD))["status"] == "completed"
        await tp.mcp_servers.remove(changed)
        assert "findings" in await other.runs(ADD)
        assert SECRET not in await kept(store)


async def test_models_of_one_process_are_asked_by_another_as_they_are_now(store: str, other: Other) -> None:
    async with ModelServer(then=DONE) as first, ModelServer(then=DONE) as second, Toolpath(store, settings=BARE) as tp:
        assert await other.runs(agent("fast")) == {"findings": ["unknown_model"]}
        model = await tp.models.add(at(first, "fast"))
        assert KEY not in await kept(store)
        assert (await other.runs(agent("fast")))["status"] == "completed"
        changed = await tp.models.change(model, ModelDraft(base_url=f"{second.url}/v1", key="sk-other"))
        assert (await other.runs(agent("fast")))["status"] == "completed"
        assert [asked.headers["authorization"] for asked in (*first.requests, *second.requests)] == [
            f"Bearer {KEY}",
            "Bearer sk-other",
        ]
        await tp.models.set_default(changed)
        assert (await other.runs(agent()))["status"] == "completed"
        assert (len(first.requests), len(second.requests)) == (1, 2)
        await tp.models.remove(changed)
        assert await other.runs(agent("fast")) == {"findings": ["unknown_model"]}
