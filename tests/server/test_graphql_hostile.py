"""WebSockets of people who have no business here: nothing of GraphQL is spoken to whom the guard does not know."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import websockets
from tests.access.access_cases import JWT, SECRET, Guarded, guarded, token
from tests.patience import PATIENCE
from tests.server.rest_cases import ASKING

SPOKEN = "graphql-transport-ws"
ENV = {"TOOLPATH_JWT_SECRET": SECRET}


class Acme:
    """A server on which a tenant has a run that waits, and what opens it."""

    def __init__(self, door: Guarded, owner: dict[str, str], run_id: str) -> None:
        self.door = door
        self.owner = owner
        self.text = owner["Authorization"].removeprefix("Bearer ")
        self.run_id = run_id
        self.address = f"ws://{door.client.base_url.netloc.decode()}/graphql"

    def subscribe(self, run_id: str = "") -> str:
        query = "subscription($id: ID!) { runEvents(runId: $id) { seq data } }"
        payload = {"query": query, "variables": {"id": run_id or self.run_id}}
        return json.dumps({"type": "subscribe", "id": "1", "payload": payload})

    async def refused(self, path: str = "", **how: Any) -> int:
        """The status with which the handshake is refused."""
        with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
            await websockets.connect(self.address + path, **{"subprotocols": [SPOKEN], **how})
        assert b"run" not in (refused.value.response.body or b"")
        return refused.value.response.status_code


async def listened(socket: websockets.ClientConnection, heard: list[str]) -> None:
    while True:
        heard.append(str(await socket.recv()))


@pytest.fixture
async def acme() -> AsyncIterator[Acme]:
    async with guarded(env=ENV, **JWT) as door:
        owner = await door.key("*", tenant="acme", user="ada", permissions=("*",))
        begun = await door.client.post("/api/v1/runs", json={"plan": ASKING}, headers=owner)
        yield Acme(door, owner, begun.json()["run_id"])


async def test_credentials_count_in_the_head_alone(acme: Acme) -> None:
    text = acme.text
    ways: list[dict[str, Any]] = [
        {},
        {"path": f"?token={text}"},
        {"path": f"?access_token={text}&authorization=Bearer%20{text}"},
        {"path": f"?Authorization={text}"},
        {"subprotocols": [SPOKEN, text]},
        {"subprotocols": [SPOKEN, f"bearer.{text}"]},
        {"subprotocols": ["graphql-ws"]},
        {"additional_headers": {"Cookie": f"authorization={text}; token={text}"}},
        {"additional_headers": {"Authorization": f"Basic {text}"}},
        {"additional_headers": {"Authorization": text[:-1]}},
        {"additional_headers": {"Authorization": f"Bearer {text[:-1]}"}},
        {"additional_headers": {"Authorization": f"Bearer {token(exp=1)}"}},
        {"additional_headers": {"X-Forwarded-For": "127.0.0.1", "X-Toolpath-User": "ada"}},
    ]
    for way in ways:
        assert await acme.refused(**way) == 401, way


async def test_a_page_of_another_origin_gets_no_socket_though_it_has_the_key(acme: Acme) -> None:
    for origin in ("https://evil.example.org", "null", "http://127.0.0.1.evil.org"):
        assert await acme.refused(origin=origin, additional_headers=acme.owner) == 403


async def test_what_is_said_in_the_socket_makes_nobody_of_another_tenant(acme: Acme) -> None:
    stranger = await acme.door.key("*", tenant="evil", user="eve")
    blind = await acme.door.key("run", tenant="acme", user="bob")
    init = {"Authorization": f"Bearer {acme.text}", "token": acme.text, "tenant": "acme"}
    for who in (stranger, blind):
        async with websockets.connect(acme.address, subprotocols=[SPOKEN], additional_headers=who) as socket:  # type: ignore[list-item]
            await socket.send(json.dumps({"type": "connection_init", "payload": init}))
            assert json.loads(await socket.recv())["type"] == "connection_ack"
            await socket.send(acme.subscribe())
            said = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
            words = json.dumps(said)
            assert ("unknown_run" if who is stranger else "scope") in words
            assert "Who?" not in words
            assert "suggest" not in words


async def test_a_run_of_another_tenant_is_as_one_that_is_not_there(acme: Acme) -> None:
    stranger = await acme.door.key("*", tenant="evil", user="eve")
    told: list[str] = []
    for run_id in (acme.run_id, acme.run_id[:-1] + "!", "run_1", "../" + acme.run_id, "\x00", "x" * 5_000):
        async with websockets.connect(acme.address, subprotocols=[SPOKEN], additional_headers=stranger) as socket:  # type: ignore[list-item]
            await socket.send('{"type": "connection_init"}')
            await socket.recv()
            await socket.send(acme.subscribe(run_id))
            said = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
            assert said["payload"]["data"] is None
            told += [error["extensions"]["code"] for error in said["payload"]["errors"]]
    assert set(told) == {"unknown_run"}


@pytest.mark.parametrize(
    "said",
    [
        [],
        ["not json"],
        ["[]"],
        ["1"],
        ['{"type": 1}'],
        ['{"type": "start", "id": "1", "payload": {"query": "{ __typename }"}}'],
        ['{"type": "connection_init"}', '{"type": "connection_init"}'],
        ['{"type": "connection_init", "payload": 7}'],
        ['{"type": "connection_init"}', '{"type": "subscribe", "id": 1, "payload": []}'],
        ['{"type": "connection_init"}', '{"type": "subscribe", "id": "1"}'],
        ["[" * 100_000],
    ],
    ids=str,
)
async def test_nothing_is_told_before_the_socket_is_introduced_and_odd_words_close_it(
    said: list[str], acme: Acme, caplog: pytest.LogCaptureFixture
) -> None:
    async with websockets.connect(acme.address, subprotocols=[SPOKEN], additional_headers=acme.owner) as socket:  # type: ignore[list-item]
        for text in said:
            await socket.send(text)
        if not any("connection_init" in text for text in said):
            # Whoever is known has to say hello too.
            await socket.send(acme.subscribe())
        heard: list[str] = []
        with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
            await asyncio.wait_for(listened(socket, heard), PATIENCE)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code in (1002, 1003, 1007, *range(4400, 4500))
    assert not [text for text in heard if '"next"' in text]
    assert not [record for record in caplog.records if record.exc_info]
    assert (await acme.door.client.get("/health")).status_code == 200


async def test_a_message_has_no_more_in_it_than_a_body_may(acme: Acme) -> None:
    payload = {"query": "query($x: [Int]) { __typename }", "variables": {"x": [1] * 1_000_001}}
    many = json.dumps({"type": "subscribe", "id": "1", "payload": payload}, separators=(",", ":"))
    for said in (many, json.dumps({"type": "ping", "payload": {"x": "y" * 10_000_001}})):
        async with websockets.connect(acme.address, subprotocols=[SPOKEN], additional_headers=acme.owner) as socket:  # type: ignore[list-item]
            await socket.send('{"type": "connection_init"}')
            await socket.send(said)
            heard: list[str] = []
            with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
                await asyncio.wait_for(listened(socket, heard), PATIENCE)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1009, "too_large")
        assert not [text for text in heard if '"next"' in text]
