"""`/tools`: what there is to call, finding it, calling it, and how it did."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from toolpath.app import Toolpath
from toolpath.checks.start import check_arguments
from toolpath.errors import PlanInvalid
from toolpath.machine import new_id
from toolpath.model.run import ENDED_RUN
from toolpath.projections.results import run_result
from toolpath.runs.opening import call_plan
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.questions import questions_of
from toolpath.server.rest.bodies import JsonBody, ToolCall
from toolpath.server.rest.conversations import context_in
from toolpath.server.rest.described import Filter, answer, problems, shows, takes
from toolpath.server.rest.paging import Limit, one_page
from toolpath.server.rest.views import (
    CallOutcome,
    StatsPage,
    ToolDetail,
    ToolPage,
    stats_row,
    tool_detail,
    tool_row,
)
from toolpath.server.statistics import visible_stats
from toolpath.server.waiting import waited

router = APIRouter(prefix="/tools", tags=["tools"])

Key = Annotated[str, Path(max_length=500, description="The tool's key, alias, or name where it is unique.")]
_CAN_READ = [Depends(Needs("read"))]


@router.get("", responses=shows(ToolPage, "Tools by key."), dependencies=_CAN_READ)
async def listed(
    tp: Door,
    group: Filter = None,
    capability: Filter = None,
    category: Filter = None,
    limit: Limit = 100,
    after: Annotated[str, Query(max_length=500, description="Last key of the page before.")] = "",
) -> Response:
    """The tools, a page at a time; servers are asked for theirs."""
    catalog = await tp.tools()
    having = None if capability is None else {tool.key for tool in catalog.by_capability(capability)}
    found = sorted(
        (
            tool
            for tool in catalog.tools.values()
            if tool.key > after
            and group in (None, tool.group)
            and category in (None, tool.category)
            and (having is None or tool.key in having)
        ),
        key=lambda tool: tool.key,
    )
    page, mark = one_page(found, limit, lambda tool: tool.key)
    rows = tuple(tool_row(tool, source=tp.source_of(tool)) for tool in page)
    troubles = tuple(tp.redact(str(trouble)) for trouble in catalog.problems.values())
    return answer(ToolPage(tools=rows, problems=troubles, next=mark))


@router.get("/search", responses=shows(ToolPage, "Tools, best first."), dependencies=_CAN_READ)
async def find(
    tp: Door,
    q: Annotated[str, Query(min_length=1, max_length=2_000, description="What is to be done, in words.")],
    limit: Annotated[int, Query(ge=1, le=100, description="At most so many.")] = 10,
) -> Response:
    """The tools that fit a text."""
    hits = await tp.search(q, limit=limit)
    return answer(ToolPage(tools=tuple(tool_row(hit.tool, hit.score, source=tp.source_of(hit.tool)) for hit in hits)))


@router.get("/stats", responses=shows(StatsPage, "By key."), dependencies=_CAN_READ)
async def stats(tp: Door, caller: Asker) -> Response:
    """How the tools did in the newest 200 runs of the caller's tenant.

    For callers of no tenant with the scope `admin`, in all calls of all callers.
    """
    known = await visible_stats(tp, caller)
    return answer(StatsPage(stats=tuple(stats_row(key, known[key]) for key in sorted(known))))


@router.get("/{key}", responses={**shows(ToolDetail, "The tool."), **problems(404, 409)}, dependencies=_CAN_READ)
async def show(key: Key, tp: Door) -> Response:
    """All that is known of one tool."""
    tool = (await tp.tools()).find(key)
    return answer(tool_detail(tool, source=tp.source_of(tool)))


@router.post(
    "/{key}/call",
    responses={
        **shows(CallOutcome, "The call has ended, well or not."),
        **shows(CallOutcome, "It goes on, or waits for a person; its run tells.", status=202),
        **problems(404, 409, 415, 422),
    },
    openapi_extra=takes(ToolCall, optional=True),
    dependencies=[Depends(Needs("run"))],
)
async def call(
    request: Request,
    key: Key,
    tp: Door,
    caller: Asker,
    body: Annotated[ToolCall, Depends(JsonBody(ToolCall, optional=True))],
    wait: Annotated[float, Query(ge=0, le=300, description="Seconds until an answer without a result.")] = 60.0,
) -> Response:
    """Call one tool with the same checks, journal and policy as in a plan."""
    tool = (await tp.load(call_plan(key, body.inputs))).find(key)
    unfit = check_arguments(tool, body.inputs)
    if unfit:
        raise PlanInvalid(unfit)
    plan = call_plan(tool.key, body.inputs)
    context = await context_in(tp, caller, body.conversation_id)
    run_id = new_id("run", tp.clock.time())
    run = await tp.start(
        plan,
        body.inputs,
        context=context,
        run_id=run_id,
        idempotency_key=body.idempotency_key,
        priority=caller.priority,
    )
    await waited(tp, run.run_id, request.app.state.stopping, seconds=wait)
    outcome = await _outcome(tp, run.run_id)
    return answer(outcome, 200 if outcome.status in ENDED_RUN else 202)


async def _outcome(tp: Toolpath, run_id: str) -> CallOutcome:
    result = run_result(run_id, await tp.store.read_events(run_id))
    return CallOutcome(
        run_id=run_id,
        status=result.status,
        success=result.success,
        output=result.outputs,
        error=result.error,
        duration=result.total_duration,
        questions=questions_of(result),
    )
