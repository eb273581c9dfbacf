"""MCP servers that die, hang, flood or lie: the step says what happened, the run is kept, nothing else stops."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from end_to_end_cases import Command, Desk, events, stdio
from tests.patience import PATIENCE

from toolpath import Toolpath
from toolpath.model.events import StepStarted

pytestmark = pytest.mark.mcp


def test_a_read_whose_server_died_is_made_again_on_a_new_one(toolpath: Command) -> None:
    ran = toolpath("run", "probe.shaky", "-i", "mark=mark")
    assert ran.code == 0, ran.err
    assert ran.json == {"calls": 2}
    assert "went away during the call (exit code 3)" in ran.err
    assert "started (probe.shaky), attempt 2" in ran.err


def test_a_write_whose_server_died_is_in_doubt_and_retrying_asks_first(toolpath: Command) -> None:
    ran = toolpath("run", "probe.shaky_write", "-i", "mark=mark")
    assert (ran.code, ran.out) == (1, "")
    failed = next(event for event in events(toolpath) if event["type"] == "step.failed")
    assert failed["error"]["in_doubt"] is True
    ran = toolpath("runs", "retry", "last")
    assert ran.code == 4
    assert "whether its write happened is not known" in ran.err
    assert "settle" in ran.err
    assert Path("mark").read_text() == "called\n", "it was made again without being asked"
    ran = toolpath("settle", "last", "call", "--retry")
    assert ran.code == 0, ran.err
    assert ran.json == {"calls": 2}


@pytest.mark.parametrize(
    ("words", "code", "out"), [(("--output", '{"calls": 1}'), 0, {"calls": 1}), (("--failed",), 1, None)]
)
def test_a_write_in_doubt_is_settled_by_a_word(
    toolpath: Command, words: tuple[str, ...], code: int, out: object
) -> None:
    toolpath("run", "probe.shaky_write", "-i", "mark=mark")
    assert toolpath("runs", "retry", "last").code == 4
    ran = toolpath("settle", "last", "call", *words, "--json")
    assert ran.code == code, ran.err
    assert ran.json["outputs"] == out
    assert Path("mark").read_text() == "called\n"


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("raw.flood", "lines to its standard output that are no messages"),
        ("raw.long", "a message of more than 33554432 bytes"),
        ("raw.close", "went away during the call"),
        ("raw.nonsense", "answered with what is not MCP"),
        ("raw.refuse", "The arguments are wrong."),
        ("raw.deaf", "raw.deaf took longer than 1 s"),
        ("probe.crash", "exit code 3"),
    ],
)
def test_a_server_that_misbehaves_fails_one_step_and_serves_the_next(
    desk: Desk, toolpath: Command, tool: str, message: str
) -> None:
    desk.write(
        "odd.yaml",
        f"""
        name: odd
        flow: chain
        steps:
          - {{id: before, tool: probe.echo, inputs: {{text: before}}}}
          - {{id: odd, tool: {tool}, timeout: {1 if tool == "raw.deaf" else 20}s, on_failure: {{action: continue}}}}
          - {{id: after, tool: {tool.partition(".")[0]}.echo, timeout: 5s, inputs: {{text: after}}}}
        outputs: {{before: "{{{{ before }}}}", after: "{{{{ after | default('none') }}}}"}}
        """,
    )
    ran = toolpath("run", "odd.yaml")
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert max(map(len, ran.err.splitlines())) < 600
    if tool == "raw.deaf":
        # It has one thread, which still sleeps: the next call has to wait for it in vain.
        return
    assert ran.code == 0, ran.err
    assert ran.json == {"before": "before", "after": "after"}


def test_a_server_that_prints_garbage_between_messages_is_understood(toolpath: Command) -> None:
    for tool in ("raw.garbage", "probe.garbage", "probe.flood"):
        assert toolpath("run", tool).out == "still here\n"


@pytest.mark.parametrize(("mode", "why"), [("die", "I cannot even start"), ("hang", "within 1 s")])
def test_a_server_that_does_not_start_is_named_with_its_reason(
    desk: Desk, toolpath: Command, servers: Callable[..., None], mode: str, why: str
) -> None:
    servers(bad=stdio("probe_server.py", mode, timeout=1 if mode == "hang" else 30), probe=stdio("probe_server.py"))
    ran = toolpath("run", "bad.echo")
    assert (ran.code, ran.out) == (1, "")
    assert "Server 'bad' did not start" in ran.err
    assert why in ran.err
    desk.write("plan.yaml", "name: p\nsteps:\n  - {id: a, tool: bad.echo}\n  - {id: b, tool: probe.parts}\n")
    ran = toolpath("run", "plan.yaml")
    assert ran.code == 3
    assert "plan.yaml:3:" in ran.err
    assert "Server 'bad' did not start" in ran.err, "the finding does not say why the tool is not there"
    listed = toolpath("tools", "list")
    assert "probe.add" in listed.out
    assert "Server 'bad' did not start" in listed.err


def test_a_server_that_is_gone_when_a_run_goes_on_is_named_and_the_run_can_go_on_later(
    desk: Desk, toolpath: Command, servers: Callable[..., None]
) -> None:
    desk.write(
        "late.yaml",
        """
        name: late
        flow: chain
        steps:
          - {id: ask, ask: {title: Go on?, inputs: [{name: word}]}}
          - {id: say, tool: probe.echo, inputs: {text: "{{ ask.word }}"}}
        outputs: "{{ say }}"
        """,
    )
    assert toolpath("run", "late.yaml").code == 4
    servers(probe=stdio("probe_server.py", "die"))
    ran = toolpath("answer", "last", "word=hello")
    assert ran.code in (1, 4), ran.err
    assert "Server 'probe' did not start" in ran.err
    assert "Traceback" not in ran.err
    assert "Unexpected" not in ran.err
    servers(probe=stdio("probe_server.py"))
    ran = toolpath("runs", "resume", "last")
    if ran.code == 4:
        ran = toolpath("answer", "last", "word=hello")
    assert (ran.code, ran.out) == (0, "hello\n"), ran.err


async def until_cancelled(tp: Toolpath, mark: str) -> None:
    """Wait until the server says that the call was cancelled there."""
    async with asyncio.timeout(PATIENCE):
        while mark not in (await tp.call("probe.cancelled"))["marks"]:
            pass


async def test_cancelling_a_run_reaches_the_server(desk: Desk) -> None:
    async with Toolpath() as tp:
        tp.add_mcp("probe", **stdio("probe_server.py"))
        run = await tp.start("probe.slow", {"mark": "first"})
        async for event in run.events():
            if isinstance(event, StepStarted):
                break
        # The request is on its way; nothing but the server knows when it has come.
        beside = await tp.call("probe.echo", {"text": "there"})
        assert beside == "there"
        await run.cancel("enough")
        result = await run.result()
        assert (result.status, result.error) == ("cancelled", None)
        await until_cancelled(tp, "first")


async def test_a_call_that_takes_too_long_is_cancelled_at_the_server(desk: Desk) -> None:
    plan = {"name": "p", "steps": [{"id": "s", "tool": "probe.slow", "inputs": {"mark": "late"}, "timeout": "300ms"}]}
    async with Toolpath() as tp:
        tp.add_mcp("probe", **stdio("probe_server.py"))
        result = await tp.run(plan)
        assert result.step("s").status == "timed_out"
        assert result.step("s").error.in_doubt
        await until_cancelled(tp, "late")


async def test_many_runs_share_a_server_and_a_crash_takes_only_what_was_in_flight(desk: Desk) -> None:
    async with Toolpath() as tp:
        tp.add_mcp("probe", **stdio("probe_server.py"))
        assert await asyncio.gather(*[tp.call("probe.add", {"a": n, "b": n}) for n in range(20)]) == [
            {"sum": 2 * n} for n in range(20)
        ]
        crashed, *others = await asyncio.gather(
            tp.run("probe.crash"), *[tp.run("probe.add", {"a": n, "b": 1}) for n in range(10)]
        )
        assert crashed.status == "failed"
        assert [other.outputs for other in others] == [{"sum": n + 1} for n in range(10)]


def test_servers_end_with_the_command(desk: Desk, toolpath: Command) -> None:
    process = toolpath("run", "probe.process").json["id"]
    give_up = time.monotonic() + PATIENCE
    while Path(f"/proc/{process}").exists() and "Z" not in Path(f"/proc/{process}/stat").read_text():
        assert time.monotonic() < give_up, "the server lives on"
