"""People beside an agent: forms, approvals, several questions at once, and a cancel at any point."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.agents.agent_cases import World, agent, told
from tests.engine.engine_cases import opened, ran, run
from tests.patience import PATIENCE

from toolpath import ToolContext, tool
from toolpath.errors import RunConflict
from toolpath.model import events as ev
from toolpath.model.tool import Requires
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted_model import ScriptedModel, done

TEA = {"title": "Which tea?", "inputs": [{"name": "tea", "type": "select", "options": ["green", "black"]}]}
CUPS = {"title": "How many?", "inputs": [{"name": "cups", "type": "integer"}]}
BOTH = [("form_input", TEA), ("form_input", CUPS), ("web.search", {"query": "tea"})]


async def test_forms_of_one_round_are_open_at_once_and_answered_in_any_order() -> None:
    model = ScriptedModel(BOTH, done("x"))
    async with opened(*World().tools(), chat=model) as tp:
        waiting = await tp.run(agent())
        assert [question.path for question in waiting.questions] == ["a/round[1]/act[0]", "a/round[1]/act[1]"]
        half = await (await tp.answer(waiting.run_id, "a/round[1]/act[1]", {"cups": "2"})).result()
        assert [question.path for question in half.questions] == ["a/round[1]/act[0]"]
        found = await ran(tp, await (await tp.answer(waiting.run_id, "a/round[1]/act[0]", {"tea": "green"})).result())
    assert found.status == "completed"
    assert [text.split("\n")[1] for text in told(model)][:2] == ['{"tea": "green"}', '{"cups": 2}']
    assert len(model.requests) == 2


@pytest.mark.parametrize("inputs", [{"name": "tea"}, '[{"name": "tea"}]', '{"name": "tea"}'])
async def test_fields_may_be_one_or_their_list_as_a_text(inputs: object) -> None:
    model = ScriptedModel([("form_input", {"title": "Which tea?", "inputs": inputs})], done("x"))
    async with opened(chat=model) as tp:
        (question,) = (await tp.run(agent())).questions
    assert [field["name"] for field in question.form["inputs"]] == ["tea"]


async def test_a_person_who_declines_is_no_end_of_the_agent() -> None:
    model = ScriptedModel([("form_input", TEA)], done("x"))
    async with opened(chat=model) as tp:
        waiting = await tp.run(agent())
        result = await (await tp.answer(waiting.run_id, declined=True)).result()
    assert result.status == "completed"
    assert "declined" in told(model)[0]


async def test_a_form_that_nobody_fills_in_is_over_after_its_time_and_the_agent_goes_on() -> None:
    model = ScriptedModel([("form_input", TEA)], done("without tea"))
    clock = FakeClock()
    async with opened(chat=model, clock=clock) as tp:
        waiting = await tp.run(agent())
        (question,) = waiting.questions
        assert question.deadline == clock.time() + 300
        await clock.advance(301)
        with pytest.raises(RunConflict):
            await tp.answer(waiting.run_id, values={"tea": "green"})
        async with asyncio.timeout(PATIENCE):
            while (result := await tp.info(waiting.run_id)).status != "completed":
                await clock.settle()
    assert (result.status, result.outputs) == ("completed", "without tea")
    assert "Nobody answered the form in time" in told(model)[0]


@pytest.mark.parametrize(
    "form",
    [
        {"title": "Secret?", "inputs": [{"name": "p", "type": "retina"}]},
        {"title": "Nothing", "inputs": []},
        {"title": "No fields"},
        {"title": "Wrong", "inputs": "tea"},
    ],
)
async def test_a_form_that_cannot_be_shown_is_told_to_the_model(form: dict[str, Any]) -> None:
    model = ScriptedModel([("form_input", form)], done("x"))
    found = await run(agent(), chat=model)
    assert found.status == "completed"
    assert "cannot be shown" in told(model)[0]
    assert [event.error.code for event in found.of(ev.StepFailed)] == ["wrong_input"]


async def test_a_form_of_one_field_without_a_name_goes_by_its_label() -> None:
    model = ScriptedModel([("form_input", {"title": "Who?", "inputs": {"label": "Your name"}})], done("x"))
    async with opened(chat=model) as tp:
        waiting = await tp.run(agent())
        await (await tp.answer(waiting.run_id, values={"Your name": "Ann"})).result()
    assert "Ann" in told(model)[0]


async def test_a_tool_that_needs_approval_asks_for_it_and_a_no_is_told() -> None:
    sent: list[str] = []

    @tool(effect="write", requires=Requires(approval=True))
    async def send(to: str) -> str:
        sent.append(to)
        return "sent"

    model = ScriptedModel([("send", {"to": "ann"}), ("send", {"to": "bob"})], [("send", {"to": "cy"})], done("x"))
    async with opened(send, chat=model) as tp:
        waiting = await tp.run(agent())
        (question,) = waiting.questions
        assert (question.path, question.inputs) == ("a/round[1]/act[0]", {"to": "ann"})
        result = await (await tp.approve(waiting.run_id)).result()
        assert sent == ["ann"]
        result = await (await tp.approve(waiting.run_id)).result()
        assert result.questions[0].path == "a/round[2]/act[0]"
        result = await (await tp.deny(waiting.run_id, by="Ann", comment="Not Cy.")).result()
    assert (result.status, sent) == ("completed", ["ann", "bob"])
    assert "Not Cy." in told(model)[0]
    assert len(model.requests) == 3


async def test_several_questions_of_one_tool_are_open_at_once() -> None:
    @tool(effect="read")
    async def host(context: ToolContext) -> list[Any]:
        return list(await asyncio.gather(context.ask(TEA, key="tea"), context.ask(CUPS, key="cups")))

    async with opened(host) as tp:
        waiting = await tp.run({"steps": [{"id": "a", "tool": "host"}], "outputs": "{{ a }}"})
        first, second = (question.path for question in waiting.questions)
        assert (first, len(waiting.questions)) == ("a", 2)
        await (await tp.answer(waiting.run_id, second, {"cups": 3})).result()
        found = await ran(tp, await (await tp.answer(waiting.run_id, first, {"tea": "black"})).result())
    assert found.outputs == [{"tea": "black"}, {"cups": 3}]


async def test_a_cancel_in_the_middle_of_a_reply_ends_the_request() -> None:
    asked, ended = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedModel):
        async def __call__(self, request: Any) -> Any:
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

    async with opened(*World().tools(), chat=Slow()) as tp:
        running = await tp.start(agent())
        await asked.wait()
        await tp.cancel(running.id)
        result = await running.result()
    assert result.status == "cancelled"
    assert ended.is_set()
    assert {step.path: step.status for step in result.results} == {"a": "cancelled", "a/round[1]/think": "cancelled"}


async def test_a_cancel_in_the_middle_of_a_call_ends_it_and_asks_no_model_again() -> None:
    began = asyncio.Event()

    @tool(effect="read")
    async def slow() -> str:
        began.set()
        await asyncio.Event().wait()
        return ""

    model = ScriptedModel([("slow", {})], done("x"))
    async with opened(slow, chat=model) as tp:
        running = await tp.start(agent())
        await began.wait()
        await tp.cancel(running.id)
        result = await running.result()
    assert (result.status, len(model.requests)) == ("cancelled", 1)


async def test_a_cancel_while_a_form_is_open_ends_the_agent() -> None:
    model = ScriptedModel(BOTH, done("x"))
    async with opened(*World().tools(), chat=model) as tp:
        waiting = await tp.run(agent())
        await tp.cancel(waiting.run_id)
        result = await tp.result(waiting.run_id)
    assert (result.status, result.questions, len(model.requests)) == ("cancelled", (), 1)


async def test_a_failed_agent_that_is_retried_asks_only_what_was_not_answered() -> None:
    world = World()
    model = ScriptedModel([("blog.post", {"title": "Tea"}), ("web.read", {})], "?", "?", "?")
    async with opened(*world.tools(), chat=model) as tp:
        failed = await tp.run(agent())
        assert failed.status == "failed"
        requests = len(model.requests)
        again = await (await tp.retry(failed.run_id)).result()
    assert again.status == "failed"
    assert world.calls == [("post", "Tea")]
    assert len(model.requests) == requests
