"""What is asked in an agent's place when it came to no result: another tool, a plan, or an agent with another model."""

from __future__ import annotations

from typing import Any

from tests.agents.agent_cases import World, agent
from tests.engine.engine_cases import opened, ran, resumed_after, run

from toolpath import Tool, tool
from toolpath.model import events as ev
from toolpath.model.chat import ChatRequest
from toolpath.notation.plan import read_plan
from toolpath.testing.scripted_model import ScriptedModel, done

OTHER = read_plan(
    {
        "name": "careful",
        "inputs": {"properties": {"goal": {"type": "string"}}, "required": ["goal"]},
        "steps": [
            {"id": "b", "agent": {"requirement": "{{ inputs.goal }}", "model": "better", "tools": ["web.search"]}}
        ],
        "outputs": "{{ b }}",
    }
)
CAREFUL = Tool(name="careful", effect="read", input_schema=OTHER.inputs, body=OTHER)


def falling_back(*fallback: dict[str, Any], **fields: Any) -> dict[str, Any]:
    plan = agent(**fields)
    plan["steps"][0]["fallback"] = list(fallback)
    return plan


@tool(effect="read")
async def plain(topic: str = "nothing") -> str:
    """No model at all."""
    return f"plain {topic}"


def model() -> ScriptedModel:
    """Calls nothing where the usual model is asked; the better one searches and ends."""

    def turn(request: ChatRequest) -> Any:
        if request.model != "better":
            return "I would rather talk."
        said = sum(message.role == "assistant" for message in request.messages)
        return [("web.search", {"query": "tea"})] if said == 0 else done("by the better one")

    return ScriptedModel(then=turn)


async def test_a_tool_is_asked_when_the_agent_came_to_no_result() -> None:
    found = await run(falling_back({"tool": "plain", "inputs": {"topic": "tea"}}), plain, chat=model())
    assert (found.status, found.outputs) == ("completed", "plain tea")
    (begun,) = found.of(ev.FallbackStarted)
    assert (begun.path, begun.tool, begun.error and begun.error.code) == ("a", "plain", "no_tool_call")


async def test_a_fallback_that_says_nothing_is_given_nothing_of_the_agent_s() -> None:
    found = await run(falling_back({"tool": "plain"}), plain, chat=model())
    assert found.outputs == "plain nothing"


async def test_an_agent_with_another_model_is_asked_and_each_fallback_has_its_turn() -> None:
    plan = falling_back({"tool": "nothing"}, {"tool": "careful", "inputs": {"goal": "Find tea."}}, max_rounds=4)

    @tool(effect="read")
    async def nothing() -> str:
        raise ValueError("No.")

    world = World()
    chat = model()
    found = await run(plan, *world.tools(), CAREFUL, nothing, chat=chat)
    assert (found.status, found.outputs) == ("completed", "by the better one"), found.result.error
    assert world.calls == [("search", "tea")]
    assert [event.tool for event in found.of(ev.FallbackStarted)] == ["nothing", "careful"]
    assert [request.model for request in chat.requests] == ["", "", "", "better", "better"]


async def test_wherever_the_journal_is_cut_nothing_of_the_fallback_is_done_twice() -> None:
    plan = falling_back({"tool": "careful", "inputs": {"goal": "Find tea."}})
    found = await run(plan, *World().tools(), CAREFUL, chat=model())
    assert found.outputs == "by the better one"
    for length in range(1, len(found.events)):
        again = await resumed_after(found.events[:length], *World().tools(), CAREFUL, chat=model())
        assert (again.status, again.outputs) == ("completed", "by the better one"), length


async def test_what_is_wrong_with_a_fallback_of_an_agent_is_found_before_it_runs() -> None:
    async with opened(plain, CAREFUL, *World().tools(), chat=model()) as tp:

        def codes(*fallback: dict[str, Any]) -> list[tuple[str, str]]:
            findings = tp.check(tp.read(falling_back(*fallback)))
            return [(finding.code, finding.path) for finding in findings if finding.severity != "information"]

        assert codes({"tool": "plain"}) == []
        assert codes({"tool": "plian"}) == [("unknown_tool", "/steps/0/fallback/0/tool")]
        assert ("missing_input", "/steps/0/fallback/0/inputs") in codes({"tool": "careful", "inputs": {"gaol": "x"}})
        assert ("wrong_literal", "/steps/0/fallback/0/inputs/topic") in codes(
            {"tool": "plain", "inputs": {"topic": [1]}}
        )


async def test_an_agent_that_came_to_a_result_has_no_fallback_asked() -> None:
    async with opened(plain, chat=ScriptedModel(done("itself"))) as tp:
        found = await ran(tp, await tp.run(falling_back({"tool": "plain"})))
    assert (found.outputs, found.of(ev.FallbackStarted)) == ("itself", [])
