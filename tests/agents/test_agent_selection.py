"""What an agent may call is known before it runs: found, settled with the run, shown, and what an approval binds to."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.agents.agent_cases import World, agent, offered, told
from tests.engine.engine_cases import opened, resumed_after, run, run_in

from toolpath import RunContext, Tool, ToolContext, tool
from toolpath.errors import PlanInvalid, PolicyViolationError
from toolpath.model import events as ev
from toolpath.model.run import RunInfo
from toolpath.model.tool import Requires
from toolpath.notation.plan import read_plan
from toolpath.providers.functions import tool_from_function
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted_model import ScriptedModel, done


def tool_with(name: str, plan: dict[str, Any]) -> Tool:
    """A tool whose body is a plan."""
    body = read_plan({"name": name, **plan})
    return Tool(name=name, description=f"The plan {name}.", input_schema=body.inputs, body=body)


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        (["web.search"], ["web--search"]),
        (["search", "web.search"], ["web--search"]),
        ([], ["form_input", "web--search", "web--read", "blog--post"]),
        (["none"], []),
        (["form_input"], ["form_input"]),
        (["terminate", "post"], ["blog--post"]),
    ],
)
async def test_a_step_says_what_its_agent_may_call(tools: list[str], names: list[str]) -> None:
    model = ScriptedModel(done("x"))
    found = await run(agent(tools=tools), *World().tools(), chat=model)
    assert found.status == "completed"
    assert offered(model.requests[0]) == ["terminate", *names]


async def test_names_are_settled_when_the_run_begins() -> None:
    found = await run(agent(), *World().tools(), chat=ScriptedModel(done("x")))
    (started,) = found.of(ev.RunStarted)
    assert started.plan["steps"][0]["tools"] == ("form_input", "web.search", "web.read", "blog.post")
    assert set(started.tools) == {"web.search", "web.read", "blog.post"}


async def test_a_tool_that_came_later_is_not_for_an_agent_that_had_begun() -> None:
    world = World()
    found = await run(agent(), *world.tools(), chat=ScriptedModel([("web.search", {"query": "tea"})], done("x")))

    @tool(group="web", effect="write")
    async def erase() -> str:
        raise AssertionError("It was never offered.")

    model = ScriptedModel([("web.search", {"query": "tea"})], [("web.erase", {})], done("x"))
    begun = next(n for n, event in enumerate(found.events) if getattr(event, "path", "") == "a/round[2]/think")
    resumed = await resumed_after(found.events[:begun], *world.tools(), erase, chat=model)
    assert resumed.status == "completed"
    assert all("erase" not in name for request in model.requests for name in offered(request))
    assert "You have no tool" in told(model)[0]


async def test_a_tool_of_an_agent_that_changed_holds_the_run() -> None:
    found = await run(agent(), *World().tools(), chat=ScriptedModel([("web.search", {"query": "tea"})], done("x")))

    @tool(group="blog", effect="write")
    async def post(title: str, text: str = "", draft: bool = False) -> dict[str, str]:
        """Write a post, and publish it everywhere."""
        raise AssertionError("Nobody has accepted it.")

    model = ScriptedModel([("web.search", {"query": "tea"})], done("x"))
    clock = FakeClock(auto=True)
    store = MemoryStore(clock=clock.time)
    async with opened(*World().tools()[:2], post, clock=clock, store=store, chat=model) as tp:
        await store.create_run(RunInfo(run_id=found.result.run_id, status="running"))
        (await store.drive(found.result.run_id, "dead")).append(found.events[:5])
        await clock.sleep(3600)
        waiting = await (await tp.resume(found.result.run_id)).result()
        assert waiting.status not in ("completed", "failed")
        assert model.requests == []
        accepted = await (await tp.settle(found.result.run_id, accept_tool=True)).result()
        assert (accepted.status, accepted.outputs) == ("completed", "x")


@pytest.mark.parametrize(
    ("fields", "codes"),
    [
        ({"tools": ["web.serch"]}, ["unknown_tool"]),
        ({"tools": ["form_inptu"]}, ["unknown_tool"]),
        ({"tools": ["none", "web.search"]}, ["contradictory_tools"]),
        ({"output": ["title", "title"]}, ["bad_column"]),
        ({"output": ["price: numbr"]}, ["bad_column"]),
        ({"max_rounds": 100_000}, ["too_many_rounds"]),
        ({"requirement": "On {{ inputs.topc }}"}, ["unknown_input"]),
    ],
)
async def test_what_is_wrong_with_an_agent_is_found_before_it_runs(fields: dict[str, Any], codes: list[str]) -> None:
    async with opened(*World().tools(), chat=ScriptedModel()) as tp:
        plan = agent(**{"tools": ["web.search"], **fields})
        found = [finding for finding in tp.check(plan) if finding.severity == "error"]
        assert [finding.code for finding in found] == codes
        with pytest.raises(PlanInvalid):
            await tp.run(plan)


async def test_a_misspelt_tool_is_told_with_what_was_meant() -> None:
    async with opened(*World().tools()) as tp:
        (first, second) = tp.check(agent(tools=["web.serch", "form_inptu"]))
        assert first.suggestions == ("web.search",)
        assert second.suggestions == ("form_input",)


async def test_what_reads_a_result_is_checked_by_its_columns() -> None:
    @tool(effect="read")
    async def double(n: int) -> int:
        return 2 * n

    plan = agent(tools=["web.search"], output=["price: number", "title"])
    plan["outputs"] = "{{ a[0].pricee }}"
    async with opened(*World().tools(), double) as tp:
        assert [finding.code for finding in tp.check(plan) if finding.severity == "error"] != []


async def test_explain_shows_what_an_agent_may_call_and_what_that_writes() -> None:
    async with opened(*World().tools()) as tp:
        explained = tp.explain(agent(tools=["web.search", "blog.post"], max_rounds=7, model="m-1"))
        assert explained.writes == ("a/blog.post",)
        text = explained.text()
        assert "may call web.search · reads" in text
        assert "may call blog.post · writes" in text
        assert "asks m-1, at most 7 rounds" in text


async def test_an_approval_of_the_step_shows_what_it_is_and_binds_to_its_tools() -> None:
    plan = agent(tools=["web.search"])
    plan["steps"][0]["requires_approval"] = True
    async with opened(*World().tools(), chat=ScriptedModel(done("x"))) as tp:
        waiting = await tp.run(plan)
        (question,) = waiting.questions
        assert question.tool == "toolpath.agent"
        first = [event for event in await tp.events(waiting.run_id) if isinstance(event, ev.ApprovalRequested)]
        assert (await (await tp.approve(waiting.run_id)).result()).status == "completed"
        for change in ({"tools": ["web.read"]}, {"model": "other"}, {"max_rounds": 3}):
            other = await tp.run(
                {**plan, "steps": [{**plan["steps"][0], "agent": {**plan["steps"][0]["agent"], **change}}]}
            )
            asked = [event for event in await tp.events(other.run_id) if isinstance(event, ev.ApprovalRequested)]
            assert asked[0].digest != first[0].digest


async def test_an_approval_of_a_stored_plan_does_not_cover_a_changed_tool_of_its_agent() -> None:
    async with opened(*World().tools(), chat=ScriptedModel(done("x"))) as tp:
        stored = await tp.plans.add(tp.read(agent(tools=["web.search"])), requires_approval=True)
        approved = await tp.plans.approve(stored.plan_id, by="ann")
        assert (await tp.run(approved)).status == "completed"

        @tool(group="web", effect="write")
        async def search(query: str) -> list[str]:
            """Find pages, and remember who asked."""
            return []

        tp.add(search)
        with pytest.raises(PolicyViolationError):
            await tp.run(await tp.plans.get(stored.plan_id))


async def test_a_caller_without_the_permission_makes_no_call_through_an_agent() -> None:
    @tool(effect="read", requires=Requires(permissions=("vault",)))
    async def vault() -> str:
        raise AssertionError("not allowed")

    model = ScriptedModel([("vault", {})], done("x"))
    found = await run(agent(), vault, chat=model, context=RunContext("ann"))
    assert found.status == "completed"
    assert "vault" in told(model)[0]


async def test_an_agent_is_a_tool_of_plans_and_of_other_agents() -> None:
    world = World()
    inner = tool_with("helper", {
        "inputs": {"properties": {"topic": {"type": "string"}}, "required": ["topic"]},
        "steps": [{"id": "h", "agent": {"requirement": "Search {{ inputs.topic }}", "tools": ["web.search"]}}],
        "outputs": "{{ h }}",
    })  # fmt: skip

    def turn(request: Any) -> Any:
        said = sum(message.role == "assistant" for message in request.messages)
        if request.messages[0].text.startswith("Search"):
            return done("found") if said else [("web.search", {"query": request.messages[0].text[7:]})]
        return done("outer") if said else [("helper", {"topic": "tea"})]

    model = ScriptedModel(then=turn)
    found = await run(agent(tools=["helper"]), *world.tools(), inner, chat=model)
    assert (found.outputs, world.calls) == ("outer", [("search", "tea")])
    paths = {event.path for event in found.of(ev.StepStarted)}
    assert "a/round[1]/act[0]/h/round[1]/act[0]" in paths
    for length in range(1, len(found.events)):
        again = await resumed_after(found.events[:length], *World().tools(), inner, chat=ScriptedModel(then=turn))
        assert again.outputs == "outer", length
        begun = [event.path for event in again.of(ev.StepStarted)]
        done_before = {event.path for event in found.events[:length] if isinstance(event, ev.StepSucceeded)}
        assert not [
            event.path
            for event in again.events[length:]
            if isinstance(event, ev.StepStarted) and event.path in done_before
        ], (length, begun)


async def test_an_agent_that_names_itself_is_found() -> None:
    itself = tool_with("again", {"steps": [{"id": "h", "agent": {"requirement": "Go on.", "tools": ["again"]}}]})
    async with opened(itself) as tp:
        assert [finding.code for finding in tp.check({"steps": [{"tool": "again"}]})] == ["recursive_plan"]


async def test_an_agent_with_all_tools_does_not_hold_itself() -> None:
    first = tool_with("first", {"steps": [{"id": "h", "agent": {"requirement": "Go on."}}]})
    second = tool_with("second", {"steps": [{"id": "c", "tool": "first"}]})
    model = ScriptedModel(done("x"))
    found = await run({"steps": [{"tool": "first"}]}, first, second, *World().tools(), chat=model)
    assert found.status == "completed"
    assert offered(model.requests[0]) == ["terminate", "form_input", "web--search", "web--read", "blog--post"]


async def test_agents_in_one_another_are_counted_by_the_limit_of_depth() -> None:
    plans = [
        tool_with(f"level{n}", {"steps": [{"id": "h", "agent": {"requirement": "Go on.", "tools": [f"level{n + 1}"]}}]})
        for n in range(6)
    ]
    last = tool_with("level6", {"steps": [{"id": "h", "agent": {"requirement": "Go on.", "tools": ["none"]}}]})
    async with opened(*plans, last) as tp:
        assert [finding.code for finding in tp.check({**agent(tools=["level0"]), "limits": {"depth": 6}})] == [
            "too_deep"
        ]


async def test_a_tool_that_calls_its_own_agent_ends_at_the_limit_of_depth() -> None:
    @tool(effect="read")
    async def deeper(context: ToolContext) -> Any:
        return await context.call("again")

    again = tool_with("again", {"steps": [{"id": "h", "agent": {"requirement": "Go on.", "tools": ["deeper"]}}]})

    def turn(request: Any) -> Any:
        said = sum(message.role == "assistant" for message in request.messages)
        return done(request.messages[-1].text[:300]) if said else [("deeper", {})]

    model = ScriptedModel(then=turn)
    found = await run({"steps": [{"id": "s", "tool": "again"}], "outputs": "{{ s }}"}, deeper, again, chat=model)
    assert found.status == "completed"
    assert [event.error.code for event in found.of(ev.StepFailed)] == ["depth"]
    assert len(model.requests) < 20


async def test_a_tool_whose_metadata_say_so_is_for_no_agent_that_names_none() -> None:
    hidden = [
        msgspec.structs.replace(one, metadata={"selectable": False}) if one.name == "post" else one
        for one in _plain(World().tools())
    ]
    model = ScriptedModel(done("x"))
    await run(agent(), *hidden, chat=model)
    assert offered(model.requests[0]) == ["terminate", "form_input", "web--search", "web--read"]


def _plain(functions: list[Any]) -> list[Tool]:
    return [tool_from_function(function) for function in functions]


async def test_a_plan_with_agents_is_run_again_with_what_there_is_then() -> None:
    model = ScriptedModel(done("x"))
    async with opened(*World().tools()[:1], chat=model) as tp:
        plan = tp.read(agent())
        await run_in(tp, agent())
        await tp.run(plan)
        tp.add(*World().tools()[1:])
        await tp.run(plan)
        assert [len(request.tools) for request in model.requests] == [3, 3, 5]


async def test_of_all_tools_those_that_cannot_be_called_are_left_out() -> None:
    lost = tool_with("lost", {"steps": [{"id": "c", "tool": "nowhere"}]})
    model = ScriptedModel(done("x"))
    found = await run(agent(), *World().tools(), lost, chat=model)
    assert found.status == "completed"
    assert offered(model.requests[0]) == ["terminate", "form_input", "web--search", "web--read", "blog--post"]


async def test_a_named_tool_that_cannot_be_called_is_found() -> None:
    lost = tool_with("lost", {"steps": [{"id": "c", "tool": "nowhere"}]})
    async with opened(lost) as tp:
        assert [finding.code for finding in tp.check(agent(tools=["lost"]))] == ["unknown_tool"]
