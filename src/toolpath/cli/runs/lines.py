"""Events as lines of text, for logs and pipes: one line an event that a person wants to know."""

from __future__ import annotations

from toolpath.cli.output import seconds, short
from toolpath.model.events import (
    AnyEvent,
    ApprovalRequested,
    BudgetExceeded,
    Failure,
    FallbackStarted,
    InputRequested,
    PlanRevised,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunPaused,
    RunResumed,
    RunStarted,
    StepCancelled,
    StepFailed,
    StepProgress,
    StepRetrying,
    StepSkipped,
    StepStarted,
    StepSucceeded,
    StepTimedOut,
    StepUnknown,
    StepWaiting,
    Warned,
)

_WORDS = {RunResumed: "run resumed", RunPaused: "run paused"}


def event_line(event: AnyEvent, since: float) -> str | None:
    """What happened, with the seconds since `since`; None for what only machines need."""
    what = _of_run(event) or _of_step(event)
    return f"{max(0.0, event.at - since):9.3f} s  {what}" if what else None


def _of_run(event: AnyEvent) -> str | None:
    match event:
        case RunStarted():
            return f"run {event.run_id} started: {short(event.plan.get('name', ''), 80)}"
        case RunCompleted():
            return f"run {event.status.replace('_', ' ')}"
        case RunFailed():
            return f"run failed: {_why(words_of(event.error) if event.error else event.reason)}"
        case RunCancelled():
            return f"run cancelled{': ' + event.reason if event.reason else ''}"
        case RunResumed() | RunPaused():
            return _WORDS[type(event)] + (f": {event.reason}" if event.reason else "")
        case PlanRevised():
            return f"plan revised, {len(event.kept)} steps stay: {_why(event.reason)}"
        case BudgetExceeded():
            return f"budget of {event.budget} exceeded: {event.used:g} of {event.limit:g}"
        case Warned():
            return f"{event.path or 'run'}: warning {event.code}: {_why(event.message)}"
        case _:
            return None


def _of_step(event: AnyEvent) -> str | None:
    match event:
        case StepStarted():
            attempt = f", attempt {event.attempt}" if event.attempt > 1 else ""
            return f"{event.path} started{f' ({event.tool})' if event.tool else ''}{attempt}"
        case StepProgress():
            total = f" of {event.total:g}" if event.total else ""
            return f"{event.path} {event.progress:g}{total} {short(event.message, 120)}".rstrip()
        case StepRetrying():
            again = f"again in {event.delay:g} s"
            return f"{event.path} attempt {event.attempt} failed, {again}: {_why(words_of(event.error))}"
        case FallbackStarted():
            return f"{event.path} falls back to {event.tool}"
        case StepSucceeded():
            how = "from the cache" if event.cached else f"in {seconds(event.duration)}"
            return f"{event.path} succeeded {how}"
        case StepFailed() | StepTimedOut():
            word = "failed" if isinstance(event, StepFailed) else "timed out"
            return f"{event.path} {word}{' (continued)' if event.continued else ''}: {_why(words_of(event.error))}"
        case _:
            return _of_rest(event)


def _of_rest(event: AnyEvent) -> str | None:
    match event:
        case StepSkipped():
            return f"{event.path} skipped{': ' + event.reason if event.reason else ''}"
        case StepCancelled():
            doubt = " (whether its write happened is not known)" if event.in_doubt else ""
            return f"{event.path} cancelled{doubt}"
        case StepUnknown():
            return f"{event.path} was interrupted: whether its write happened is not known"
        case StepWaiting():
            return f"{event.path} waits for a person ({event.reason})"
        case ApprovalRequested():
            return f"{event.path or 'run'} asks for approval of {event.tool or 'the plan'}"
        case InputRequested():
            return f"{event.path} asks: {short(event.form.get('title', ''), 120)}"
        case _:
            return None


def words_of(failure: Failure) -> str:
    """Why something failed; an error that is none of ours with its type, since `KeyError` says more than `'tea'`."""
    if failure.code == "tool_failed" and failure.type not in ("ToolFailed", "SettledFailed"):
        return f"{failure.type}: {failure.message}"
    return failure.message


def _why(message: str) -> str:
    # One line an event; the report at the end has all lines.
    first, more, _ = message.strip().partition("\n")
    return short(f"{first} …" if more else first, 400)
