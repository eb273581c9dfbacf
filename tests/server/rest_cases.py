"""Tools and plans that the tests of REST serve, and a client of the routes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from tests.server.serving_cases import serving

from toolpath import Toolpath
from toolpath.access.caller import OPEN, Caller
from toolpath.server.asgi import create_app
from toolpath.values import JsonObject

SUM: JsonObject = {
    "name": "sum",
    "inputs": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    "steps": [{"id": "twice", "tool": "add", "inputs": {"a": "{{ inputs.a }}", "b": "{{ inputs.a }}"}}],
    "outputs": "{{ twice }}",
}
FORM: JsonObject = {
    "title": "Who?",
    "inputs": [
        {"name": "first", "label": "Name", "type": "text"},
        {"name": "second", "label": "Name", "type": "text", "required": False},
        {"name": "age", "label": "Age", "type": "integer"},
        {"name": "colour", "label": "Colour", "type": "select", "options": ["red", "blue"], "required": False},
    ],
}
ASKING: JsonObject = {"name": "asking", "steps": [{"id": "who", "ask": FORM}], "outputs": "{{ who }}"}
GATED: JsonObject = {
    "name": "gated",
    "steps": [{"id": "guarded", "tool": "add", "inputs": {"a": 1, "b": 2}, "requires_approval": True}],
    "outputs": "{{ guarded }}",
}


class Gate:
    """A tool that waits until the test lets it go."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.open = asyncio.Event()

    async def hold(self) -> str:
        """Wait for the test."""
        self.entered.set()
        await self.open.wait()
        return "through"


def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


def fail(why: str = "no") -> str:
    """Always fail."""
    raise ValueError(why)


def tools(tp: Toolpath, gate: Gate | None = None) -> Toolpath:
    """The Toolpath with the tools of these tests."""
    tp.add(add, fail, effect="read")
    tp.add((gate or Gate()).hold, name="hold", effect="write")
    return tp


@asynccontextmanager
async def api(tp: Toolpath | None = None, *, caller: Caller = OPEN) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the routes under `/api/v1` of a real server."""
    async with serving(create_app(tp or tools(Toolpath()), caller=caller)) as client:
        client.base_url = client.base_url.join("/api/v1/")
        yield client


async def begun(client: httpx.AsyncClient, body: JsonObject) -> str:
    """The id of a run that was begun."""
    answer = await client.post("runs", json=body)
    assert answer.status_code == 202, answer.text
    run_id: str = answer.json()["run_id"]
    return run_id


async def settled(client: httpx.AsyncClient, run_id: str) -> JsonObject:
    """The run when it has ended."""
    async for _ in stream_of(client, run_id):
        pass
    found: JsonObject = (await client.get(f"runs/{run_id}")).json()
    return found


async def stream_of(
    client: httpx.AsyncClient, run_id: str, *, last: int | None = None
) -> AsyncIterator[tuple[str, str, str]]:
    """The stream's messages as name, id and data; a browser's reading of them, in small."""
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    async with client.stream("GET", f"runs/{run_id}/events", headers=headers) as response:
        assert response.status_code == 200, await response.aread()
        assert response.headers["content-type"].startswith("text/event-stream")
        fields: dict[str, str] = {}
        async for line in response.aiter_lines():
            if line:
                name, _, text = line.partition(": ")
                fields[name] = text
                continue
            if "data" in fields:
                yield fields.get("event", "message"), fields.get("id", ""), fields["data"]
            fields = {}


async def until_asked(client: httpx.AsyncClient, run_id: str) -> JsonObject:
    """The run once it waits for a person."""
    async for _, _, data in stream_of(client, run_id):
        if '"step.waiting"' in data or '"input.requested"' in data or '"approval.requested"' in data:
            break
    found: JsonObject = (await client.get(f"runs/{run_id}")).json()
    return found
