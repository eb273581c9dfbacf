"""Results of step instances, folded from the journal. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from toolpath.model.events import (
    AnyEvent,
    ApprovalDecided,
    ApprovalRequested,
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
        match event:
            case RunStarted() | PlanRevised():
                planned = PlannedTools(event.plan, event.bodies)
            case ApprovalRequested() | ApprovalDecided():
                if event.path in rows:
                    rows[event.path].approve(event)
            case (
                StepReady()
                | StepStarted()
                | StepProgress()
                | StepRetrying()
                | FallbackStarted()
                | StepSucceeded()
                | StepFailed()
                | StepTimedOut()
                | StepSkipped()
                | StepCancelled()
                | StepUnknown()
                | StepWaiting()
            ):
                row = rows.get(event.path)
                if row is None:
                    row = rows[event.path] = _Row(event.path)
                row.take(event)
            case _:
                pass
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

    def take(self, event: Any) -> None:
        match event:
            case StepReady():
                self._again("ready")
            case StepStarted():
                self._start(event)
            case StepRetrying():
                self._end_attempt("ready", event.duration, event.error)
            case FallbackStarted():
                # Only the journal's times tell how long the attempt took that it takes over from.
                self._end_attempt("ready", event.at - self.attempt_at if self.attempt_at else 0.0, event.error)
                self.tool = event.tool
            case StepSucceeded():
                self._end_attempt("succeeded", event.duration, None)
                self.success = event
            case StepFailed() | StepTimedOut():
                status: StepStatus = "failed" if isinstance(event, StepFailed) else "timed_out"
                self._end_attempt(status, event.duration, event.error)
                self.continued = event.continued
            case StepSkipped():
                self._again("skipped")
                self.reason = event.reason
            case StepCancelled():
                self._end_attempt("cancelled", event.duration, _cancelled(event))
                self.reason = event.reason
            case StepUnknown():
                self._again("unknown")
                self.attempt_at = None
                self.tool = event.tool or self.tool
            case StepWaiting():
                self.status, self.reason = "waiting", event.reason

    def approve(self, event: ApprovalRequested | ApprovalDecided) -> None:
        if isinstance(event, ApprovalDecided):
            if event.approved and self.status == "waiting":
                self._again("ready")
        elif self.attempts == 0:
            self.tool, self.inputs = event.tool or self.tool, event.inputs

    def _again(self, status: StepStatus) -> None:
        """A step that had ended is taken up anew: what came of it before counts no more, its attempts do."""
        self.status, self.reason, self.error, self.success, self.continued = status, "", None, None, False

    def _start(self, event: StepStarted) -> None:
        self._again("running")
        self.attempts += 1
        self.attempt_at = event.at
        if self.started_at is None:
            self.started_at = event.at
        self.tool = event.tool or self.tool
        self.inputs = event.inputs

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


def _cancelled(event: StepCancelled) -> Failure | None:
    if not event.in_doubt:
        return None
    message = "The step was cancelled while a write was under way; it may have happened."
    return Failure(type="Cancelled", message=message, code="cancelled", in_doubt=True)


def _plain(value: Json) -> Json:
    return msgspec.to_builtins(value) if type(value) is Handle else value
