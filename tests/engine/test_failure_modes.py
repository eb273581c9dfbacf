"""Failure modes and success: what still starts after a failure, and how the run is called in the end."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import after, identity, opened, ran, run

from toolpath.model import events as ev
from toolpath.model.run import RunInfo
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(auto=True)


def bad(clock: FakeClock, seconds: float = 1) -> Any:
    return scripted("bad", then=lambda _: after(clock, seconds, ValueError("broken")))


def slow(clock: FakeClock, seconds: float = 3) -> Any:
    return scripted("slow", then=lambda _: after(clock, seconds, {}))


# Two lines side by side: `a` fails at second 1 while `x` runs; `y` would come after `x`.
TWO_LINES = [
    {"id": "a", "tool": "bad"},
    {"id": "b", "tool": "slow", "depends_on": "a"},
    {"id": "x", "tool": "slow"},
    {"id": "y", "tool": "slow", "depends_on": "x"},
]


@pytest.mark.parametrize(
    ("mode", "status", "b", "y"),
    [
        ("stop", "failed", "skipped", "skipped"),
        ("isolate", "failed", "skipped", "succeeded"),
        ("continue", "completed_with_errors", "succeeded", "succeeded"),
    ],
)
async def test_what_a_failure_does_to_the_rest(clock: FakeClock, mode: str, status: str, b: str, y: str) -> None:
    ran = await run({"failure_mode": mode, "steps": TWO_LINES}, bad(clock), slow(clock), clock=clock)
    assert ran.status == status
    assert ran.statuses() == {"a": "failed", "b": b, "x": "succeeded", "y": y}
    assert ran.result.success is (mode == "continue")
    assert ran.result.failed_steps == ("a",)


async def test_stop_is_the_default_and_lets_what_runs_finish(clock: FakeClock) -> None:
    ran = await run({"steps": TWO_LINES}, bad(clock), slow(clock), clock=clock)
    assert ran.status == "failed"
    assert ran.statuses()["x"] == "succeeded"
    assert ran.result.total_duration == pytest.approx(3)


async def test_stop_starts_nothing_that_was_only_queued(clock: FakeClock) -> None:
    plan = {
        "concurrency": 1,
        "steps": [{"id": "a", "tool": "bad"}, *({"id": f"s{n}", "tool": "slow"} for n in range(3))],
    }
    ran = await run(plan, bad(clock), s := slow(clock), clock=clock)
    assert s.calls == []
    assert [ran.statuses()[f"s{n}"] for n in range(3)] == ["skipped"] * 3


async def test_stop_makes_no_retry_of_another_step_that_waits_for_one(clock: FakeClock) -> None:
    plan = {
        "steps": [
            {"id": "a", "tool": "bad"},
            {"id": "b", "tool": "flaky", "retry": {"max_retries": 3, "initial_delay": 10}},
        ]
    }
    flaky = scripted("flaky", ValueError("now"), {"ok": 1})
    ran = await run(plan, bad(clock), flaky, clock=clock)
    assert ran.status == "failed"
    assert ran.statuses()["b"] != "pending"
    assert ran.result.total_duration <= 11


@pytest.mark.parametrize("mode", ["stop", "isolate"])
async def test_not_critical_never_stops_skips_its_dependents_and_the_rest_goes_on(clock: FakeClock, mode: str) -> None:
    steps = [{**TWO_LINES[0], "critical": False}, *TWO_LINES[1:]]
    ran = await run({"failure_mode": mode, "steps": steps}, bad(clock), slow(clock), clock=clock)
    assert ran.status == "completed_with_errors"
    assert ran.statuses() == {"a": "failed", "b": "skipped", "x": "succeeded", "y": "succeeded"}
    assert ran.result.success


async def test_not_critical_under_continue_runs_its_dependents(clock: FakeClock) -> None:
    steps = [{**TWO_LINES[0], "critical": False}, *TWO_LINES[1:]]
    ran = await run({"failure_mode": "continue", "steps": steps}, bad(clock), slow(clock), clock=clock)
    assert ran.statuses() == {"a": "failed", "b": "succeeded", "x": "succeeded", "y": "succeeded"}
    assert ran.status == "completed_with_errors"


async def test_continued_by_on_failure_the_dependents_run_and_read_null(clock: FakeClock) -> None:
    plan = {
        "steps": [
            {"id": "a", "tool": "bad", "on_failure": {"action": "continue"}},
            {"id": "b", "tool": "t", "inputs": {"v": "{{ a }}", "e": "{{ steps.a.error.type }}"}},
        ]
    }
    ran = await run(plan, bad(clock), identity("t"), clock=clock)
    assert ran.outputs == {"b": {"v": None, "e": "ValueError"}}
    assert ran.status == "completed_with_errors"


async def test_on_failure_stop_ends_even_a_plan_that_continues(clock: FakeClock) -> None:
    steps = [{**TWO_LINES[0], "on_failure": {"action": "stop"}}, *TWO_LINES[1:]]
    ran = await run({"failure_mode": "continue", "steps": steps}, bad(clock), slow(clock), clock=clock)
    assert ran.status == "failed"


async def test_one_critical_failure_among_many_that_were_continued_fails_the_run(clock: FakeClock) -> None:
    plan = {
        "failure_mode": "isolate",
        "steps": [
            {"id": "a", "tool": "bad", "on_failure": {"action": "continue"}},
            {"id": "b", "tool": "bad", "critical": False},
            {"id": "c", "tool": "bad"},
        ],
    }
    ran = await run(plan, bad(clock), clock=clock)
    assert ran.status == "failed"
    assert ran.result.failed_steps == ("a", "b", "c")


async def test_a_failed_run_keeps_its_partial_results_and_the_first_critical_error(clock: FakeClock) -> None:
    plan = {"steps": [{"id": "ok", "tool": "t", "inputs": {"v": 1}}, {"id": "a", "tool": "bad", "depends_on": "ok"}]}
    ran = await run(plan, bad(clock), identity("t"), clock=clock)
    result = ran.result
    assert result.step("ok").output == {"v": 1}
    assert result.error is not None
    assert (result.error.type, result.error.message) == ("ValueError", "broken")
    assert not result.success
    assert result.as_json()["failed_steps"] == ["a"]


async def test_a_block_that_fails_stops_the_plan_like_any_step(clock: FakeClock) -> None:
    plan = {
        "steps": [
            {"id": "p", "parallel": [{"tool": "bad"}]},
            {"id": "x", "tool": "slow"},
            {"id": "y", "tool": "slow", "depends_on": "x"},
        ]
    }
    ran = await run(plan, bad(clock), slow(clock), clock=clock)
    assert ran.statuses()["y"] == "skipped"
    assert ran.status == "failed"


async def test_stop_reaches_into_blocks_that_are_open(clock: FakeClock) -> None:
    """`stop` starts nothing new, wherever it would start."""
    plan = {
        "steps": [
            {"id": "a", "tool": "bad"},
            {
                "id": "each",
                "loop": {"over": [1, 2, 3, 4], "steps": [{"id": "x", "tool": "slow"}]},
            },
            {
                "id": "p",
                "parallel": [
                    {"id": "br", "flow": "chain", "steps": [{"id": "c1", "tool": "slow"}, {"id": "c2", "tool": "slow"}]}
                ],
            },
        ]
    }
    ran = await run(plan, bad(clock), s := slow(clock), clock=clock)
    assert ran.status == "failed"
    assert len(s.calls) == 2


async def test_isolate_inside_a_graph_branch_lets_its_other_lines_go_on(clock: FakeClock) -> None:
    plan = {
        "failure_mode": "isolate",
        "steps": [{"id": "p", "parallel": [{"id": "g", "flow": "graph", "steps": TWO_LINES}]}],
    }
    ran = await run(plan, bad(clock), slow(clock), clock=clock)
    assert ran.status == "failed"
    assert ran.statuses()["p/g/y"] == "succeeded"
    assert ran.statuses()["p/g/b"] == "skipped"


async def test_every_step_ends_in_some_status_when_the_run_ends(clock: FakeClock) -> None:
    ran = await run({"steps": TWO_LINES}, bad(clock), slow(clock), clock=clock)
    assert set(ran.statuses().values()) <= {"succeeded", "failed", "timed_out", "skipped", "cancelled"}
    assert set(ran.statuses()) == {"a", "b", "x", "y"}


async def test_an_output_of_the_plan_that_cannot_be_computed_fails_the_run_and_keeps_the_steps(
    clock: FakeClock,
) -> None:
    plan = {"steps": [{"id": "a", "tool": "t"}], "outputs": {"v": "{{ a.gone }}"}}
    ran = await run(plan, identity("t"), clock=clock)
    assert (ran.status, ran.result.reason) == ("failed", "outputs")
    assert ran.statuses() == {"a": "succeeded"}


STOPPED = {
    "concurrency": 1,
    "steps": [
        {"id": "a", "tool": "bad"},
        {"id": "each", "loop": {"over": [1, 2], "concurrency": 1, "steps": [{"id": "x", "tool": "slow"}]}},
        {"id": "asks", "tool": "slow", "requires_approval": True},
        {
            "id": "p",
            "parallel": [{"id": "br", "flow": "chain", "steps": [{"id": "w", "ask": {"inputs": [{"name": "n"}]}}]}],
        },
        {"id": "later", "tool": "slow", "depends_on": "asks"},
    ],
}


async def test_a_driver_that_dies_while_the_plan_is_stopped_leaves_the_next_one_to_stop_the_rest() -> None:
    first = FakeClock(auto=True)
    whole = await run(STOPPED, bad(first), slow(first), clock=first)
    failed = next(event.seq for event in whole.events if isinstance(event, ev.StepFailed))
    assert len(whole.events) - failed > 3
    for count in range(failed, len(whole.events)):
        clock = FakeClock(auto=True)
        store = MemoryStore(clock=clock.time)
        async with opened(bad(clock), s := slow(clock), clock=clock, store=store) as tp:
            run_id = whole.result.run_id
            await store.create_run(RunInfo(run_id=run_id, status="running"))
            (await store.drive(run_id, "dead")).append(whole.events[:count])
            await clock.sleep(3600)
            found = await ran(tp, await (await tp.resume(run_id)).result())
        assert (count, found.status, found.statuses()) == (count, "failed", whole.statuses())
        assert s.calls == []
