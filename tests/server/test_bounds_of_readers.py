"""Readers who are slow, many or odd: what they may hold is bounded, and the app is the same wherever it is mounted."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import httpx
import jwt
import pytest
from fastapi import FastAPI
from mcp import Client
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from tests.access.access_cases import JWT, SECRET, bearer, claims, guarded, token
from tests.patience import PATIENCE
from tests.server.rest_cases import SUM, add, tools
from tests.server.serving_cases import assert_problem, serving
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from toolpath import Settings, Toolpath
from toolpath.access.caller import OPEN
from toolpath.access.credentials import Credentials
from toolpath.server.asgi import create_app
from toolpath.server.entry import guard
from toolpath.server.mcp.sessions import IDLE, Sessions
from toolpath.server.shown import shown_results
from toolpath.store.memory.store import MemoryStore

API = "/api/v1"


class Counting(MemoryStore):
    """A store that knows how much of values it has given out."""

    def __init__(self) -> None:
        super().__init__()
        self.given = 0
        self.whole = 0

    async def get_blob(self, digest: str) -> bytes:
        self.whole += 1
        return await super().get_blob(digest)

    async def read_blob(self, digest: str, offset: int, size: int) -> bytes:
        data = (await super().get_blob(digest))[offset : offset + size]
        self.given += len(data)
        return data


def large() -> str:
    """Much text."""
    return "x" * 20_000_000


async def large_value(client: httpx.AsyncClient) -> str:
    """The path of a value of 20 MB."""
    called = (await client.post(f"{API}/tools/large/call", json={"inputs": {}})).json()
    run = (await client.get(f"{API}/runs/{called['run_id']}")).json()
    (step,) = run["results"]
    return f"{API}/runs/{called['run_id']}/values/{step['output']['$blob']}"


@asynccontextmanager
async def of_large(store: Counting) -> AsyncIterator[httpx.AsyncClient]:
    tp = Toolpath(store, settings=Settings(max_result_bytes=50_000_000))
    tp.add(large, effect="read")
    async with serving(create_app(tp)) as client:
        yield client


async def test_a_large_value_comes_whole_in_pieces() -> None:
    store = Counting()
    async with of_large(store) as client:
        path = await large_value(client)
        whole_before = store.whole
        answer = await client.get(path)
    assert answer.json() == "x" * 20_000_000
    assert int(answer.headers["content-length"]) == 20_000_002
    assert store.whole == whole_before


async def test_readers_that_do_not_read_hold_little_of_a_large_value() -> None:
    store = Counting()
    async with of_large(store) as client:
        path = await large_value(client)
        store.given = 0
        sockets = []
        for _ in range(20):
            reader = socket.socket()
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.setblocking(False)
            host, port = client.base_url.host, client.base_url.port
            await asyncio.get_running_loop().sock_connect(reader, (host, port))
            head = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
            await asyncio.get_running_loop().sock_sendall(reader, head)
            sockets.append(reader)
        # Others are served meanwhile.
        for _ in range(10):
            assert (await client.get("/health")).status_code == 200
        assert store.given < 20 * 8_000_000
        for reader in sockets:
            reader.close()
        # The server hears of it.
        for _ in range(10):
            await client.get("/health")


async def sent_by(app: Any, send: Send, scope: Scope | None = None) -> None:
    """What the guard hands on of an app's answer."""

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    asked = {"type": "http", "method": "GET", "path": "/x", "headers": [(b"host", b"localhost")], "client": None}
    before = guard.Guard(app, credentials=Credentials(open_as=OPEN), settings=Settings(), clock=Toolpath().clock)
    await before({**asked, **(scope or {})}, receive, send)


async def test_a_client_that_takes_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "WRITE_WITHIN", 0.01)
    taken: list[int] = []

    async def send(message: Message) -> None:
        taken.append(len(message.get("body", b"")))
        if len(taken) > 3:
            await asyncio.get_running_loop().create_future()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(b"y" * 5_000_000)(scope, receive, send)

    with pytest.raises(guard.ClientDisconnect):
        await sent_by(app, send)
    assert max(taken) == guard.PIECE
    assert len(taken) == 4


async def test_a_status_is_a_number_for_whoever_logs_it() -> None:
    told: list[Any] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(status_code=HTTPStatus.BAD_REQUEST)(scope, receive, send)

    async def send(message: Message) -> None:
        told.append(message.get("status"))

    await sent_by(app, send)
    assert str(told[0]) == "400"
    assert type(told[0]) is int


# Mounted under a path.


@asynccontextmanager
async def mounted() -> AsyncIterator[httpx.AsyncClient]:
    host = FastAPI()
    host.mount("/tp", create_app(tools(Toolpath())))
    async with serving(host) as client:
        yield client


async def test_an_app_that_is_mounted_says_where_things_are() -> None:
    async with mounted() as client:
        begun = await client.post(f"/tp{API}/runs", json={"plan": SUM, "inputs": {"a": 2}})
        assert begun.headers["location"] == f"/tp{API}/runs/{begun.json()['run_id']}"
        assert (await client.get(begun.headers["location"])).status_code == 200
        forked = await client.post(f"{begun.headers['location']}/fork", json={})
        assert forked.headers["location"].startswith(f"/tp{API}/runs/run_")
        assert (await client.get("/tp/health")).status_code == 200


async def test_mcp_works_where_the_app_is_mounted() -> None:
    async with mounted() as client, Client(f"{client.base_url}/tp/mcp") as session:
        names = {tool.name for tool in (await session.list_tools()).tools}
        assert {"run_plan", "add"} <= names
        result = await session.call_tool("add", {"a": 1, "b": 2})
        assert not result.is_error


async def test_an_app_whose_host_begins_its_life_begins_it_once() -> None:
    class Opened(MemoryStore):
        count = 0

        async def open(self) -> None:
            self.count += 1
            await super().open()

    store = Opened()
    service = create_app(tools(Toolpath(store)))
    host = FastAPI(lifespan=lambda _: service.router.lifespan_context(service))
    host.mount("/tp", service)
    async with serving(host) as client:
        begun = await client.post(f"/tp{API}/runs", json={"plan": SUM, "inputs": {"a": 2}})
        assert begun.status_code == 202
    assert store.count == 1


# Credentials.


@pytest.mark.parametrize("claim", ["sub", "tenant", "permissions", "scope", "session"])
@pytest.mark.parametrize("value", ["a\ud800b", "\udfff", "a\x00b", "a\nb"])
async def test_a_signed_claim_with_odd_characters_is_refused(claim: str, value: str) -> None:
    async with guarded(env={"TOOLPATH_JWT_SECRET": SECRET}, **JWT) as door:
        said = claims(**{claim: [value] if claim == "permissions" else value})
        text = jwt.encode(said, SECRET, algorithm="HS256", json_encoder=json.JSONEncoder)
        assert_problem(await door.client.get(f"{API}/runs", headers=bearer(text)), 401, "unauthorized")


@pytest.mark.parametrize("exp", [10**400, float("inf"), float("nan"), 1e308])
async def test_a_signed_time_that_is_none_is_refused(exp: Any) -> None:
    async with guarded(env={"TOOLPATH_JWT_SECRET": SECRET}, **JWT) as door:
        text = jwt.encode(claims(exp=exp), SECRET, algorithm="HS256")
        answer = await door.client.get(f"{API}/runs", headers=bearer(text))
        assert answer.status_code in (200, 401)


async def test_a_token_of_no_tenant_is_not_the_house() -> None:
    async with guarded(env={"TOOLPATH_JWT_SECRET": SECRET}, tools=(add,), **JWT) as door:
        own = await door.tp.start(SUM, {"a": 1})
        await own.result()
        asked = bearer(token(scope="read run admin"))
        assert (await door.client.get(f"{API}/runs", headers=asked)).json()["runs"] == []
        assert (await door.client.get(f"{API}/runs/{own.run_id}", headers=asked)).status_code == 404
        begun = await door.client.post(f"{API}/runs", json={"plan": SUM, "inputs": {"a": 1}}, headers=asked)
        assert (await door.tp.store.get_run(begun.json()["run_id"])).tenant == "default"


# Rates and sessions.


async def test_messages_of_a_websocket_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    async with guarded(rate_limit="10/minute") as door:
        headers = await door.key("read")
        url = str(door.client.base_url.join("/graphql")).replace("http", "ws", 1)
        subprotocol: Any = "graphql-transport-ws"
        async with connect(url, additional_headers=headers, subprotocols=[subprotocol]) as ws:
            with contextlib.suppress(ConnectionClosed):
                for _ in range(50):
                    await ws.send(json.dumps({"type": "ping"}))
                    await ws.recv()
            assert ws.close_code == 4429
        assert_problem(await door.client.get(f"{API}/runs", headers=headers), 429, "too_many_requests")


async def test_one_caller_has_only_so_many_mcp_sessions() -> None:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
    }
    accept = {"Accept": "application/json, text/event-stream"}
    async with guarded(mcp_sessions=3) as door:
        first, second = [await door.key("read") | accept for _ in range(2)]
        opened = [await door.client.post("/mcp", json=body, headers=first) for _ in range(4)]
        assert [answer.status_code for answer in opened] == [200, 200, 200, 429]
        # Others have theirs, and who closes one has room again.
        assert (await door.client.post("/mcp", json=body, headers=second)).status_code == 200
        ended = opened[0].headers["mcp-session-id"]
        await door.client.delete("/mcp", headers=first | {"Mcp-Session-Id": ended})
        assert (await door.client.post("/mcp", json=body, headers=first)).status_code == 200
        # A request that opens none leaves no place taken.
        for _ in range(5):
            await door.client.post("/mcp", json={"nonsense": 1}, headers=second)
        assert (await door.client.post("/mcp", json=body, headers=second)).status_code == 200


def test_a_session_that_nobody_uses_counts_no_more() -> None:
    now = 0.0
    sessions = Sessions(2, lambda: now)
    for name in ("a", "b"):
        place = sessions.begin("ann")
        assert place is not None
        sessions.name("ann", place, name)
    assert sessions.begin("ann") is None
    now = IDLE - 1
    with sessions.using("ann", "b"):
        pass
    now = IDLE + 1
    assert sessions.begin("ann") is not None
    assert sessions.begin("ann") is None


def test_a_session_in_which_a_stream_is_open_counts_as_long_as_that_is() -> None:
    now = 0.0
    sessions = Sessions(1, lambda: now)
    place = sessions.begin("ann")
    assert place is not None
    now = 10 * IDLE
    assert sessions.begin("ann") is None, "it is still being opened"
    sessions.name("ann", place, "a")
    with sessions.using("ann", "a"):
        with sessions.using("ann", "a"):
            now = 20 * IDLE
        assert sessions.begin("ann") is None
    now = 20 * IDLE + IDLE / 2
    assert sessions.begin("ann") is None
    now = 22 * IDLE
    assert sessions.begin("ann") is not None


async def test_a_body_whose_length_is_said_twice_closes_the_connection() -> None:
    async with guarded() as door:
        host, port = door.client.base_url.host, door.client.base_url.port
        reader, writer = await asyncio.open_connection(host, port)
        head = f"POST {API}/runs HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 4\r\n"
        head += "Transfer-Encoding: chunked\r\n\r\n"
        writer.write(head.encode() + b"0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        await writer.drain()
        async with asyncio.timeout(PATIENCE):
            said = await reader.read()
        writer.close()
        assert said.startswith(b"HTTP/1.1 400")
        assert said.count(b"HTTP/1.1") == 1


async def test_a_run_is_told_with_so_much_of_what_its_steps_gave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_results, "__defaults__", (50_000,))
    monkeypatch.setattr("toolpath.server.graphql.executions.MOST_SHOWN", 2 * 50_000)
    inputs = {"x": "{{ inputs.x }}"}
    tp = Toolpath()

    def give(x: str) -> str:
        """Give it back."""
        return x

    tp.add(give, effect="read")
    steps = [{"id": f"s{number}", "tool": "give", "inputs": inputs} for number in range(10)]
    plan = {"flow": "chain", "inputs": {"properties": {"x": {"type": "string"}}}, "steps": steps}
    async with serving(create_app(tp)) as client:
        for size, left_out in ((100, 0), (10_000, 8)):
            run_id = (await tp.run(plan, {"x": "x" * size})).run_id
            found = (await client.get(f"{API}/runs/{run_id}")).json()
            assert [step["status"] for step in found["results"]] == ["succeeded"] * 10
            assert found.get("left_out", 0) == left_out
            assert [bool(step.get("output")) for step in found["results"]] == [n < 10 - left_out for n in range(10)]
            asked = {"query": "query($id: ID!) { execution(id: $id) { outputs results errors } }"}
            told = (await client.post("/graphql", json={**asked, "variables": {"id": run_id}})).json()
            execution = told["data"]["execution"]
            assert execution["errors"] == []
            assert len(json.loads(execution["outputs"])) == 10 - left_out
            records = json.loads(execution["results"])
            assert [bool(record["output"]) for record in records] == [n < 10 - left_out for n in range(10)]
            assert [record.get("left_out", False) for record in records] == [n >= 10 - left_out for n in range(10)]
