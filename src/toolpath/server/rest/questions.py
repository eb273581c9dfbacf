"""`/questions`: what waits for people, over all runs of the caller."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from toolpath.app import Toolpath
from toolpath.model.run import RunInfo
from toolpath.projections.results import run_result
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.rest.described import answer, problems, shows
from toolpath.server.rest.views import Question, QuestionPage, questions_of

router = APIRouter(prefix="/questions", tags=["people"])

#: In these states a run may have asked somebody something.
_ASKING = ("waiting", "running", "paused")
#: Runs whose questions are kept at hand.
KEPT = 2_000


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


@router.get(
    "",
    responses={**shows(QuestionPage, "What waits, longest first."), **problems()},
    dependencies=[Depends(Needs("read"))],
)
async def questions(
    request: Request,
    tp: Door,
    caller: Asker,
    limit: Annotated[int, Query(ge=1, le=200, description="Of so many of the newest runs in each state.")] = 100,
) -> Response:
    """The approvals, forms and writes in doubt that wait for somebody."""
    at_hand: OpenQuestions = request.app.state.questions
    found: dict[tuple[str, str, str], Question] = {}
    for status in _ASKING:
        for info in await tp.store.list_runs(status=status, tenant=caller.of_tenant, limit=limit):
            for question in await at_hand.of(info):
                found[question.run_id, question.step, question.kind] = question
    return answer(QuestionPage(questions=tuple(sorted(found.values(), key=lambda asked: asked.asked_at))))
