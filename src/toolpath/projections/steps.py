"""Results of step instances, folded from the journal. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, get_args

import msgspec

from toolpath.model.event_views import VIEWS, status_of
from toolpath.model.events import (
    AnyEvent,
    ApprovalDecided,
    ApprovalRequested,
    Event,
    Failure,
    FallbackStarted,
    PlanRevised,
    RunStarted,
    StepCancelled,
    StepFailed,
    StepRetrying,
    StepStarted,
    StepSucceeded,
    StepTimedOut,
    StepUnknown,
    StepWaiting,
)
from toolpath.model.run import StepResult, StepStatus
from toolpath.projections.paths import PlannedTools, step_id
from toolpath.values import Handle, Json


def step_results(events: Iterable[AnyEvent]) -> tuple[StepResult, ...]:
    """One record per step instance, nested steps and items of loops too, in the order of first appearance.

    Events of kinds that are not known here are passed over.
    """
    rows: dict[str, _Row] = {}
    planned = PlannedTools({}, {})
    for event in events:
        if isinstance(event, RunStarted | PlanRevised):
            planned = PlannedTools(event.plan, event.bodies)
            continue
        change = CHANGES.get(type(event))
        if change is None:
            continue
        path: str = getattr(event, "path", "")
        row = rows.get(path)
        if row is None:
            if isinstance(event, ApprovalRequested | ApprovalDecided):
                # Of the run as a whole, or of a step that has not come up.
                continue
            row = rows[path] = _Row(path)
        change(row, event)
    return tuple(row.result(planned) for row in rows.values())


class _Row:
    """One step instance while its events are read."""

    __slots__ = (
        "attempt_at",
        "attempts",
        "continued",
        "duration",
        "error",
        "inputs",
        "path",
        "reason",
        "started_at",
        "status",
        "success",
        "tool",
    )

    def __init__(self, path: str) -> None:
        self.path = path
        self.status: StepStatus = "pending"
        self.tool = ""
        self.inputs: Json = None
        self.error: Failure | None = None
        self.started_at: float | None = None
        self.attempt_at: float | None = None
        """When the attempt that has not ended began."""
        self.duration = 0.0
        self.attempts = 0
        self.reason = ""
        self.success: StepSucceeded | None = None
        self.continued = False

    def stand(self, event: Any) -> None:
        """Where its event leaves it: the status that the event's view tells, and why."""
        status = _STATUSES.get(status_of(event))
        if status is not None:
            self._again(status)
            self.reason = getattr(event, "reason", "")

    def start(self, event: StepStarted) -> None:
        self._again("running")
        self.attempts += 1
        self.attempt_at = event.at
        if self.started_at is None:
            self.started_at = event.at
        self.tool = event.tool or self.tool
        self.inputs = event.inputs

    def retry(self, event: StepRetrying) -> None:
        self._end_attempt("ready", event.duration, event.error)

    def fall_back(self, event: FallbackStarted) -> None:
        # Only the journal's times tell how long the attempt took that it takes over from.
        self._end_attempt("ready", event.at - self.attempt_at if self.attempt_at else 0.0, event.error)
        self.tool = event.tool

    def succeed(self, event: StepSucceeded) -> None:
        self._end_attempt("succeeded", event.duration, None)
        self.success = event

    def fail(self, event: StepFailed | StepTimedOut) -> None:
        status: StepStatus = "failed" if isinstance(event, StepFailed) else "timed_out"
        self._end_attempt(status, event.duration, event.error)
        self.continued = event.continued

    def cancel(self, event: StepCancelled) -> None:
        self._end_attempt("cancelled", event.duration, _cancelled(event))
        self.reason = event.reason

    def doubt(self, event: StepUnknown) -> None:
        self._again("unknown")
        self.attempt_at = None
        self.tool = event.tool or self.tool

    def wait(self, event: StepWaiting) -> None:
        self.status, self.reason = "waiting", event.reason

    def request_approval(self, event: ApprovalRequested) -> None:
        if self.attempts == 0:
            self.tool, self.inputs = event.tool or self.tool, event.inputs

    def decide_approval(self, event: ApprovalDecided) -> None:
        if event.approved and self.status == "waiting":
            self._again("ready")

    def _again(self, status: StepStatus) -> None:
        """A step that had ended is taken up anew: its outcome before counts no more, its attempts do."""
        self.status, self.reason, self.error, self.success, self.continued = status, "", None, None, False

    def _end_attempt(self, status: StepStatus, duration: float, error: Failure | None) -> None:
        self._again(status)
        self.duration += duration
        self.error = error
        self.attempt_at = None

    def result(self, planned: PlannedTools) -> StepResult:
        success = self.success
        return StepResult(
            step=step_id(self.path),
            path=self.path,
            tool=self.tool or planned.tool(self.path),
            status=self.status,
            inputs=_plain(self.inputs),
            output=_plain(success.output) if success else None,
            error=self.error,
            confidence=success.confidence if success else None,
            sources=success.sources if success else (),
            started_at=self.started_at,
            duration=self.duration,
            attempts=self.attempts,
            cached=success.cached if success else False,
            reason=self.reason,
            cost=success.cost if success else None,
            continued=self.continued,
        )


_STATUSES: dict[str, StepStatus] = {status: status for status in get_args(StepStatus)}
#: What each event changes in the result of its step. An event of a step that has no row of its own leaves the step as
#: its view tells; an event of something else that is not here changes none.
CHANGES: dict[type[Event], Callable[[_Row, Any], None]] = {
    **{event: _Row.stand for event in VIEWS if str(event.__struct_config__.tag).startswith("step.")},
    StepStarted: _Row.start,
    StepRetrying: _Row.retry,
    FallbackStarted: _Row.fall_back,
    StepSucceeded: _Row.succeed,
    StepFailed: _Row.fail,
    StepTimedOut: _Row.fail,
    StepCancelled: _Row.cancel,
    StepUnknown: _Row.doubt,
    StepWaiting: _Row.wait,
    ApprovalRequested: _Row.request_approval,
    ApprovalDecided: _Row.decide_approval,
}


def _cancelled(event: StepCancelled) -> Failure | None:
    if not event.in_doubt:
        return None
    message = "The step was cancelled while a write was under way; it may have happened."
    return Failure(type="Cancelled", message=message, code="cancelled", in_doubt=True)


def _plain(value: Json) -> Json:
    return msgspec.to_builtins(value) if type(value) is Handle else value
