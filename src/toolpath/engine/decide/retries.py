"""Retries: whether a failed attempt is made again, and when. Pure: chance comes in as an argument."""

from __future__ import annotations

from typing import Any, Final

from toolpath.engine.compile.nodes import CallTarget
from toolpath.model.events import Failure
from toolpath.model.plan import Retry

#: Failures that the same call would meet again; never repeated, whatever the plan says.
NEVER = frozenset(
    {
        "validation",
        "unresolved",
        "expression",
        "not_found",
        "permission",
        "policy",
        "cancelled",
        "denied",
        "budget",
        "depth",
        "internal",
        "replay_miss",
        "schema",
        "step_visits",
        "tool_changed",
    }
)

#: Seconds of the longest pause that a tool or a server may ask for; a longer one counts as none, and `backoff` says it.
LONGEST_PAUSE: Final = 86_400.0


def pause_asked_for(seconds: Any) -> float | None:
    """The pause that a tool or a server asks for with its failure, in seconds; None for none that is heeded."""
    is_number = type(seconds) in (int, float)
    return float(seconds) if is_number and 0 <= seconds <= LONGEST_PAUSE else None


def next_delay(target: CallTarget, attempt: int, failure: Failure, chance: float) -> float | None:
    """Seconds until the next attempt, by `delay`, or None when there is none. `chance` is in [0, 1)."""
    # Whether a write is in doubt is not asked: an explicit retry is consent, and without one a write has no retries.
    retry = target.retry
    if attempt > retry.max_retries or failure.code in NEVER:
        return None
    if retry.retry_on is not None:
        if failure.code not in retry.retry_on and failure.type not in retry.retry_on:
            return None
    elif not target.explicit_retry and not failure.retryable:
        return None
    # What the server asks for wins over what the plan would do.
    return failure.retry_after if failure.retry_after is not None else delay(retry, attempt, chance)


def delay(retry: Retry, attempt: int, chance: float) -> float:
    """The pause after this many attempts: with jitter between half of it and the whole."""
    match retry.backoff:
        case "none":
            return 0.0
        case "fixed":
            pause = retry.initial_delay
        case "exponential":
            # A large count would overflow a float long after the cap was reached.
            pause = retry.initial_delay * retry.factor ** min(attempt - 1, 64)
    pause = min(pause, retry.max_delay)
    return pause * (0.5 + chance / 2) if retry.jitter else pause
