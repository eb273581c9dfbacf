"""`/tools/route` and `/tools/routes`: which tools a request means, calling them, and every decision afterwards."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from toolpath.access.caller import Caller
from toolpath.errors import RecordNotFound
from toolpath.model.run import ENDED_RUN
from toolpath.notation.printing import plan_to_dict
from toolpath.planner.router.outcome import outputs_of_calls
from toolpath.planner.router.routing_records import Routed, RouteRecord
from toolpath.projections.results import run_result
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.rest.bodies import JsonBody, RequestToRoute
from toolpath.server.rest.described import answer, problems, shows, takes
from toolpath.server.rest.paging import ROWS, Before, Limit, one_page
from toolpath.server.rest.planning_views import RoutePage, Routing
from toolpath.server.visibility import may_read_prompts
from toolpath.server.waiting import waited

router = APIRouter(prefix="/tools", tags=["tools"])

_RouteId = Annotated[str, Path(max_length=200, description="The routing's id.")]
_CAN_READ = [Depends(Needs("read"))]


@router.post(
    "/route",
    responses={
        **shows(Routing, "What it means; with `run`, what came of it."),
        **shows(Routing, "Its run goes on, or waits for a person.", status=202),
        **problems(404, 409, 415),
    },
    openapi_extra=takes(RequestToRoute),
    dependencies=[Depends(Needs("run"))],
)
async def route(
    request: Request,
    tp: Door,
    caller: Asker,
    body: Annotated[RequestToRoute, Depends(JsonBody(RequestToRoute))],
    wait: Annotated[float, Query(ge=0, le=300, description="With `run`: seconds until an answer.")] = 60.0,
) -> Response:
    """Choose the tools that a request means, with every score; `run` calls them where nothing is left open."""
    routed = await tp.route(body.request, tools=body.tools, planner=body.planner, on_multiple=body.on_multiple)
    shown = routing_of(routed)
    if not body.run or routed.plan is None:
        return answer(shown)
    run = await tp.start(routed.plan, context=caller.context(), priority=caller.priority)
    await waited(tp, run.run_id, request.app.state.stopping, seconds=wait)
    result = run_result(run.run_id, await tp.store.read_events(run.run_id))
    outputs = outputs_of_calls(result)
    told = msgspec.structs.replace(shown, run_id=run.run_id, status=result.status, outputs=outputs)
    return answer(told, 200 if result.status in ENDED_RUN else 202)


def routing_of(routed: Routed) -> Routing:
    """The outcome as doors show it."""
    return Routing(
        route_id=routed.record.id,
        outcome=routed.record.outcome,
        plan=None if routed.plan is None else plan_to_dict(routed.plan),
        text=routed.text,
        message=routed.message,
        suggestions=routed.suggestions,
        decisions=routed.record.decisions,
        findings=routed.record.findings,
        questions=() if routed.plan is None else routed.plan.questions,
    )


@router.get("/routes", responses={**shows(RoutePage, "Newest first."), **problems(404)}, dependencies=_CAN_READ)
async def listed(tp: Door, caller: Asker, limit: Limit = ROWS, before: Before = None) -> Response:
    """How the requests of the caller's tenant were routed."""
    kept = tp.planning.routes
    if before is not None and await kept.get(before, caller.of_tenant) is None:
        raise RecordNotFound(f"There is no routing {before[:100]!r}.")
    found = await kept.newest(caller.of_tenant, limit + 1, before)
    page, mark = one_page(found, limit, lambda record: record.id)
    shown = tuple(msgspec.structs.replace(_for(caller, one), prompt="") for one in page)
    return answer(RoutePage(routes=shown, next=mark))


def _for(caller: Caller, record: RouteRecord) -> RouteRecord:
    """The routing without what a model was asked and wrote, where that is not for the caller."""
    return record if may_read_prompts(caller, record.user) else msgspec.structs.replace(record, prompt="", answers=())


@router.get(
    "/routes/{route_id}", responses={**shows(RouteRecord, "All of it."), **problems(404)}, dependencies=_CAN_READ
)
async def show(route_id: _RouteId, tp: Door, caller: Asker) -> Response:
    """One routing: what each name was taken for with its scores, its run.

    What a model was asked and wrote is for who asked, and for the scope `admin`.
    """
    found = await tp.planning.routes.get(route_id, caller.of_tenant)
    if found is None:
        raise RecordNotFound(f"There is no routing {route_id[:100]!r}.")
    return answer(_for(caller, found))
