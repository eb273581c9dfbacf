"""Bounds of a run hold for plans and agents inside it: deadline, budget, depth; and no plan comes back to itself."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import identity, opened, ran, run

from toolpath import Tool, tool
from toolpath.errors import PlanInvalid
from toolpath.model import events as ev
from toolpath.model.run import RunContext
from toolpath.notation.plan import read_plan
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted_model import ScriptedModel, done


def nested(name: str, step: dict[str, Any]) -> Tool:
    body = read_plan({"name": name, "steps": [{"id": "s", **step}], "outputs": "{{ s }}"})
    return Tool(name=name, effect="read", input_schema={"type": "object"}, body=body)


def slow(clock: FakeClock) -> Any:
    @tool(name="slow", effect="read")
    async def wait() -> str:
        """Take an hour."""
        await clock.sleep(3600)
        return "late"

    return wait


@pytest.mark.parametrize("through", ["plan", "agent"])
async def test_a_run_s_deadline_cuts_off_what_is_two_plans_down(through: str) -> None:
    clock = FakeClock(auto=True)
    model = ScriptedModel([("slow", {})], then=done("x"))
    step = {"tool": "slow"} if through == "plan" else {"agent": {"requirement": "Wait.", "tools": ["slow"]}}
    tools = (slow(clock), nested("inner", step), nested("outer", {"tool": "inner"}))
    context = RunContext(deadline=clock.time() + 10)
    async with opened(*tools, clock=clock, chat=model) as tp:
        plan = tp.read({"name": "whole", "steps": [{"id": "a", "tool": "outer", "timeout": 7200}]})
        found = await ran(tp, await tp.run(plan, context=context))
    assert found.status == "failed"
    assert found.result.error is not None
    assert "deadline" in found.result.error.message
    assert clock.monotonic() < 60


async def test_a_run_s_budget_bounds_the_calls_of_an_agent_two_plans_down() -> None:
    turns = [[("t", {"x": n})] for n in range(50)]
    model = ScriptedModel(*turns)
    step = {"agent": {"requirement": "Go on.", "tools": ["t"], "max_rounds": 40}}
    plan = {
        "name": "whole",
        "budget": {"calls": 9},
        "steps": [{"id": "a", "tool": "outer"}],
    }
    tools = (identity("t"), nested("inner", step), nested("outer", {"tool": "inner"}))
    found = await run(plan, *tools, chat=model)
    assert found.status == "failed"
    assert found.result.error is not None
    assert found.result.error.code == "budget"
    begun = [event for event in found.of(ev.StepStarted) if "/round[" in event.path]
    assert 0 < len(begun) <= 9


def calls(below: str) -> dict[str, Any]:
    return {"agent": {"requirement": f"Call {below}.", "tools": [below]}}


def calling(request: Any) -> Any:
    (offered,) = [spec.name for spec in request.tools if spec.name != "terminate"]
    return [(offered, {"x": 1} if offered == "t" else {})]


def as_deep_as(depth: int) -> tuple[dict[str, Any], list[Any], ScriptedModel]:
    """So many plans in one another, an agent in each; the innermost calls the tool `t`."""
    names = [f"p{n}" for n in range(depth)]
    tools = [identity("t"), *(nested(name, calls(below)) for name, below in zip(names, [*names[1:], "t"], strict=True))]
    plan = {"name": "whole", "limits": {"depth": 10}, "steps": [{"id": "a", "tool": "p0"}], "outputs": "{{ a }}"}
    return plan, tools, ScriptedModel(calling, then=done("ended"))


@pytest.mark.parametrize(("depth", "refused"), [(9, []), (10, [("depth", 10)])])
async def test_agents_call_plans_with_agents_as_deep_as_may_be(depth: int, refused: list[tuple[str, int]]) -> None:
    plan, tools, model = as_deep_as(depth)
    found = await run(plan, *tools, chat=model)
    # The innermost agent is told that its call is too deep, and ends as all do.
    assert (found.status, found.outputs) == ("completed", "ended")
    assert [(event.error.code, event.path.count("act[0]")) for event in found.of(ev.StepFailed)] == refused
    assert len(model.requests) == 2 * depth


async def test_plans_with_agents_that_are_too_deep_in_one_another_are_refused_before_anything_is_asked() -> None:
    plan, tools, model = as_deep_as(11)
    with pytest.raises(PlanInvalid) as refused:
        await run(plan, *tools, chat=model)
    assert [finding.code for finding in refused.value.findings] == ["too_deep"]
    assert not model.requests


@pytest.mark.parametrize("way", [["p"], ["p", "q"], ["p", "q", "r"]])
async def test_a_plan_that_comes_back_to_itself_through_agents_is_refused_before_anything_is_asked(
    way: list[str],
) -> None:
    tools = [nested(name, calls(below)) for name, below in zip(way, [*way[1:], way[0]], strict=True)]
    model = ScriptedModel(calling, then=done("ended"))
    with pytest.raises(PlanInvalid) as refused:
        await run({"name": "whole", "steps": [{"id": "a", "tool": "p"}]}, *tools, chat=model)
    assert "itself" in str(refused.value)
    assert not model.requests
