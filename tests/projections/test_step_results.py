"""Step results: one record per instance, whatever happened to it, in the order of first appearance."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpath.model.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    Failure,
    FallbackStarted,
    PlanRevised,
    RunStarted,
    StepCancelled,
    StepFailed,
    StepProgress,
    StepReady,
    StepRetrying,
    StepSkipped,
    StepStarted,
    StepSucceeded,
    StepTimedOut,
    StepUnknown,
    StepWaiting,
)
from toolpath.model.run import StepResult
from toolpath.projections.paths import ancestors, step_id
from toolpath.projections.steps import step_results
from toolpath.values import Handle

TIMEOUT = Failure(type="ToolTimeout", message="took longer than 30 s", code="timeout", retryable=True)
BROKEN = Failure(type="ValueError", message="no such author")


class StepImagined(Event, frozen=True, tag="step.imagined"):
    """An event of a later version."""

    path: str = "a"


def journal(*events: Any) -> list[Any]:
    """The events numbered and one second apart."""
    return [msgspec.structs.replace(event, seq=n, at=100.0 + n) for n, event in enumerate(events, 1)]


def only(*events: Any) -> StepResult:
    (result,) = step_results(journal(*events))
    return result


def started(path: str = "a", tool: str = "t.a", inputs: Any = None, attempt: int = 1) -> StepStarted:
    return StepStarted(0, 0, path, attempt=attempt, tool=tool, inputs=inputs)


@pytest.mark.parametrize(
    ("path", "step"),
    [
        ("a", "a"),
        ("each[3]", "each"),
        ("each[3]/fetch#2", "fetch"),
        ("comp/a", "a"),
        ("a#12", "a"),
        ("x[0]#2/y[1]#3", "y"),
    ],
)
def test_a_steps_id_is_its_paths_last_segment_without_item_and_visit(path: str, step: str) -> None:
    assert step_id(path) == step


@pytest.mark.parametrize(
    ("path", "around"),
    [
        ("a", []),
        ("a#2", []),
        ("comp/a", ["comp"]),
        ("each[3]/fetch#2", ["each[3]", "each"]),
        ("each[3]#2/a", ["each[3]#2", "each#2"]),
        ("p/each[0]/q/a", ["p/each[0]/q", "p/each[0]", "p/each", "p"]),
        ("comp~2/a", ["comp~2", "comp"]),
        ("each[3]#2~3/a", ["each[3]#2~3", "each[3]#2", "each#2"]),
        ("p~2/each[0]/a", ["p~2/each[0]", "p~2/each", "p~2", "p"]),
    ],
)
def test_ancestors_are_the_instances_around_a_path(path: str, around: list[str]) -> None:
    assert list(ancestors(path)) == around


def test_a_success_has_what_it_was_called_with_and_what_it_gave() -> None:
    result = only(
        StepReady(0, 0, "a"),
        started(inputs={"x": 1}),
        StepSucceeded(0, 0, "a", output={"y": 2}, duration=1.5, confidence=0.9, sources=("s",), cost=0.01),
    )
    assert result == StepResult(
        step="a",
        path="a",
        tool="t.a",
        status="succeeded",
        inputs={"x": 1},
        output={"y": 2},
        confidence=0.9,
        sources=("s",),
        started_at=102.0,
        duration=1.5,
        attempts=1,
        cost=0.01,
    )


def test_attempts_and_their_durations_add_up() -> None:
    result = only(
        started(),
        StepRetrying(0, 0, "a", 1, 1.0, TIMEOUT, duration=30.0),
        started(attempt=2),
        StepRetrying(0, 0, "a", 2, 2.0, TIMEOUT, duration=30.0),
        started(attempt=3),
        StepSucceeded(0, 0, "a", output=1, duration=2.0),
    )
    assert (result.attempts, result.duration, result.started_at, result.error) == (3, 62.0, 101.0, None)


def test_between_two_attempts_a_step_is_ready_and_tells_the_last_error() -> None:
    result = only(started(), StepRetrying(0, 0, "a", 1, 1.0, TIMEOUT, duration=30.0))
    assert (result.status, result.error) == ("ready", TIMEOUT)


@pytest.mark.parametrize(
    ("event", "status"),
    [
        (StepFailed(0, 0, "a", BROKEN, duration=1.0, continued=True), "failed"),
        (StepTimedOut(0, 0, "a", BROKEN, duration=1.0, continued=True), "timed_out"),
    ],
)
def test_a_failure_tells_its_error_and_whether_the_plan_went_on(event: Any, status: str) -> None:
    result = only(started(), event)
    assert (result.status, result.error, result.duration, result.continued) == (status, BROKEN, 1.0, True)


def test_a_step_without_any_attempt_has_no_start() -> None:
    result = only(StepReady(0, 0, "a"), StepFailed(0, 0, "a", BROKEN))
    assert (result.status, result.attempts, result.started_at) == ("failed", 0, None)


def test_a_fallback_names_the_tool_that_answered_and_counts_all_attempts() -> None:
    result = only(
        started(),
        FallbackStarted(0, 0, "a", 1, "t.b", error=BROKEN),
        started(tool="t.b", inputs={"z": 1}),
        StepSucceeded(0, 0, "a", output=1, duration=2.0),
    )
    # The first attempt lasted from its start to the fallback: one second.
    assert (result.tool, result.inputs, result.attempts, result.duration) == ("t.b", {"z": 1}, 2, 3.0)


def test_skips_and_waits_tell_their_reason() -> None:
    skipped = only(StepSkipped(0, 0, "a", reason="writer failed", spreads=True))
    assert (skipped.status, skipped.reason) == ("skipped", "writer failed")
    waiting = only(StepWaiting(0, 0, "a", reason="approval"))
    assert (waiting.status, waiting.reason) == ("waiting", "approval")


def test_a_step_that_waits_for_approval_shows_what_would_be_called() -> None:
    asked = [ApprovalRequested(0, 0, "a", "d", tool="t.a", inputs={"x": 1})]
    waiting = only(StepWaiting(0, 0, "a", reason="approval"), *asked)
    assert (waiting.tool, waiting.inputs) == ("t.a", {"x": 1})
    approved = only(StepWaiting(0, 0, "a", reason="approval"), *asked, ApprovalDecided(0, 0, "a", "d", approved=True))
    assert (approved.status, approved.reason) == ("ready", "")


def test_a_cancelled_write_is_in_doubt_and_a_cancelled_read_is_not() -> None:
    write = only(started(), StepCancelled(0, 0, "a", reason="lost the race", in_doubt=True, duration=1.0))
    assert write.status == "cancelled"
    assert write.error is not None
    assert write.error.in_doubt
    read = only(started(), StepCancelled(0, 0, "a", reason="lost the race"))
    assert (read.error, read.reason) == (None, "lost the race")


def test_a_write_whose_end_is_not_known_is_unknown_until_it_is_settled() -> None:
    events = [started(), StepUnknown(0, 0, "a", tool="t.a", key="k"), StepWaiting(0, 0, "a", reason="settle")]
    assert only(*events[:2]).status == "unknown"
    assert only(*events).status == "waiting"
    settled = only(*events, StepSucceeded(0, 0, "a", output=1, settled_by="ann"))
    assert (settled.status, settled.output, settled.reason) == ("succeeded", 1, "")


def test_a_step_that_is_retried_after_its_end_forgets_the_end_but_not_the_attempts() -> None:
    result = only(
        started(),
        StepFailed(0, 0, "a", BROKEN, duration=1.0, continued=True),
        StepReady(0, 0, "a"),
        started(),
        StepSucceeded(0, 0, "a", output=1, duration=1.0),
    )
    assert (result.status, result.error, result.continued, result.attempts, result.duration) == (
        "succeeded",
        None,
        False,
        2,
        2.0,
    )


def test_nested_steps_and_items_come_in_the_order_of_first_appearance() -> None:
    paths = ["each", "each[1]/fetch", "each[0]/fetch", "each[0]/fetch#2", "comp", "comp/a"]
    events = [StepReady(0, 0, path) for path in paths]
    results = step_results(journal(*events, *[StepSucceeded(0, 0, path) for path in reversed(paths)]))
    assert [result.path for result in results] == paths
    assert {result.status for result in results} == {"succeeded"}


def test_a_handle_stays_a_handle() -> None:
    handle = Handle(digest="sha256:0", size=9, preview="[1")
    result = only(started(inputs=handle), StepSucceeded(0, 0, "a", output=handle))
    assert result.output == result.inputs == {"$blob": "sha256:0", "size": 9, "preview": "[1"}


def test_events_that_are_not_known_and_progress_change_nothing() -> None:
    events: list[Any] = [started(), StepSucceeded(0, 0, "a", output=1)]
    later: list[Any] = [StepImagined(3, 0.0)]
    assert step_results([*journal(*events), *later]) == step_results(journal(*events))
    assert only(started(), StepProgress(0, 0, "a", 0.5)).status == "running"


PLAN: dict[str, Any] = {
    "steps": [
        {"kind": "tool", "id": "a", "tool": "t.a"},
        {"kind": "tool", "id": "comp", "tool": "t.composite"},
        {"kind": "loop", "id": "each", "body": {"steps": [{"kind": "tool", "id": "fetch", "tool": "t.fetch"}]}},
        {
            "kind": "parallel",
            "id": "both",
            "branches": [
                {"id": "left", "steps": [{"kind": "tool", "id": "l", "tool": "t.left"}]},
                {"id": "right", "steps": [{"kind": "tool", "id": "right", "tool": "t.right"}]},
            ],
        },
    ]
}
BODIES = {"t.composite": {"steps": [{"kind": "tool", "id": "inner", "tool": "t.inner"}]}}


@pytest.mark.parametrize(
    ("path", "tool"),
    [
        ("a", "t.a"),
        ("comp/inner", "t.inner"),
        ("each[3]/fetch#2", "t.fetch"),
        ("both/left/l", "t.left"),
        ("both/right", "t.right"),
        ("both", ""),
        ("nowhere", ""),
        ("a/deeper", ""),
    ],
)
def test_a_step_that_never_started_has_the_tool_of_its_plan(path: str, tool: str) -> None:
    begun = RunStarted(0, 0, run_id="r", plan=PLAN, bodies=BODIES)
    assert only(begun, StepSkipped(0, 0, path)).tool == tool


def test_a_revised_plan_names_the_tools_from_then_on() -> None:
    revised = PlanRevised(0, 0, plan={"steps": [{"kind": "tool", "id": "a", "tool": "t.new"}]})
    assert only(RunStarted(0, 0, run_id="r", plan=PLAN), revised, StepSkipped(0, 0, "a")).tool == "t.new"


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c[0]/d"]), st.sampled_from(["ready", "start", "retry", "ok", "fail", "skip"])
        ),
        max_size=30,
    )
)
def test_each_path_has_one_record_and_as_many_attempts_as_starts(moves: list[tuple[str, str]]) -> None:
    make: dict[str, Any] = {
        "ready": lambda path: StepReady(0, 0, path),
        "start": started,
        "retry": lambda path: StepRetrying(0, 0, path, 1, 1.0, BROKEN, duration=1.0),
        "ok": lambda path: StepSucceeded(0, 0, path, output=1, duration=1.0),
        "fail": lambda path: StepFailed(0, 0, path, BROKEN, duration=1.0),
        "skip": lambda path: StepSkipped(0, 0, path),
    }
    results = step_results(journal(*[make[move](path) for path, move in moves]))
    assert [result.path for result in results] == list(dict.fromkeys(path for path, _ in moves))
    for result in results:
        own = [move for path, move in moves if path == result.path]
        assert result.attempts == own.count("start")
        assert result.duration == sum(move in ("retry", "ok", "fail") for move in own)
        # What came of it is what the last event says, and nothing of before.
        assert (result.output is not None) == (own[-1] == "ok")
        assert (result.error is not None) == (own[-1] in ("retry", "fail"))
