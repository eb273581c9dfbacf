"""`on_unresolved` is one rule: for every place in which a template stands, and with a second fault beside the first."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import Ran, identity, opened, ran

from toolpath import Toolpath
from toolpath.model import events as ev
from toolpath.model.run import ENDED_RUN
from toolpath.model.tool import Requires, Tool
from toolpath.notation.plan import read_plan
from toolpath.testing.scripted import scripted

MODES = ["error", "keep", "null", "skip"]
OPTIONAL = {"type": "object", "properties": {"v": {}, "w": {"type": "integer"}}, "required": []}
INNER = {
    "name": "inner",
    "inputs": {"type": "object", "properties": {"v": {}, "w": {"type": "integer", "default": 7}}},
    "steps": [{"id": "i", "tool": "t", "inputs": {"v": "{{ inputs.v }}", "w": "{{ inputs.w }}"}}],
}

#: One step each, with a reference that has no value in one place.
PLACES: dict[str, dict[str, Any]] = {
    "inputs": {"tool": "t", "inputs": {"v": "{{ a.gone }}"}},
    "text": {"tool": "t", "inputs": {"v": "x {{ a.gone }} y"}},
    "deep": {"tool": "t", "inputs": {"v": [{"z": "{{ a.gone }}"}]}},
    "nested": {"tool": "inner", "inputs": {"v": "{{ a.gone }}"}},
    "when": {"tool": "t", "when": "a.gone == 1"},
    "over": {"loop": {"over": "{{ a.gone }}", "as": "q", "steps": [{"id": "x", "tool": "t"}]}},
    "collect": {"loop": {"over": [1], "as": "q", "collect": "{{ x.gone }}", "steps": [{"id": "x", "tool": "t"}]}},
    "ask": {"ask": {"title": "{{ a.gone }}", "inputs": [{"name": "n", "required": False}]}},
    "approval": {"tool": "t", "requires_approval": "{{ a.gone }}"},
    "approved": {"tool": "guarded", "inputs": {"v": "{{ a.gone }}"}},
    "cache": {"tool": "t", "cache": {"ttl": 60, "key": "{{ a.gone }}"}},
    "fallback": {"tool": "fails", "fallback": {"tool": "t", "inputs": {"v": "{{ a.gone }}"}}},
    "fallback plan": {"tool": "fails", "fallback": {"tool": "inner", "inputs": {"v": "{{ a.gone }}"}}},
}


async def played(tp: Toolpath, plan: dict[str, Any]) -> Ran:
    """The run's end; people say yes to everything."""
    result = await tp.run(tp.read(plan))
    while result.status not in ENDED_RUN:
        assert result.status == "waiting", result
        (question,) = result.questions
        if isinstance(question, ev.ApprovalRequested):
            steering = tp.approve(result.run_id, question.path)
        else:
            steering = tp.answer(result.run_id, question.path, {"n": "x"})
        result = await (await steering).result()
    return await ran(tp, result)


def made() -> list[Any]:
    t = identity("t", input_schema=OPTIONAL)
    guarded = identity("guarded", input_schema=OPTIONAL, effect="write", requires=Requires(approval=True))
    return [scripted("a", {"n": 1}), t, guarded, scripted("fails", then=ValueError("no")), read_plan_tool()]


def read_plan_tool() -> Any:

    plan = read_plan(INNER)
    return Tool(name="inner", input_schema=plan.inputs, effect="read", body=plan)


@pytest.mark.parametrize("at", ["step", "plan"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", PLACES)
async def test_a_reference_without_a_value_is_taken_by_one_rule_wherever_it_stands(
    place: str, mode: str, at: str
) -> None:
    step = {"id": "b", **PLACES[place], **({"on_unresolved": mode} if at == "step" else {})}
    if place == "collect":
        at = "plan"
    plan: dict[str, Any] = {"steps": [{"id": "a", "tool": "a"}, step, {"id": "c", "tool": "t", "depends_on": "b"}]}
    if at == "plan":
        plan["on_unresolved"] = mode
    async with opened(*made()) as tp:
        found = await played(tp, plan)
    status = found.statuses()["b"]
    match mode:
        case "error":
            assert (found.status, status) == ("failed", "failed")
            assert found.result.error is not None
            assert found.result.error.code == "unresolved"
        case "skip" if place != "collect":
            assert (found.status, status) == ("completed", "skipped")
        case "skip":
            assert found.result.step("b").output == [None]
        case _ if mode == "keep" and place == "over":
            assert found.result.step("b").error.code == "validation"  # type: ignore[union-attr]
        case _:
            assert found.status == "completed", found.result.error
            assert status == ("skipped" if place == "when" else "succeeded")
            assert any(warning.startswith("unresolved b") for warning in found.warned())
    assert found.statuses()["c"] in ("succeeded", "skipped")


@pytest.mark.parametrize("place", ["inputs", "nested", "approved", "fallback", "fallback plan"])
async def test_null_leaves_an_optional_argument_out(place: str) -> None:
    plan = {"on_unresolved": "null", "steps": [{"id": "a", "tool": "a"}, {"id": "b", **PLACES[place]}]}
    tools = made()
    async with opened(*tools) as tp:
        found = await played(tp, plan)
    given = [event.inputs for event in found.of(ev.StepStarted) if event.tool in ("t", "inner", "guarded")]
    assert given[0] == {}
    if "plan" in place or place == "nested":
        # An optional input that is not given has its default, or reads null.
        assert found.result.outputs["b"] == {"i": {"v": None, "w": 7}}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", ["tool", "inner", "guarded", "cached", "secret"])
async def test_a_second_fault_beside_what_has_no_value_fails_the_step_and_never_leaves_the_run(
    place: str, mode: str
) -> None:
    step = {"id": "b", "tool": {"inner": "inner", "guarded": "guarded"}.get(place, "t"), "on_unresolved": mode}
    inputs = {"v": "{{ a.gone }}", "w": "{{ a.n | length }}"}
    if place == "secret":
        inputs = {"v": "{{ secrets.KEY }} {{ a.gone }}", "w": "{{ a.n | length }}"}
    if place == "cached":
        step |= {"cache": {"ttl": 60, "key": "{{ a.gone }}"}}
    plan = {"steps": [{"id": "a", "tool": "a"}, {**step, "inputs": inputs}]}
    async with opened(*made(), secrets={"KEY": "not-for-everybody"}) as tp:
        found = await played(tp, plan)
    assert found.status == ("completed" if mode == "skip" else "failed")
    assert found.statuses()["b"] == ("skipped" if mode == "skip" else "failed")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("nested", [False, True])
async def test_outputs_of_a_plan_go_by_the_rule_too(mode: str, nested: bool) -> None:
    body = {
        "name": "body",
        "on_unresolved": mode,
        "steps": [{"id": "s", "tool": "a"}],
        "outputs": {"n": "{{ s.n }}", "x": "{{ s.gone }}"},
    }
    plan: dict[str, Any] = {"steps": [{"id": "b", "tool": "body"}], "outputs": "{{ b }}"} if nested else body
    tools = made()
    if nested:
        tools.append(Tool(name="body", effect="read", body=read_plan(body)))
    async with opened(*tools) as tp:
        found = await played(tp, plan)
    expected = {
        "error": None,
        "keep": {"n": 1, "x": "{{ s.gone }}"},
        "null": {"n": 1, "x": None},
        "skip": {"n": 1},
    }[mode]
    assert (found.status, found.outputs) == ("failed" if mode == "error" else "completed", expected)


@pytest.mark.parametrize("mode", MODES)
async def test_variables_go_by_the_rule_and_fail_nothing(mode: str) -> None:
    step = {"id": "b", "tool": "a", "on_unresolved": mode, "on_success": {"transform": {"x": "{{ b.gone }}"}}}
    plan = {"flow": "chain", "state": {"x": 0}, "steps": [step], "outputs": "{{ state.x }}"}
    async with opened(*made()) as tp:
        found = await played(tp, plan)
    expected = {"error": 0, "keep": "{{ b.gone }}", "null": None, "skip": 0}[mode]
    assert (found.status, found.outputs) == ("completed", expected)
    assert found.warned() == ["transform_failed b" if mode in ("error", "skip") else "unresolved b"]


async def test_an_approval_that_cannot_be_told_is_asked() -> None:
    plan = {"steps": [{"id": "a", "tool": "a"}, {"id": "b", **PLACES["approval"], "on_unresolved": "null"}]}
    async with opened(*made()) as tp:
        assert (await tp.run(tp.read(plan))).status == "waiting"
