"""Open questions of runs: approvals, forms, writes in doubt, as every door shows them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal

import msgspec

from toolpath.app import Toolpath
from toolpath.model.events import ApprovalRequested, InputRequested
from toolpath.model.open_questions import AskingRun
from toolpath.model.run import ENDED_RUN, RunResult
from toolpath.projections.results import run_result
from toolpath.values import Json, JsonObject

#: Runs whose questions are kept at hand.
KEPT = 2_000


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """Something that waits for a person.

    `approval`: a step with its tool and inputs; `input`: a form; `settle`: a write in doubt.
    """

    run_id: str
    run_name: str = ""
    """Name of the run's plan; told where questions of many runs are listed."""
    step: str
    """Path of the step, by which it is answered."""
    kind: Literal["approval", "input", "settle"]
    tool: str = ""
    inputs: Json = None
    form: JsonObject | None = None
    """Title and fields, each with name, label, type, whether it is required, and options."""
    asked_at: float = 0.0
    deadline: float | None = None
    """After which no answer is taken."""


class OpenQuestions:
    """The open questions of runs, read from the events that ask, which a row names; else from the journal."""

    def __init__(self, tp: Toolpath) -> None:
        self._tp = tp
        self._known: dict[str, tuple[Hashable, tuple[Question, ...]]] = {}

    async def of(self, run: AskingRun) -> tuple[Question, ...]:
        """The questions to people that the run waits for."""
        # What a write in doubt was given stands in another event than the one that asks.
        is_told = run.asked is not None and all(asked.kind != "doubt" for asked in run.asked)
        state: Hashable = run.asked if is_told else run.last_seq
        known = self._known.pop(run.run_id, None)
        if known is None or known[0] != state:
            known = state, await (self._asked(run) if is_told else self._told(run.run_id))
        self._known[run.run_id] = known
        if len(self._known) > KEPT:
            del self._known[next(iter(self._known))]
        return known[1]

    async def _asked(self, run: AskingRun) -> tuple[Question, ...]:
        found: list[Question] = []
        for asked in run.asked or ():
            for event in await self._tp.store.read_events(run.run_id, after=asked.seq - 1, limit=1):
                found += _question(run.run_id, event)
        return tuple(found)

    async def _told(self, run_id: str) -> tuple[Question, ...]:
        return questions_of(run_result(run_id, await self._tp.store.read_events(run_id)))


def questions_of(result: RunResult) -> tuple[Question, ...]:
    """The questions to people that the run waits for, oldest first; writes in doubt last."""
    found = [question for asked in result.questions for question in _question(result.run_id, asked)]
    if result.status not in ENDED_RUN:
        found += [
            Question(
                run_id=result.run_id,
                step=step.path,
                kind="settle",
                tool=step.tool,
                inputs=step.inputs,
                asked_at=step.started_at or 0.0,
            )
            for step in result.results
            if step.status == "unknown"
        ]
    return tuple(found)


def _question(run_id: str, asked: object) -> tuple[Question, ...]:
    match asked:
        case ApprovalRequested():
            return (
                Question(
                    run_id=run_id,
                    step=asked.path,
                    kind="approval",
                    tool=asked.tool,
                    inputs=asked.inputs,
                    asked_at=asked.at,
                ),
            )
        case InputRequested():
            return (
                Question(
                    run_id=run_id,
                    step=asked.path,
                    kind="input",
                    form=asked.form,
                    asked_at=asked.at,
                    deadline=asked.deadline,
                ),
            )
        case _:
            return ()
