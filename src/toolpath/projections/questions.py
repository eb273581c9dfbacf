"""Questions that a run waits for people to decide or to fill in. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from toolpath.model.events import (
    AnyEvent,
    ApprovalDecided,
    ApprovalRequested,
    InputReceived,
    InputRequested,
    RunCancelled,
    RunCompleted,
    RunFailed,
    StepCancelled,
    StepFailed,
    StepSkipped,
    StepSucceeded,
    StepTimedOut,
)

Question = ApprovalRequested | InputRequested


def open_questions(events: Iterable[AnyEvent]) -> tuple[Question, ...]:
    """The requests without a decision or answer, oldest first. A form has its `deadline` (Unix time) or None.

    The end of a step closes its questions, the end of the run all of them.
    """
    questions: dict[str, dict[str, Question]] = {}
    for event in events:
        match event:
            case ApprovalRequested():
                _ask(questions, event, "approval")
            case InputRequested():
                _ask(questions, event, f"input {event.question}")
            case ApprovalDecided():
                questions.get(event.path, {}).pop("approval", None)
            case InputReceived():
                questions.get(event.path, {}).pop(f"input {event.question}", None)
            case StepSucceeded() | StepFailed() | StepTimedOut() | StepSkipped() | StepCancelled():
                questions.pop(event.path, None)
            case RunCompleted() | RunFailed() | RunCancelled():
                questions.clear()
            case _:
                pass
    asked = (question for of_path in questions.values() for question in of_path.values())
    return tuple(sorted(asked, key=lambda question: question.seq))


def _ask(questions: dict[str, dict[str, Question]], event: Question, key: str) -> None:
    questions.setdefault(event.path, {})[key] = event
