"""Servers over stdio, real ones, behaving well and badly."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE

from toolpath.errors import ToolFailed, ToolUnavailable
from toolpath.providers.mcp.provider import McpProvider

pytestmark = pytest.mark.mcp
SERVERS = Path(__file__).parent.parent / "servers"


class Caller:
    def __init__(self, answer: Any = None, run_id: str = "run_1") -> None:
        self.run_id = run_id
        self.answer = answer
        self.forms: list[Any] = []
        self.keys: list[Any] = []
        self.steps: list[Any] = []

    async def ask(self, form: Any, *, key: str | None = None, **_: Any) -> Any:
        self.forms.append(form)
        self.keys.append(key)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    def progress(self, progress: float, total: float | None = None, message: str = "") -> None:
        self.steps.append((progress, total, message))


def is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]


async def test_what_a_server_says_of_its_tools_becomes_tools(start):
    tools = {tool.name: tool for tool in await start("probe_server.py").provider.list_tools()}

    add, drop, echo = tools["add"], tools["drop"], tools["echo"]
    assert (add.key, add.title, add.description, add.server) == (
        "probe.add",
        "Addition",
        "Add two integers.",
        "probe",
    )
    assert add.output_schema is not None
    assert (add.effect, add.idempotent) == ("read", True)
    assert (drop.effect, drop.idempotent) == ("destructive", True)
    assert (echo.effect, echo.idempotent) == ("write", False)
    assert add.output_validation == "warn"
    assert "probe 1.2.3" in add.server_identity


async def test_annotations_that_are_not_trusted_leave_every_tool_a_write(start):
    tools = await start("probe_server.py", trust_annotations=False).provider.list_tools()

    assert {tool.effect for tool in tools} == {"write"}
    assert tools[0].annotations["readOnlyHint"] is True


async def test_a_name_that_no_key_can_have_is_changed_and_still_called(start):
    server = start("probe_server.py")
    tools = [tool for tool in await server.provider.list_tools() if tool.metadata]

    assert [(tool.name, tool.metadata["mcp_name"]) for tool in tools] == [("odd_n_me", "odd/näme")]
    assert await server.call("odd_n_me") == "odd"


async def test_one_text_is_parsed_where_it_is_wholly_an_object_or_a_list(start):
    server = start("raw_server.py")
    outputs = {
        "plain": "plain",
        '{"a": [1]}': {"a": [1]},
        " [1, 2] ": [1, 2],
        "12": "12",
        "{not json": "{not json",
        "[1] and more": "[1] and more",
        "[" * 5000: "[" * 5000,
    }

    assert {text: await server.call("echo", text=text) for text in outputs} == outputs


async def test_results_are_data_or_blocks_and_errors_fail_with_their_text(start):
    server = start("probe_server.py")

    assert await server.call("add", a=1, b=2) == {"sum": 3}
    assert await server.call("parts") == [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert await server.call("lie") == {"sum": "many"}, "whether it fits its schema is not for the provider to say"
    with pytest.raises(ToolFailed, match="It cannot be done") as caught:
        await server.call("fail")
    assert not caught.value.retryable


async def test_progress_reaches_the_caller_in_order(start):
    caller = Caller()
    await start("probe_server.py").call("steps", caller)

    assert caller.steps == [(1.0, 3.0, "step 1"), (2.0, 3.0, "step 2"), (3.0, 3.0, "step 3")]


@pytest.mark.parametrize("script", ["probe_server.py", "raw_server.py"])
async def test_calls_go_side_by_side(start, script):
    server = start(script)
    tools = {tool.name: tool for tool in await server.provider.list_tools()}
    echo = tools["echo"].body.invoke

    outputs = await asyncio.gather(*[echo({"text": str(number)}, None) for number in range(50)])

    assert outputs == [str(number) for number in range(50)]


async def test_a_question_in_the_midst_of_a_call_reaches_its_caller(start):
    caller = Caller({"colour": "red", "times": 2})
    output = await start("probe_server.py").call("ask", caller)

    assert output == {"action": "accept", "content": {"colour": "red", "times": 2}, "state": "state 1"}
    assert caller.keys == ["elicitation/1"]
    assert caller.forms[0]["title"] == "Which colour?"
    assert [field["type"] for field in caller.forms[0]["inputs"]] == ["select", "integer"]
    assert [field["required"] for field in caller.forms[0]["inputs"]] == [True, False]


async def test_a_question_of_the_older_generation_reaches_its_caller(start):
    caller = Caller({"name": "Ada"})
    output = await start("raw_server.py").call("ask", caller)

    assert output == {"action": "accept", "content": {"name": "Ada"}}


@pytest.mark.parametrize("script", ["probe_server.py", "raw_server.py"])
async def test_a_question_that_nobody_answers_is_cancelled_and_nothing_is_declined_for_anybody(start, script):
    server = start(script)

    assert (await server.call("ask", Caller(TimeoutError("too late"))))["action"] == "cancel"
    assert (await server.call("ask", None))["action"] == "cancel"


async def test_a_question_that_could_be_anybodys_is_never_put_to_another_run(start, until):
    server = start("raw_server.py")
    tools = {tool.name: tool for tool in await server.provider.list_tools()}
    ours, theirs = Caller({"name": "Ada"}, "run_1"), Caller({"name": "Bob"}, "run_2")

    answer = await tools["ask"].body.invoke({}, ours)
    asked = [asyncio.create_task(tools["ask"].body.invoke({}, caller)) for caller in (ours, theirs)]
    answers = await asyncio.gather(*asked)

    assert answer == {"action": "accept", "content": {"name": "Ada"}}
    assert [one["content"]["name"] for one in answers] == ["Ada", "Bob"]
    assert (len(ours.forms), len(theirs.forms)) == (2, 1)


class Parked(BaseException):
    """What an engine may raise to take a call off the stage."""


@pytest.mark.parametrize("script", ["probe_server.py", "raw_server.py"])
async def test_a_signal_raised_by_asking_leaves_the_call_and_the_connection_lives_on(start, script):
    server = start(script)

    with pytest.raises(Parked):
        await server.call("ask", Caller(Parked()))
    if script == "probe_server.py":
        assert await server.call("echo", text="alive") == "alive"


async def test_cancelling_a_call_cancels_it_at_the_server(start, until):
    server = start("probe_server.py")
    call = asyncio.create_task(server.call("slow", Caller(), mark="this one"))
    await until(lambda: server.provider._connection and server.provider._connection._flights)
    await server.call("echo", text="a round trip, so that the call has surely arrived")

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    async def is_cancelled() -> bool:
        return (await server.call("cancelled"))["marks"] == ["this one"]

    await until(is_cancelled)


async def test_a_crash_fails_the_calls_in_flight_and_the_next_call_finds_a_new_server(start):
    server = start("probe_server.py")
    first = (await server.call("process"))["id"]
    slow = asyncio.create_task(server.call("slow"))
    await server.call("echo", text="so that both are in flight")

    with pytest.raises(ToolUnavailable, match=r"exit code 3.*so long") as caught:
        await server.call("crash")
    with pytest.raises(ToolUnavailable) as other:
        await slow

    assert caught.value.reached
    assert other.value.reached
    ids = await asyncio.gather(*[server.call("process") for _ in range(3)])
    assert len({item["id"] for item in ids}) == 1
    assert ids[0]["id"] != first
    assert not is_alive(first)


async def test_a_server_killed_between_calls_is_started_anew_unnoticed(start, until):
    server = start("probe_server.py")
    tools = {tool.name: tool for tool in await server.provider.list_tools()}
    process = (await server.call("process"))["id"]

    os.kill(process, 9)
    await until(lambda: not server.provider._connection.is_open)

    changed = asyncio.Event()
    server.provider.watch(changed.set)
    assert (await tools["process"].body.invoke({}, None))["id"] != process
    assert changed.is_set(), "a new server may have other tools"


async def test_secrets_are_kept_out_of_what_is_told_of_a_crash(start):
    server = start("probe_server.py", env={"PROBE_SECRET": "hunter2hunter2"})

    with pytest.raises(ToolUnavailable) as caught:
        await server.call("crash")

    assert "hunter2" not in str(caught.value)
    assert "so long, [redacted]" in str(caught.value)


async def test_a_server_sees_only_harmless_variables_and_its_own(start, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "private")
    monkeypatch.setenv("PROBE_SOURCE", "filled in")
    server = start("probe_server.py", env={"PROBE_A": "a", "PROBE_B": "${env:PROBE_SOURCE}", "PROBE_C": "${NOT:-c}"})

    seen = await server.call("environment")

    assert "AWS_SECRET_ACCESS_KEY" not in seen
    assert (seen["PROBE_A"], seen["PROBE_B"], seen["PROBE_C"]) == ("a", "filled in", "c")
    assert seen["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        (["hang"], {"timeout": 1.0}, "did not start within 1 s"),
        (["die"], {}, r"exit code 1.*I cannot even start"),
        ([], {"cwd": "/no/such/folder"}, "could not be started"),
    ],
)
async def test_a_server_that_does_not_start_says_why_in_time(start, arguments, settings, message):
    server = start("probe_server.py", *arguments, **settings)

    with pytest.raises(ToolUnavailable, match=message) as caught:
        async with asyncio.timeout(PATIENCE):
            await server.provider.list_tools()

    assert not caught.value.reached


async def test_a_server_of_another_protocol_is_told_with_its_version(start):
    with pytest.raises(ToolUnavailable, match=r"did not start: .*1999-01-01") as caught:
        await start("raw_server.py", "1999-01-01").provider.list_tools()

    assert "exit code" not in str(caught.value)


async def test_a_command_that_is_not_there_is_named():
    with pytest.raises(ToolUnavailable, match="'no-such-server' was not found"):
        await McpProvider("gone", command="no-such-server").list_tools()


async def test_garbage_between_messages_is_passed_over(start):
    assert await start("raw_server.py").call("garbage") == "still here"


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("flood", "lines to its standard output that are no messages"),
        ("long", "a message of more than"),
        ("close", "went away"),
    ],
)
async def test_what_floods_or_falls_silent_ends_the_connection_and_nothing_else(start, tool, message):
    server = start("raw_server.py")

    with pytest.raises(ToolUnavailable, match=message):
        await server.call(tool)

    assert await server.call("echo", text="anew") == "anew"


async def test_answers_that_are_not_of_the_protocol_fail_the_call_alone(start):
    server = start("raw_server.py")

    with pytest.raises(ToolFailed, match="not MCP"):
        await server.call("nonsense")
    with pytest.raises(ToolFailed, match="The arguments are wrong"):
        await server.call("refuse")
    assert await server.call("echo", text="fine") == "fine"


@pytest.mark.parametrize(("script", "name"), [("raw_server.py", "extra10"), ("probe_server.py", "extra0")])
async def test_a_change_of_the_tools_is_announced(start, script, name):
    server = start(script)
    changed = asyncio.Event()
    server.provider.watch(changed.set)

    await server.call("grow")
    await asyncio.wait_for(changed.wait(), PATIENCE)

    assert name in {tool.name for tool in await server.provider.list_tools()}


async def test_closing_ends_a_server_that_does_not_listen_and_is_bounded_in_time(start, until):
    server = start("raw_server.py")
    tools = {tool.name: tool for tool in await server.provider.list_tools()}
    call = asyncio.create_task(tools["deaf"].body.invoke({}, None))
    await until(lambda: server.provider._connection._flights)
    process = server.provider._connection._pipe._process.pid

    async with asyncio.timeout(PATIENCE):
        await server.provider.close()

    with pytest.raises(ToolUnavailable):
        await call
    assert not is_alive(process)


async def test_a_caller_that_gives_up_does_not_take_the_start_from_others(start, until):
    server = start("probe_server.py")
    first, second = (asyncio.create_task(server.provider.list_tools()) for _ in range(2))
    await until(lambda: server.provider._connection)

    first.cancel()

    assert await second


def test_a_server_does_not_outlive_a_program_that_forgets_to_close_it(tmp_path):
    program = tmp_path / "forgetful.py"
    program.write_text(
        "import asyncio, sys\n"
        "from toolpath.providers.mcp.provider import McpProvider\n"
        f"provider = McpProvider('probe', command=sys.executable, args=[{str(SERVERS / 'raw_server.py')!r}])\n"
        "async def main():\n"
        "    tools = await provider.list_tools()\n"
        "    print(provider._connection._pipe._process.pid)\n"
        "asyncio.run(main())\n"
    )

    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)], check=False, capture_output=True, text=True, timeout=PATIENCE
    )

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert not is_alive(int(done.stdout))


def test_a_provider_serves_one_loop_after_another():
    provider = McpProvider("probe", command=sys.executable, args=[str(SERVERS / "raw_server.py")])

    async def call() -> Any:
        tools = {tool.name: tool for tool in await provider.list_tools()}
        return await tools["echo"].body.invoke({"text": "hello"}, None)

    async def last() -> Any:
        try:
            return await call()
        finally:
            await provider.close()

    assert asyncio.run(call()) == "hello"
    assert asyncio.run(last()) == "hello"


def test_importing_the_provider_does_not_import_mcp():
    code = "import sys, toolpath.providers.mcp.config as c; print('mcp' in sys.modules, 'pydantic' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=PATIENCE)

    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("args", [["--api-key", "abc"], ["--token=abc"], ["-v", "PASSWORD=abc"]])
def test_arguments_that_look_secret_are_not_described(args):
    assert McpProvider("x", command="run", args=args).describe()["hidden"] == ["args"]
    assert "hidden" not in McpProvider("x", command="run", args=[arg.replace("abc", "${X}") for arg in args]).describe()


def test_a_description_names_the_server_without_its_secrets():
    provider = McpProvider("x", command="run", args=["--a"], env={"KEY": "${KEY}", "TOKEN": "abcdef"})

    assert provider.describe() == {
        "mcp": "x",
        "command": "run",
        "args": ["--a"],
        "env": {"KEY": "${KEY}"},
        "hidden": ["env.TOKEN"],
        "trust_annotations": True,
    }
