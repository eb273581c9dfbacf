"""Questions that a run waits for, followed event by event, so that its row can tell without its journal. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from toolpath.model import events as ev
from toolpath.model.events import AnyEvent

AskedKind = Literal["approval", "input", "doubt"]


#: Looked up for every event of every run, so by type.
_OPENING = frozenset(
    {
        ev.ApprovalRequested,
        ev.InputRequested,
        ev.StepUnknown,
        ev.RunResumed,
        ev.RunCompleted,
        ev.RunFailed,
        ev.RunCancelled,
    }
)


class OpenQuestion(msgspec.Struct, frozen=True, array_like=True):
    """One thing that waits for a person: an approval, a form, or a write in doubt."""

    kind: AskedKind
    seq: int
    """Number of the event that asks."""
    at: float
    """When it was asked, Unix time."""
    due: float | None = None
    """After which no answer is taken."""


class AskingRun(msgspec.Struct, frozen=True):
    """A run that waits for people, as its row tells."""

    run_id: str
    last_seq: int
    since: float
    """When the first of its questions was asked; Unix time. The place of the run among those that ask."""
    asked: tuple[OpenQuestion, ...] | None
    """None: its row does not tell, since older code drove it."""
    name: str
    """Name of its plan."""


class Asking:
    """The open questions of one run, in the order in which they were asked."""

    __slots__ = ("_changed", "_ended", "_open", "_told")

    def __init__(self) -> None:
        self._open: dict[str, dict[str, OpenQuestion]] = {}
        """By path and question."""
        self._ended = False
        self._changed = True
        self._told: tuple[OpenQuestion, ...] | None = None
        """What `news` gave last; None: nobody knows what the run's row tells."""

    def follow(self, events: Iterable[AnyEvent]) -> None:
        """Take the next events."""
        if not self._open and _OPENING.isdisjoint(map(type, events)):
            # As nearly always: told for all of them at once.
            return
        for event in events:
            if type(event) in _OPENING:
                self._open_by(event)
            elif self._open:
                self._close_by(event)

    def _open_by(self, event: AnyEvent) -> None:
        match event:
            case ev.ApprovalRequested():
                self._ask(event.path, "approval", OpenQuestion("approval", event.seq, event.at))
            case ev.InputRequested():
                self._ask(
                    event.path, f"input {event.question}", OpenQuestion("input", event.seq, event.at, event.deadline)
                )
            case ev.StepUnknown():
                self._ask(event.path, "doubt", OpenQuestion("doubt", event.seq, event.at))
            case ev.RunResumed():
                self._ended, self._changed = False, True
            case _:
                self._end()

    def _close_by(self, event: AnyEvent) -> None:
        match event:
            case ev.ApprovalDecided():
                self._answer(event.path, "approval")
            case ev.InputReceived():
                self._answer(event.path, f"input {event.question}")
            case ev.StepSucceeded() | ev.StepFailed() | ev.StepTimedOut() | ev.StepSkipped() | ev.StepCancelled():
                if self._open.pop(event.path, None) is not None:
                    self._changed = True
            case ev.StepReady() | ev.StepStarted() | ev.StepRetrying() | ev.FallbackStarted() | ev.StepWaiting():
                self._answer(event.path, "doubt")
            case _:
                pass

    def _ask(self, path: str, question: str, asked: OpenQuestion) -> None:
        self._open.setdefault(path, {})[question] = asked
        self._changed = True

    def _answer(self, path: str, question: str) -> None:
        if self._open.get(path, {}).pop(question, None) is not None:
            self._changed = True

    def _end(self) -> None:
        # A write in doubt stays in doubt; a run that has ended asks nobody about it.
        doubts = {path: {"doubt": asked["doubt"]} for path, asked in self._open.items() if "doubt" in asked}
        self._open, self._ended, self._changed = doubts, True, True

    def are_none(self) -> None:
        """The run's row tells that nothing is asked."""
        self._changed, self._told = False, ()

    def news(self) -> tuple[OpenQuestion, ...] | None:
        """The open questions, where these have changed since this was last asked; else None."""
        if not self._changed:
            return None
        self._changed = False
        before, self._told = self._told, self.open()
        return None if before == self._told else self._told

    def open(self) -> tuple[OpenQuestion, ...]:
        """The questions that are open now."""
        if self._ended:
            return ()
        found = [asked for questions in self._open.values() for asked in questions.values()]
        return tuple(sorted(found, key=lambda asked: asked.seq))
