"""`toolpath serve` as a person starts it: it says where it listens, and stops when it is told to."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from tests.patience import PATIENCE

TOOLS = '''
from toolpath import tool

@tool(group="math", effect="read")
def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b

@tool
def fail(why: str = "") -> str:
    """Always fail."""
    raise ValueError(why)
'''
HOLDING = '''
import asyncio
from toolpath import tool

@tool
async def hold() -> None:
    """Take for ever."""
    with open("calls", "a") as file:
        file.write("x")
    await asyncio.sleep(3600)
'''
ASKING = {"steps": [{"id": "who", "ask": {"title": "Who?", "inputs": [{"name": "name", "type": "text"}]}}]}
#: What the description of a body cannot say, as that a plan's tools must be there, is said by these.
CONFIGURED = """
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404", "409", "422"]

[[operations]]
include-path-regex = "/events$"
parameters = { follow = false }

[[operations]]
include-path-regex = "/tools/\\\\{key\\\\}"
parameters = { key = "math.add" }
"""


#: What the server says, in its folder.
LOG = "serve.log"


@contextmanager
def serving(folder: Path, *options: str, tools: str = TOOLS) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address and the process of a server in this folder."""
    (folder / "own_tools.py").write_text(tools)
    command = [sys.executable, "-m", "toolpath", "--tools", "own_tools.py", "serve", "--port", "0", *options]
    log = folder / LOG
    with log.open("w") as file:
        process = subprocess.Popen(command, cwd=folder, stderr=file, start_new_session=True)
    try:
        while (found := re.search(r"Listening on (http://\S+)\s", log.read_text())) is None:
            assert process.poll() is None, log.read_text()
            time.sleep(0.02)
        yield found[1], process
    finally:
        with suppress(ProcessLookupError):
            # With the processes that it has started.
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def assert_stopped(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """That it has ended well, and not because its grace for those who hold it up was over."""
    assert process.wait(PATIENCE) == 0
    assert "graceful shutdown exceeded" not in (folder / LOG).read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_stops_when_told_to_and_says_so_to_those_who_look_on(tmp_path: Path, number: signal.Signals) -> None:
    with (
        serving(tmp_path) as (address, process),
        httpx.Client(base_url=f"{address}/api/v1", timeout=PATIENCE) as client,
    ):
        run_id = client.post("/runs", json={"plan": ASKING}, timeout=PATIENCE).json()["run_id"]
        with client.stream("GET", f"/runs/{run_id}/events") as response:
            lines = response.iter_lines()
            next(line for line in lines if "input.requested" in line)
            process.send_signal(number)
            assert ": the server stops" in list(lines)
        assert_stopped(tmp_path, process)


def test_a_call_that_is_waited_for_is_answered_with_its_run_before_the_server_goes(tmp_path: Path) -> None:
    with (
        serving(tmp_path, tools=HOLDING) as (address, process),
        httpx.Client(base_url=address, timeout=PATIENCE) as client,
        ThreadPoolExecutor(2) as beside,
    ):
        call = beside.submit(client.post, "/api/v1/tools/hold/call", json={})
        tools = json.dumps([{"toolName": "hold", "parameters": {}}])
        query = 'mutation ($tools: String!) { executeWithWorkflow(plan: "hold", tools: $tools) { id } }'
        chain = beside.submit(client.post, "/graphql", json={"query": query, "variables": {"tools": tools}})
        while len((tmp_path / "calls").read_text()) < 2 if (tmp_path / "calls").exists() else True:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        told = call.result(PATIENCE)
        assert (told.status_code, told.json()["status"]) == (202, "running")
        assert chain.result(PATIENCE).json()["data"]["executeWithWorkflow"]["id"].startswith("run_")
        assert_stopped(tmp_path, process)


def test_a_server_that_was_killed_is_followed_by_one_that_still_has_the_form(tmp_path: Path) -> None:
    with serving(tmp_path) as (address, process):
        run_id = httpx.post(f"{address}/api/v1/runs", json={"plan": ASKING}, timeout=PATIENCE).json()["run_id"]
        with httpx.stream("GET", f"{address}/api/v1/runs/{run_id}/events", timeout=PATIENCE) as response:
            next(line for line in response.iter_lines() if "input.requested" in line)
        process.kill()
        process.wait()
    with serving(tmp_path) as (address, _), httpx.Client(base_url=f"{address}/api/v1", timeout=PATIENCE) as client:
        [question] = client.get("/questions").json()["questions"]
        assert question["run_id"] == run_id
        assert client.post(f"/runs/{run_id}/input", json={"values": {"name": "Ann"}}).status_code == 202
        with client.stream("GET", f"/runs/{run_id}/events") as response:
            assert "event: end" in list(response.iter_lines())
        assert client.get(f"/runs/{run_id}").json()["outputs"] == {"who": {"name": "Ann"}}


def test_several_processes_serve_one_store(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as (address, process):
        for number in range(6):
            # A connection each, so that both processes answer.
            run = httpx.post(
                f"{address}/api/v1/runs", json={"tool": "math.add", "inputs": {"a": number, "b": 1}}, timeout=PATIENCE
            )
            with httpx.stream(
                "GET", f"{address}/api/v1/runs/{run.json()['run_id']}/events", timeout=PATIENCE
            ) as response:
                last = [line for line in response.iter_lines() if line.startswith('data: {"type"')][-1]
            assert json.loads(last[6:])["outputs"] == number + 1
        process.terminate()
        assert process.wait(PATIENCE) == 0


def test_metrics_are_those_of_all_processes_whichever_answers(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as (address, process):
        for number in range(12):
            # A connection each: the next one may go to the other process.
            body = {"tool": "math.add", "inputs": {"a": number, "b": 1}}
            assert httpx.post(f"{address}/api/v1/runs", json=body, timeout=PATIENCE).status_code == 202
        shown = [httpx.get(f"{address}/metrics", timeout=PATIENCE).text for _ in range(6)]
        process.terminate()
        assert process.wait(PATIENCE) == 0
    assert [re.findall(r"^toolpath_runs_started_total (\S+)", text, re.MULTILINE) for text in shown] == [["12.0"]] * 6


def test_the_stream_of_an_mcp_session_ends_well_when_the_server_stops(tmp_path: Path) -> None:
    heads = {"Accept": "application/json, text/event-stream"}
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    begun = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    with serving(tmp_path) as (address, process):
        answer = httpx.post(f"{address}/mcp", json=begun, headers=heads, timeout=PATIENCE)
        heads["Mcp-Session-Id"] = answer.headers["mcp-session-id"]
        with httpx.stream("GET", f"{address}/mcp", headers=heads, timeout=PATIENCE) as response:
            assert response.status_code == 200
            process.terminate()
            # It raises where the end does not come.
            response.read()
        assert process.wait(PATIENCE) == 0


def test_an_address_that_is_taken_is_said_to_be(tmp_path: Path) -> None:
    with serving(tmp_path) as (address, _):
        port = address.rpartition(":")[2]
        command = [sys.executable, "-m", "toolpath", "serve", "--port", port]
        second = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert second.returncode == 2
    assert f"127.0.0.1:{port} cannot be listened on" in second.stderr


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(("--phases", "fuzzing", "--max-examples", "1", "--max-time", "8"), id="short"),
        pytest.param(("--max-examples", "30"), id="long", marks=[pytest.mark.soak, pytest.mark.timeout(1_800)]),
    ],
)
def test_schemathesis_finds_no_answer_that_the_description_has_not(tmp_path: Path, how: tuple[str, ...]) -> None:
    (tmp_path / "schemathesis.toml").write_text(CONFIGURED)
    with serving(tmp_path) as (address, _):
        script = Path(sys.executable).with_name("schemathesis")
        options = ["--no-shrink", "--request-timeout", "30", "--suppress-health-check", "all", "--seed", "1"]
        command = [str(script), "run", f"{address}/api/v1/openapi.json", *options, *how]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6_000:]


def test_an_answer_on_a_connection_that_stays_open_does_not_wait_for_the_client_s_acknowledgement(
    tmp_path: Path,
) -> None:
    plan = {"steps": [{"id": "sum", "tool": "math.add", "inputs": {"a": 1, "b": 2}}]}

    def seconds(client: httpx.Client) -> float:
        began = time.perf_counter()
        assert client.post("/api/v1/runs", json={"plan": plan}).status_code == 202
        return time.perf_counter() - began

    for options in ((), ("--workers", "2")):
        with serving(tmp_path, *options) as (address, _), httpx.Client(base_url=address, timeout=PATIENCE) as client:
            # A client acknowledges no sooner than after 40 ms: however busy the machine, the quickest of many tells.
            assert min(seconds(client) for _ in range(40)) < 0.03
