"""The journal as lines for people. Pure; it writes no colours and lays out nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from toolpath.model import events as model
from toolpath.model.events import AnyEvent, Failure, event_type

_LONGEST = 200
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


class TimelineRow(msgspec.Struct, frozen=True):
    """One line: when, which step (empty: the run), and what happened."""

    seq: int
    at: float
    """Unix time in seconds."""
    elapsed: float
    """Seconds since the run's first event."""
    path: str
    what: str


def timeline(events: Iterable[AnyEvent]) -> tuple[TimelineRow, ...]:
    """A line per event, in the order of the journal. Text of tools is cut short and holds no control characters."""
    rows: list[TimelineRow] = []
    start: float | None = None
    for event in events:
        start = event.at if start is None else start
        path = getattr(event, "path", "")
        rows.append(TimelineRow(event.seq, event.at, event.at - start, path, _line(_what(event))))
    return tuple(rows)


def seconds(duration: float) -> str:
    """A duration as people write it: `340 ms`, `1.2 s`, `2 min 5 s`, `3 h 20 min`."""
    if duration < 0.9995:
        return f"{duration * 1000:.0f} ms"
    if duration < 59.95:
        return f"{duration:.1f} s"
    minutes, rest = divmod(round(duration), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _line(text: str) -> str:
    # Cut before it is cleaned: a message may have megabytes.
    text = " ".join(_UNPRINTABLE.sub(" ", text[: 10 * _LONGEST]).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _what(event: AnyEvent) -> str:
    kind = event_type(event)
    if kind.startswith(("run.", "tools.")):
        return _of_run(event)
    if kind.startswith("step.") and not kind.endswith(("waiting", "skipped", "unknown", "progress")):
        return _of_attempt(event)
    if kind.startswith(("approval.", "input.")):
        return _of_people(event)
    return _of_flow(event)


def _of_run(event: AnyEvent) -> str:
    match event:
        case model.RunStarted():
            return f"run started: {event.plan.get('name', 'plan')}"
        case model.RunPaused():
            return _with("run paused", event.reason)
        case model.RunAuthorized(by=by):
            return f"goes on with the rights of {by}" if by else "goes on with somebody else's rights"
        case model.ToolsFrozen(tools=tools):
            return f"tools called by tools: {', '.join(tools)}"
        case model.RunResumed():
            return _with("run resumed", event.reason)
        case model.RunCompleted():
            return "run completed" + (" with errors" if event.status == "completed_with_errors" else "")
        case model.RunFailed():
            return _with("run failed", event.reason, event.error)
        case model.RunCancelled():
            return _with("run cancelled", event.reason)
        case _:
            return event_type(event)


def _of_attempt(event: AnyEvent) -> str:
    match event:
        case model.StepReady():
            return "ready"
        case model.StepStarted():
            tool = f" {event.tool}" if event.tool else ""
            return f"started{tool}" + (f", attempt {event.attempt}" if event.attempt > 1 else "")
        case model.StepRetrying():
            return _with(f"attempt {event.attempt} failed, next in {seconds(event.delay)}", "", event.error)
        case model.StepSucceeded():
            settled = f", settled by {event.settled_by}" if event.settled_by else ""
            return "succeeded" + (" from the cache" if event.cached else f" in {seconds(event.duration)}") + settled
        case model.StepFailed():
            return _with("failed, continued" if event.continued else "failed", "", event.error)
        case model.StepTimedOut():
            return _with(f"timed out after {seconds(event.duration)}", "", event.error)
        case model.StepCancelled():
            return _with("cancelled, perhaps after it took effect" if event.in_doubt else "cancelled", event.reason)
        case _:
            return event_type(event)


def _of_people(event: AnyEvent) -> str:
    match event:
        case model.ApprovalRequested():
            return f"asks for approval of {event.tool or 'the run'}"
        case model.ApprovalDecided():
            decided = "approved" if event.approved else "denied"
            return _with(f"{decided} by {event.by}" if event.by else decided, event.comment)
        case model.InputRequested():
            return _with("asks for input", str(event.form.get("title", "")))
        case model.InputReceived():
            answered = "declined" if event.declined else "answered"
            return f"{answered} by {event.by}" if event.by else answered
        case _:
            return event_type(event)


def _of_flow(event: AnyEvent) -> str:
    match event:
        case model.StepProgress():
            of = f" of {event.total:g}" if event.total is not None else ""
            return _with(f"progress {event.progress:g}{of}", event.message)
        case model.StepSkipped():
            return _with("skipped", event.reason)
        case model.StepUnknown():
            return f"not known whether {event.tool or 'the call'} took effect"
        case model.StepWaiting():
            return _with("waiting", event.reason)
        case model.FallbackStarted():
            return _with(f"falls back to {event.tool}", "", event.error)
        case model.StateWritten():
            return f"wrote {', '.join(event.values)}"
        case model.BranchTaken():
            return _with(f"went from {event.source} to {event.target}", event.cause)
        case model.BudgetExceeded():
            return f"budget of {event.budget} exceeded: {event.used:g} of {event.limit:g}"
        case model.PlanRevised():
            return _with("plan revised", event.reason)
        case model.Warned():
            return _with(f"warning {event.code}", event.message)
        case _:
            return event_type(event)


def _with(text: str, reason: str, error: Failure | None = None) -> str:
    parts = [text, *([reason] if reason else []), *([error.message] if error is not None else [])]
    return ": ".join(parts)
