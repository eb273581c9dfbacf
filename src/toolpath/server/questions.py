"""What runs wait for people to say: approvals, forms, writes in doubt, as every door shows them."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from toolpath.app import Toolpath
from toolpath.model.events import ApprovalRequested, InputRequested
from toolpath.model.run import ENDED_RUN, RunInfo, RunResult
from toolpath.projections.results import run_result
from toolpath.values import Json, JsonObject

#: Runs whose questions are kept at hand.
KEPT = 2_000


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """Something that waits for a person.

    `approval`: a step with its tool and inputs; `input`: a form; `settle`: a write in doubt.
    """

    run_id: str
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
    """The open questions of runs; a journal is read again only when it has grown."""

    def __init__(self, tp: Toolpath) -> None:
        self._tp = tp
        self._known: dict[str, tuple[int, tuple[Question, ...]]] = {}

    async def of(self, info: RunInfo) -> tuple[Question, ...]:
        """What the run waits for people to say."""
        known = self._known.pop(info.run_id, None)
        if known is None or known[0] != info.last_seq:
            events = await self._tp.store.read_events(info.run_id)
            known = len(events), questions_of(run_result(info.run_id, events))
        self._known[info.run_id] = known
        if len(self._known) > KEPT:
            del self._known[next(iter(self._known))]
        return known[1]


def questions_of(result: RunResult) -> tuple[Question, ...]:
    """What the run waits for people to say, oldest first; writes in doubt last."""
    found: list[Question] = []
    for asked in result.questions:
        common: dict[str, Any] = {"run_id": result.run_id, "step": asked.path, "asked_at": asked.at}
        match asked:
            case ApprovalRequested():
                found.append(
                    Question(**common, kind="approval", tool=asked.tool, inputs=asked.inputs, deadline=asked.deadline)
                )
            case InputRequested():
                found.append(Question(**common, kind="input", form=asked.form, deadline=asked.deadline))
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
