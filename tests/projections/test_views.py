"""The views of a whole run: result, questions, cost, statistics, timeline, CloudEvents."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from toolpath.model.events import (
    ApprovalDecided,
    ApprovalRequested,
    BranchTaken,
    BudgetExceeded,
    Event,
    Failure,
    FallbackStarted,
    InputReceived,
    InputRequested,
    PlanRevised,
    RunAuthorized,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunPaused,
    RunResumed,
    RunStarted,
    StateWritten,
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
    ToolsFrozen,
    Warned,
)
from toolpath.model.tool import ToolStats
from toolpath.projections.cloudevents import to_cloudevent
from toolpath.projections.costs import run_cost
from toolpath.projections.questions import open_questions
from toolpath.projections.results import run_result
from toolpath.projections.statistics import tool_stats
from toolpath.projections.timeline import seconds, timeline

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
    return ApprovalRequested(0, 0, path, "digest", tool="t.a", deadline=500.0)


def form(path: str = "f", question: str = "") -> InputRequested:
    return InputRequested(0, 0, path, {"title": "Who?"}, deadline=600.0, question=question)


def test_open_questions_are_those_without_an_answer_oldest_first() -> None:
    events = journal(approval("b"), form("f"), approval("a"), form("f", "q1"))
    assert [(q.path, q.deadline) for q in open_questions(events)] == [
        ("b", 500.0),
        ("f", 600.0),
        ("a", 500.0),
        ("f", 600.0),
    ]


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


# The timeline

EVERY = journal(
    begun(),
    RunPaused(0, 0, "user"),
    RunResumed(0, 0, 2),
    StepReady(0, 0, "a"),
    StepStarted(0, 0, "a", attempt=2, tool="t.a"),
    StepProgress(0, 0, "a", 3, 10, "pages"),
    StepRetrying(0, 0, "a", 1, 1.5, BROKEN),
    StepSucceeded(0, 0, "a", duration=0.34),
    StepFailed(0, 0, "a", BROKEN),
    StepTimedOut(0, 0, "a", TIMEOUT, duration=30.0),
    StepSkipped(0, 0, "a", "writer failed"),
    StepCancelled(0, 0, "a", "lost", in_doubt=True),
    StepUnknown(0, 0, "a", "t.a"),
    StepWaiting(0, 0, "a", "approval"),
    FallbackStarted(0, 0, "a", 1, "t.b", BROKEN),
    StateWritten(0, 0, "", {"x": 1, "y": 2}),
    BranchTaken(0, 0, "", "a", "c", "on_failure"),
    approval(),
    ApprovalDecided(0, 0, "a", "digest", approved=False, by="ann", comment="too dear"),
    form(),
    InputReceived(0, 0, "f", {}, by="bob"),
    BudgetExceeded(0, 0, "cost", 1.2, 1.0),
    RunAuthorized(0, 0, ("tools.read",), "ann"),
    ToolsFrozen(0, 0, {"t.a": "sha256:1"}),
    PlanRevised(0, 0, {}, reason="a failed"),
    Warned(0, 0, "a", "coerced", "text became a number"),
    RunCompleted(0, 0, status="completed_with_errors"),
    RunFailed(0, 0, "error", BROKEN),
    RunCancelled(0, 0),
)


def test_every_kind_of_event_is_a_line_for_people() -> None:
    assert [row.what for row in timeline(EVERY)] == [
        "run started: publish_post",
        "run paused: user",
        "run resumed",
        "ready",
        "started t.a, attempt 2",
        "progress 3 of 10: pages",
        "attempt 1 failed, next in 1.5 s: no such author",
        "succeeded in 340 ms",
        "failed: no such author",
        "timed out after 30.0 s: took too long",
        "skipped: writer failed",
        "cancelled, perhaps after it took effect: lost",
        "not known whether t.a took effect",
        "waiting: approval",
        "falls back to t.b: no such author",
        "wrote x, y",
        "went from a to c: on_failure",
        "asks for approval of t.a",
        "denied by ann: too dear",
        "asks for input: Who?",
        "answered by bob",
        "budget of cost exceeded: 1.2 of 1",
        "goes on with the rights of ann",
        "tools called by tools: t.a",
        "plan revised: a failed",
        "warning coerced: text became a number",
        "run completed with errors",
        "run failed: error: no such author",
        "run cancelled",
    ]


def test_the_list_of_kinds_is_complete() -> None:
    kinds = {kind.__struct_config__.tag for kind in Event.__subclasses__() if kind.__module__ == Event.__module__}
    assert {type(event).__struct_config__.tag for event in EVERY} == kinds


def test_a_line_tells_when_and_where() -> None:
    row = timeline(EVERY)[3]
    assert (row.seq, row.at, row.elapsed, row.path) == (4, 104.0, 3.0, "a")


def test_text_of_tools_cannot_reach_the_terminal() -> None:
    hostile = Failure(type="E", message="\x1b[2Jgone\r\nline\u202e" + "x" * 500)
    (row,) = timeline(journal(StepFailed(0, 0, "a", hostile)))
    assert row.what.startswith("failed: [2Jgone line x")
    assert len(row.what) == 200
    assert row.what.isprintable()


def test_an_event_of_a_later_version_is_passed_over_or_named() -> None:
    events = [*journal(begun(), started(), done()), RunImagined(4, 104.0)]
    assert timeline(events)[-1].what == "run.imagined"
    assert run_result("run_1", events).status == "running"
    assert open_questions(events) == ()
    assert run_cost(events) == 0.0
    assert tool_stats(events)["t.a"].calls == 1


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (0.0, "0 ms"),
        (0.34, "340 ms"),
        (0.9999, "1.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 0 s"),
        (125, "2 min 5 s"),
        (12_000, "3 h 20 min"),
    ],
)
def test_durations_are_written_as_people_do(duration: float, text: str) -> None:
    assert seconds(duration) == text


# CloudEvents


def test_an_event_in_a_cloudevent_keeps_all_it_says() -> None:
    (event,) = journal(StepSucceeded(0, 0, "each[0]/a", output={"x": 1}, duration=1.0))
    envelope = to_cloudevent(event, "run 1")
    assert envelope == {
        "specversion": "1.0",
        "id": "run 1/1",
        "source": "/runs/run%201",
        "type": "toolpath.step.succeeded",
        "time": "1970-01-01T00:01:41.000Z",
        "sequence": "000000000001",
        "datacontenttype": "application/json",
        "subject": "each[0]/a",
        "data": {"path": "each[0]/a", "output": {"x": 1}, "duration": 1.0},
    }


@pytest.mark.parametrize("event", EVERY, ids=lambda event: type(event).__name__)
def test_every_event_is_a_cloudevent_in_json(event: Any) -> None:
    envelope = json.loads(json.dumps(to_cloudevent(event, "run_1")))
    assert {"specversion", "id", "source", "type"} <= envelope.keys()
    assert datetime.fromisoformat(envelope["time"]) == datetime.fromtimestamp(event.at, UTC)
    assert envelope.get("subject", "x")
