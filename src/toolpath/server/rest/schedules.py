"""`/schedules`: templates and stored plans that are run at times."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from starlette.responses import Response

from toolpath.app import Toolpath
from toolpath.model.schedule import Schedule
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.rest.bodies import JsonBody, ScheduleWords
from toolpath.server.rest.described import answer, problems, shows, takes
from toolpath.server.rest.paging import ROWS, Before, Limit, one_page
from toolpath.server.rest.views import RunRow, SchedulePage, ScheduleRow, run_row, schedule_row
from toolpath.workspace.schedules import ScheduleDraft
from toolpath.workspace.ticks import times_of

router = APIRouter(prefix="/schedules", tags=["schedules"])

ScheduleId = Annotated[str, Path(max_length=200, description="The schedule's id.")]
_CAN_READ = [Depends(Needs("read"))]
_CAN_RUN = [Depends(Needs("run"))]
#: Times at which it is due that are told.
_UPCOMING = 5
_DETAIL = shows(ScheduleRow, "The schedule, when it is due next, and what came of its latest ticks.")


def _shown(tp: Toolpath, schedule: Schedule, status: int = 200) -> Response:
    place = {"Location": f"/api/v1/schedules/{schedule.schedule_id}"} if status == 201 else None
    upcoming = islice(times_of(schedule, tp.clock.time()), _UPCOMING)
    return answer(schedule_row(schedule, upcoming), status, place)


@router.post(
    "",
    status_code=201,
    responses={**shows(ScheduleRow, "The schedule is kept.", status=201), **problems(404, 415)},
    openapi_extra=takes(ScheduleWords),
    dependencies=_CAN_RUN,
)
async def create(tp: Door, caller: Asker, body: Annotated[ScheduleWords, Depends(JsonBody(ScheduleWords))]) -> Response:
    """Keep a schedule. It runs for the caller, with the permissions that they have now."""
    made = await tp.schedules.create(
        _draft(body), tenant=caller.tenant, user=caller.user, permissions=tuple(sorted(caller.permissions))
    )
    return _shown(tp, made, 201)


@router.get("", responses={**shows(SchedulePage, "Schedules, newest first."), **problems(404)}, dependencies=_CAN_READ)
async def listed(tp: Door, caller: Asker, limit: Limit = ROWS, before: Before = None) -> Response:
    """The caller's schedules, newest first, a page at a time."""
    if before is not None:
        await tp.schedules.get(before, tenant=caller.of_tenant)
    found = await tp.schedules.newest(tenant=caller.of_tenant, limit=limit + 1, before=before)
    page, mark = one_page(found, limit, lambda schedule: schedule.schedule_id)
    return answer(SchedulePage(schedules=tuple(schedule_row(schedule) for schedule in page), next=mark))


@router.get("/{schedule_id}", responses={**_DETAIL, **problems(404)}, dependencies=_CAN_READ)
async def show(schedule_id: ScheduleId, tp: Door, caller: Asker) -> Response:
    """One schedule."""
    return _shown(tp, await tp.schedules.get(schedule_id, tenant=caller.of_tenant))


@router.put(
    "/{schedule_id}",
    responses={**_DETAIL, **problems(404, 409, 415)},
    openapi_extra=takes(ScheduleWords),
    dependencies=_CAN_RUN,
)
async def change(
    schedule_id: ScheduleId, tp: Door, caller: Asker, body: Annotated[ScheduleWords, Depends(JsonBody(ScheduleWords))]
) -> Response:
    """Change what is given; from now on it runs for the caller. `paused` has it rest, and go on."""
    schedule = await tp.schedules.get(schedule_id, tenant=caller.of_tenant)
    permissions = tuple(sorted(caller.permissions))
    kept = await tp.schedules.change(
        schedule, _draft(body), expected=body.expected, user=caller.user, permissions=permissions
    )
    return _shown(tp, kept)


@router.delete(
    "/{schedule_id}",
    status_code=204,
    responses={204: {"description": "It is gone; its runs stay."}, **problems(404)},
    dependencies=_CAN_RUN,
)
async def delete(schedule_id: ScheduleId, tp: Door, caller: Asker) -> Response:
    """Forget the schedule."""
    await tp.schedules.delete(await tp.schedules.get(schedule_id, tenant=caller.of_tenant), user=caller.user)
    return Response(status_code=204)


@router.post(
    "/{schedule_id}/run",
    status_code=202,
    responses={**shows(RunRow, "The run is stored and will be driven.", status=202), **problems(404, 409)},
    dependencies=_CAN_RUN,
)
async def run(schedule_id: ScheduleId, tp: Door, caller: Asker) -> Response:
    """Begin a run of it at once, for the caller, beside its ticks."""
    schedule = await tp.schedules.get(schedule_id, tenant=caller.of_tenant)
    begun = await tp.schedules.run_now(schedule, user=caller.user, permissions=tuple(sorted(caller.permissions)))
    info = await tp.store.get_run(begun.run_id)
    return answer(run_row(info), 202, {"Location": f"/api/v1/runs/{begun.run_id}"})


def _draft(body: ScheduleWords) -> ScheduleDraft:
    names = ScheduleDraft.__struct_fields__
    return ScheduleDraft(**{name: getattr(body, name) for name in names})
