"""Loops: items in order, so many at once, what they collect, what they write, and what a failed item does."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import after, identity, most_at_once, run
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpath.model import events as ev
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted


def loop(over: Any, **fields: Any) -> dict[str, Any]:
    """A plan of one loop, `each`, whose body calls `t` with the item."""
    plan = {key: fields.pop(key) for key in ("failure_mode", "concurrency_of_plan") if key in fields}
    body = {"steps": [{"id": "x", "tool": "t", "inputs": {"item": "{{ item }}"}}], **fields}
    return {"steps": [{"id": "each", "loop": {"over": over, **body}}], "outputs": "{{ each }}", **plan}


async def test_each_item_is_given_to_the_body_and_the_outputs_are_listed() -> None:
    ran = await run(loop([1, "two", None, {"n": 3}], collect="{{ x.item }}"), identity("t"))
    assert ran.outputs == [1, "two", None, {"n": 3}]
    assert [e.path for e in ran.of(ev.StepStarted)] == ["each", "each[0]/x", "each[1]/x", "each[2]/x", "each[3]/x"]


async def test_without_collect_an_item_gives_its_body_s_output() -> None:
    graph = await run(loop([1, 2]), identity("t"))
    assert graph.outputs == [{"x": {"item": 1}}, {"x": {"item": 2}}]
    chain = await run(loop([1, 2], flow="chain"), identity("t"))
    assert chain.outputs == [{"item": 1}, {"item": 2}]


async def test_collect_reads_last_for_the_body_s_output() -> None:
    ran = await run(loop([1, 2], flow="chain", collect={"was": "{{ last.item }}", "at": "{{ item }}"}), identity("t"))
    assert ran.outputs == [{"was": 1, "at": 1}, {"was": 2, "at": 2}]


async def test_the_loop_variable_has_the_name_that_as_gives() -> None:
    plan = {
        "steps": [
            {"id": "src", "tool": "src"},
            {
                "id": "each",
                "loop": {
                    "over": "{{ src.rows }}",
                    "as": "row",
                    "flow": "chain",
                    "steps": [{"tool": "t", "inputs": {"v": "{{ row.v * 2 }}"}}],
                },
            },
        ],
        "outputs": "{{ each }}",
    }
    ran = await run(plan, scripted("src", {"rows": [{"v": 1}, {"v": 2}]}), identity("t"))
    assert ran.outputs == [{"v": 2}, {"v": 4}]


async def test_one_item_after_the_other_is_the_default() -> None:
    clock = FakeClock(auto=True)
    ran = await run(loop([1, 2, 3]), scripted("t", then=lambda _: after(clock, 1)), clock=clock)
    assert most_at_once(ran.events) == 1
    assert ran.result.total_duration == pytest.approx(3)


async def test_so_many_items_at_once_as_concurrency_says_and_never_more_than_the_run_may() -> None:
    clock = FakeClock(auto=True)
    slow = scripted("t", then=lambda _: after(clock, 1))
    assert most_at_once((await run(loop(list(range(9)), concurrency=3), slow, clock=clock)).events) == 3
    assert most_at_once((await run(loop(list(range(9)), concurrency=9), slow, clock=clock)).events) == 5


async def test_nothing_to_go_over_gives_an_empty_list() -> None:
    ran = await run(loop([]), identity("t"))
    assert (ran.status, ran.outputs) == ("completed", [])


@pytest.mark.parametrize("value", ["text", 3, {"a": 1}, None, True])
async def test_what_is_no_list_fails_the_loop(value: Any) -> None:
    plan = {
        "steps": [
            {"id": "src", "tool": "src"},
            {"id": "each", "loop": {"over": "{{ src.rows }}", "steps": [{"id": "x", "tool": "t"}]}},
        ]
    }
    ran = await run(plan, scripted("src", {"rows": value}), identity("t"))
    assert ran.status == "failed"
    assert ran.result.step("each").error.code == "validation"  # type: ignore[union-attr]


async def test_a_failed_item_starts_no_more_lets_the_others_finish_and_fails_the_loop() -> None:
    clock = FakeClock(auto=True)

    def answer(inputs: dict[str, Any]) -> Any:
        item = inputs["item"]
        return after(clock, item, ValueError(f"item {item}") if item == 1 else {"n": item})

    ran = await run(loop([4, 1, 3, 2, 2], concurrency=3), scripted("t", then=answer), clock=clock)
    assert ran.status == "failed"
    assert ran.result.error is not None
    assert ran.result.error.message == "item 1"
    assert ran.statuses() == {
        "each": "failed",
        "each[0]/x": "succeeded",
        "each[1]/x": "failed",
        "each[2]/x": "succeeded",
    }
    assert ran.seq("step.succeeded", "each[0]/x") < ran.seq("step.failed", "each")


@pytest.mark.parametrize("mode", ["isolate", "continue"])
async def test_under_isolate_and_continue_a_failed_item_gives_null(mode: str) -> None:
    def answer(inputs: dict[str, Any]) -> Any:
        return ValueError("no") if inputs["item"] == 2 else inputs

    ran = await run(loop([1, 2, 3], flow="chain", failure_mode=mode), scripted("t", then=answer))
    assert ran.outputs == [{"item": 1}, None, {"item": 3}]
    assert ran.status == "completed_with_errors"


async def test_items_one_after_the_other_share_the_state_in_plain_sequence() -> None:
    plan = """
        flow: chain
        initial_state: {total: 0}
        steps:
          - loop:
              over: [1, 2, 3]
              as: n
              steps:
                - {id: add, tool: t, inputs: {sum: "{{ state.total + n }}"}, on_success: {map_outputs: {sum: total}}}
          - {id: see, tool: t, inputs: {total: "{{ state.total }}"}}
        """
    ran = await run(plan, identity("t"))
    assert ran.outputs == {"total": 6}


async def test_items_side_by_side_read_a_snapshot_and_merge_in_the_order_of_the_items() -> None:
    clock = FakeClock(auto=True)
    plan = """
        flow: chain
        initial_state: {last_one: none}
        steps:
          - id: each
            loop:
              over: [3, 2, 1]
              as: n
              concurrency: 3
              flow: chain
              steps:
                - {id: a, tool: slow, inputs: {n: "{{ n }}"}, on_success: {map_outputs: {n: last_one}}}
                - {id: b, tool: t, inputs: {seen: "{{ state.last_one }}", own: "{{ n }}"}}
          - {id: see, tool: t, inputs: {last: "{{ state.last_one }}", each: "{{ each }}"}}
        """
    slow = scripted("slow", then=lambda inputs: after(clock, inputs["n"], inputs))
    ran = await run(plan, slow, identity("t"), clock=clock)
    # Item 0 ended last; in the order of the items it is item 2 that wrote last.
    assert ran.outputs == {"last": 1, "each": [{"seen": n, "own": n} for n in (3, 2, 1)]}


async def test_loops_within_loops_name_their_items_in_their_paths() -> None:
    plan = """
        steps:
          - id: rows
            loop:
              over: [[1, 2], [3]]
              as: row
              collect: "{{ cells }}"
              steps:
                - id: cells
                  loop:
                    over: "{{ row }}"
                    as: cell
                    collect: "{{ x.v }}"
                    steps: [{id: x, tool: t, inputs: {v: "{{ cell * 10 }}", row: "{{ row }}"}}]
        outputs: "{{ rows }}"
        """
    ran = await run(plan, identity("t"))
    assert ran.outputs == [[10, 20], [30]]
    assert "rows[1]/cells[0]/x" in ran.statuses()


async def test_jumps_and_visits_live_inside_one_item() -> None:
    plan = """
        steps:
          - id: each
            loop:
              over: [1, 2]
              flow: chain
              steps:
                - {id: try, tool: flaky, on_failure: {next: fix}, on_success: {next: end}}
                - {id: fix, tool: t, on_success: {next: try}}
        """
    plan = plan.replace("try", "attempt")
    ran = await run(plan, scripted("flaky", ValueError("1"), {"ok": 1}, {"ok": 2}), identity("t"))
    assert ran.outputs == {"each": [{"ok": 1}, {"ok": 2}]}
    assert [e.path for e in ran.of(ev.StepStarted)] == [
        "each",
        "each[0]/attempt",
        "each[0]/fix",
        "each[0]/attempt#2",
        "each[1]/attempt",
    ]


async def test_a_collect_that_cannot_be_computed_fails_the_loop() -> None:
    ran = await run(loop([1, 2], collect="{{ x.nothing.there }}"), identity("t"))
    assert ran.status == "failed"


async def test_a_body_that_is_skipped_gives_null_for_its_item() -> None:
    plan = {
        "steps": [
            {
                "id": "each",
                "loop": {
                    "over": [1, 2, 3],
                    "collect": "{{ x }}",
                    "steps": [{"id": "x", "tool": "t", "when": "{{ item != 2 }}", "inputs": {"v": "{{ item }}"}}],
                },
            }
        ],
        "outputs": "{{ each }}",
    }
    ran = await run(plan, identity("t"))
    assert ran.outputs == [{"v": 1}, None, {"v": 3}]


async def test_a_loop_may_have_a_timeout_that_cuts_its_items_off() -> None:
    clock = FakeClock(auto=True)
    plan = loop([1, 2, 3])
    plan["steps"][0]["timeout"] = "2500ms"
    ran = await run(plan, scripted("t", then=lambda _: after(clock, 1)), clock=clock)
    assert ran.statuses() == {
        "each": "timed_out",
        "each[0]/x": "succeeded",
        "each[1]/x": "succeeded",
        "each[2]/x": "cancelled",
    }


async def test_the_journal_tells_what_was_gone_over() -> None:
    ran = await run(loop("{{ [1, 2] }}"), identity("t"))
    assert ran.result.step("each").inputs == {"over": [1, 2]}


async def test_a_thousand_items_run_through() -> None:
    ran = await run(loop(list(range(1000)), concurrency=50, collect="{{ x.item }}"), identity("t"))
    assert ran.outputs == list(range(1000))


@settings(max_examples=40, deadline=None)
@given(
    delays=st.lists(st.integers(0, 4), max_size=12),
    concurrency=st.integers(1, 6),
    slots=st.integers(1, 6),
)
async def test_results_are_in_the_order_of_the_items_whatever_order_they_end_in(
    delays: list[int], concurrency: int, slots: int
) -> None:
    clock = FakeClock(auto=True)
    plan = loop([[n, delay] for n, delay in enumerate(delays)], concurrency=concurrency, collect="{{ x.n }}")
    plan["concurrency"] = slots
    t = scripted("t", then=lambda inputs: after(clock, inputs["item"][1], {"n": inputs["item"][0]}))
    ran = await run(plan, t, clock=clock)
    assert ran.outputs == list(range(len(delays)))
    assert most_at_once(ran.events) <= min(concurrency, slots)
