"""Real MCP servers through the command line and the door: what they give, say and do arrives as it should."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from end_to_end_cases import SERVERS, Command, Desk, events, stdio
from tests.patience import PATIENCE

pytestmark = pytest.mark.mcp


def test_structured_output_text_and_two_generations_meet_in_one_plan(desk: Desk, toolpath: Command) -> None:
    desk.write(
        "both.yaml",
        """
        name: both
        steps:
          - {id: sum, tool: probe.add, inputs: {a: 2, b: 3}}
          - {id: object, tool: raw.echo, inputs: {text: '{"list": [1, {"deep": "{{ sum.sum }}"}]}'}}
          - {id: text, tool: probe.echo, inputs: {text: "{{ object.list[1].deep }} apples"}}
          - {id: parts, tool: probe.parts}
        outputs: {text: "{{ text }}", last: "{{ parts[1].text }}", number: "{{ sum.sum }}"}
        """,
    )
    ran = desk.run("run", "both.yaml")
    assert ran.code == 0, ran.err
    assert ran.out == '{\n  "text": "5 apples",\n  "last": "two",\n  "number": 5\n}\n'


def test_a_result_that_does_not_fit_its_schema_is_a_warning_or_with_strict_a_failure(
    desk: Desk, toolpath: Command
) -> None:
    for word in ("warn", "strict", "off"):
        step = f"{{id: s, tool: probe.lie, output_validation: {word}}}"
        desk.write(f"{word}.yaml", f"name: p\nsteps:\n  - {step}\n")
    warned = toolpath("run", "warn.yaml")
    assert warned.code == 0
    assert warned.json == {"s": {"sum": "many"}}
    assert "warning output_mismatch" in warned.err
    assert "/sum: expected integer, got string" in warned.err
    strict = toolpath("run", "strict.yaml")
    assert (strict.code, strict.out) == (1, "")
    assert "does not fit its output schema" in strict.err
    assert "warning" not in toolpath("run", "off.yaml").err


def test_a_tool_that_says_it_failed_fails_its_step_with_its_words(toolpath: Command) -> None:
    ran = toolpath("run", "probe.fail")
    assert (ran.code, ran.out) == (1, "")
    assert "call failed: It cannot be done." in ran.err


def test_progress_of_a_server_is_in_the_journal_and_in_sight(toolpath: Command) -> None:
    ran = toolpath("run", "probe.steps")
    assert "call 2 of 3 step 2" in ran.err
    progress = [(e["path"], e["progress"], e["total"]) for e in events(toolpath) if e["type"] == "step.progress"]
    assert progress == [("call", 1.0, 3.0), ("call", 2.0, 3.0), ("call", 3.0, 3.0)]


def test_arguments_are_checked_before_the_server_hears_of_them(desk: Desk, toolpath: Command) -> None:
    desk.write("bad.yaml", "name: p\nsteps:\n  - {id: s, tool: probe.add, inputs: {a: one, b: 2}}\n")
    ran = toolpath("run", "bad.yaml")
    assert ran.code == 3
    assert "bad.yaml:3:" in ran.err
    assert "integer" in ran.err
    assert toolpath("runs", "list").out == ""


def test_what_a_server_returns_is_data_and_never_a_template(desk: Desk, toolpath: Command) -> None:
    desk.write(
        "data.yaml",
        """
        name: data
        steps:
          - {id: one, tool: raw.echo, inputs: {text: "{{ '{{' }} run.id }} {{ '{{' }} secrets.KEY }}"}}
          - {id: two, tool: probe.echo, inputs: {text: "{{ one }}"}}
        outputs: "{{ two }}"
        """,
    )
    assert toolpath("run", "data.yaml").out == "{{ run.id }} {{ secrets.KEY }}\n"


def test_servers_that_are_not_needed_are_not_started(toolpath: Command, servers: Callable[..., None]) -> None:
    noted = {"command": sys.executable, "args": ["-c", "open('started', 'w')"]}
    servers(probe=stdio("probe_server.py"), other=noted)
    assert toolpath("run", "probe.echo", "-i", "text=hi").out == "hi\n"
    assert not Path("started").exists()


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """The URL of the probe over streamable HTTP."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(SERVERS / "probe_server.py"), "http", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        give_up = time.monotonic() + PATIENCE
        while True:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < give_up
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def test_a_server_over_http_serves_a_plan_with_progress_and_a_question(
    desk: Desk, toolpath: Command, servers: Callable[..., None], web: str
) -> None:
    servers(web={"url": web, "headers": {"X-Trace": "${HOME}"}})
    desk.write(
        "web.yaml",
        """
        name: web
        steps:
          - {id: working, tool: web.steps}
          - {id: sum, tool: web.add, inputs: {a: 1, b: 1}}
          - {id: colour, tool: web.ask, depends_on: [working, sum]}
        outputs: {sum: "{{ sum.sum }}", colour: "{{ colour.content }}"}
        """,
    )
    ran = toolpath("run", "web.yaml")
    assert ran.code == 4, ran.err
    assert "working 3 of 3 step 3" in ran.err
    ran = toolpath("answer", "last", "colour=blue", "times=2")
    assert ran.code == 0, ran.err
    assert ran.json == {"sum": 2, "colour": {"colour": "blue", "times": 2}}


def test_a_server_over_http_that_is_not_there_says_so(toolpath: Command, servers: Callable[..., None]) -> None:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    servers(web={"url": f"http://127.0.0.1:{port}/mcp"})
    ran = toolpath("run", "web.add", "-i", "a=1")
    assert (ran.code, ran.out) == (1, "")
    assert "Server 'web' did not start" in ran.err


def _installed(module: str) -> Any:
    missing = importlib.util.find_spec(module) is None
    return pytest.mark.skipif(missing, reason=f"{module} is of the extra `demo`")


@_installed("mcp_server_time")
def test_a_public_server_tells_the_time(toolpath: Command, servers: Callable[..., None]) -> None:
    servers(time={"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]})
    given = ("source_timezone=Asia/Tokyo", "target_timezone=UTC", "time=09:30")
    ran = toolpath("run", "time.convert_time", *[word for pair in given for word in ("-i", pair)], "--json")
    assert ran.code == 0, ran.err
    assert ran.json["outputs"]["target"]["datetime"].partition("T")[2].startswith("00:30")
    ran = toolpath("run", "time.get_current_time", "-i", "timezone=Nowhere/Atall")
    assert ran.code == 1
    assert "Nowhere/Atall" in ran.err


@_installed("mcp_server_git")
def test_a_public_server_reads_a_repository(desk: Desk, toolpath: Command, servers: Callable[..., None]) -> None:
    for words in (
        ["init", "-q"],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x", "--allow-empty"],
    ):
        subprocess.run(["git", *words], check=True, cwd=desk.folder)
    servers(git={"command": sys.executable, "args": ["-m", "mcp_server_git", "--repository", str(desk.folder)]})
    ran = toolpath("run", "git.git_log", "-i", f"repo_path={desk.folder}", "-i", "max_count=1")
    assert ran.code == 0, ran.err
    assert "x" in ran.out
