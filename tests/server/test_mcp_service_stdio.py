"""`toolpath mcp` as other clients start it: a process at the end of a pipe."""

from __future__ import annotations

import asyncio
import textwrap
from pathlib import Path

import msgspec
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult
from mcp_cases import MODES, answering
from tests.prepared.prepared import prepared

from toolpath import Toolpath

TOOLS = '''
import asyncio, subprocess, sys
from toolpath import ToolContext, tool

print("printed while the module is loaded")


@tool(group="math", effect="read")
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    print("printed by a tool")
    print("{", flush=True)
    subprocess.run([sys.executable, "-c", "print('printed by a child'); import sys; print(repr(sys.stdin.read()))"])
    return a + b


@tool(effect="read")
async def slow(context: ToolContext) -> str:
    """Take for ever."""
    context.progress(1)
    await asyncio.sleep(3600)
    return ""


@tool(effect="read")
async def ask(context: ToolContext) -> dict:
    """Ask for a name."""
    return await context.ask({"title": "Who?", "inputs": [{"name": "name"}]})
'''


@pytest.fixture
def server(tmp_path: Path) -> StdioServerParameters:
    (tmp_path / "tools.py").write_text(textwrap.dedent(TOOLS))
    command, *args = prepared("serve", "mcp", "--tools", "tools.py", "--store", "runs.db")
    return StdioServerParameters(command=command, args=args, cwd=tmp_path)


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_starts_it_calls_and_is_asked(server, mode, tmp_path):
    person = answering(ElicitResult(action="accept", content={"name": "Ada"}))
    async with Client(server, mode=mode, elicitation_callback=person) as client:
        assert client.server_info.name == "toolpath"
        answer = await client.call_tool("math--add", {"a": 1, "b": 2})
        assert answer.structured_content == {"result": 3}
        asked = await client.call_tool("ask")
        assert asked.structured_content == {"name": "Ada"}
        plan = {"steps": [{"id": "s", "tool": "math.add", "inputs": {"a": 2, "b": 2}}], "outputs": "{{ s }}"}
        assert (await client.call_tool("run_plan", {"plan": plan})).structured_content["outputs"] == 4
    async with Toolpath(tmp_path / "runs.db") as tp:
        assert [run.status for run in await tp.runs()] == ["completed"] * 3


def message(method: str, number: int, **params: object) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + b"\n"


HELLO = message(
    "initialize", 1, protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "raw", "version": "1"}
)
READY = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


@pytest.fixture
async def process(server: StdioServerParameters):
    process = await asyncio.create_subprocess_exec(
        server.command,
        *server.args,
        cwd=server.cwd,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    yield process
    if process.returncode is None:
        process.kill()
        await process.wait()


async def test_standard_output_is_the_protocols_alone_and_what_is_no_message_breaks_nothing(process):
    bad = b"\n{\nnull\n\xff\xfe\n" + b"[" * 50_000 + b"\n" + b'"' + b"x" * 1_000_000 + b'"\n'
    call = message("tools/call", 2, name="math--add", arguments={"a": 1, "b": 2})
    process.stdin.write(HELLO + READY + bad + call)
    answers = {}
    while 2 not in answers:
        answer = msgspec.json.decode(await process.stdout.readline())
        answers[answer.get("id")] = answer
    assert answers[2]["result"]["structuredContent"] == {"result": 3}
    process.stdin.close()
    rest = await process.stdout.read()
    assert all(msgspec.json.decode(line) for line in rest.splitlines())
    assert await process.wait() == 0
    assert b"Traceback" not in await process.stderr.read()


async def test_a_client_that_hangs_up_ends_the_process_and_its_calls(process, tmp_path):
    process.stdin.write(HELLO + READY + message("tools/call", 2, name="slow", _meta={"progressToken": 1}))
    await process.stdout.readline()
    progress = await process.stdout.readline()
    assert b"notifications/progress" in progress
    process.stdin.close()
    assert await process.wait() == 0
    async with Toolpath(tmp_path / "runs.db") as tp:
        assert [run.status for run in await tp.runs()] == ["cancelled"]


async def test_a_client_that_reads_no_more_is_no_error(process):
    process.stdin.write(HELLO + READY)
    await process.stdout.readline()
    process._transport.get_pipe_transport(1).close()
    process.stdin.write(message("tools/list", 2))
    process.stdin.close()
    assert await process.wait() == 0
    assert b"Traceback" not in await process.stderr.read()
