"""Result of a run, folded from its journal; also of one that still runs or waits. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from toolpath.model.events import (
    AnyEvent,
    Failure,
    PlanRevised,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunPaused,
    RunResumed,
    RunStarted,
    StepStarted,
    StepSucceeded,
    Warned,
)
from toolpath.model.run import RunInfo, RunResult, RunStatus, StepResult
from toolpath.projections.paths import ancestors
from toolpath.projections.questions import open_questions
from toolpath.projections.steps import step_results
from toolpath.values import Json


def run_result(
    run_id: str,
    events: Sequence[AnyEvent],
    *,
    restored: Callable[[Json], Json] = lambda value: value,
    row: RunInfo | None = None,
    parked: bool = False,
) -> RunResult:
    """The result that the journal tells so far. Its step results are folded when they are first asked for.

    `row`: as it was read before the events; it may be ahead of them, where a run that has ended was taken to go on.
    `parked`: its driver has left it to people; what waits for these then need not be seen in the journal, as where an
    exclusive step waits for one and others wait for that step. `restored` puts values in the place of handles in its
    outputs; else the handles stay.
    """
    kept = tuple(events)
    status: RunStatus = "pending"
    reason, outputs, error = "", None, None
    started_at: float | None = None
    for event in kept:
        if isinstance(event, RunStarted):
            status, started_at = "running", event.at
        elif isinstance(event, _TURNS):
            status, reason, outputs, error = _turn(event)
    read: Callable[[], tuple[StepResult, ...]] = partial(step_results, kept)
    if status == "running" and not _was_begun(kept):
        status = "pending"
    if status == "running":
        results = step_results(kept)
        status = "waiting" if parked or _waits_for_people(results, kept) else "running"
        read = partial(tuple, results)
    elif row is not None and goes_on(row, kept):
        status, reason, outputs, error = "running", row.reason, None, None
    return RunResult(
        run_id=run_id,
        status=status,
        reason=reason,
        outputs=restored(outputs),
        error=error,
        total_duration=_last_turn(kept, status) - started_at if started_at is not None else 0.0,
        cost=run_cost(kept),
        warnings=tuple(event for event in kept if isinstance(event, Warned)),
        questions=open_questions(kept),
        read=read,
    )


def goes_on(row: RunInfo, events: Sequence[AnyEvent]) -> bool:
    """Whether the run goes on though these events tell of its end: who took it has written nothing yet."""
    return bool(row.intent) and bool(events) and row.last_seq == events[-1].seq


def run_end(events: Sequence[AnyEvent]) -> RunCompleted | RunFailed | RunCancelled | None:
    """The event that ended the run; None where it goes on, or has gone on since."""
    for event in reversed(events):
        match event:
            case RunCompleted() | RunFailed() | RunCancelled():
                return event
            case RunStarted() | RunPaused() | RunResumed() | PlanRevised():
                return None
    return None


def _was_begun(events: Sequence[AnyEvent]) -> bool:
    """Whether anybody has driven it: a run that waits for a worker has its start alone, a fork what it begins with."""
    first = events[0]
    if isinstance(first, RunStarted) and first.parent:
        return any(isinstance(event, RunResumed) for event in events)
    return len(events) > 1


_TURNS = (RunPaused, RunResumed, RunCompleted, RunFailed, RunCancelled)
_Turn = RunPaused | RunResumed | RunCompleted | RunFailed | RunCancelled


def _turn(event: _Turn) -> tuple[RunStatus, str, Json, Failure | None]:
    match event:
        case RunPaused():
            return "paused", event.reason, None, None
        case RunResumed():
            return "running", "", None, None
        case RunCompleted():
            return event.status, "", event.outputs, None
        case RunFailed():
            return "failed", event.reason, event.outputs, event.error
        case RunCancelled():
            return "cancelled", event.reason, event.outputs, None


def _last_turn(events: Sequence[AnyEvent], status: RunStatus) -> float:
    """Time at which the run ended, or at which its last event was."""
    if status in ("running", "waiting", "paused", "pending"):
        return events[-1].at
    return next(event.at for event in reversed(events) if isinstance(event, RunCompleted | RunFailed | RunCancelled))


def _waits_for_people(results: Sequence[StepResult], events: Sequence[AnyEvent]) -> bool:
    """Some step waits, and no call is under way but those around the steps that wait, and those that these have made.

    A block is under way through the calls in it: where it has none, it waits for a step that waits.
    """
    waiting = {result.path for result in results if result.status in ("waiting", "unknown")}
    if not waiting:
        return False
    around = {outer for path in waiting for outer in ancestors(path)}
    keys = {event.path: event.key for event in events if isinstance(event, StepStarted)}
    calls = (r.path for r in results if r.status == "ready" or (r.status == "running" and keys.get(r.path)))
    # What a tool has called goes on with that tool alone.
    return all(path in around or not waiting.isdisjoint(ancestors(path)) for path in calls)


def run_cost(events: Iterable[AnyEvent]) -> float:
    """USD of all calls that were made; results from the cache cost nothing.

    A step that tells the cost of what it did itself through other steps of the journal is not counted twice.
    """
    total = 0.0
    counted: set[str] = set()
    for event in events:
        if isinstance(event, StepSucceeded) and event.cost and not event.cached and event.path not in counted:
            total += event.cost
            counted.update(ancestors(event.path))
    return total
