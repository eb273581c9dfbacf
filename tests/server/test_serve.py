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
from queue import SimpleQueue
from threading import Thread
from typing import IO

import httpx
import pytest
from tests.bell import Bell
from tests.patience import PATIENCE
from tests.prepared.prepared import prepared
from tests.soak import scaled

from toolpath.cli.service.browser import open_page

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
    with open("calls", "w") as file:
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

# Who asks for the model gets 503 where none is configured.
[[operations]]
include-path-regex = "/tools/route$"
checks.not_a_server_error.expected-statuses = ["2xx", "4xx", "503"]
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404", "409", "422", "503"]
"""


#: What the server says, in its folder.
LOG = "serve.log"


@contextmanager
def serving(folder: Path, *options: str, tools: str = TOOLS) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address and the process of a server in this folder."""
    (folder / "own_tools.py").write_text(tools)
    command = prepared("serve", "--tools", "own_tools.py", "serve", "--port", "0", *options)
    log = folder / LOG
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    said: SimpleQueue[str] = SimpleQueue()
    keeper = Thread(target=_keep, args=(process.stderr, log, said))
    keeper.start()
    try:
        while (found := re.search(r"Listening on (http://\S+)\s", line := said.get(timeout=PATIENCE))) is None:
            assert line, log.read_text()
        yield found[1], process
    finally:
        with suppress(ProcessLookupError):
            # With the processes that it has started.
            os.killpg(process.pid, signal.SIGKILL)
        # None of them has its output any more: all have ended.
        keeper.join()
        with process:
            assert process.stdout is not None
            process.stdout.read()


def _keep(stream: IO[bytes], log: Path, said: SimpleQueue[str]) -> None:
    """Keep what a process says as it says it; nothing follows the empty line."""
    with log.open("wb", buffering=0) as file:
        for line in stream:
            file.write(line)
            said.put(line.decode())
    said.put("")


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
        Bell.hung(tmp_path / "calls") as calls,
        serving(tmp_path, tools=HOLDING) as (address, process),
        httpx.Client(base_url=address, timeout=PATIENCE) as client,
        ThreadPoolExecutor(2) as beside,
    ):
        call = beside.submit(client.post, "/api/v1/tools/hold/call", json={})
        tools = json.dumps([{"toolName": "hold", "parameters": {}}])
        query = 'mutation ($tools: String!) { executeWithWorkflow(plan: "hold", tools: $tools) { id } }'
        chain = beside.submit(client.post, "/graphql", json={"query": query, "variables": {"tools": tools}})
        calls.rung(2)
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
        assert process.stdout is not None
        process.stdout.read()
    with serving(tmp_path) as (address, _), httpx.Client(base_url=f"{address}/api/v1", timeout=PATIENCE) as client:
        [question] = client.get("/questions").json()["questions"]
        assert question["run_id"] == run_id
        assert client.post(f"/runs/{run_id}/input", json={"values": {"name": "Ann"}}).status_code == 202
        with client.stream("GET", f"/runs/{run_id}/events") as response:
            assert "event: end" in list(response.iter_lines())
        assert client.get(f"/runs/{run_id}").json()["outputs"] == {"who": {"name": "Ann"}}


def test_several_processes_serve_one_store_and_one_set_of_metrics_whichever_answers(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as (address, process):
        for number in range(12):
            # A connection each: the next one may go to the other process.
            run = httpx.post(
                f"{address}/api/v1/runs", json={"tool": "math.add", "inputs": {"a": number, "b": 1}}, timeout=PATIENCE
            )
            with httpx.stream(
                "GET", f"{address}/api/v1/runs/{run.json()['run_id']}/events", timeout=PATIENCE
            ) as response:
                last = [line for line in response.iter_lines() if line.startswith('data: {"type"')][-1]
            assert json.loads(last[6:])["outputs"] == number + 1
        started = 12 + runs_answered_at_once(address)
        shown = [httpx.get(f"{address}/metrics", timeout=PATIENCE).text for _ in range(6)]
        process.terminate()
        assert process.wait(PATIENCE) == 0
    assert [re.findall(r"^toolpath_runs_started_total (\S+)", text, re.MULTILINE) for text in shown] == [
        [f"{started}.0"]
    ] * 6


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
        command = prepared("serve", "serve", "--port", port)
        second = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert second.returncode == 2
    assert f"127.0.0.1:{port} cannot be listened on" in second.stderr


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(("--phases", "fuzzing", "--max-examples", "1", "--max-time", "8"), id="short"),
        pytest.param(
            ("--max-examples", str(scaled(30))), id="long", marks=[pytest.mark.soak, pytest.mark.timeout(1_800)]
        ),
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
    with serving(tmp_path) as (address, _):
        runs_answered_at_once(address)


def runs_answered_at_once(address: str) -> int:
    """How many runs were begun until one was answered before a client acknowledges, which it does after 40 ms."""
    plan = {"steps": [{"id": "sum", "tool": "math.add", "inputs": {"a": 1, "b": 2}}]}
    with httpx.Client(base_url=address, timeout=PATIENCE) as client:
        # However busy the machine, one of so many is quick; where answers wait for that, none is.
        for number in range(1, 1_001):
            began = time.perf_counter()
            assert client.post("/api/v1/runs", json={"plan": plan}).status_code == 202
            if time.perf_counter() - began < 0.03:
                return number
    raise AssertionError("no answer came within 30 ms")


def test_the_page_is_opened_where_there_is_a_desktop_and_nothing_is_where_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opener = tmp_path / "opener"
    opener.write_text('#!/bin/sh\necho "$1" > opened\n')
    opener.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(opener))
    for name in ("WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert not open_page("http://127.0.0.1:1/")
    monkeypatch.setenv("DISPLAY", ":nowhere")
    with Bell.hung(tmp_path / "opened") as opened, serving(tmp_path, "--open") as (address, process):
        assert opened.rung(len(address)).strip() == f"{address}/"
        assert httpx.get(f"{address}/", timeout=PATIENCE).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert_stopped(tmp_path, process)
