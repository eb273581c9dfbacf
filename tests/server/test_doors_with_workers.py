"""MCP and GraphQL of a server that drives nothing itself: workers do, and the server reads what they write."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from mcp import Client
from mcp.types import ElicitResult
from mcp_cases import MODES, answering, shop
from tests.patience import PATIENCE
from tests.server.queue_cases import Handed
from tests.server.serving_cases import serving

from toolpath import Toolpath
from toolpath.server.asgi import create_app


@asynccontextmanager
async def server(folder: Path) -> AsyncIterator[tuple[str, Toolpath]]:
    """The address of a server without drives of its own, and the Toolpath of its worker."""
    queue = Handed()
    store = folder / "runs.db"
    async with shop(Toolpath(store)) as worker:
        queue.worker = worker
        async with serving(create_app(shop(Toolpath(store, queue=queue)))) as http:
            await http.get("/health")
            yield str(http.base_url), worker


@pytest.mark.parametrize("mode", MODES)
async def test_an_mcp_client_gets_what_workers_do_and_is_asked_what_they_ask(mode, tmp_path):
    heard = []

    async def progress(done, total, message):
        heard.append(done)

    person = answering(ElicitResult(action="accept", content={"approve": True}))
    async with (
        server(tmp_path) as (url, worker),
        Client(f"{url}/mcp", mode=mode, elicitation_callback=person) as client,
    ):
        added = await client.call_tool("math--add", {"a": 1, "b": 2})
        assert added.structured_content == {"result": 3}
        deployed = await client.call_tool("site--deploy", {"site": "blog"}, progress_callback=progress)
        assert deployed.structured_content == {"url": "https://blog.example"}
        call = asyncio.create_task(client.call_tool("slow"))
        await worker.gate.wait()
        call.cancel()
        await asyncio.wait({call})
        run_id = (await worker.runs())[0].run_id
        assert (await client.call_tool("get_run", {"run_id": run_id, "wait": True})).structured_content[
            "status"
        ] == "cancelled"


async def test_graphql_answers_when_a_worker_has_executed_the_plan(tmp_path):

    tools = [{"toolName": "math.add", "parameters": {"a": 2, "b": 2}}]
    text = 'mutation ($t: String!) { executeWithWorkflow(plan: "p", tools: $t) { successful results } }'
    async with server(tmp_path) as (url, _), httpx.AsyncClient(timeout=PATIENCE) as client:
        body = {"query": text, "variables": {"t": json.dumps(tools)}}
        answer = (await client.post(f"{url}/graphql", json=body)).json()
        executed = answer["data"]["executeWithWorkflow"]
        assert executed["successful"] == 1
        assert json.loads(executed["results"])[0]["output"] == 4
