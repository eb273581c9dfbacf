"""Tools whose body is a plan: their inputs, state, limits, failures and outputs; calls of one tool."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import after, identity, opened, run, run_in

from toolpath import PlanInvalid, RunContext, Tool, ToolFailed
from toolpath.model import events as ev
from toolpath.notation.composite import read_composite
from toolpath.notation.plan import read_plan
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted


def as_tool(name: str, plan: dict[str, Any], **fields: Any) -> Tool:
    """A tool whose body is this plan."""
    body = read_plan({"name": name, **plan})
    return Tool(name=name, body=body, input_schema=body.inputs, effect="read", **fields)


DOUBLE = as_tool(
    "double",
    {
        "inputs": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        "steps": [{"id": "x", "tool": "t", "inputs": {"v": "{{ inputs.n * 2 }}"}}],
        "outputs": {"n": "{{ x.v }}"},
    },
)


async def test_a_tool_may_be_a_plan_and_its_steps_are_journaled_below_it() -> None:
    plan = {
        "steps": [
            {"id": "a", "tool": "double", "inputs": {"n": 4}},
            {"id": "b", "tool": "t", "inputs": {"v": "{{ a.n }}"}},
        ]
    }
    found = await run(plan, identity("t"), DOUBLE)
    assert found.outputs == {"b": {"v": 8}}
    assert list(found.statuses()) == ["a", "a/x", "b"]
    assert found.result.step("a").inputs == {"n": 4}


async def test_the_journal_freezes_the_bodies_of_nested_plans() -> None:
    found = await run({"steps": [{"tool": "double", "inputs": {"n": 4}}]}, identity("t"), DOUBLE)
    started = found.events[0]
    assert isinstance(started, ev.RunStarted)
    assert list(started.bodies) == ["double"]
    assert set(started.tools) == {"double", "t"}


async def test_a_nested_plan_sees_nothing_of_the_plan_around_it_but_its_inputs() -> None:
    plan = {
        "flow": "chain",
        "state": {"v": "outer"},
        "steps": [{"id": "x", "tool": "t"}, {"id": "a", "tool": "inner"}],
    }
    inner = as_tool("inner", {"flow": "chain", "steps": [{"id": "y", "tool": "t", "inputs": {"v": "{{ state.v }}"}}]})
    with pytest.raises(PlanInvalid, match="v"):
        await run(plan, identity("t"), inner)


async def test_each_call_of_a_composite_has_a_state_of_its_own() -> None:
    composite = read_composite(
        {
            "name": "note",
            "parameters": [{"name": "n", "type": "integer", "required": True}],
            "implementation": {
                "type": "composite",
                "composite": {
                    "steps": [
                        {"tool": "t", "inputs": {"v": "{{ state.n }}"}, "on_success": {"map_outputs": {"v": "kept"}}}
                    ]
                },
            },
        }
    )
    plan = {
        "steps": [{"id": name, "tool": "note", "inputs": {"n": n}} for n, name in enumerate("abc")],
        "outputs": {name: f"{{{{ {name}.kept }}}}" for name in "abc"},
    }
    found = await run(plan, identity("t"), composite)
    assert found.outputs == {"a": 0, "b": 1, "c": 2}
    assert sorted(event.path for event in found.of(ev.StateWritten)) == ["a", "b", "c"]


async def test_inputs_of_a_nested_plan_are_checked_and_filled_in_like_those_of_any_tool() -> None:
    inner = as_tool(
        "inner",
        {
            "inputs": {
                "type": "object",
                "properties": {
                    "n": {"type": "integer"},
                    "d": {"type": "integer", "default": 5},
                    "o": {"type": "string"},
                },
                "required": ["n"],
            },
            "steps": [
                {
                    "id": "x",
                    "tool": "t",
                    "inputs": {"n": "{{ inputs.n }}", "d": "{{ inputs.d }}", "o": "{{ inputs.o }}"},
                }
            ],
            "outputs": "{{ x }}",
        },
    )
    plan = {
        "steps": [{"id": "src", "tool": "src"}, {"id": "a", "tool": "inner", "inputs": {"n": "{{ src.n }}"}}],
        "outputs": "{{ a }}",
    }
    good = await run(plan, identity("t"), inner, scripted("src", {"n": "12"}))
    assert good.outputs == {"n": 12, "d": 5, "o": None}
    bad = await run(plan, identity("t"), inner, scripted("src", {"n": "many"}))
    assert bad.result.step("a").error.code == "validation"  # type: ignore[union-attr]


async def test_a_nested_failure_is_the_failure_of_the_step_and_may_be_continued() -> None:
    inner = as_tool("inner", {"steps": [{"id": "x", "tool": "bad"}]})
    plan = {
        "steps": [
            {"id": "a", "tool": "inner", "on_failure": {"action": "continue"}},
            {"id": "b", "tool": "t", "inputs": {"v": "{{ a }}", "e": "{{ steps.a.error.message }}"}},
        ]
    }
    found = await run(plan, identity("t"), inner, scripted("bad", ValueError("deep")))
    assert found.outputs == {"b": {"v": None, "e": "deep"}}
    assert found.statuses() == {"a": "failed", "a/x": "failed", "b": "succeeded"}
    assert found.status == "completed_with_errors"


async def test_a_nested_plan_is_retried_as_a_whole_under_new_paths() -> None:
    inner = as_tool("inner", {"flow": "chain", "steps": [{"id": "x", "tool": "t"}, {"id": "y", "tool": "flaky"}]})
    plan = {
        "steps": [{"id": "a", "tool": "inner", "retry": {"max_retries": 2, "backoff": "none"}}],
        "outputs": "{{ a }}",
    }
    t = identity("t")
    found = await run(plan, t, inner, scripted("flaky", ValueError("1"), ValueError("2"), {"ok": 1}))
    assert (found.status, found.outputs) == ("completed", {"ok": 1})
    assert len(t.calls) == 3  # type: ignore[attr-defined]
    assert len(found.statuses()) == 7


async def test_a_nested_plan_has_its_own_time_limit_and_failure_mode() -> None:
    clock = FakeClock(auto=True)
    inner = as_tool(
        "inner",
        {
            "failure_mode": "isolate",
            "timeout": 4,
            "steps": [
                {"id": "x", "tool": "bad"},
                {"id": "y", "tool": "slow"},
                {"id": "z", "tool": "slow", "depends_on": "y"},
            ],
        },
    )
    plan = {"steps": [{"id": "a", "tool": "inner"}]}
    tools = scripted("bad", then=ValueError("no")), scripted("slow", then=lambda _: after(clock, 1, {}))
    found = await run(plan, *tools, inner, clock=clock)
    assert found.statuses() == {"a": "failed", "a/x": "failed", "a/y": "succeeded", "a/z": "succeeded"}
    late = await run(plan, tools[0], scripted("slow", then=lambda _: after(clock, 3, {})), inner, clock=clock)
    assert late.statuses()["a"] == "timed_out"
    assert late.statuses()["a/z"] == "cancelled"


async def test_a_nested_plan_s_output_is_validated_where_that_is_strict() -> None:
    inner = as_tool(
        "inner",
        {"steps": [{"id": "x", "tool": "t"}], "outputs": {"n": "{{ x.v }}"}},
        output_schema={"type": "object", "properties": {"n": {"type": "integer"}}},
        output_validation="strict",
    )
    found = await run({"steps": [{"id": "a", "tool": "inner"}]}, scripted("t", {"v": "text"}), inner)
    assert found.status == "failed"
    assert found.statuses()["a"] == "failed"


async def test_nesting_holds_no_slot_so_that_it_cannot_deadlock() -> None:
    tools: list[Tool] = [identity("t")]
    below = "t"
    for level in range(8):
        tools.append(as_tool(f"l{level}", {"steps": [{"id": f"s{n}", "tool": below} for n in range(2)]}))
        below = f"l{level}"
    found = await run({"concurrency": 1, "steps": [{"id": "a", "tool": below}]}, *tools)
    assert found.status == "completed"


async def test_call_runs_one_tool_with_the_same_checks() -> None:
    async with opened(identity("math.t"), scripted("bad", then=ValueError("no")), DOUBLE, identity("t")) as tp:
        assert await tp.call("math.t", {"a": 1}) == {"a": 1}
        assert await tp.call("double", {"n": 3}) == {"n": 6}
        with pytest.raises(ToolFailed, match="no"):
            await tp.call("bad")
        with pytest.raises((PlanInvalid, ToolFailed)):
            await tp.call("double", {"n": "x"})
        with pytest.raises((PlanInvalid, ToolFailed)):
            await tp.call("double")


async def test_arguments_of_call_are_data_and_never_templates() -> None:
    async with opened(identity("t")) as tp:
        given = {"a": "{{ run.id }}", "it's \\ odd": "{{ nobody.x }}", "b": {"c": ["{{ 1 + 1 }}"]}}
        assert await tp.call("t", given) == given


async def test_a_composite_may_be_run_by_its_name() -> None:
    async with opened(DOUBLE, identity("t")) as tp:
        result = await tp.run("double", {"n": 5})
    assert result.outputs == {"n": 10}


async def test_a_tool_of_the_same_bare_name_in_two_groups_must_be_named_in_full() -> None:
    async with opened(identity("a.open"), identity("b.open")) as tp:
        with pytest.raises(PlanInvalid, match=r"a\.open"):
            await tp.run(tp.read({"steps": [{"tool": "open"}]}))
        assert (await run_in(tp, {"steps": [{"tool": "b.open"}]})).status == "completed"


async def test_an_alias_calls_the_tool_it_stands_for() -> None:
    found = await run({"steps": [{"id": "a", "tool": "find"}]}, identity("web.search", aliases=("find",)))
    assert found.result.step("a").tool == "web.search"


async def test_chain_id_and_start_of_a_nested_chain_are_its_own() -> None:
    inner = read_composite(
        {
            "name": "inner",
            "parameters": [],
            "implementation": {
                "type": "composite",
                "composite": {
                    "steps": [
                        {
                            "tool": "t",
                            "inputs": {"id": "{{ state.chain_id }}", "name": "{{ chain_name }}"},
                            "on_success": {"map_outputs": {"id": "seen", "name": "named"}},
                        }
                    ]
                },
            },
        }
    )
    found = await run(
        {"steps": [{"id": "a", "tool": "inner"}], "outputs": "{{ a }}"}, identity("t"), inner, context=RunContext("u")
    )
    assert found.outputs["seen"] != found.result.run_id
    assert found.outputs["named"] == "inner"
