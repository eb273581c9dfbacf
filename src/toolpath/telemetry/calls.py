"""Calls of one run: the attempts under way, followed through its events. Shared by metrics and traces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, Failure


class OpenAttempt:
    """One attempt at a step."""

    __slots__ = ("attempt", "in_doubt", "key", "path", "ready_at", "started_at", "started_inputs", "tool")

    def __init__(self, path: str) -> None:
        self.path = path
        self.tool = ""
        """Its key; empty for blocks and for what has not begun."""
        self.attempt = 1
        self.key = ""
        self.in_doubt = False
        """Its process died in the midst of a write."""
        self.started_at: float | None = None
        self.ready_at: float | None = None
        """When it could have started; None where it did so at once."""
        self.started_inputs: object = None


class End:
    """End of an attempt."""

    __slots__ = ("at", "call", "event", "failure", "status")

    def __init__(self, call: OpenAttempt, event: AnyEvent, status: str, failure: Failure | None = None) -> None:
        self.call = call
        self.at = event.at
        self.event = event
        self.status = status
        """succeeded, failed, timed_out, cancelled, retried or replaced (a fallback takes over)."""
        self.failure = failure


#: Events that end an attempt, and how it ended.
ENDS: dict[type[ev.Event], str] = {
    ev.StepSucceeded: "succeeded",
    ev.StepFailed: "failed",
    ev.StepTimedOut: "timed_out",
    ev.StepRetrying: "retried",
    ev.FallbackStarted: "replaced",
    ev.StepCancelled: "cancelled",
}


class OpenAttempts:
    """The attempts of one run that have begun and not ended."""

    __slots__ = ("open",)

    def __init__(self, events: Iterable[AnyEvent] = ()) -> None:
        self.open: dict[str, OpenAttempt] = {}
        for event in events:
            self.follow(event)

    def follow(self, event: AnyEvent) -> OpenAttempt | End | None:
        """Take the next event. Gives the call that it begins or the end that it is."""
        match event:
            case ev.StepReady():
                self._of(event.path).ready_at = event.at
            case ev.StepStarted():
                call = self._of(event.path)
                call.tool, call.attempt, call.key = event.tool, event.attempt, event.key
                call.started_at, call.started_inputs = event.at, event.inputs
                return call
            case ev.StepUnknown():
                self.open.setdefault(event.path, OpenAttempt(event.path)).in_doubt = True
            case ev.StepSkipped():
                self.open.pop(event.path, None)
            case _ if (status := ENDS.get(type(event))) is not None:
                return self._ended(event, status)
        return None

    def _of(self, path: str) -> OpenAttempt:
        call = self.open.get(path)
        if call is None or call.started_at is not None:
            call = self.open[path] = OpenAttempt(path)
        return call

    def _ended(self, event: Any, status: str) -> End:
        # A step may end without a start: settled by a person, or stopped while it waited.
        call = self.open.pop(event.path, None)
        return End(call or OpenAttempt(event.path), event, status, getattr(event, "error", None))
