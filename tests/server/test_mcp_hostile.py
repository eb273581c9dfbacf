"""JSON-RPC as nobody should send it, at `/mcp` and over the pipe: it is refused, and the next request is served."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.access.access_cases import Guarded, guarded
from tests.patience import PATIENCE
from tests.prepared.prepared import prepared
from tests.server.mcp_cases import shop
from tests.soak import scaled

LEGACY, MODERN = "2025-06-18", "2026-07-28"
ACCEPT = {"Accept": "application/json, text/event-stream"}
METHODS = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "server/discover",
    "subscriptions/listen",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "resources/read",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "elicitation/create",
    "sampling/createMessage",
    "tasks/get",
    "",
    "no/such",
    "__init__",
]
NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70), st.sampled_from([0, -1, 2**31, 2**53 + 1, 2**63, 10**400]), st.floats(allow_nan=False)
)
TEXTS = st.one_of(
    st.text(max_size=20), st.sampled_from(["\0", "\ud800", "../../etc/passwd", "{{ secrets.x }}", "a" * 5_000])
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)
PARAMS = st.one_of(
    VALUES,
    st.fixed_dictionaries(
        {},
        optional={
            "name": st.one_of(
                VALUES, st.sampled_from(["math--add", "run_plan", "get_run", "answer", "plan", "search_tools"])
            ),
            "arguments": VALUES,
            "cursor": VALUES,
            "protocolVersion": st.one_of(VALUES, st.sampled_from([LEGACY, MODERN, "1999-01-01"])),
            "capabilities": VALUES,
            "clientInfo": VALUES,
            "requestState": VALUES,
            "inputResponses": VALUES,
            "requestId": VALUES,
            "progressToken": VALUES,
            "_meta": VALUES,
        },
    ),
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.one_of(st.just("2.0"), VALUES),
        "id": VALUES,
        "method": st.one_of(st.sampled_from(METHODS), VALUES),
        "params": PARAMS,
        "result": VALUES,
        "error": VALUES,
    },
)
#: Most are like a request, so that more than the first check is met.
NEARLY = st.fixed_dictionaries(
    {
        "jsonrpc": st.just("2.0"),
        "id": st.one_of(st.integers(0, 9), TEXTS),
        "method": st.sampled_from(METHODS),
        "params": PARAMS,
    }
)
HOSTILE = st.one_of(NEARLY, MESSAGES, st.lists(st.one_of(NEARLY, MESSAGES), max_size=3), VALUES)
DEEP = [
    b"[" * 200_000,
    b'{"a":' * 100_000,
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + b'{"a":' * 5_000 + b"1" + b"}" * 5_001,
]
BROKEN = [
    b"",
    b"\0",
    b"\xff\xfe",
    b"nonsense",
    b'{"jsonrpc":"2.0","id":1',
    b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":' + b"9" * 10_000 + b',"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"x" * 2_000_000 + b'"}}',
    b"[" + b'{"jsonrpc":"2.0","id":1,"method":"ping"},' * 20_000 + b"1]",
    *DEEP,
]
HEADS = [
    {},
    {"MCP-Protocol-Version": LEGACY},
    {"MCP-Protocol-Version": MODERN},
    {"MCP-Protocol-Version": "1999-01-01"},
    {"MCP-Protocol-Version": "x" * 3_000},
    {"Mcp-Session-Id": "0" * 32},
    {"Mcp-Session-Id": "../" * 50, "MCP-Protocol-Version": LEGACY},
    {"Mcp-Method": "tools/call", "Mcp-Name": "math--add", "MCP-Protocol-Version": MODERN},
    {"Mcp-Method": "tools/list", "MCP-Protocol-Version": MODERN, "Mcp-Session-Id": "x"},
    {"Last-Event-ID": "9" * 1_000},
    {"Accept": "text/plain"},
    {"Content-Type": "text/plain"},
]
BOUNDED = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck), derandomize=True)


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


@contextmanager
def no_traceback(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """That nothing inside is logged as an error that nobody foresaw."""
    caplog.set_level(logging.WARNING)
    caplog.clear()
    yield
    bad = [record for record in caplog.records if record.exc_info or record.levelno >= logging.ERROR]
    assert not bad, [(record.name, record.getMessage(), record.exc_text) for record in bad]


class Sender:
    """Sends bodies to `/mcp` and says what is wrong with the answers."""

    def __init__(self, door: Guarded, key: dict[str, str]) -> None:
        self._door = door
        self._key = key

    async def send(self, body: bytes, head: dict[str, str]) -> int:
        """The status of the answer, once all of what comes at once has come."""
        headers = {**ACCEPT, "Content-Type": "application/json", **self._key, **head}
        async with self._door.client.stream("POST", "/mcp", content=body, headers=headers) as answer:
            text = b""
            try:
                async with asyncio.timeout(
                    0.3 if answer.headers.get("content-type", "").startswith("text/event") else 10
                ):
                    async for piece in answer.aiter_raw():
                        text += piece
            except TimeoutError:
                # A stream that stays open, as that of `subscriptions/listen`.
                pass
        assert answer.status_code < 500, (answer.status_code, body[:500], text[:500])
        assert b"Traceback" not in text
        assert b"too_many_requests" not in text, "it was not read"
        return answer.status_code

    async def session(self) -> str:
        """The id of a session of the older generation."""
        answer = await self._door.client.post("/mcp", json=INITIALIZE, headers={**ACCEPT, **self._key})
        assert answer.status_code == 200, answer.text
        return answer.headers["mcp-session-id"]

    async def serves(self) -> None:
        """That the server answers as if nothing had been."""
        assert (await self._door.client.get("/health")).status_code == 200
        head = {**ACCEPT, **self._key, "Mcp-Session-Id": await self.session(), "MCP-Protocol-Version": LEGACY}
        call = {
            "jsonrpc": "2.0",
            "id": 7,
            "method": "tools/call",
            "params": {"name": "math--add", "arguments": {"a": 1, "b": 2}},
        }
        answer = await self._door.client.post("/mcp", json=call, headers=head)
        assert '"result":3' in answer.text.replace(" ", ""), answer.text


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.fixture
async def sender() -> Any:
    # All of it is to arrive: what comes too often is refused before anything reads it.
    async with guarded(rate_limit="off") as door:
        shop(door.tp)
        yield Sender(door, await door.key("*", permissions=("*",)))


def in_turn(loop: asyncio.AbstractEventLoop, work: Any) -> Any:
    return asyncio.run_coroutine_threadsafe(work, loop).result(PATIENCE)


@pytest.mark.parametrize(
    "examples",
    [40, pytest.param(scaled(3_000), marks=[pytest.mark.soak, pytest.mark.timeout(1_800)])],
    ids=["short", "long"],
)
async def test_what_is_sent_to_mcp_is_never_our_fault(
    sender: Sender, examples: int, caplog: pytest.LogCaptureFixture
) -> None:
    loop = asyncio.get_running_loop()
    session = await sender.session()
    heads = [*HEADS, {"Mcp-Session-Id": session}, {"Mcp-Session-Id": session, "MCP-Protocol-Version": MODERN}]

    @settings(BOUNDED, max_examples=examples)
    @given(HOSTILE, st.sampled_from(heads))
    def attack(value: Any, head: dict[str, str]) -> None:
        in_turn(loop, sender.send(encoded(value), head))

    with no_traceback(caplog):
        await asyncio.to_thread(attack)
        for body in BROKEN:
            for head in ({}, {"MCP-Protocol-Version": MODERN}, {"Mcp-Session-Id": session}):
                await sender.send(body, head)
        await sender.serves()


async def test_a_session_is_of_nobody_but_who_opened_it(sender: Sender) -> None:
    session = {"Mcp-Session-Id": await sender.session(), "MCP-Protocol-Version": LEGACY}
    door = sender._door
    others = [await door.key("*", permissions=("*",)), await door.key("*", tenant="evil", user="eve")]
    call = encoded({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    for other in others:
        assert await Sender(door, other).send(call, session) == 404
        gone = await door.client.delete("/mcp", headers={**other, **session, **ACCEPT})
        assert gone.status_code == 404
        listened = await door.client.get("/mcp", headers={**other, **session, **ACCEPT})
        assert listened.status_code == 404
    assert await sender.send(call, session) == 200
    assert (await door.client.delete("/mcp", headers={**sender._key, **session, **ACCEPT})).status_code == 200
    assert await sender.send(call, session) == 404


async def test_what_comes_over_the_pipe_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "toolpath.toml").write_text("")
    process = await asyncio.create_subprocess_exec(
        *prepared("serve", "--store", ":memory:", "mcp"),
        cwd=tmp_path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=2**24,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    errors = asyncio.create_task(process.stderr.read())
    lines = [encoded(INITIALIZE), encoded({"jsonrpc": "2.0", "method": "notifications/initialized"})]

    @settings(BOUNDED, max_examples=200)
    @given(HOSTILE)
    def gather(value: Any) -> None:
        lines.append(encoded(value))

    gather()
    lines += [body.replace(b"\n", b" ") for body in BROKEN]
    asked = encoded({"jsonrpc": "2.0", "id": "last", "method": "tools/list"})

    async def answered() -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            said = json.loads(line)
            if isinstance(said, dict) and said.get("id") == "last":
                assert said["result"]["tools"]
                return
        raise AssertionError((await errors).decode()[-3_000:])

    reading = asyncio.create_task(answered())
    process.stdin.write(b"\n".join([*lines, asked]) + b"\n")
    await process.stdin.drain()
    await asyncio.wait_for(reading, PATIENCE)
    process.stdin.close()
    drained = asyncio.create_task(process.stdout.read())
    assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
    await drained
    assert b"Traceback" not in await errors
