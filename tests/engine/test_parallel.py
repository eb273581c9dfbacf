"""Parallel blocks: branches side by side, who decides, what they give and write."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import after, identity, opened, plan_text, run

from toolpath.model import events as ev
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted


def tool(clock: FakeClock, name: str, seconds: float, value: Any = None, **fields: Any) -> Any:
    return scripted(name, then=lambda _: after(clock, seconds, {"from": name} if value is None else value), **fields)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(auto=True)


async def test_all_gives_what_every_branch_gave_by_its_id(clock: FakeClock) -> None:
    plan = """
        steps:
          - id: fetch
            wait_for: all
            parallel:
              - {tool: a}
              - {id: second, tool: b}
              - {id: third, flow: chain, steps: [{tool: a}, {id: x, tool: b}]}
              - {id: fourth, steps: [{id: p, tool: a}, {id: q, tool: b}]}
        outputs: "{{ fetch }}"
        """
    ran = await run(plan, tool(clock, "a", 1), tool(clock, "b", 2), clock=clock)
    assert ran.outputs == {
        "a": {"from": "a"},
        "second": {"from": "b"},
        "third": {"from": "b"},
        "fourth": {"p": {"from": "a"}, "q": {"from": "b"}},
    }
    assert ran.result.total_duration == pytest.approx(3)


async def test_all_is_what_is_meant_where_nothing_is_said_and_output_order_is_the_declared_one(
    clock: FakeClock,
) -> None:
    plan = {"steps": [{"id": "p", "parallel": [{"tool": "slow"}, {"tool": "quick"}]}]}
    ran = await run(plan, tool(clock, "slow", 5), tool(clock, "quick", 1), clock=clock)
    assert list(ran.outputs["p"]) == ["slow", "quick"]


async def test_all_fails_after_the_others_ended_if_a_critical_branch_failed(clock: FakeClock) -> None:
    plan = {
        "steps": [
            {"id": "p", "parallel": [{"tool": "bad"}, {"tool": "slow"}]},
            {"id": "next", "tool": "slow", "depends_on": "p"},
        ]
    }
    ran = await run(plan, tool(clock, "bad", 1, ValueError("no")), tool(clock, "slow", 4), clock=clock)
    assert ran.status == "failed"
    assert ran.statuses() == {"p": "failed", "p/bad": "failed", "p/slow": "succeeded", "next": "skipped"}
    assert ran.seq("step.succeeded", "p/slow") < ran.seq("step.failed", "p")
    assert ran.result.step("p").error.message == "no"  # type: ignore[union-attr]


async def test_a_branch_that_is_not_critical_gives_null_and_does_not_fail_the_block(clock: FakeClock) -> None:
    plan = {"steps": [{"id": "p", "parallel": [{"tool": "bad", "critical": False}, {"tool": "slow"}]}]}
    ran = await run(plan, tool(clock, "bad", 1, ValueError("no")), tool(clock, "slow", 4), clock=clock)
    assert ran.status == "completed_with_errors"
    assert ran.outputs == {"p": {"bad": None, "slow": {"from": "slow"}}}


@pytest.mark.parametrize("mode", ["any", "first_success"])
async def test_the_first_that_succeeds_wins_and_the_others_are_cancelled(clock: FakeClock, mode: str) -> None:
    plan = {"steps": [{"id": "p", "wait_for": mode, "parallel": [{"tool": "slow"}, {"tool": "quick"}]}]}
    ran = await run(plan, tool(clock, "slow", 50), tool(clock, "quick", 1), clock=clock)
    assert ran.outputs == {"p": {"winner": "quick", "output": {"from": "quick"}}}
    assert ran.statuses() == {"p": "succeeded", "p/slow": "cancelled", "p/quick": "succeeded"}
    assert ran.status == "completed"
    assert ran.result.total_duration == pytest.approx(1)


async def test_any_is_decided_by_the_first_end_failure_included(clock: FakeClock) -> None:
    plan = {"steps": [{"id": "p", "wait_for": "any", "parallel": [{"tool": "slow"}, {"tool": "bad"}]}]}
    ran = await run(plan, tool(clock, "slow", 50), tool(clock, "bad", 1, ValueError("first")), clock=clock)
    assert ran.status == "failed"
    assert ran.statuses() == {"p": "failed", "p/slow": "cancelled", "p/bad": "failed"}
    assert ran.result.error is not None
    assert ran.result.error.message == "first"


async def test_first_success_passes_over_failures_and_fails_when_all_fail(clock: FakeClock) -> None:
    plan = {"steps": [{"id": "p", "wait_for": "first_success", "parallel": [{"tool": "slow"}, {"tool": "bad"}]}]}
    good = await run(plan, tool(clock, "slow", 5), tool(clock, "bad", 1, ValueError("first")), clock=clock)
    assert good.outputs == {"p": {"winner": "slow", "output": {"from": "slow"}}}
    assert good.result.success
    bad = await run(
        plan, tool(clock, "slow", 5, ValueError("second")), tool(clock, "bad", 1, ValueError("first")), clock=clock
    )
    assert bad.status == "failed"
    assert bad.statuses() == {"p": "failed", "p/slow": "failed", "p/bad": "failed"}


async def test_a_write_of_a_losing_branch_ends_cancelled_in_doubt_and_nobody_is_asked(clock: FakeClock) -> None:
    plan = {"steps": [{"id": "p", "wait_for": "any", "parallel": [{"tool": "write"}, {"tool": "quick"}]}]}
    ran = await run(plan, tool(clock, "write", 50, effect="write"), tool(clock, "quick", 1), clock=clock)
    (cancelled,) = ran.of(ev.StepCancelled)
    assert (cancelled.path, cancelled.in_doubt) == ("p/write", True)
    assert ran.status == "completed"


async def test_a_read_of_a_losing_branch_is_in_no_doubt(clock: FakeClock) -> None:
    plan = {"steps": [{"id": "p", "wait_for": "any", "parallel": [{"tool": "read"}, {"tool": "quick"}]}]}
    ran = await run(plan, tool(clock, "read", 50), tool(clock, "quick", 1), clock=clock)
    assert [event.in_doubt for event in ran.of(ev.StepCancelled)] == [False]


async def test_ids_inside_a_block_are_visible_only_inside_it(clock: FakeClock) -> None:
    plan = """
        steps:
          - id: p
            parallel:
              - {id: left, steps: [{id: x, tool: t, inputs: {v: 1}}, {id: y, tool: t, inputs: {v: "{{ x.v + 1 }}"}}]}
          - {id: after, tool: t, inputs: {v: "{{ x.v }}"}}
        """
    with pytest.raises(Exception, match="x"):
        await run(plan, identity("t"))


async def test_branches_read_steps_of_the_block_around_them(clock: FakeClock) -> None:
    plan = """
        steps:
          - {id: a, tool: t, inputs: {v: 1}}
          - id: p
            parallel:
              - {id: b, tool: t, inputs: {v: "{{ a.v + 1 }}"}}
              - {id: c, tool: t, inputs: {v: "{{ a.v + 2 }}"}}
        outputs: "{{ p }}"
        """
    ran = await run(plan, identity("t"))
    assert ran.outputs == {"b": {"v": 2}, "c": {"v": 3}}


async def test_branches_read_a_snapshot_and_their_writes_merge_in_declared_order_when_the_block_ends(
    clock: FakeClock,
) -> None:
    plan = """
        flow: chain
        steps:
          - {id: a, tool: t, inputs: {n: 0}, on_success: {map_outputs: {n: n}}}
          - id: p
            parallel:
              - id: late
                flow: chain
                steps:
                  - {id: l1, tool: slow, inputs: {n: 1}, on_success: {map_outputs: {n: n}}}
              - id: early
                flow: chain
                steps:
                  - {id: e1, tool: t, inputs: {n: 2}, on_success: {map_outputs: {n: n}}}
                  - {id: e2, tool: t, inputs: {n: "{{ state.n }}"}, on_success: {map_outputs: {n: own}}}
              - id: other
                flow: chain
                steps:
                  - {id: o1, tool: slow, inputs: {n: 9}}
                  - {id: o2, tool: t, inputs: {n: "{{ state.n }}"}, on_success: {map_outputs: {n: seen}}}
          - {id: end_, tool: t, inputs: {n: "{{ state.n }}", own: "{{ state.own }}", seen: "{{ state.seen }}"}}
        """
    slow = scripted("slow", then=lambda inputs: after(clock, 5, inputs))
    ran = await run(plan, identity("t"), slow, clock=clock)
    # `late` ended last, but the order is the declared one: what `early` wrote stands.
    assert ran.outputs == {"n": 2, "own": 2, "seen": 0}


@pytest.mark.parametrize("mode", ["any", "first_success"])
async def test_the_winner_alone_writes(clock: FakeClock, mode: str) -> None:
    plan = f"""
        flow: chain
        initial_state: {{who: nobody, trace: none}}
        steps:
          - id: p
            wait_for: {mode}
            parallel:
              - id: slow
                flow: chain
                steps:
                  - {{id: s1, tool: t, inputs: {{v: slow}}, on_success: {{map_outputs: {{v: trace}}}}}}
                  - {{id: s2, tool: slow, on_success: {{map_outputs: {{from: who}}}}}}
              - id: quick
                flow: chain
                steps: [{{id: q, tool: quick, on_success: {{map_outputs: {{from: who}}}}}}]
          - {{id: see, tool: t, inputs: {{who: "{{{{ state.who }}}}", trace: "{{{{ state.trace }}}}"}}}}
        """
    ran = await run(plan, identity("t"), tool(clock, "slow", 9), tool(clock, "quick", 1), clock=clock)
    assert ran.outputs == {"who": "quick", "trace": "none"}


async def test_two_writers_of_one_variable_are_a_warning(clock: FakeClock) -> None:
    plan = """
        flow: chain
        steps:
          - id: p
            parallel:
              - {id: a, tool: t, inputs: {v: 1}, on_success: {map_outputs: {v: x}}}
              - {id: b, tool: t, inputs: {v: 2}, on_success: {map_outputs: {v: x}}}
        """
    async with opened(identity("t")) as tp:
        findings = tp.check(tp.read(plan_text(plan)))
        assert [f.severity for f in findings if "x" in f.message and "unknown_type" not in f.code][:1] == ["warning"]
        assert (await tp.run(tp.read(plan_text(plan)))).status == "completed"


async def test_jumps_stay_within_their_chain(clock: FakeClock) -> None:
    plan = """
        flow: chain
        steps:
          - id: p
            parallel:
              - id: one
                flow: chain
                steps:
                  - {id: a, tool: t, on_success: {next: end}}
                  - {id: b, tool: t, when: "false", on_failure: {next: a}}
              - {id: two, tool: t}
          - {id: z, tool: t}
        """
    ran = await run(plan, identity("t"))
    assert [event.path for event in ran.of(ev.StepStarted)] == ["p", "p/one/a", "p/two", "z"]


async def test_a_block_around_may_have_a_timeout_that_cuts_its_branches_off(clock: FakeClock) -> None:
    plan = {"steps": [{"id": "p", "timeout": 3, "parallel": [{"tool": "slow"}, {"tool": "quick"}]}]}
    ran = await run(plan, tool(clock, "slow", 20), tool(clock, "quick", 1), clock=clock)
    assert ran.statuses() == {"p": "timed_out", "p/slow": "cancelled", "p/quick": "succeeded"}
    assert ran.result.total_duration == pytest.approx(3)


async def test_a_step_inside_a_branch_fails_only_its_branch_under_on_failure_continue(clock: FakeClock) -> None:
    plan = """
        steps:
          - id: p
            parallel:
              - id: one
                flow: chain
                steps:
                  - {id: a, tool: bad, on_failure: {action: continue}}
                  - {id: b, tool: t, inputs: {v: "{{ steps.a.output }}"}}
              - {id: two, tool: t}
        """
    ran = await run(plan, identity("t"), scripted("bad", ValueError("no")))
    assert ran.outputs == {"p": {"one": {"v": None}, "two": {}}}
    assert ran.status == "completed_with_errors"


async def test_blocks_within_blocks_cannot_deadlock_on_one_slot(clock: FakeClock) -> None:
    plan: dict[str, Any] = {"id": "deep", "tool": "t"}
    for level in range(6):
        plan = {"id": f"p{level}", "parallel": [plan, {"id": f"s{level}", "tool": "t"}]}
    ran = await run({"concurrency": 1, "steps": [plan]}, identity("t"))
    assert ran.status == "completed"


async def test_no_branches_give_an_empty_object() -> None:
    ran = await run({"steps": [{"id": "p", "parallel": []}]}, identity("t"))
    assert ran.outputs == {"p": {}}
