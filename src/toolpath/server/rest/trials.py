"""`/plans/dry-run` and `/plans/trial`: preview of the calls of a plan, and a trial of one of its steps."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from toolpath.checks.preview import planned
from toolpath.errors import StepNotFound
from toolpath.runs.beside_the_loop import weight_of
from toolpath.runs.trial import trial_of
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.problems import Problem
from toolpath.server.rest.bodies import JsonBody, PlanDryRun, StepTrial
from toolpath.server.rest.described import answer, problems, shows, takes
from toolpath.server.rest.plan_views import PlanPreview
from toolpath.server.rest.runs import begun
from toolpath.server.rest.views import RunRow

router = APIRouter(prefix="/plans", tags=["plans"])


@router.post(
    "/dry-run",
    responses={**shows(PlanPreview, "What would be called."), **problems(415)},
    openapi_extra=takes(PlanDryRun),
    dependencies=[Depends(Needs("read"))],
)
async def dry_run(tp: Door, body: Annotated[PlanDryRun, Depends(JsonBody(PlanDryRun))]) -> Response:
    """Say what a run with these inputs would call, with what is known of it before; call nothing."""
    plan, filled = await tp.prepared(await tp.plans.read(body.plan), body.inputs)
    catalog = tp.known_tools()
    steps = await tp.aside.do(lambda: planned(plan, catalog, filled), weight_of([plan.steps]))
    return answer(PlanPreview(steps=tuple(steps)))


@router.post(
    "/trial",
    status_code=202,
    responses={**shows(RunRow, "The run is stored and will be driven.", status=202), **problems(404, 415)},
    openapi_extra=takes(StepTrial),
    dependencies=[Depends(Needs("run"))],
)
async def trial(tp: Door, caller: Asker, body: Annotated[StepTrial, Depends(JsonBody(StepTrial))]) -> Response:
    """Begin a run of one step of a plan, with the checks, approvals and journal of any run."""
    plan = await tp.plans.read(body.plan)
    try:
        alone = trial_of(plan, body.step, body.arguments)
    except StepNotFound as error:
        raise Problem(422, error.code, error.message, hint=error.hint, suggestions=error.suggestions) from None
    return await begun(tp, caller, alone, body.inputs, conversation_id=body.conversation_id, key="")
