"""`/questions`: what waits for people, over all runs of the caller."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.questions import OpenQuestions, Question
from toolpath.server.rest.described import answer, problems, shows
from toolpath.server.rest.views import QuestionPage

router = APIRouter(prefix="/questions", tags=["people"])

#: In these states a run may have asked somebody something.
_ASKING = ("waiting", "running", "paused")


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
