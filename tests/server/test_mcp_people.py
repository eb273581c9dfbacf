"""Questions, approvals, progress and cancelling over MCP, with clients that can be asked and clients that cannot."""

from __future__ import annotations

import asyncio
import json

import pytest
from mcp import MCPError
from mcp.types import ElicitResult
from mcp_cases import MODES, answering, shop, talking

from toolpath import Tool, Toolpath


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_a_question_of_a_tool_is_put_to_the_clients_person(mode):
    asked = []
    person = answering(ElicitResult(action="accept", content={"colour": "red", "times": 2}), asked=asked)
    async with shop(Toolpath()) as tp, talking(tp, mode, elicitation_callback=person) as client:
        answer = await client.call_tool("ask")
        assert answer.structured_content == {"colour": "red", "times": 2}
        assert asked[0].message == "Which colour?"
        schema = asked[0].requested_schema
        assert schema["properties"]["colour"] == {"type": "string", "title": "Colour", "enum": ["red", "blue"]}
        assert schema["required"] == ["colour"]


async def test_an_answer_that_does_not_fit_is_asked_for_again_with_what_is_wrong(mode):
    asked = []
    person = answering(
        ElicitResult(action="accept", content={"colour": "green"}),
        ElicitResult(action="accept", content={"colour": "blue"}),
        asked=asked,
    )
    async with shop(Toolpath()) as tp, talking(tp, mode, elicitation_callback=person) as client:
        answer = await client.call_tool("ask")
        assert answer.structured_content["colour"] == "blue"
        assert "'green' is none of red, blue" in asked[1].message


async def test_an_approval_is_put_to_the_clients_person(mode):
    asked = []
    person = answering(
        ElicitResult(action="accept", content={"approve": True}),
        ElicitResult(action="accept", content={"approve": False, "comment": "Not on a Friday."}),
        ElicitResult(action="decline"),
        asked=asked,
    )
    async with shop(Toolpath()) as tp, talking(tp, mode, elicitation_callback=person) as client:
        deployed = await client.call_tool("site--deploy", {"site": "blog"})
        assert deployed.structured_content == {"url": "https://blog.example"}
        assert "site.deploy" in asked[0].message
        assert "blog" in asked[0].message
        refused = await client.call_tool("site--deploy", {"site": "blog"})
        assert refused.is_error
        assert refused.meta["toolpath/error"]["code"] == "denied"
        assert "Not on a Friday." in refused.content[0].text
        assert (await client.call_tool("site--deploy", {"site": "blog"})).is_error


@pytest.mark.parametrize("can_ask", [True, False])
async def test_where_nobody_answers_the_run_waits_and_the_answer_says_how_to_go_on(mode, can_ask):
    person = answering(*[ElicitResult(action="cancel")] * 9) if can_ask else None
    async with shop(Toolpath()) as tp, talking(tp, mode, elicitation_callback=person) as client:
        waiting = await client.call_tool("site--deploy", {"site": "blog"})
        run = (await tp.runs())[0]
        assert run.status in ("running", "waiting")
        assert waiting.is_error
        assert waiting.meta["toolpath/error"]["code"] == "waiting"
        text = waiting.content[0].text
        arguments = json.loads(text[text.index("{") : text.rindex("}") + 1])
        assert arguments == {"run_id": run.run_id, "step": "call", "approve": True}
        gone_on = await client.call_tool("answer", arguments)
        assert gone_on.structured_content["outputs"] == {"url": "https://blog.example"}
        again = await client.call_tool("answer", arguments)
        assert again.is_error
        assert again.meta["toolpath/error"]["code"] == "run_conflict"


async def test_a_question_that_is_answered_elsewhere_is_taken_back():
    asked, withdrawn = asyncio.Event(), asyncio.Event()

    async def nobody(context, params):
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            withdrawn.set()

    async with shop(Toolpath()) as tp, talking(tp, "legacy", elicitation_callback=nobody) as client:
        call = asyncio.create_task(client.call_tool("ask"))
        await asked.wait()
        await tp.answer((await tp.runs())[0].run_id, values={"colour": "blue"})
        assert (await call).structured_content["colour"] == "blue"
        await withdrawn.wait()


async def test_progress_of_a_tool_reaches_the_client(mode):
    heard = []

    async def progress(done, total, message):
        heard.append((done, total, message))

    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        await client.call_tool("steps", {"count": 3}, progress_callback=progress)
        assert heard == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


async def test_progress_of_a_plan_counts_its_steps(mode):
    heard = []

    async def progress(done, total, message):
        heard.append((done, total))

    plan = {"steps": [{"id": f"s{n}", "tool": "math.add", "inputs": {"a": n, "b": 1}} for n in range(4)]}
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        await client.call_tool("run_plan", {"plan": plan}, progress_callback=progress)
        assert heard == [(1, 4), (2, 4), (3, 4), (4, 4)]


async def test_cancelling_a_call_cancels_its_run(mode):
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        call = asyncio.create_task(client.call_tool("slow"))
        await tp.gate.wait()
        call.cancel()
        await asyncio.wait({call})
        run_id = (await tp.runs())[0].run_id
        result = await tp.result(run_id)
        assert result.status == "cancelled"
        assert "MCP" in result.reason


async def test_a_client_that_hangs_up_leaves_nothing_behind(mode):
    async with shop(Toolpath()) as tp:
        async with talking(tp, mode) as client:
            call = asyncio.create_task(client.call_tool("slow"))
            await tp.gate.wait()
        await asyncio.wait({call})
        run_id = (await tp.runs())[0].run_id
        assert (await tp.result(run_id)).status == "cancelled"


async def test_a_run_that_another_process_drives_is_waited_for(mode, tmp_path):
    form = {"title": "Which colour?", "inputs": [{"name": "colour"}]}
    plan = {"steps": [{"id": "first", "tool": "slow"}, {"id": "q", "ask": form}]}
    store = tmp_path / "runs.db"
    async with shop(Toolpath(store)) as other, shop(Toolpath(store)) as tp, talking(tp, mode) as client:
        run = await other.start(plan)
        await other.gate.wait()
        looking = asyncio.create_task(client.call_tool("get_run", {"run_id": run.run_id, "wait": True}))
        await tp.tools()
        await other.cancel(run.run_id)
        assert (await looking).structured_content["status"] == "cancelled"


async def test_what_is_secret_is_not_asked_through_a_client(mode):
    asked = []
    form = {"title": "Log in", "inputs": [{"name": "pin", "type": "password"}]}
    person = answering(ElicitResult(action="accept", content={"pin": "1"}), asked=asked)
    async with shop(Toolpath()) as tp, talking(tp, mode, elicitation_callback=person) as client:
        waiting = await client.call_tool("run_plan", {"plan": {"steps": [{"id": "q", "ask": form}]}})
        assert waiting.structured_content["status"] == "waiting"
        assert not asked


async def test_two_questions_of_one_run_are_both_put_to_the_person(mode):
    steps = [{"id": name, "ask": {"title": name, "inputs": [{"name": "n", "type": "integer"}]}} for name in "ab"]
    person = answering(*[ElicitResult(action="accept", content={"n": n}) for n in (1, 2)])
    async with shop(Toolpath()) as tp, talking(tp, mode, elicitation_callback=person) as client:
        plan = {"steps": steps, "outputs": "{{ a.n + b.n }}"}
        assert (await client.call_tool("run_plan", {"plan": plan})).structured_content["outputs"] == 3


@pytest.mark.parametrize("state", ["", "x", "run_1_x/4", "{run}", "{run}/99", "{run}/4x", "{run}/4/4", "é" * 1000])
async def test_a_state_that_the_server_did_not_give_is_refused(state):
    async with shop(Toolpath()) as tp, talking(tp, "auto") as client:
        waiting = await client.call_tool("ask")
        run_id = waiting.meta["toolpath/run"]
        answers = {"4": ElicitResult(action="accept", content={"colour": "red"})}
        with pytest.raises(MCPError, match="requestState") as refused:
            await client.call_tool("ask", input_responses=answers, request_state=state.replace("{run}", run_id))
        assert refused.value.code == -32602
        assert (await client.call_tool("get_run", {"run_id": run_id})).structured_content["status"] == "waiting"


async def test_progress_of_a_composite_counts_the_steps_inside(mode):
    heard = []

    async def progress(done, total, message):
        heard.append((done, total))

    async with shop(Toolpath()) as tp:
        steps = [{"id": f"s{n}", "tool": "math.add", "inputs": {"a": n, "b": 1}} for n in range(3)]
        tp.add(Tool(name="sums", effect="read", input_schema={"type": "object"}, body=tp.read({"steps": steps})))
        async with talking(tp, mode) as client:
            answer = await client.call_tool("sums", progress_callback=progress)
            assert not answer.is_error
            assert heard == [(1, None), (2, None), (3, None)]
