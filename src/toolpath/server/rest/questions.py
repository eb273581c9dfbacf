"""`/questions`: what waits for people, over all runs of the caller."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from toolpath.model.open_questions import AskingRun
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.problems import Problem
from toolpath.server.questions import OpenQuestions, Question
from toolpath.server.rest.described import answer, shows
from toolpath.server.rest.paging import one_page
from toolpath.server.rest.views import QuestionPage

router = APIRouter(prefix="/questions", tags=["people"])


@router.get(
    "",
    responses=shows(QuestionPage, "What waits, longest first."),
    dependencies=[Depends(Needs("read"))],
)
async def questions(
    request: Request,
    tp: Door,
    caller: Asker,
    limit: Annotated[int, Query(ge=1, le=200, description="Of so many runs a page.")] = 100,
    after: Annotated[
        str | None, Query(max_length=300, pattern=r"^[0-9.e+]+ [^\x00]*$", description="`next` of the page before.")
    ] = None,
) -> Response:
    """The approvals, forms and writes in doubt that wait for somebody, a page at a time."""
    at_hand: OpenQuestions = request.app.state.questions
    runs = await tp.store.asking_runs(tenant=caller.of_tenant, limit=limit + 1, after=_place(after))
    page, mark = one_page(runs, limit, _next)
    found: list[Question] = []
    for run in page:
        found += [msgspec.structs.replace(asked, run_name=run.name) for asked in await at_hand.of(run)]
    return answer(QuestionPage(questions=tuple(found), next=mark))


def _next(last: AskingRun) -> str:
    return f"{last.since!r} {last.run_id}"


def _place(after: str | None) -> tuple[float, str] | None:
    if after is None:
        return None
    since, _, run_id = after.partition(" ")
    try:
        if math.isfinite(at := float(since)):
            return at, run_id
    except ValueError:
        pass
    raise Problem(422, "invalid_request", f"{after!r} is no place in the list.", hint="Give `next` of the page before.")
