"""`/plans` and `/requests`: plans that are kept, what the check says of them, and what was approved."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from toolpath.app import Toolpath
from toolpath.model.plan import Plan
from toolpath.model.stored import StoredPlan
from toolpath.model.versions import DocumentDiff
from toolpath.notation.printing import plan_to_dict
from toolpath.runs.beside_the_loop import weight_of
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.problems import Problem
from toolpath.server.rest.bodies import ChangedPlan, JsonBody, NewPlan, PlanApproval, PlanRollback, PlanToCheck
from toolpath.server.rest.described import answer, problems, shows, takes
from toolpath.server.rest.paging import ROWS, Before, Limit, one_page
from toolpath.server.rest.plan_views import PlanDetail, PlanPage, PlanReview, plan_row
from toolpath.server.visibility import visible_plan, visible_request

router = APIRouter(tags=["plans"])

PlanId = Annotated[str, Path(max_length=200, description="The plan's id.")]
_Revision = Annotated[int | None, Query(ge=1, le=2**53, description="A revision of it; else the newest.")]
RequestId = Annotated[str, Path(max_length=200, description="The request's id.")]
_CAN_READ = [Depends(Needs("read"))]
_CAN_RUN = [Depends(Needs("run"))]
_DETAIL = shows(PlanDetail, "The plan, its findings, and what it will do.")


async def _detailed(tp: Toolpath, stored: StoredPlan, status: int = 200, *, revision: int | None = None) -> Response:
    if revision is None or revision == stored.revision:
        plan = await tp.plans.plan(stored)
    else:
        content = await tp.plans.history.content(stored, revision)
        stored = msgspec.structs.replace(stored, plan=content.plan, source=content.source)
        plan = await tp.plans.read(content.plan)
    review = await tp.plans.review(plan)
    detail = PlanDetail(
        **msgspec.structs.asdict(stored),
        shown=stored.revision if revision is None else revision,
        findings=review.findings,
        explanation=review.explanation,
        text=str(review.explanation),
        confidence=plan.confidence,
        reasoning=plan.reasoning,
        questions=plan.questions,
    )
    return answer(detail, status, {"Location": f"/api/v1/plans/{stored.plan_id}"} if status == 201 else None)


@router.post(
    "/plans",
    status_code=201,
    responses={**shows(PlanDetail, "The plan is kept.", status=201), **problems(404, 415, 502)},
    openapi_extra=takes(NewPlan),
    dependencies=_CAN_RUN,
)
async def create(tp: Door, caller: Asker, body: Annotated[NewPlan, Depends(JsonBody(NewPlan))]) -> Response:
    """Plan a request, or keep a plan; also one that does not check yet, with all that is wrong with it."""
    if body.plan is None and not body.request.strip():
        hint = "Say in `request` what is to be done, or give a `plan`."
        raise Problem(422, "invalid_request", "There is no request and no plan.", hint=hint)
    if body.plan is not None and body.request.strip():
        raise Problem(422, "invalid_request", "There are both a request and a plan.", hint="Give one of the two.")
    if body.request_id:
        await visible_request(tp, caller, body.request_id)
    whose = {"tenant": caller.tenant, "user": caller.user, "requires_approval": body.requires_approval}
    if body.plan is not None:
        stored = await tp.plans.add(body.plan, request_id=body.request_id, **whose)  # type: ignore[arg-type]
    else:
        stored = await tp.plans.create(
            body.request,
            request_id=body.request_id,
            tools=body.tools or None,
            planner={"model": "model", "offline": "offline"}.get(body.planner or ""),  # type: ignore[arg-type]
            decomposition=body.decomposition,
            time_zone=body.time_zone,
            **whose,  # type: ignore[arg-type]
        )
    return await _detailed(tp, stored, 201)


@router.post(
    "/plans/check",
    responses={**shows(PlanReview, "What is wrong with it, and what it will do."), **problems(415)},
    openapi_extra=takes(PlanToCheck),
    dependencies=_CAN_READ,
)
async def check(tp: Door, body: Annotated[PlanToCheck, Depends(JsonBody(PlanToCheck))]) -> Response:
    """Check a plan without keeping it; findings of a text have their lines."""
    return answer(await reviewed(tp, await tp.plans.read(body.plan)))


async def reviewed(tp: Toolpath, plan: Plan) -> PlanReview:
    """The plan as it would be kept, with what the check says of it against the tools as they are now."""
    review = await tp.plans.review(plan)
    document = await tp.aside.do(lambda: plan_to_dict(plan), weight_of([plan]))
    return PlanReview(
        plan=document, findings=review.findings, explanation=review.explanation, text=str(review.explanation)
    )


@router.get("/plans", responses={**shows(PlanPage, "Plans, newest first."), **problems(404)}, dependencies=_CAN_READ)
async def listed(tp: Door, caller: Asker, limit: Limit = ROWS, before: Before = None) -> Response:
    """The caller's plans, newest first, a page at a time."""
    if before is not None:
        await visible_plan(tp, caller, before)
    found = await tp.plans.newest(tenant=caller.of_tenant, limit=limit + 1, before=before)
    page, mark = one_page(found, limit, lambda stored: stored.plan_id)
    return answer(PlanPage(plans=tuple(plan_row(stored) for stored in page), next=mark))


@router.get("/plans/{plan_id}", responses={**_DETAIL, **problems(404)}, dependencies=_CAN_READ)
async def show(plan_id: PlanId, tp: Door, caller: Asker, revision: _Revision = None) -> Response:
    """The plan, checked against the tools as they are now."""
    return await _detailed(tp, await visible_plan(tp, caller, plan_id), revision=revision)


@router.put(
    "/plans/{plan_id}",
    responses={**_DETAIL, **problems(404, 409, 415)},
    openapi_extra=takes(ChangedPlan),
    dependencies=_CAN_RUN,
)
async def change(
    plan_id: PlanId, tp: Door, caller: Asker, body: Annotated[ChangedPlan, Depends(JsonBody(ChangedPlan))]
) -> Response:
    """Put another plan in its place; what was approved of it no longer is."""
    await visible_plan(tp, caller, plan_id)
    changed = await tp.plans.update(plan_id, body.plan, expected=body.expected, user=caller.user, comment=body.comment)
    return await _detailed(tp, changed)


@router.delete(
    "/plans/{plan_id}",
    status_code=204,
    responses={204: {"description": "It is gone; its runs stay."}, **problems(404)},
    dependencies=_CAN_RUN,
)
async def delete(plan_id: PlanId, tp: Door, caller: Asker) -> Response:
    """Forget the plan."""
    await visible_plan(tp, caller, plan_id)
    await tp.plans.delete(plan_id)
    return Response(status_code=204)


@router.get(
    "/plans/{plan_id}/diff",
    responses={**shows(DocumentDiff, "What the later revision does otherwise."), **problems(404)},
    dependencies=_CAN_READ,
)
async def diff(
    plan_id: PlanId,
    tp: Door,
    caller: Asker,
    earlier: Annotated[int | None, Query(ge=1, le=2**53, description="Else the one before the later.")] = None,
    later: _Revision = None,
) -> Response:
    """Two revisions beside each other: steps that came, went and changed, and the lines."""
    stored = await visible_plan(tp, caller, plan_id)
    last = stored.revisions[-1].revision if later is None else later
    before = [each.revision for each in stored.revisions if each.revision < last] or [last]
    return answer(await tp.plans.history.diff(stored, before[-1] if earlier is None else earlier, last))


@router.post(
    "/plans/{plan_id}/rollback",
    responses={**_DETAIL, **problems(404, 409, 415)},
    openapi_extra=takes(PlanRollback),
    dependencies=_CAN_RUN,
)
async def rollback(
    plan_id: PlanId, tp: Door, caller: Asker, body: Annotated[PlanRollback, Depends(JsonBody(PlanRollback))]
) -> Response:
    """Make what the plan was at an earlier revision the newest one; what was approved of it no longer is."""
    await visible_plan(tp, caller, plan_id)
    kept = await tp.plans.roll_back(plan_id, body.revision, expected=body.expected, user=caller.user)
    return await _detailed(tp, kept)


@router.post(
    "/plans/{plan_id}/approve",
    responses={**_DETAIL, **problems(404, 409, 415)},
    openapi_extra=takes(PlanApproval, optional=True),
    dependencies=[Depends(Needs("answer"))],
)
async def approve(
    plan_id: PlanId,
    tp: Door,
    caller: Asker,
    body: Annotated[PlanApproval, Depends(JsonBody(PlanApproval, optional=True))],
) -> Response:
    """Allow the plan as it is now, with its tools as they are now, to be run with these inputs."""
    await visible_plan(tp, caller, plan_id)
    stored = await tp.plans.approve(plan_id, body.inputs, by=caller.user, comment=body.comment, expected=body.expected)
    return await _detailed(tp, stored)


@router.get(
    "/requests/{request_id}/plans",
    responses={**shows(PlanPage, "Its plans, newest version first."), **problems(404)},
    dependencies=_CAN_READ,
)
async def versions(request_id: RequestId, tp: Door, caller: Asker) -> Response:
    """The plans that a request became."""
    await visible_request(tp, caller, request_id)
    found = await tp.plans.of_request(request_id, tenant=caller.of_tenant)
    return answer(PlanPage(plans=tuple(plan_row(stored) for stored in found)))
