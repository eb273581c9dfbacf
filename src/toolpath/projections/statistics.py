"""Statistics of tools from the calls of a run, attempt by attempt. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from toolpath.model.events import (
    AnyEvent,
    Failure,
    FallbackStarted,
    StepCancelled,
    StepFailed,
    StepRetrying,
    StepStarted,
    StepSucceeded,
    StepTimedOut,
    StepUnknown,
)
from toolpath.model.tool import ToolStats

#: Faults of the caller, not of the tool: the call was not made.
NOT_CALLED = frozenset(
    {"validation", "unresolved", "not_found", "permission", "policy", "cancelled", "denied", "budget"}
)
#: How many of the latest durations a tool's statistics hold.
KEPT_DURATIONS = 200


def tool_stats(events: Iterable[AnyEvent]) -> dict[str, ToolStats]:
    """Calls, failures, durations (s), confidence and cost (USD) by tool key.

    Every attempt is a call. Results from the cache, attempts that were cancelled and such whose end is not known are
    none.
    """
    tallies: dict[str, _Tally] = {}
    open_attempts: dict[str, StepStarted] = {}
    for event in events:
        if isinstance(event, StepStarted):
            open_attempts[event.path] = event
            continue
        if not isinstance(event, _ENDS):
            continue
        attempt = open_attempts.pop(event.path, None)
        # A block has no tool; an end without an attempt is a step that never got as far as its call.
        if attempt is not None and attempt.tool:
            tally = tallies.get(attempt.tool) or _Tally()
            if tally.take(event, attempt):
                tallies[attempt.tool] = tally
    return {tool: tally.stats() for tool, tally in tallies.items()}


_ENDS = (StepRetrying, StepSucceeded, StepFailed, StepTimedOut, StepCancelled, StepUnknown, FallbackStarted)
_End = StepRetrying | StepSucceeded | StepFailed | StepTimedOut | StepCancelled | StepUnknown | FallbackStarted


class _Tally:
    """One tool's figures while events are read."""

    __slots__ = ("durations", "known")

    def __init__(self) -> None:
        self.known = ToolStats()
        self.durations: list[float] = []

    def take(self, event: _End, attempt: StepStarted) -> bool:
        """Count the attempt that ends with this event; False when it was no call."""
        match event:
            case StepSucceeded():
                if event.cached or event.settled_by:
                    return False
                self._succeed(event.duration, event.at, confidence=event.confidence, cost=event.cost or 0.0)
            case FallbackStarted(error=None):
                # Another tool is asked because this one was not sure enough: it did answer.
                self._succeed(event.at - attempt.at, event.at)
            case FallbackStarted(error=Failure() as error):
                return self._fail(error, event.at - attempt.at, event.at)
            case StepRetrying() | StepFailed():
                return self._fail(event.error, event.duration, event.at)
            case StepTimedOut():
                return self._fail(event.error, event.duration, event.at, timed_out=True)
            case _:
                return False
        return True

    def _succeed(self, duration: float, at: float, *, confidence: float | None = None, cost: float = 0.0) -> None:
        known = self.known
        self.durations.append(duration)
        self.known = msgspec.structs.replace(
            known,
            calls=known.calls + 1,
            total_duration=known.total_duration + duration,
            confidence_total=known.confidence_total + (confidence or 0.0),
            confidences=known.confidences + (confidence is not None),
            cost=known.cost + cost,
            updated_at=at,
        )

    def _fail(self, error: Failure, duration: float, at: float, *, timed_out: bool = False) -> bool:
        if error.code in NOT_CALLED:
            return False
        known = self.known
        timed_out = timed_out or error.code == "timeout"
        self.known = msgspec.structs.replace(
            known,
            calls=known.calls + 1,
            failures=known.failures + (not timed_out),
            timeouts=known.timeouts + timed_out,
            total_duration=known.total_duration + duration,
            updated_at=at,
        )
        return True

    def stats(self) -> ToolStats:
        return msgspec.structs.replace(self.known, durations=tuple(self.durations[-KEPT_DURATIONS:]))
