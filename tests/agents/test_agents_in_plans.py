"""Agents wherever a step may stand: in loops, branches and plans, retried, and called by tools; cut at every event."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.agents.agent_cases import World, agent
from tests.agents.test_agent_selection import tool_with
from tests.engine.engine_cases import opened, ran, resumed_after, run

from toolpath import ToolContext, ToolRetry, tool
from toolpath.errors import ChatFailed
from toolpath.model import events as ev
from toolpath.model.chat import ChatRequest
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted_model import ScriptedModel, done


def searcher(requirement: str = "{{ item }}", **fields: Any) -> dict[str, Any]:
    return {"id": "s", "agent": {"requirement": requirement, "tools": ["web.search", "blog.post"], **fields}}


def turn(request: ChatRequest) -> Any:
    """Search for the requirement, post it, and end with it."""
    said = sum(message.role == "assistant" for message in request.messages)
    word = request.messages[0].text
    return ([("web.search", {"query": word})], [("blog.post", {"title": word})], done(f"did {word}"))[said]


PLANS: dict[str, tuple[dict[str, Any], Any]] = {
    "a loop": (
        {
            "steps": [{"id": "l", "loop": {"over": ["a", "b"], "collect": "{{ s }}", "steps": [searcher()]}}],
            "outputs": "{{ l }}",
        },
        ["did a", "did b"],
    ),
    "items at once": (
        {
            "steps": [
                {"id": "l", "loop": {"over": ["a", "b"], "concurrency": 2, "collect": "{{ s }}", "steps": [searcher()]}}
            ],
            "outputs": "{{ l }}",
        },
        ["did a", "did b"],
    ),
    "branches": (
        {"steps": [{"id": "p", "parallel": [searcher("x"), {**searcher("y"), "id": "t"}]}], "outputs": "{{ p }}"},
        {"s": "did x", "t": "did y"},
    ),
    "a loop called round": (
        {
            "steps": [
                {
                    "id": "round",
                    "loop": {"over": ["a"], "collect": "{{ think }}", "steps": [{**searcher(), "id": "think"}]},
                }
            ],
            "outputs": "{{ round }}",
        },
        ["did a"],
    ),
    "one after the other": (
        {
            "flow": "chain",
            "steps": [searcher("first"), {**searcher("then {{ s }}"), "id": "t"}],
            "outputs": "{{ t }}",
        },
        "did then did first",
    ),
    "a plan as a tool": ({"steps": [{"id": "n", "tool": "inner"}], "outputs": "{{ n }}"}, {"s": "did deep"}),
    "what a tool calls": ({"steps": [{"id": "n", "tool": "calling"}], "outputs": "{{ n }}"}, {"s": "did deep"}),
}


def tools() -> list[Any]:
    @tool(effect="read")
    async def calling(context: ToolContext) -> Any:
        return await context.call("inner", key="round[1]/act[0]")

    return [*World().tools(), calling, tool_with("inner", {"steps": [searcher("deep")]})]


@pytest.mark.parametrize("name", PLANS)
async def test_an_agent_goes_on_wherever_it_stands(name: str) -> None:
    plan, outputs = PLANS[name]
    whole = await run(plan, *tools(), chat=ScriptedModel(then=turn))
    assert (whole.status, whole.outputs) == ("completed", outputs)
    thoughts = {event.path for event in whole.of(ev.StepStarted) if event.tool == "toolpath.think"}
    for length in range(1, len(whole.events)):
        left = whole.events[:length]
        if any(isinstance(event, ev.StepStarted) and event.tool == "blog.post" for event in left[-1:]):
            # A write in flight waits for a person.
            continue
        chat = ScriptedModel(then=turn)
        found = await resumed_after(left, *tools(), chat=chat)
        if found.status == "waiting":
            assert found.of(ev.StepUnknown), (name, length)
            continue
        assert (found.status, found.outputs) == ("completed", outputs), (name, length)
        ended = {event.path for event in left if isinstance(event, ev.StepSucceeded)}
        again = {event.path for event in found.events[length:] if isinstance(event, ev.StepStarted)} & ended
        assert not again, (name, length)
        assert len(chat.requests) == len(thoughts - ended), (name, length)


async def test_keys_by_round_stand_in_the_paths_of_any_tool_s_calls() -> None:
    whole = await run(PLANS["what a tool calls"][0], *tools(), chat=ScriptedModel(then=turn))
    assert "n/round[1]/act[0]/s/round[2]/act[0]" in {event.path for event in whole.of(ev.StepStarted)}


async def test_in_earlier_journals_such_keys_are_named_as_they_were() -> None:
    @tool(effect="read")
    async def calling(context: ToolContext) -> Any:
        return [await context.call("t", {"n": n}, key=f"round[{n}]/act[0]") for n in (1, 2)]

    @tool(effect="read")
    async def t(n: int) -> int:
        return n

    plan = {"steps": [{"id": "a", "tool": "calling"}], "outputs": "{{ a }}"}
    whole = await run(plan, calling, t)
    started = msgspec.structs.replace(whole.events[0], paths=2)
    found = await resumed_after([started], calling, t)
    paths = [event.path for event in found.of(ev.StepStarted)]
    assert found.outputs == [1, 2]
    assert paths[1].startswith("a/round_1__act_0_-")
    assert "/" not in paths[1][2:]


async def test_an_agent_that_is_retried_keeps_what_was_done() -> None:
    failing = [ChatFailed("busy"), ChatFailed("busy")]

    def faulty(request: ChatRequest) -> Any:
        said = sum(message.role == "assistant" for message in request.messages)
        return failing.pop() if said == 2 and failing else turn(request)

    world, model = World(), ScriptedModel(then=faulty)
    step = {**searcher("tea"), "retry": {"max_retries": 2, "initial_delay": "1s"}}
    async with opened(*world.tools(), chat=model) as tp:
        found = await tp.run({"steps": [step], "outputs": "{{ s }}"})
    assert (found.status, found.outputs) == ("completed", "did tea")
    assert world.calls == [("search", "tea"), ("post", "tea")]
    assert len(model.requests) == 5


async def test_a_retried_act_is_the_tool_s_affair_and_one_round() -> None:
    tries: list[int] = []

    @tool(effect="read")
    async def flaky() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise ToolRetry("not yet")
        return "there"

    model = ScriptedModel([("flaky", {})], done("x"))
    found = await run(agent(), flaky, chat=model)
    assert (found.status, len(tries), len(model.requests)) == ("completed", 3, 2)


async def test_the_step_s_time_limit_is_that_of_all_rounds() -> None:
    clock = FakeClock(auto=True)

    @tool(effect="read", timeout=60)
    async def slow() -> str:
        await clock.sleep(20)
        return "x"

    plan = {"steps": [{"id": "a", "agent": {"requirement": "Go."}, "timeout": "50s"}]}
    model = ScriptedModel(then=lambda request: [("slow", {}), ("none", {"n": len(request.messages)})])
    found = await run(plan, slow, chat=model, clock=clock)
    assert found.result.error is not None
    assert (found.result.error.code, len(model.requests)) == ("budget", 3)


async def test_a_fork_runs_an_agent_anew_and_keeps_what_stood_before() -> None:
    plan = {"flow": "chain", "steps": [searcher("first"), {**searcher("second"), "id": "t"}], "outputs": "{{ t }}"}
    world, model = World(), ScriptedModel(then=turn)
    async with opened(*world.tools(), chat=model) as tp:
        first = await tp.run(plan)
        fork = await (await tp.fork(first.run_id, from_step="t", repeat_writes=True)).result()
    assert (fork.status, fork.outputs) == ("completed", "did second")
    assert world.calls.count(("post", "first")) == 1
    assert world.calls.count(("post", "second")) == 2
    assert len(model.requests) == 9


async def test_large_results_of_an_agent_s_calls_stand_aside() -> None:
    @tool(effect="read")
    async def book() -> list[str]:
        return ["x" * 1000] * 3000

    model = ScriptedModel([("book", {})], [("book", {})], done("x"))
    store = MemoryStore()
    async with opened(book, chat=model, store=store) as tp:
        found = await ran(tp, await tp.run(agent()))
    large = [event for event in found.of(ev.StepSucceeded) if event.large]
    assert [event.path for event in large] == ["a/round[1]/act[0]", "a/round[2]/act[0]"]
    assert sum(len(ev.encode_event(event)) for event in found.events) < 40_000
    assert len(model.requests[1].messages[-1].text) > 50_000


async def test_an_agent_asks_its_model_through_a_tool_found_late() -> None:
    """A tool calls a plan with an agent that no step names: what that agent may call is frozen when it is found."""

    @tool(effect="read")
    async def calling(context: ToolContext, name: str) -> Any:
        return await context.call(name)

    plan = {"steps": [{"id": "n", "tool": "calling", "inputs": {"name": "inner"}}], "outputs": "{{ n }}"}
    all_tools = [*World().tools(), calling, tool_with("inner", {"steps": [{"id": "s", "agent": {"requirement": "x"}}]})]
    model = ScriptedModel([("web.search", {"query": "x"})], done("x"))
    whole = await run(plan, *all_tools, chat=model)
    assert whole.outputs == {"s": "x"}
    (frozen,) = whole.of(ev.ToolsFrozen)
    assert {"inner", "web.search", "web.read", "blog.post"} <= set(frozen.tools)
    assert frozen.bodies["inner"]["steps"][0]["tools"]
    for length in range(1, len(whole.events)):
        again = ScriptedModel([("web.search", {"query": "x"})], done("x"))
        found = await resumed_after(whole.events[:length], *all_tools, chat=again)
        assert found.outputs == {"s": "x"}, length
