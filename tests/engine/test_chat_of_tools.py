"""A tool that asks a model: a journaled step, asked once, counted, and told no secret."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import opened, ran, resumed_after, run

from toolpath import RunContext, ToolContext, ToolFailed, tool
from toolpath.errors import ChatFailed
from toolpath.model import events as ev
from toolpath.model.chat import ChatReply, ChatRequest, Message, Usage
from toolpath.model.events import encode_event
from toolpath.testing.scripted import scripted
from toolpath.testing.scripted_chat import ScriptedChat

ONE = {"steps": [{"id": "a", "tool": "asker"}], "outputs": "{{ a }}"}
PRICED = ChatReply(text="yes", usage=Usage(input_tokens=30, output_tokens=12), cost=0.25)


@tool(effect="read")
async def asker(context: ToolContext) -> list[str]:
    first = await context.chat("How many?")
    again = await context.chat(ChatRequest(system="Be brief.", messages=(Message(text=first.text),)), key="second")
    return [first.text, again.text]


async def test_a_model_that_is_asked_answers_as_a_step_of_its_own() -> None:
    chat = ScriptedChat("three", "3")
    found = await run(ONE, asker, chat=chat)
    assert found.outputs == ["three", "3"]
    assert [request.system for request in chat.requests] == ["", "Be brief."]
    assert chat.requests[0].messages == (Message(text="How many?"),)
    starts = [event for event in found.of(ev.StepStarted) if event.path != "a"]
    assert [event.tool for event in starts] == ["toolpath.chat"] * 2
    assert starts[0].path.startswith("a/chat-")
    assert starts[1].path == "a/second"
    assert starts[0].inputs == {"messages": [{"text": "How many?"}]}
    (first, _) = (event for event in found.of(ev.StepSucceeded) if event.path != "a")
    assert first.output["text"] == "three"


async def test_equal_questions_are_steps_of_their_own() -> None:
    @tool(effect="read")
    async def twice(context: ToolContext) -> list[str]:
        return [(await context.chat({"messages": [{"text": "Again?"}]})).text for _ in range(2)]

    found = await run({"steps": [{"id": "a", "tool": "twice"}]}, twice, chat=ScriptedChat("one", "two"))
    assert found.outputs == {"a": ["one", "two"]}
    paths = [event.path for event in found.of(ev.StepStarted)[1:]]
    assert paths[1] == f"{paths[0]}-2"


@pytest.mark.parametrize("effect", ["read", "write"])
async def test_what_a_model_has_answered_is_not_asked_again_after_a_crash(effect: Any) -> None:
    @tool(effect=effect, idempotent=True)
    async def asking(context: ToolContext) -> list[str]:
        return [(await context.chat("one?")).text, (await context.chat("two?")).text]

    plan = {"steps": [{"id": "a", "tool": "asking"}], "outputs": "{{ a }}"}
    found = await run(plan, asking, chat=ScriptedChat("1", "2"))
    first = next(event.seq for event in found.of(ev.StepSucceeded))
    chat = ScriptedChat("2 again")
    resumed = await resumed_after(found.events[:first], asking, chat=chat)
    assert resumed.outputs == ["1", "2 again"]
    assert [request.messages[0].text for request in chat.requests] == ["two?"]


async def test_tokens_and_cost_of_a_model_count_into_the_budget() -> None:
    found = await run(ONE, asker, chat=ScriptedChat(PRICED, PRICED))
    assert found.result.cost == 0.5
    for budget, words in (({"cost": 0.2}, "cost"), ({"tokens": 41}, "tokens"), ({"calls": 2}, "calls")):
        chat = ScriptedChat(PRICED, PRICED)
        broke = await run({**ONE, "budget": budget}, asker, chat=chat)
        assert (broke.status, broke.result.reason, len(chat.requests)) == ("failed", "budget", 1)
        assert [event.budget for event in broke.of(ev.BudgetExceeded)] == [words]


async def test_no_secret_is_in_a_prompt_nor_in_the_journal() -> None:
    @tool(effect="read")
    async def telling(context: ToolContext, key: str) -> str:
        assert key == "hunter2secret"
        reply = await context.chat(f"The key is {key}.")
        return reply.text

    chat = ScriptedChat(then=lambda request: f"You said: {request.messages[0].text} hunter2secret")
    plan = {"steps": [{"id": "a", "tool": "telling", "inputs": {"key": "{{ secrets.KEY }}"}}]}
    found = await run(plan, telling, chat=chat, secrets={"KEY": "hunter2secret"})
    assert found.status == "completed", found.result.error
    assert chat.requests[0].messages[0].text == "The key is [redacted]."
    assert all("hunter2secret" not in encode_event(event).decode() for event in found.events)


async def test_a_model_that_fails_is_a_failure_that_the_tool_may_handle() -> None:
    @tool(effect="read")
    async def careful(context: ToolContext) -> str:
        try:
            return str(await context.chat("?"))
        except ToolFailed as error:
            return f"no model: {error.message}"

    plan = {"steps": [{"id": "a", "tool": "careful"}], "outputs": "{{ a }}"}
    found = await run(plan, careful, chat=ScriptedChat(ChatFailed("overloaded", retryable=True)))
    assert found.outputs == "no model: overloaded"


@pytest.mark.parametrize("request_", [{"messages": "no"}, 7, {"temperature": "hot"}])
async def test_a_request_that_is_none_is_refused_before_anybody_is_asked(request_: Any) -> None:
    @tool(effect="read")
    async def wrong(context: ToolContext) -> str:
        return str(await context.chat(request_))

    found = await run({"steps": [{"id": "a", "tool": "wrong"}]}, wrong, chat=(chat := ScriptedChat("x")))
    assert found.result.error is not None
    assert "The request to the model is none" in found.result.error.message
    assert chat.requests == []


async def test_a_tool_sees_the_conversation_that_came_before_and_changes_it_for_nobody() -> None:
    seen: list[Any] = []

    @tool(effect="read")
    async def reader(context: ToolContext) -> int:
        seen.append(context.conversation)
        context.conversation.clear()
        context.conversation.append({"role": "user", "text": "changed"})
        seen[-1].append("mine")
        return 1

    said = [{"role": "user", "text": "hello"}, {"role": "assistant", "text": "hi"}]
    chain = {"flow": "chain", "steps": [{"id": "a", "tool": "reader"}, {"id": "b", "tool": "reader"}]}
    found = await run(chain, reader, context=RunContext("ann", conversation=said))
    assert seen == [[*said, "mine"]] * 2
    resumed = await resumed_after(found.events[:3], reader)
    assert (resumed.status, seen[2:]) == ("completed", [[*said, "mine"]])


async def test_a_call_from_a_tool_may_ask_too() -> None:
    @tool(effect="read")
    async def outer(context: ToolContext) -> Any:
        return await context.call("asker", key="k")

    plan = {"steps": [{"id": "a", "tool": "outer"}, {"id": "b", "tool": "t"}], "outputs": "{{ a }}"}
    async with opened(outer, asker, scripted("t", 1), chat=ScriptedChat("x", "y")) as tp:
        found = await ran(tp, await tp.run(tp.read(plan)))
    assert found.outputs == ["x", "y"]
    assert [event.path for event in found.of(ev.StepStarted) if event.path.endswith("second")] == ["a/k/second"]
