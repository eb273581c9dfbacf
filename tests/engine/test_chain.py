"""Chains: order, jumps, state, `map_outputs` and `transform`, bare names, outputs."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import identity, opened, plan_text, run

from toolpath import PlanInvalid, ToolRetry
from toolpath.model import events as ev
from toolpath.testing.scripted import scripted


def chain(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"flow": "chain", "steps": list(steps), **fields}


def visited(ran: Any) -> list[str]:
    return [event.path for event in ran.of(ev.StepStarted)]


async def test_steps_of_a_chain_run_in_their_order_even_if_nothing_is_read() -> None:
    ran = await run(chain({"id": "c", "tool": "t"}, {"id": "a", "tool": "t"}, {"id": "b", "tool": "t"}), identity("t"))
    assert ran.trace("step.started", "step.succeeded") == [
        f"step.{what} {name}" for name in "cab" for what in ("started", "succeeded")
    ]


async def test_a_chain_gives_the_output_of_its_last_success() -> None:
    ran = await run(
        chain({"id": "a", "tool": "a"}, {"id": "b", "tool": "b", "on_failure": {"action": "continue"}}),
        scripted("a", {"v": 1}),
        scripted("b", ValueError("no")),
    )
    assert (ran.status, ran.outputs) == ("completed_with_errors", {"v": 1})


async def test_on_success_next_jumps_and_next_end_ends_the_chain() -> None:
    ran = await run(
        chain(
            {"id": "a", "tool": "t", "on_success": {"next": "c"}},
            {"id": "b", "tool": "t"},
            {"id": "c", "tool": "t", "on_success": {"next": "end"}},
            {"id": "d", "tool": "t", "on_failure": {"next": "b"}},
        ),
        identity("t"),
    )
    assert visited(ran) == ["a", "c"]
    assert [(e.path, e.source, e.target) for e in ran.of(ev.BranchTaken)] == [("", "a", "c"), ("", "c", "end")]
    assert ran.status == "completed"


async def test_on_failure_next_without_an_action_branches() -> None:
    ran = await run(
        chain(
            {"id": "check", "tool": "bad", "on_success": {"next": "good"}, "on_failure": {"next": "repair"}},
            {"id": "good", "tool": "t", "on_success": {"next": "end"}},
            {"id": "repair", "tool": "t"},
        ),
        identity("t"),
        scripted("bad", ValueError("invalid")),
    )
    assert visited(ran) == ["check", "repair"]
    assert ran.status == "completed_with_errors"
    assert ran.result.success


async def test_on_failure_stop_is_the_default_and_ends_the_chain() -> None:
    ran = await run(
        chain({"id": "a", "tool": "bad"}, {"id": "b", "tool": "t"}),
        t := identity("t"),
        scripted("bad", ValueError("broken")),
    )
    assert ran.status == "failed"
    assert t.calls == []  # type: ignore[attr-defined]
    assert ran.result.error is not None
    assert (ran.result.error.type, ran.result.error.message) == ("ValueError", "broken")
    assert ran.result.failed_steps == ("a",)


async def test_on_failure_continue_goes_to_the_next_step_or_to_the_named_one() -> None:
    ran = await run(
        chain(
            {"id": "a", "tool": "bad", "on_failure": {"action": "continue"}},
            {"id": "b", "tool": "bad", "on_failure": {"action": "continue", "next": "d"}},
            {"id": "c", "tool": "t"},
            {"id": "d", "tool": "t"},
        ),
        identity("t"),
        scripted("bad", then=ValueError("no")),
    )
    assert visited(ran) == ["a", "b", "d"]
    assert ran.status == "completed_with_errors"


async def test_a_failure_that_is_continued_has_the_output_null_and_status_and_error_tell() -> None:
    ran = await run(
        chain(
            {"id": "a", "tool": "bad", "on_failure": {"action": "continue"}},
            {
                "id": "b",
                "tool": "t",
                "inputs": {
                    "output": "{{ steps.a.output }}",
                    "path": "{{ steps.a.output.x.y }}",
                    "default": "{{ steps.a.output.x | default('d') }}",
                    "status": "{{ steps.a.status }}",
                    "message": "{{ steps.a.error.message }}",
                },
            },
        ),
        identity("t"),
        scripted("bad", ValueError("why")),
    )
    assert ran.outputs == {"output": None, "path": None, "default": "d", "status": "failed", "message": "why"}


async def test_a_target_may_be_the_name_of_a_tool_that_one_step_alone_uses() -> None:
    ran = await run(
        chain(
            {"id": "x", "tool": "a", "on_success": {"next": "c_tool"}},
            {"id": "y", "tool": "a"},
            {"id": "z", "tool": "c_tool"},
        ),
        identity("a"),
        identity("c_tool"),
    )
    assert visited(ran) == ["x", "z"]


@pytest.mark.parametrize("target", ["nowhere", "echo"])
async def test_a_jump_to_nowhere_or_by_an_ambiguous_name_is_refused(target: str) -> None:
    echo = identity("echo")
    plan = chain({"tool": "echo", "on_success": {"next": target}}, {"tool": "echo"}, {"tool": "echo"})
    with pytest.raises(PlanInvalid, match=target):
        await run(plan, echo)
    assert echo.calls == []  # type: ignore[attr-defined]


async def test_a_graph_refuses_next() -> None:
    steps = [{"id": "a", "tool": "t", "on_success": {"next": "b"}}, {"id": "b", "tool": "t"}]
    with pytest.raises(PlanInvalid):
        await run({"flow": "graph", "steps": steps}, identity("t"))


async def test_a_cycle_of_jumps_without_an_exit_is_refused() -> None:
    plan = chain({"id": "a", "tool": "t"}, {"id": "b", "tool": "t", "on_success": {"next": "a"}})
    with pytest.raises(PlanInvalid):
        await run(plan, identity("t"))


async def test_a_cycle_with_an_exit_runs_until_it_is_taken_and_every_visit_has_its_own_path() -> None:
    ran = await run(
        chain(
            {"id": "look", "tool": "look", "on_success": {"map_outputs": {"ready": "ready"}}},
            {"id": "done", "tool": "t", "when": "{{ state.ready }}", "on_success": {"next": "end"}},
            {"id": "again", "tool": "t", "on_success": {"next": "look"}},
            {"id": "never", "tool": "t", "when": "false"},
        ),
        scripted("look", {"ready": False}, {"ready": False}, {"ready": True}),
        identity("t"),
    )
    assert visited(ran) == ["look", "again", "look#2", "again#2", "look#3", "done#3"]
    assert ran.statuses()["done#2"] == "skipped"
    assert ran.status == "completed"


async def test_a_reference_to_a_step_visited_more_than_once_means_its_latest_ended_visit() -> None:
    ran = await run(
        chain(
            {"id": "count", "tool": "count"},
            {"id": "see", "tool": "t", "inputs": {"n": "{{ steps.count.output.n }}"}},
            {"id": "back", "tool": "t", "when": "{{ steps.count.output.n < 3 }}", "on_success": {"next": "count"}},
        ),
        scripted("count", {"n": 1}, {"n": 2}, {"n": 3}),
        t := identity("t"),
    )
    seen = [call["n"] for call in t.calls if call]  # type: ignore[attr-defined]
    assert seen == [1, 2, 3]
    assert ran.status == "completed"


async def test_while_a_step_is_visited_again_it_still_reads_its_own_visit_before() -> None:
    ran = await run(
        chain(
            {"id": "page", "tool": "page", "inputs": {"token": "{{ steps.page.output.token | default('first') }}"}},
            {"id": "more", "tool": "t", "when": "{{ steps.page.output.token }}", "on_success": {"next": "page"}},
        ),
        page := scripted("page", {"token": "p2"}, {"token": "p3"}, {"token": None}),
        identity("t"),
    )
    assert ran.status == "completed"
    assert [call["token"] for call in page.calls] == ["first", "p2", "p3"]


async def test_a_step_is_visited_at_most_a_hundred_times_unless_the_plan_says_otherwise() -> None:
    plan = chain(
        {"id": "a", "tool": "a", "on_success": {"next": "a"}, "on_failure": {"next": "end"}}, limits={"step_visits": 7}
    )
    a = scripted("a", then={})
    ran = await run(plan, a)
    assert len(a.calls) == 7
    assert ran.status in ("failed", "completed_with_errors")
    assert "7" in str(ran.result.results[-1].error)


@pytest.mark.parametrize("mode", ["stop", "isolate", "continue"])
async def test_too_many_visits_end_a_chain_even_if_failures_jump_back(mode: str) -> None:
    plan = chain(
        {"id": "a", "tool": "t", "when": "{{ state.go }}", "on_success": {"next": "a"}, "on_failure": {"next": "a"}},
        {"id": "out", "tool": "t"},
        state={"go": True},
        failure_mode=mode,
        limits={"step_visits": 3},
    )
    t = identity("t")
    ran = await run(plan, t)
    assert ran.status == "failed"
    assert len(t.calls) == 3  # type: ignore[attr-defined]


async def test_map_outputs_sets_variables_that_later_steps_read_with_and_without_state() -> None:
    ran = await run(
        chain(
            {"id": "a", "tool": "a", "on_success": {"map_outputs": {"n": "count", "deep.x[1]": "second"}}},
            {
                "id": "b",
                "tool": "t",
                "inputs": {"x": "{{ state.count }}", "y": "{{ count }}", "z": "{{ state.second }}"},
            },
        ),
        scripted("a", {"n": 3, "deep": {"x": [1, 2]}}),
        identity("t"),
    )
    assert ran.outputs == {"x": 3, "y": 3, "z": 2}
    assert [(e.path, e.values) for e in ran.of(ev.StateWritten)] == [("", {"count": 3, "second": 2})]


async def test_a_field_that_is_missing_is_a_warning_and_leaves_the_variable_unset() -> None:
    ran = await run(
        chain(
            {"id": "a", "tool": "a", "on_success": {"map_outputs": {"n": "kept", "nope": "unset"}}},
            {"id": "b", "tool": "t", "inputs": {"x": "{{ state.kept }}", "y": "{{ state.unset | default('none') }}"}},
        ),
        scripted("a", {"n": 3}),
        identity("t"),
    )
    assert ran.outputs == {"x": 3, "y": "none"}
    assert ran.warned() == ["missing_field a"]
    assert ran.status == "completed"


async def test_a_variable_that_was_not_set_fails_the_step_that_reads_it_without_calling_its_tool() -> None:
    ran = await run(
        chain(
            {"id": "a", "tool": "a", "on_success": {"map_outputs": {"nope": "unset"}}},
            {"id": "b", "tool": "t", "inputs": {"y": "{{ state.unset }}"}},
        ),
        scripted("a", {"n": 3}),
        t := identity("t"),
    )
    assert ran.status == "failed"
    assert t.calls == []  # type: ignore[attr-defined]
    error = ran.result.step("b").error
    assert error is not None
    assert error.code == "unresolved"
    assert "Variable not found in chain state: unset" in error.message


async def test_transform_runs_after_map_outputs_and_in_order() -> None:
    ran = await run(
        chain(
            {
                "id": "a",
                "tool": "a",
                "on_success": {
                    "map_outputs": {"rows": "rows"},
                    "transform": {
                        "big": "{{ state.rows | filter(lambda x: x.value > 50) }}",
                        "count": "{{ state.big | length }}",
                        "text": "{{ count }} of {{ state.rows | length }}",
                    },
                },
            },
            {"id": "b", "tool": "t", "inputs": {"big": "{{ state.big }}", "text": "{{ state.text }}"}},
        ),
        scripted("a", {"rows": [{"value": 10}, {"value": 60}, {"value": 70}]}),
        identity("t"),
    )
    assert ran.outputs == {"big": [{"value": 60}, {"value": 70}], "text": "2 of 3"}


async def test_transform_may_read_the_output_of_its_own_step() -> None:
    ran = await run(
        chain(
            {"id": "a", "tool": "a", "on_success": {"transform": {"twice": "{{ steps.a.output.n * 2 }}"}}},
            {"id": "b", "tool": "t", "inputs": {"n": "{{ state.twice }}"}},
        ),
        scripted("a", {"n": 4}),
        identity("t"),
    )
    assert ran.outputs == {"n": 8}


async def test_names_in_a_chain_mean_the_state_first_which_holds_the_inputs() -> None:
    ran = await run(
        chain(
            {"id": "a", "tool": "a", "on_success": {"map_outputs": {"n": "b"}}},
            {"id": "b", "tool": "t", "inputs": {"n": "{{ b }}", "given": "{{ given }}", "same": "{{ state.given }}"}},
            inputs={"type": "object", "properties": {"given": {}}},
        ),
        scripted("a", {"n": 4}),
        identity("t"),
        inputs={"given": "g"},
    )
    assert ran.outputs == {"n": 4, "given": "g", "same": "g"}


async def test_a_step_of_a_chain_may_be_read_by_its_id() -> None:
    ran = await run(
        chain({"id": "a", "tool": "a"}, {"id": "b", "tool": "t", "inputs": {"n": "{{ a.n }}"}}),
        scripted("a", {"n": 4}),
        identity("t"),
    )
    assert ran.outputs == {"n": 4}


async def test_inputs_stay_what_they_were_when_the_state_changes() -> None:
    ran = await run(
        chain(
            {"id": "a", "tool": "a", "on_success": {"map_outputs": {"n": "given"}}},
            {"id": "b", "tool": "t", "inputs": {"state": "{{ state.given }}", "input": "{{ inputs.given }}"}},
            inputs={"type": "object", "properties": {"given": {}}},
        ),
        scripted("a", {"n": 4}),
        identity("t"),
        inputs={"given": 1},
    )
    assert ran.outputs == {"state": 4, "input": 1}


async def test_when_that_is_false_skips_the_step_and_the_chain_goes_on_with_the_next() -> None:
    ran = await run(
        chain(
            {"id": "a", "tool": "t", "when": "1 > 2", "on_success": {"next": "end"}},
            {"id": "b", "tool": "t", "inputs": {"v": "{{ steps.a.output }}", "s": "{{ steps.a.status }}"}},
        ),
        identity("t"),
    )
    assert ran.statuses() == {"a": "skipped", "b": "succeeded"}
    assert ran.outputs == {"v": None, "s": "skipped"}
    assert ran.status == "completed"


async def test_not_critical_lets_a_chain_go_on_with_the_next_step() -> None:
    ran = await run(
        chain(
            {"id": "a", "tool": "bad", "critical": False},
            {"id": "b", "tool": "t", "inputs": {"s": "{{ steps.a.status }}"}},
        ),
        identity("t"),
        scripted("bad", ValueError("no")),
    )
    assert ran.outputs == {"s": "failed"}
    assert ran.status == "completed_with_errors"


async def test_the_failure_mode_continue_makes_every_step_continue() -> None:
    ran = await run(
        chain({"id": "a", "tool": "bad"}, {"id": "b", "tool": "t"}, failure_mode="continue"),
        identity("t"),
        scripted("bad", ValueError("no")),
    )
    assert ran.statuses() == {"a": "failed", "b": "succeeded"}
    assert ran.status == "completed_with_errors"


async def test_action_stop_stops_even_where_the_mode_says_continue() -> None:
    ran = await run(
        chain(
            {"id": "a", "tool": "bad", "on_failure": {"action": "stop"}},
            {"id": "b", "tool": "t"},
            failure_mode="continue",
        ),
        identity("t"),
        scripted("bad", ValueError("no")),
    )
    assert ran.status == "failed"


async def test_a_chain_without_steps_to_run_completes() -> None:
    ran = await run(chain({"id": "a", "tool": "t", "when": False}), identity("t"))
    assert (ran.status, ran.outputs) == ("completed", None)


async def test_a_composite_gives_its_final_state_with_its_own_facts() -> None:
    source = """
        name: count_up
        description: Adds one.
        category: demo
        parameters: [{name: start, type: integer, required: true}]
        implementation:
          type: composite
          composite:
            steps:
              - tool: add
                inputs: {n: "{{ state.start }}"}
                on_success: {map_outputs: {n: result}}
        """
    async with opened(scripted("add", then=lambda inputs: {"n": inputs["n"] + 1})) as tp:
        result = await tp.run(tp.read(plan_text(source)), {"start": 1})
    state = result.outputs
    assert {key: state[key] for key in ("start", "result", "chain_id", "chain_name", "started_at")} == {
        "start": 1,
        "result": 2,
        "chain_id": result.run_id,
        "chain_name": "count_up",
        "started_at": "2023-11-14T22:13:20+00:00",
    }


async def test_a_composite_without_parameters_requires_each_variable_that_no_step_writes() -> None:
    source = """
        name: search_twice
        implementation:
          type: composite
          composite:
            steps:
              - tool: t
                inputs: {q: "{{ state.search_term }}"}
                on_success: {map_outputs: {q: found}}
              - tool: t
                inputs: {q: "{{ state.found }}"}
        """
    async with opened(identity("t")) as tp:
        plan = tp.read(plan_text(source))
        assert "undeclared_input" in [finding.code for finding in tp.check(plan)]
        with pytest.raises(PlanInvalid, match="search_term"):
            await tp.run(plan)
        assert (await tp.run(plan, {"search_term": "x"})).outputs["found"] == "x"


async def test_a_composite_retries_nothing_of_its_own() -> None:
    source = """
        name: once
        implementation: {type: composite, composite: {steps: [{tool: t}]}}
        """
    t = scripted("t", then=ToolRetry("later"))
    async with opened(t) as tp:
        result = await tp.run(tp.read(plan_text(source)))
    assert result.status == "failed"
    assert len(t.calls) == 1


async def test_a_long_chain_of_steps_that_fail_before_any_call_needs_no_deep_stack() -> None:
    steps = [{"id": f"s{n}", "tool": "t", "when": "src.gone.y > 1"} for n in range(1500)]
    ran = await run(chain({"id": "src", "tool": "t"}, *steps, failure_mode="continue"), identity("t"))
    assert ran.status == "completed_with_errors"
    assert list(ran.statuses().values()).count("failed") == 1500


async def test_a_long_chain_of_empty_loops_needs_no_deep_stack() -> None:
    steps = [{"id": f"s{n}", "loop": {"over": [], "steps": [{"id": f"x{n}", "tool": "t"}]}} for n in range(600)]
    ran = await run(chain(*steps), identity("t"))
    assert ran.status == "completed"


async def test_a_long_chain_of_skipped_steps_needs_no_deep_stack() -> None:
    steps = [{"id": f"s{n}", "tool": "t", "when": False} for n in range(1500)]
    ran = await run(chain(*steps), identity("t"))
    assert ran.status == "completed"
