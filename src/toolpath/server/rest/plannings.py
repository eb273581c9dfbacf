"""`/plannings`: how requests were planned, and how planning did so far."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Path
from starlette.responses import Response

from toolpath.errors import RecordNotFound
from toolpath.planner.records import PlanningRecord
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.rest.described import answer, problems, shows
from toolpath.server.rest.paging import ROWS, Before, Limit, one_page
from toolpath.server.rest.planning_views import PlanningPage, PlanningStats, planning_row
from toolpath.server.visibility import may_read_prompts

router = APIRouter(prefix="/plannings", tags=["plans"])

_PlanningId = Annotated[str, Path(max_length=200, description="The planning's id.")]
_CAN_READ = [Depends(Needs("read"))]


@router.get("", responses={**shows(PlanningPage, "Newest first."), **problems(404)}, dependencies=_CAN_READ)
async def listed(tp: Door, caller: Asker, limit: Limit = ROWS, before: Before = None) -> Response:
    """How the requests of the caller's tenant were planned: by what, how surely, what it took, what came of it."""
    kept = tp.planning.plannings
    if before is not None and await kept.get(before, caller.of_tenant) is None:
        raise RecordNotFound(f"There is no planning {before[:100]!r}.")
    found = await kept.newest(caller.of_tenant, limit + 1, before)
    page, mark = one_page(found, limit, lambda record: record.id)
    return answer(PlanningPage(plannings=tuple(map(planning_row, page)), next=mark))


@router.get("/report", responses=shows(PlanningStats, "So far."), dependencies=_CAN_READ)
async def report(tp: Door, caller: Asker) -> Response:
    """The plan cache and its hits, lessons, and how the ways of planning did beside each other."""
    told = await tp.planning.report(caller.tenant)
    return answer(PlanningStats(**told.as_json(), text=str(told)))


@router.get(
    "/{planning_id}", responses={**shows(PlanningRecord, "All of it."), **problems(404)}, dependencies=_CAN_READ
)
async def show(planning_id: _PlanningId, tp: Door, caller: Asker) -> Response:
    """Tools shown, tools chosen and why, each question to a model with its tokens, cost and time.

    What the model answered is for who asked, and for the scope `admin`.
    """
    found = await tp.planning.plannings.get(planning_id, caller.of_tenant)
    if found is None:
        raise RecordNotFound(f"There is no planning {planning_id[:100]!r}.")
    if not may_read_prompts(caller, str(found.asker.get("user", ""))):
        rounds = tuple(msgspec.structs.replace(one, answer="", plan=None, findings=()) for one in found.rounds)
        found = msgspec.structs.replace(found, rounds=rounds)
    return answer(found)
