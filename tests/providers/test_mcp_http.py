"""A server over streamable HTTP, a real one behind uvicorn on a free port."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from tests.prepared.prepared import prepared

from toolpath.errors import ConfigError, ToolFailed, ToolRetry, ToolUnavailable
from toolpath.providers.mcp.provider import McpProvider

pytestmark = pytest.mark.mcp


class Caller:
    run_id = "run_1"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.steps: list[Any] = []

    async def ask(self, form: Any, *, key: str | None = None, **_: Any) -> Any:
        return self.answer

    def progress(self, *step: Any) -> None:
        self.steps.append(step)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class HttpServer:
    def __init__(self) -> None:
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(prepared("probe", "http", str(self.port)), stdout=subprocess.PIPE)
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.communicate()
            # A process that dies closes its output before its sockets, which take connections until then.
            with contextlib.suppress(OSError):
                while True:
                    socket.create_connection(("127.0.0.1", self.port), timeout=1).close()


@pytest.fixture(scope="module")
def server() -> Iterator[HttpServer]:
    found = HttpServer()
    found.start()
    yield found
    found.stop()


@pytest.fixture
async def provider(server: HttpServer) -> AsyncIterator[McpProvider]:
    found = McpProvider("web", url=f"http://127.0.0.1:{server.port}/mcp")
    yield found
    await found.close()


async def call(provider: McpProvider, name: str, context: Any = None, **inputs: Any) -> Any:
    tools = {tool.name: tool for tool in await provider.list_tools()}
    return await tools[name].body.invoke(inputs, context)


async def test_tools_are_listed_and_called_side_by_side(provider):
    tools = {tool.name: tool for tool in await provider.list_tools()}
    outputs = await asyncio.gather(*[tools["add"].body.invoke({"a": number, "b": 1}, None) for number in range(10)])

    assert outputs == [{"sum": number + 1} for number in range(10)]
    assert tools["add"].key == "web.add"


async def test_progress_and_questions_reach_the_call_they_belong_to(provider):
    tools = {tool.name: tool for tool in await provider.list_tools()}
    callers = [Caller({"colour": colour}) for colour in ("red", "blue", "red")]

    answers = await asyncio.gather(*[tools["ask"].body.invoke({}, caller) for caller in callers])
    await tools["steps"].body.invoke({}, callers[0])

    assert [answer["content"]["colour"] for answer in answers] == ["red", "blue", "red"]
    assert [step[0] for step in callers[0].steps] == [1.0, 2.0, 3.0]


async def test_an_error_of_the_tool_fails_the_call(provider):
    with pytest.raises(ToolFailed, match="It cannot be done"):
        await call(provider, "fail")


async def test_cancelling_a_call_cancels_it_at_the_server(provider, until):
    tools = {tool.name: tool for tool in await provider.list_tools()}
    slow = asyncio.create_task(tools["slow"].body.invoke({"mark": "web"}, Caller(None)))
    await tools["echo"].body.invoke({"text": "so that it has arrived"}, None)
    await tools["echo"].body.invoke({"text": "surely"}, None)

    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow

    async def is_cancelled() -> bool:
        return "web" in (await tools["cancelled"].body.invoke({}, None))["marks"]

    await until(is_cancelled)


async def test_a_server_that_is_not_there_is_unavailable_and_was_not_reached():
    provider = McpProvider("gone", url=f"http://127.0.0.1:{free_port()}/mcp")

    with pytest.raises(ToolUnavailable, match="ConnectError") as caught:
        await provider.list_tools()

    assert not caught.value.reached


async def test_a_server_that_crashes_leaves_the_call_in_doubt_and_serves_again_when_it_is_back():
    server = HttpServer()
    server.start()
    provider = McpProvider("web", url=f"http://127.0.0.1:{server.port}/mcp")
    try:
        tools = {tool.name: tool for tool in await provider.list_tools()}
        with pytest.raises(ToolUnavailable) as caught:
            await tools["crash"].body.invoke({}, None)
        assert caught.value.reached

        server.stop()
        with pytest.raises(ToolUnavailable) as down:
            await tools["echo"].body.invoke({"text": "?"}, None)
        assert not down.value.reached

        server.start()
        assert await tools["echo"].body.invoke({"text": "back"}, None) == "back"
    finally:
        await provider.close()
        server.stop()


@pytest.mark.parametrize(
    ("status", "error", "message"),
    [(401, ToolFailed, "HTTP 401"), (503, ToolUnavailable, "HTTP 503")],
)
async def test_a_server_that_refuses_by_status_says_which(status, error, message):
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status} No\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    provider = McpProvider("web", url=f"http://user:secret@127.0.0.1:{port}/mcp")
    try:
        with pytest.raises(error, match=message) as caught:
            await provider.list_tools()
        assert "secret" not in str(caught.value)
    finally:
        await provider.close()
        listening.close()
        await listening.wait_closed()


async def test_a_busy_server_says_when_to_come_back(server):
    """A proxy in front of the server that is told to answer 429."""
    busy = False
    tasks: list[Any] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if busy:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 429 Slow\r\nretry-after: 7\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            await writer.drain()
            writer.close()
            return
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", server.port)
        tasks.append(asyncio.current_task())
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-l"))
        inner_writer.write(head.replace(b"keep-alive", b"close") + await reader.readexactly(length))
        try:
            while chunk := await inner_reader.read(65536):
                writer.write(chunk)
        finally:
            inner_writer.close()
            writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    provider = McpProvider("web", url=f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/mcp")
    try:
        tools = {tool.name: tool for tool in await provider.list_tools()}
        busy = True
        with pytest.raises(ToolRetry, match="429") as caught:
            await tools["echo"].body.invoke({"text": "?"}, None)
        assert (caught.value.retry_after, caught.value.code) == (7, "rate_limit")
    finally:
        await provider.close()
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def test_a_server_is_named_by_command_or_url_and_nothing_else():
    for settings in ({}, {"command": "a", "url": "http://b"}, {"url": "ftp://b"}):
        with pytest.raises(ConfigError, match=r"needs a command or a url|no http"):
            McpProvider("x", **settings)
