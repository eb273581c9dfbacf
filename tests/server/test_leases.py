"""Streams that are open when their credentials end: by revocation, by expiry, over each door that has streams."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import websockets
from tests.access.access_cases import JWT, SECRET, Guarded, bearer, guarded, token
from tests.patience import PATIENCE
from tests.server.rest_cases import Gate
from tests.server.serving_cases import assert_problem

from toolpath import tool
from toolpath.access.tokens import SECRET as VARIABLE
from toolpath.errors import StoreError
from toolpath.machine import SystemClock
from toolpath.ports import Clock
from toolpath.server.entry.lease import LOOK
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock


@asynccontextmanager
async def holding(
    clock: Clock | None = None, gate: Gate | None = None, **settings: Any
) -> AsyncIterator[tuple[Guarded, str]]:
    """A server with a run that goes on until the test ends, and that run's id."""
    gate = gate or Gate()

    @tool(effect="read", timeout="1h")
    async def hold() -> str:
        """Wait for the test."""
        return await gate.hold()

    async with guarded(clock=clock, tools=[hold], **settings) as door:
        key = await door.key("*", permissions=("*",))
        answer = await door.client.post("/api/v1/runs", json={"tool": "hold"}, headers=key)
        assert answer.status_code == 202, answer.text
        await gate.entered.wait()
        try:
            yield door, answer.json()["run_id"]
        finally:
            gate.open.set()


@asynccontextmanager
async def reading(door: Guarded, run_id: str, headers: dict[str, str]) -> AsyncIterator[AsyncIterator[str]]:
    """The lines of the run's stream from the second event on."""
    async with door.client.stream("GET", f"/api/v1/runs/{run_id}/events", headers=headers) as response:
        assert response.status_code == 200
        lines = response.aiter_lines()
        async for line in lines:
            if line.startswith("data:"):
                break
        yield lines


async def all_of(lines: AsyncIterator[str]) -> list[str]:
    return [line async for line in lines]


async def drained(socket: websockets.ClientConnection) -> None:
    while True:
        await socket.recv()


async def test_a_stream_ends_when_its_key_is_revoked_and_others_go_on() -> None:
    clock = FakeClock(patience=0)
    async with holding(clock) as (door, run_id):
        created, text = await door.keys.create(name="gone", scopes=["read"])
        other = await door.key("read")
        async with reading(door, run_id, bearer(text)) as lines, reading(door, run_id, other) as others:
            await door.keys.revoke(created.id)
            await clock.advance(LOOK)
            rest = await asyncio.wait_for(all_of(lines), PATIENCE)
            assert "event: end" not in rest
            await clock.advance(LOOK)
            going = asyncio.create_task(all_of(others))
            await door.client.post(f"/api/v1/runs/{run_id}/cancel", headers=await door.key("*"))
            assert "event: end" in await asyncio.wait_for(going, PATIENCE)
        assert_problem(
            await door.client.get(f"/api/v1/runs/{run_id}/events", headers=bearer(text)), 401, "unauthorized"
        )


async def test_a_stream_ends_at_the_moment_at_which_its_key_expires() -> None:
    clock = FakeClock(patience=0)
    async with holding(clock) as (door, run_id):
        _, text = await door.keys.create(name="short", scopes=["read"], lasts=LOOK / 3)
        async with reading(door, run_id, bearer(text)) as lines:
            await clock.advance(LOOK / 3)
            await asyncio.wait_for(all_of(lines), PATIENCE)


class Watched(SystemClock):
    """The clock of the machine, with the moments at which somebody wanted to be called."""

    def __init__(self) -> None:
        self.moments: list[float] = []

    def call_at(self, when: float, callback: Any) -> Any:
        self.moments.append(self.time() + when - self.monotonic())
        return super().call_at(when, callback)


async def test_a_stream_ends_at_the_moment_at_which_its_token_expires() -> None:
    clock = Watched()
    async with holding(clock, env={VARIABLE: SECRET}, jwt_leeway=0, jwt_tenant="", **JWT) as (door, run_id):
        ends = int(time.time()) + LOOK / 3
        async with reading(door, run_id, bearer(token(exp=ends))) as lines:
            await asyncio.wait_for(all_of(lines), PATIENCE)
        assert any(abs(moment - ends) < LOOK / 3 for moment in clock.moments)


async def test_a_subscription_ends_when_its_key_is_revoked() -> None:
    clock = FakeClock(patience=0)
    async with holding(clock) as (door, run_id):
        created, text = await door.keys.create(name="gone", scopes=["read"])
        address = f"ws://{door.client.base_url.netloc.decode()}/graphql"
        async with websockets.connect(
            address,
            subprotocols=["graphql-transport-ws"],
            additional_headers=bearer(text),  # type: ignore[list-item]
        ) as socket:
            await socket.send(json.dumps({"type": "connection_init"}))
            query = {"query": "subscription($id: ID!) { runEvents(runId: $id) { seq } }", "variables": {"id": run_id}}
            await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": query}))
            assert json.loads(await socket.recv())["type"] == "connection_ack"
            assert json.loads(await socket.recv())["type"] == "next"
            await door.keys.revoke(created.id)
            await clock.advance(LOOK)
            with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
                await asyncio.wait_for(drained(socket), PATIENCE)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4401, "unauthorized")


async def test_the_stream_of_an_mcp_session_ends_when_its_key_is_revoked() -> None:
    clock = FakeClock(patience=0)
    async with holding(clock) as (door, _):
        created, text = await door.keys.create(name="gone", scopes=["*"])
        headers = bearer(text) | {"Accept": "application/json, text/event-stream"}
        client = {"name": "test", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        begun = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        answer = await door.client.post("/mcp", json=begun, headers=headers)
        session = headers | {"Mcp-Session-Id": answer.headers["mcp-session-id"]}
        async with door.client.stream("GET", "/mcp", headers=session) as response:
            assert response.status_code == 200
            await door.keys.revoke(created.id)
            await clock.advance(LOOK)
            await asyncio.wait_for(response.aread(), PATIENCE)
        assert_problem(await door.client.post("/mcp", json=begun, headers=session), 401, "unauthorized")


async def test_who_waits_for_an_answer_does_not_get_it_with_a_key_that_was_revoked() -> None:
    clock, gate = FakeClock(patience=0), Gate()
    async with holding(clock, gate) as (door, _):
        gate.entered.clear()
        created, text = await door.keys.create(name="gone", scopes=["*"], permissions=("*",))
        call = asyncio.create_task(
            door.client.post("/api/v1/tools/hold/call", json={"inputs": {}}, headers=bearer(text), timeout=PATIENCE)
        )
        await gate.entered.wait()
        await door.keys.revoke(created.id)
        await clock.advance(LOOK)
        assert_problem(await call, 401, "unauthorized")


class Away(MemoryStore):
    """A store whose keys cannot be read while it is away."""

    away = False

    async def get_record(self, kind: str, record_id: str):  # type: ignore[no-untyped-def]
        if self.away and kind == "key":
            raise StoreError("The store is away.")
        return await super().get_record(kind, record_id)


async def test_a_stream_stays_while_the_store_cannot_say_whether_its_key_is_good() -> None:
    clock, store = FakeClock(patience=0), Away()
    async with holding(clock, store=store) as (door, run_id):
        created, text = await door.keys.create(name="gone", scopes=["read"])
        async with reading(door, run_id, bearer(text)) as lines:
            reader = asyncio.create_task(all_of(lines))
            store.away = True
            await clock.advance(LOOK)
            store.away = False
            await clock.advance(LOOK)
            assert not reader.done()
            await door.keys.revoke(created.id)
            await clock.advance(LOOK)
            await asyncio.wait_for(reader, PATIENCE)
