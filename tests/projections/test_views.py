"""The views of a whole run: result, questions, cost, statistics."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from toolpath.model.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    Failure,
    FallbackStarted,
    InputReceived,
    InputRequested,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunPaused,
    RunResumed,
    RunStarted,
    StepCancelled,
    StepFailed,
    StepRetrying,
    StepStarted,
    StepSucceeded,
    StepTimedOut,
    StepUnknown,
    StepWaiting,
    Warned,
)
from toolpath.model.tool import ToolStats
from toolpath.projections.questions import open_questions
from toolpath.projections.results import run_cost, run_result
from toolpath.projections.statistics import tool_stats

TIMEOUT = Failure(type="ToolTimeout", message="took too long", code="timeout", retryable=True)
BROKEN = Failure(type="ValueError", message="no such author")


class RunImagined(Event, frozen=True, tag="run.imagined"):
    """An event of a later version."""


def journal(*events: Any) -> list[Any]:
    """The events numbered and one second apart."""
    return [msgspec.structs.replace(event, seq=n, at=100.0 + n) for n, event in enumerate(events, 1)]


def begun() -> RunStarted:
    return RunStarted(0, 0, run_id="run_1", plan={"name": "publish_post", "steps": []})


def started(path: str = "a", tool: str = "t.a") -> StepStarted:
    return StepStarted(0, 0, path, tool=tool)


def done(path: str = "a", **fields: Any) -> StepSucceeded:
    return StepSucceeded(0, 0, path, **fields)


# The result


def test_a_run_without_events_is_pending() -> None:
    result = run_result("run_1", [])
    assert (result.status, result.success, result.results, result.total_duration) == ("pending", False, (), 0.0)


def test_a_completed_run_has_its_outputs_results_warnings_and_cost() -> None:
    warning = Warned(0, 0, "a", "coerced", "text became a number")
    events = journal(begun(), started(), warning, done(cost=0.5), RunCompleted(0, 0, outputs={"x": 1}))
    result = run_result("run_1", events)
    assert (result.run_id, result.status, result.success, result.outputs) == ("run_1", "completed", True, {"x": 1})
    assert (result.total_duration, result.cost, len(result.warnings)) == (4.0, 0.5, 1)
    assert result.step("a").status == "succeeded"
    assert json.loads(json.dumps(result.as_json()))["results"][0]["path"] == "a"


@pytest.mark.parametrize(
    ("end", "status", "reason"),
    [
        (RunCompleted(0, 0, status="completed_with_errors"), "completed_with_errors", ""),
        (RunFailed(0, 0, reason="budget", error=BROKEN, outputs={"part": 1}), "failed", "budget"),
        (RunCancelled(0, 0, reason="user"), "cancelled", "user"),
        (RunPaused(0, 0, reason="user"), "paused", "user"),
    ],
)
def test_the_last_turn_of_a_run_is_its_status(end: Any, status: str, reason: str) -> None:
    result = run_result("run_1", journal(begun(), end))
    assert (result.status, result.reason) == (status, reason)
    assert (result.error, result.outputs) == (getattr(end, "error", None), getattr(end, "outputs", None))


def test_a_failed_run_that_is_retried_tells_of_its_new_end_alone() -> None:
    events = journal(begun(), RunFailed(0, 0, reason="error", error=BROKEN), RunResumed(0, 0, epoch=2))
    assert run_result("run_1", events).status == "running"
    result = run_result("run_1", [*events, *journal(*events, RunCompleted(0, 0, outputs=1))[3:]])
    assert (result.status, result.error, result.reason, result.total_duration) == ("completed", None, "", 3.0)


def test_a_run_waits_when_nothing_is_under_way_but_what_waits_for_people() -> None:
    other = StepStarted(0, 0, "other", tool="t.a", key="run_1/other/0")
    waiting = [begun(), started("comp", ""), StepWaiting(0, 0, "comp/ask", "input"), other]
    assert run_result("run_1", journal(*waiting)).status == "running"
    assert run_result("run_1", journal(*waiting, done("other"))).status == "waiting"


def test_a_run_waits_where_a_block_waits_for_a_step_that_waits() -> None:
    events = journal(begun(), started("comp", ""), started("beside", ""), StepWaiting(0, 0, "comp/ask", "input"))
    assert run_result("run_1", events).status == "waiting"


def test_an_item_of_a_loop_that_waits_leaves_the_loop_waiting() -> None:
    events = journal(begun(), started("each", ""), StepWaiting(0, 0, "each[1]/ask", "input"))
    assert run_result("run_1", events).status == "waiting"


# Questions


def approval(path: str = "a") -> ApprovalRequested:
    return ApprovalRequested(0, 0, path, "digest", tool="t.a")


def form(path: str = "f", question: str = "") -> InputRequested:
    return InputRequested(0, 0, path, {"title": "Who?"}, deadline=600.0, question=question)


def test_open_questions_are_those_without_an_answer_oldest_first() -> None:
    events = journal(approval("b"), form("f"), approval("a"), form("f", "q1"))
    assert [question.path for question in open_questions(events)] == ["b", "f", "a", "f"]


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (ApprovalDecided(0, 0, "a", "digest", approved=False), {"f", "f q1"}),
        (InputReceived(0, 0, "f", {"name": "Ann"}), {"a", "f q1"}),
        (InputReceived(0, 0, "f", {}, question="q1", declined=True), {"a", "f"}),
        (StepTimedOut(0, 0, "f", TIMEOUT), {"a"}),
        (StepCancelled(0, 0, "a"), {"f", "f q1"}),
        (RunCancelled(0, 0), set()),
        (ApprovalDecided(0, 0, "elsewhere", "digest", approved=True), {"a", "f", "f q1"}),
    ],
)
def test_an_answer_or_an_end_closes_its_own_questions(answer: Any, left: set[str]) -> None:
    asked = open_questions(journal(approval("a"), form("f"), form("f", "q1"), answer))
    assert {f"{q.path} {getattr(q, 'question', '')}".strip() for q in asked} == left


def test_a_question_that_is_asked_again_is_open_once() -> None:
    assert [question.seq for question in open_questions(journal(approval(), approval()))] == [2]


# Cost


def test_cost_is_of_calls_that_were_made() -> None:
    assert run_cost(journal(done("a", cost=0.5), done("b", cost=0.25, cached=True), done("c"))) == 0.5


def test_cost_that_a_block_reports_for_its_children_is_counted_once() -> None:
    events = journal(
        done("each[0]/a", cost=1.0), done("each[1]/a", cost=1.0), done("each", cost=2.0), done("b", cost=4.0)
    )
    assert run_cost(events) == 6.0


def test_two_visits_of_a_step_cost_twice() -> None:
    assert run_cost(journal(done("a", cost=1.0), done("a#2", cost=1.0))) == 2.0


# Statistics


def test_every_attempt_is_a_call_of_its_tool() -> None:
    stats = tool_stats(
        journal(
            started(),
            StepRetrying(0, 0, "a", 1, 1.0, TIMEOUT, duration=30.0),
            started(),
            StepRetrying(0, 0, "a", 2, 1.0, BROKEN, duration=1.0),
            started(),
            done(duration=2.0, confidence=0.8, cost=0.1),
            started("b"),
            StepTimedOut(0, 0, "b", TIMEOUT, duration=30.0),
        )
    )
    assert stats == {
        "t.a": ToolStats(
            calls=4,
            failures=1,
            timeouts=2,
            total_duration=63.0,
            durations=(2.0,),
            confidence_total=0.8,
            confidences=1,
            cost=0.1,
            updated_at=108.0,
        )
    }


@pytest.mark.parametrize(
    "end",
    [
        done(cached=True, cost=1.0),
        done(settled_by="ann"),
        StepCancelled(0, 0, "a", duration=1.0),
        StepUnknown(0, 0, "a"),
        StepFailed(0, 0, "a", Failure(type="Denied", message="no", code="denied")),
    ],
)
def test_what_was_no_call_or_has_no_known_end_does_not_count(end: Any) -> None:
    assert tool_stats(journal(started(), end)) == {}


def test_ends_without_an_attempt_and_blocks_without_a_tool_do_not_count() -> None:
    assert tool_stats(journal(StepFailed(0, 0, "a", BROKEN), started("p", ""), done("p"))) == {}


def test_an_attempt_that_died_with_its_driver_does_not_count() -> None:
    assert tool_stats(journal(started(), started(), done(duration=1.0)))["t.a"].calls == 1


def test_a_fallback_ends_the_attempt_of_the_tool_before() -> None:
    failed = tool_stats(
        journal(started(), FallbackStarted(0, 0, "a", 1, "t.b", error=BROKEN), started("a", "t.b"), done())
    )
    assert (failed["t.a"].failures, failed["t.a"].total_duration, failed["t.b"].failures) == (1, 1.0, 0)
    unsure = tool_stats(journal(started(), FallbackStarted(0, 0, "a", 1, "t.b"), started("a", "t.b"), done()))
    assert (unsure["t.a"].calls, unsure["t.a"].failures) == (1, 0)


def test_only_the_latest_durations_are_kept() -> None:
    events = [event for n in range(250) for event in (started(f"s{n}"), done(f"s{n}", duration=float(n)))]
    stats = tool_stats(journal(*events))["t.a"]
    assert (stats.calls, stats.durations) == (250, tuple(float(n) for n in range(50, 250)))


def test_an_event_of_a_later_version_is_passed_over() -> None:
    events = [*journal(begun(), started(), done()), RunImagined(4, 104.0)]
    assert run_result("run_1", events).status == "running"
    assert open_questions(events) == ()
    assert run_cost(events) == 0.0
    assert tool_stats(events)["t.a"].calls == 1
