"""Settings that hold for agents whose steps do not say otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agents.agent_cases import World, agent, told
from tests.engine.engine_cases import opened, ran, run

from toolpath import Settings
from toolpath.model import events as ev
from toolpath.testing.scripted_model import ScriptedModel, done

READS = [("web.search", {"query": "tea"}), ("web.read", {"page": "one"}), ("blog.post", {"title": "x"})]


@pytest.mark.parametrize(("said", "rounds"), [({}, 3), ({"max_rounds": 5}, 5)])
async def test_an_agent_makes_as_many_rounds_as_its_step_says_or_else_the_settings(
    said: dict[str, Any], rounds: int
) -> None:
    model = ScriptedModel(*[[("web.search", {"query": str(n)})] for n in range(20)])
    found = await run(agent(**said), *World().tools(), chat=model, settings=Settings(agent_rounds=3))
    assert found.result.error is not None
    assert (found.result.error.code, len(model.requests)) == ("max_rounds", rounds)


async def test_rounds_that_are_stored_hold_for_runs_that_begin_afterwards() -> None:
    model = ScriptedModel(*[[("web.search", {"query": str(n)})] for n in range(20)])
    async with opened(*World().tools(), chat=model) as tp:
        await tp.stored_settings.change({"agent_rounds": 2})
        found = await ran(tp, await tp.run(agent()))
    assert found.result.error is not None
    assert (found.result.error.code, len(model.requests)) == ("max_rounds", 2)


async def test_one_call_an_answer_is_made_where_the_settings_want_it_and_the_model_is_told() -> None:
    world, model = World(), ScriptedModel(READS, READS[1:], done("x"))
    settings = Settings(agent_parallel_calls=False)
    found = await run(agent(), *world.tools(), chat=model, settings=settings)
    assert (found.status, world.calls) == ("completed", [("search", "tea"), ("read", "one")])
    assert "exactly one tool" in model.requests[0].system
    assert "2 further calls of the answer were not made" in told(model, 1)[-1]
    refused = [event for event in found.of(ev.StepFailed) if event.error.code == "too_many_calls"]
    assert [event.path for event in refused] == ["a/round[1]/act[1]", "a/round[2]/act[1]"]


async def test_terminate_beside_another_call_ends_nothing_where_one_call_is_made() -> None:
    world = World()
    model = ScriptedModel([READS[0], *done("too early")], done("in time"))
    found = await run(agent(), *world.tools(), chat=model, settings=Settings(agent_parallel_calls=False))
    assert (found.result.outputs, world.calls) == ("in time", [("search", "tea")])


async def test_several_calls_are_the_usual_and_the_model_is_told_so() -> None:
    world, model = World(), ScriptedModel(READS, done("x"))
    assert (await run(agent(), *world.tools(), chat=model)).status == "completed"
    assert len(world.calls) == 3
    assert "exactly one tool" not in model.requests[0].system
    assert "{" not in model.requests[0].system.split("<tool_result>")[0]
