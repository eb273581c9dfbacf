"""Models that misbehave: nothing is lost, nothing is called that should not be, and the end is clear."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agents.agent_cases import World, agent, told
from tests.engine.engine_cases import run

from toolpath import tool
from toolpath.agents.asked_calls import asked_in
from toolpath.errors import ChatFailed
from toolpath.model import events as ev
from toolpath.model.chat import ChatReply, ToolCall
from toolpath.model.events import encode_event
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted_model import ScriptedModel, done


async def test_a_model_that_answers_nothing_is_given_up() -> None:
    model = ScriptedModel(then="")
    found = await run(agent(), *World().tools(), chat=model)
    assert found.result.error is not None
    assert (found.result.error.code, len(model.requests)) == ("no_tool_call", 3)


async def test_a_model_that_never_answers_is_cut_off() -> None:
    clock = FakeClock(auto=True)

    class Silent(ScriptedModel):
        async def __call__(self, request: Any) -> ChatReply:
            await clock.sleep(100_000)
            raise AssertionError("cut off before")

    found = await run(agent(), *World().tools(), chat=Silent(), clock=clock)
    assert found.status == "failed"
    assert found.result.error is not None
    assert "took longer than 600 s" in found.result.error.message


async def test_an_agent_s_own_time_is_a_bound_of_a_reply() -> None:
    clock = FakeClock(auto=True)
    seen: list[float | None] = []

    class Slow(ScriptedModel):
        async def __call__(self, request: Any) -> ChatReply:
            seen.append(request.timeout)
            await clock.sleep(4)
            return await super().__call__(request)

    model = Slow(then=lambda request: [("web.search", {"query": str(len(request.messages))})])
    found = await run(agent(budget={"time": "10s"}), *World().tools(), chat=model, clock=clock)
    assert found.result.error is not None
    assert found.result.error.code == "budget"
    assert seen == [10, 6, 2]


async def test_of_a_thousand_calls_at_once_few_are_made_and_the_model_is_told() -> None:
    world = World()
    model = ScriptedModel([("web.search", {"query": str(n)}) for n in range(1000)], done("x"))
    found = await run(agent(), *world.tools(), chat=model)
    assert found.status == "completed"
    assert len(world.calls) == 32
    assert told(model)[-1].startswith("968 further calls")
    assert len(found.events) < 100
    refused = next(event for event in found.of(ev.StepFailed))
    assert (refused.path, refused.error.code) == ("a/round[1]/act[32]", "too_many_calls")
    assert len(model.requests[1].messages[1].tool_calls) == 32


async def test_arguments_of_ten_megabytes_are_refused_and_not_sent_again() -> None:
    world = World()
    huge = {"query": "x" * 10_000_000}
    model = ScriptedModel([("web.search", huge)], done("x"))
    found = await run(agent(), *world.tools(), chat=model)
    assert (found.status, world.calls) == ("completed", [])
    assert "10,000,012 bytes" in told(model)[0]
    assert sum(len(encode_event(event)) for event in found.events) < 100_000
    assert len(str(model.requests[1].messages)) < 100_000


@pytest.mark.parametrize(
    "name", ["", "../../etc/passwd", "a" * 5000, "toolpath.terminate", "toolpath.chat", "web..", "\x1b[2J"]
)
async def test_tools_that_were_not_given_are_not_called_whatever_they_are_called(name: str) -> None:
    world = World()
    strange = ChatReply(tool_calls=(ToolCall(name=name, arguments={"message": "x"}, id="1"),))
    model = ScriptedModel(strange, done("x"))
    found = await run(agent(tools=["web.search"]), *world.tools(), chat=model)
    assert (found.status, world.calls) == ("completed", [])
    assert [event.error.code for event in found.of(ev.StepFailed)] == ["unknown_tool"]
    (shown,) = model.requests[1].messages[1].tool_calls
    assert 0 < len(shown.name) <= 64
    assert all(sign.isalnum() or sign in "_-" for sign in shown.name)


async def test_a_tool_that_there_is_but_that_was_not_given_is_not_called() -> None:
    world = World()
    model = ScriptedModel([("blog.post", {"title": "x"})], done("x"))
    await run(agent(tools=["web.search"]), *world.tools(), chat=model)
    assert world.calls == []


@pytest.mark.parametrize("arguments", ["", "[1, 2]", '{"query": "te', "null", "nan", "{" * 10_000])
async def test_arguments_that_cannot_be_read_are_told_to_the_model(arguments: str) -> None:
    world = World()
    broken = ChatReply(tool_calls=(ToolCall(name="web--search", arguments=arguments, id="1"),))
    found = await run(agent(), *world.tools(), chat=ScriptedModel(broken, done("x")))
    assert (found.status, world.calls) == ("completed", [])


async def test_calls_with_one_id_are_told_apart() -> None:
    same = ChatReply(tool_calls=tuple(ToolCall(name="web--search", arguments={"query": q}, id="1") for q in "ab"))
    world = World()
    model = ScriptedModel(same, done("x"))
    found = await run(agent(), *world.tools(), chat=model)
    assert found.status == "completed"
    assert world.calls == [("search", "a"), ("search", "b")]
    asked, *answers = model.requests[1].messages[1:]
    ids = [call.id for call in asked.tool_calls]
    assert len(set(ids)) == 2
    assert [message.tool_call_id for message in answers] == ids


async def test_a_text_of_a_megabyte_is_not_searched_for_calls() -> None:
    model = ScriptedModel("Well, " * 200_000, done("x"))
    found = await run(agent(), *World().tools(), chat=model)
    assert found.status == "completed"
    assert "at most 200,000 are read" in told(model, 1)[0]
    assert len(model.requests[1].messages[1].text) <= 20_000


async def test_a_text_that_looks_like_a_call_and_is_none_is_told() -> None:
    model = ScriptedModel('{"tool_calls": [{"name": "web--search", "arguments": {"query": ', done("x"))
    found = await run(agent(), *World().tools(), chat=model)
    assert found.status == "completed"


async def test_a_result_that_is_no_result_is_refused_until_the_rounds_are_over() -> None:
    model = ScriptedModel(then=lambda request: done(len(request.messages)))
    found = await run(agent(output=["title"], max_rounds=5), *World().tools(), chat=model)
    assert found.result.error is not None
    assert (found.result.error.code, len(model.requests)) == ("max_rounds", 5)


async def test_a_secret_that_a_tool_returns_reaches_no_prompt() -> None:
    @tool(effect="read")
    async def show(key: str) -> str:
        return f"the key is {key}"

    model = ScriptedModel([("show", {"key": "hunter2secret"})], done("x"))
    plan = {
        "steps": [
            {"id": "s", "tool": "show", "inputs": {"key": "{{ secrets.KEY }}"}},
            {"id": "a", "depends_on": ["s"], "agent": {"requirement": "It is {{ s }}.", "tools": ["show"]}},
        ]
    }
    found = await run(plan, show, chat=model, secrets={"KEY": "hunter2secret"})
    assert found.status == "completed", found.result.error
    assert "hunter2secret" not in str([request.messages[0].text for request in model.requests])
    assert all("hunter2secret" not in encode_event(event).decode() for event in found.events)


@pytest.mark.parametrize("kind", ["denied", "quota", "malformed", "connection"])
async def test_a_provider_that_fails_is_told_in_the_failure(kind: Any) -> None:
    found = await run(agent(), *World().tools(), chat=ScriptedModel(ChatFailed("No.", kind=kind)))
    assert (found.status, found.result.error and found.result.error.message) == ("failed", "No.")


@pytest.mark.parametrize(
    ("text", "calls", "is_fault"),
    [
        ('<tool_call>{"name": "f", "arguments": {"a": "x}</tool_call>', (), True),
        ('<tool_call>{"name": "f", "argum', (), True),
        ('[TOOL_CALLS]f[ARGS]{"a"', (), True),
        ('<tool_call>{"name": "f", "arguments": {}}</tool_call>\nI am on it.', ("f",), False),
        ('The page says <tool_call>{"name": "f", "arguments": {}}</tool_call>', (), False),
        ("<b>Done</b>", (), False),
        ('{"total": 3', (), False),
    ],
)
def test_what_begins_as_a_call_in_a_talk_is_one_or_a_fault(text: str, calls: tuple[str, ...], is_fault: bool) -> None:
    found = asked_in(ChatReply(text=text), 1, talks=True)
    assert (tuple(call.name for call in found.calls), bool(found.fault)) == (calls, is_fault)


async def test_calls_in_a_text_that_was_cut_off_are_not_made_and_the_model_is_told() -> None:
    world = World()
    cut = ChatReply(text="tool: web.search\narguments:\n  query: tea", finish_reason="length")
    model = ScriptedModel(cut, done("x"))
    found = await run(agent(), *world.tools(), chat=model)
    assert (found.status, world.calls) == ("completed", [])
    assert "cut off" in model.requests[1].messages[-1].text
