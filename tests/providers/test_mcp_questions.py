"""Questions of servers beside other calls: each reaches the step that asks, and nobody answers for a person."""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE
from tests.soak import scaled

from toolpath import ToolContext, Toolpath, tool
from toolpath.engine.decide.people import read_answers
from toolpath.errors import SchemaError
from toolpath.model.events import StepStarted, StepWaiting
from toolpath.providers.mcp.forms import answer_of, form_of

pytestmark = pytest.mark.mcp
SERVERS = Path(__file__).parent.parent / "servers"


class Person:
    """Answers each question with what its own call was marked with."""

    def __init__(self, mark: str, run_id: str) -> None:
        self.mark, self.run_id = mark, run_id
        self.titles: list[str] = []

    async def ask(self, form: Any, *, key: str | None = None, **_: Any) -> Any:
        self.titles.append(form["title"])
        await asyncio.sleep(0.002)
        return {"name": f"for {self.mark}"}

    def progress(self, *_: Any) -> None:
        pass


async def mixed(start: Any, seed: int, size: int) -> None:
    chance = random.Random(seed)
    server = start("asking_server.py")
    tools = {tool.name: tool for tool in await server.provider.list_tools()}
    asks = {"look": 0, "ask": 1, "ask_twice": 2}
    people = []
    calls = []
    for number in range(size):
        name = chance.choice([*asks, "moody"])
        person = Person(f"{name} {number}", f"run {chance.randint(1, 3)}")
        inputs = {"mark": person.mark, "seconds": chance.choice((0, 0, 0.005, 0.02))}
        people.append((name, person))
        calls.append(asyncio.create_task(tools[name].body.invoke(inputs, person)))
        if chance.random() < 0.3:
            await asyncio.sleep(chance.random() * 0.02)
    async with asyncio.timeout(PATIENCE):
        results = await asyncio.gather(*calls)
    for (name, person), result in zip(people, results, strict=True):
        assert result["mark"] == person.mark
        assert set(person.titles) <= {person.mark}
        assert all(one == {"action": "accept", "content": {"name": f"for {person.mark}"}} for one in result["answers"])
        assert len(result["answers"]) == len(person.titles)
        assert name == "moody" or len(person.titles) == asks[name]


@pytest.mark.parametrize("seed", range(4))
async def test_each_question_is_put_to_the_call_that_asks(start: Any, seed: int) -> None:
    await mixed(start, seed, 25)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4, 104))
async def test_each_question_is_put_to_the_call_that_asks_in_thousands(start: Any, seed: int) -> None:
    await mixed(start, seed, scaled(60, least=10))


async def test_a_plan_asks_in_the_name_of_its_step_and_the_reads_beside_it_end() -> None:
    for _ in range(5):
        async with Toolpath() as tp:
            tp.add_mcp("asking", command=sys.executable, args=[str(SERVERS / "asking_server.py")])
            plan = tp.read(
                {
                    "steps": [
                        {"id": "one", "tool": "asking.look", "inputs": {"mark": "one", "seconds": 0.05}},
                        {"id": "form", "tool": "asking.ask", "inputs": {"mark": "form"}},
                        {"id": "two", "tool": "asking.look", "inputs": {"mark": "two", "seconds": 0.02}},
                        {"id": "other", "tool": "asking.ask", "inputs": {"mark": "other"}},
                    ]
                }
            )
            run = await tp.start(plan)
            asked: dict[str, str] = {}
            async with asyncio.timeout(PATIENCE):
                while (result := await run.result()).status == "waiting":
                    for question in result.questions:
                        asked[question.path] = question.form["title"]
                        await tp.answer(run.run_id, question.path, {"name": f"to {question.path}"})
            assert (result.status, asked) == ("completed", {"form": "form", "other": "other"})
            for step in ("form", "other"):
                (answer,) = result.step(step).output["answers"]
                assert answer == {"action": "accept", "content": {"name": f"to {step}"}}


COLOURS = {
    "message": "Which?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "colours": {
                "type": "array",
                "items": {"type": "string", "enum": ["red", "green", "blue"]},
                "default": ["red", "blue"],
            },
            "sizes": {"type": "array", "items": {"anyOf": [{"const": "s", "title": "Small"}, {"const": "l"}]}},
        },
    },
}


@pytest.mark.parametrize(
    ("given", "content"),
    [
        ({}, {"colours": ["red", "blue"]}),
        ({"colours": ["green"]}, {"colours": ["green"]}),
        ({"colours": "green, red"}, {"colours": ["green", "red"]}),
        ({"colours": "red", "sizes": ["s", "l"]}, {"colours": ["red"], "sizes": ["s", "l"]}),
        ({"colours": []}, {"colours": []}),
    ],
)
def test_a_form_of_several_choices_takes_its_own_default_and_any_of_them(given: Any, content: Any) -> None:
    answer = answer_of(COLOURS, read_answers(form_of(COLOURS, "paint"), given))
    assert answer == {"action": "accept", "content": content}


def test_a_choice_that_is_none_is_refused() -> None:
    with pytest.raises(SchemaError, match="pink"):
        read_answers(form_of(COLOURS, "paint"), {"colours": ["red", "pink"]})


BROKEN = """
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    good = {"name": "good", "inputSchema": {"type": "object"}}
    odd = {"name": "odd", "inputSchema": {"type": "array"}}
    result = {"tools": [good, {"name": "bad"}, {"inputSchema": {"type": "object"}}, 7, odd, dict(good, name="fine")]}
    if m.get("method") == "initialize":
        info = {"name": "x", "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if "id" in m and m.get("method") in ("initialize", "tools/list"):
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result}), flush=True)
    elif "id" in m:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
"""


async def test_a_malformed_tool_hides_only_itself_and_is_named() -> None:
    async with Toolpath() as tp:
        tp.add_mcp("mixed", command=sys.executable, args=["-c", BROKEN])
        assert set((await tp.tools()).tools) == {"mixed.good", "mixed.fine"}
        said = " ".join(finding.message for finding in tp.registry.findings())
        assert all(name in said for name in ("'bad'", "'odd'", "without a name"))
        assert "inputSchema" in said


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("code", [0, 3])
async def test_what_a_server_writes_that_does_not_start_is_shown(stream: str, code: int) -> None:
    script = f"import sys; sys.{stream}.write('it wants a licence\\n'); sys.{stream}.flush(); sys.exit({code})"
    async with Toolpath() as tp:
        tp.add_mcp("broken", command=sys.executable, args=["-c", script])
        await tp.tools()
        (finding,) = tp.registry.findings()
        assert "it wants a licence" in finding.message


CHANGING = """
import json, sys
kind = "string"
for line in sys.stdin:
    m = json.loads(line)
    schema = {"type": "object", "properties": {"x": {"type": kind}}}
    tools = [{"name": "change", "inputSchema": {"type": "object"}}, {"name": "use", "inputSchema": schema}]
    if m.get("method") == "initialize":
        info = {"name": "x", "version": "1"}
        can = {"tools": {"listChanged": True}}
        result = {"protocolVersion": "2025-06-18", "capabilities": can, "serverInfo": info}
    elif m.get("method") == "tools/list":
        result = {"tools": tools}
    elif m.get("method") == "tools/call":
        if m["params"]["name"] == "change":
            kind = "integer"
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}), flush=True)
        result = {"content": [{"type": "text", "text": m["params"]["name"]}]}
    elif "id" in m:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    if "id" in m:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result}), flush=True)
"""


@pytest.mark.parametrize("retries", [0, 3])
@pytest.mark.parametrize("store", ["memory", "file"])
async def test_a_tool_that_changes_during_a_run_holds_it_until_a_person_accepts_it(
    tmp_path: Path, store: str, retries: int
) -> None:
    where = {} if store == "memory" else {"store": str(tmp_path / "runs.db")}
    async with Toolpath(**where) as tp:
        tp.add_mcp("odd", command=sys.executable, args=["-c", CHANGING])
        steps = [
            {"id": "before", "tool": "odd.use"},
            {"id": "change", "tool": "odd.change", "depends_on": ["before"]},
            {"id": "after", "tool": "odd.use", "depends_on": ["change"], "retry": {"max_retries": retries}},
            {"id": "later", "tool": "odd.change", "depends_on": ["after"]},
        ]
        result = await tp.run({"steps": steps})
        run_id = result.run_id
        assert [step.status for step in result.results] == ["succeeded", "succeeded", "waiting"]
        assert [warning.code for warning in result.warnings] == ["tool_changed"]
        assert (result.status, result.step("after").reason) == ("waiting", "tool_changed")
        assert [(await tp.info(run_id)).status, (await tp.runs())[0].status] == ["waiting", "waiting"]
        # To go on without a word of a person is to wait on.
        again = await (await tp.resume(run_id)).result()
        assert (again.status, (await tp.info(run_id)).status) == ("waiting", "waiting")
        assert again.step("after").status == "waiting"
        accepted = await (await tp.settle(run_id, "after", accept_tool=True)).result()
        assert (accepted.status, accepted.step("after").output) == ("completed", "use")
        assert [step.attempts for step in accepted.results] == [1, 1, 2, 1]
        begun = [event.path for event in await tp.events(run_id) if isinstance(event, StepStarted)]
        assert begun == ["before", "change", "after", "after", "later"]


async def test_a_held_run_can_be_cancelled_and_what_was_under_way_ends() -> None:
    async with Toolpath() as tp:
        tp.add_mcp("odd", command=sys.executable, args=["-c", CHANGING])
        release = asyncio.Event()

        @tool
        async def slow() -> str:
            await release.wait()
            return "done"

        tp.add(slow)
        steps = [
            {"id": "slow", "tool": "slow"},
            {"id": "change", "tool": "odd.change"},
            {"id": "after", "tool": "odd.use", "depends_on": ["change"]},
            {"id": "next", "tool": "slow", "depends_on": ["slow"]},
        ]
        run = await tp.start({"steps": steps})
        async with asyncio.timeout(PATIENCE):
            async for event in run.events():
                if isinstance(event, StepWaiting):
                    break
            release.set()
            result = await run.result()
        assert {step.path: step.status for step in result.results} == {
            "slow": "succeeded",
            "change": "succeeded",
            "after": "waiting",
        }
        assert (await tp.info(run.run_id)).status == "waiting"
        await tp.cancel(run.run_id)
        assert (await run.result()).status == "cancelled"


@pytest.mark.parametrize("effect", ["read", "write"])
async def test_a_tool_whose_own_call_is_held_is_made_again_once_that_tool_is_accepted(effect: Any) -> None:
    async with Toolpath() as tp:
        tp.add_mcp("odd", command=sys.executable, args=["-c", CHANGING])

        @tool(effect=effect)
        async def outer(ctx: ToolContext) -> Any:
            return await ctx.call("odd.use", {})

        tp.add(outer)
        steps = [
            {"id": "before", "tool": "odd.use"},
            {"id": "change", "tool": "odd.change", "depends_on": ["before"]},
            {"id": "outer", "tool": "outer", "depends_on": ["change"]},
        ]
        async with asyncio.timeout(PATIENCE):
            result = await tp.run({"steps": steps})
            assert (result.status, (await tp.info(result.run_id)).status) == ("waiting", "waiting")
            accepted = await (await tp.settle(result.run_id, accept_tool=True)).result()
        assert (accepted.status, accepted.step("outer").output) == ("completed", "use")


async def test_a_step_that_is_held_beside_one_that_fails_is_never_called() -> None:
    async with Toolpath() as tp:
        tp.add_mcp("odd", command=sys.executable, args=["-c", CHANGING])
        release = asyncio.Event()

        @tool
        async def fails() -> str:
            await release.wait()
            raise ValueError("no")

        tp.add(fails)
        steps = [
            {"id": "fails", "tool": "fails", "retry": {"max_retries": 0}},
            {"id": "change", "tool": "odd.change"},
            {"id": "after", "tool": "odd.use", "depends_on": ["change"]},
        ]
        run = await tp.start({"steps": steps})
        async with asyncio.timeout(PATIENCE):
            async for event in run.events():
                if isinstance(event, StepWaiting):
                    break
            release.set()
            result = await run.result()
        assert (result.status, result.step("after").status) == ("failed", "cancelled")


async def test_a_tool_may_be_accepted_while_other_calls_of_the_held_run_are_still_under_way() -> None:
    async with Toolpath() as tp:
        tp.add_mcp("odd", command=sys.executable, args=["-c", CHANGING])
        release = asyncio.Event()

        @tool
        async def slow() -> str:
            await release.wait()
            return "done"

        tp.add(slow)
        steps = [
            {"id": "slow", "tool": "slow"},
            {"id": "change", "tool": "odd.change"},
            {"id": "after", "tool": "odd.use", "depends_on": ["change"]},
        ]
        run = await tp.start({"steps": steps})
        async with asyncio.timeout(PATIENCE):
            async for event in run.events():
                if isinstance(event, StepWaiting):
                    break
            accepting = asyncio.create_task(tp.settle(run.run_id, accept_tool=True))
            await asyncio.sleep(0)
            release.set()
            result = await (await accepting).result()
        assert (result.status, result.step("after").output) == ("completed", "use")
