"""`/api/cron-tasks`: schedules as that service's clients know them."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.model.schedule import Schedule
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.plan_service.answers import ServiceRoute, body_of
from toolpath.server.rest.described import answer
from toolpath.values import JsonObject
from toolpath.workspace.schedules import ScheduleDraft

router = APIRouter(prefix="/api/cron-tasks", route_class=ServiceRoute, include_in_schema=False)

_CAN_READ = [Depends(Needs("read"))]
_CAN_RUN = [Depends(Needs("run"))]


class CronTask(msgspec.Struct, frozen=True, rename="camel"):
    """A cron task: six fields, of which the first is seconds. `status` 0 is on, 1 off."""

    cron_name: str | None = None
    cron_time: str | None = None
    plan_template_id: str | None = None
    status: int | None = None
    replacement_params: dict[str, Any] | None = None
    """Values of the template's parameters, kept with the task."""
    time_zone: str | None = None


async def _visible(tp: Toolpath, caller: Caller, schedule_id: str) -> Schedule:
    return await tp.schedules.get(schedule_id, tenant=caller.of_tenant)


@router.get("", dependencies=_CAN_READ)
async def listed(tp: Door, caller: Asker) -> Response:
    """All tasks."""
    return answer([_shown(each) for each in await tp.schedules.newest(tenant=caller.of_tenant, limit=1_000)])


@router.get("/{task_id}", dependencies=_CAN_READ)
async def show(task_id: str, tp: Door, caller: Asker) -> Response:
    """One task."""
    return answer(_shown(await _visible(tp, caller, task_id)))


@router.post("", dependencies=_CAN_RUN)
async def create(request: Request, tp: Door, caller: Asker) -> Response:
    """Keep a task."""
    body: CronTask = await body_of(request, CronTask)
    made = await tp.schedules.create(_draft(body), tenant=caller.tenant, **_who(caller))
    return answer(_shown(made))


@router.put("/{task_id}", dependencies=_CAN_RUN)
async def change(task_id: str, request: Request, tp: Door, caller: Asker) -> Response:
    """Change what is given; what is not stays."""
    body: CronTask = await body_of(request, CronTask)
    return answer(_shown(await tp.schedules.change(await _visible(tp, caller, task_id), _draft(body), **_who(caller))))


@router.put("/{task_id}/status", dependencies=_CAN_RUN)
async def switch(task_id: str, tp: Door, caller: Asker, status: int = Query(ge=0, le=1)) -> Response:
    """Switch a task on (0) or off (1)."""
    draft = ScheduleDraft(paused=status == 1)
    return answer(_shown(await tp.schedules.change(await _visible(tp, caller, task_id), draft, **_who(caller))))


@router.post("/{task_id}/execute", dependencies=_CAN_RUN)
async def execute(task_id: str, tp: Door, caller: Asker) -> Response:
    """Run it now, for the caller."""
    run = await tp.schedules.run_now(await _visible(tp, caller, task_id), **_who(caller))
    return answer({"planId": run.run_id, "status": "processing"})


@router.delete("/{task_id}", dependencies=_CAN_RUN)
async def delete(task_id: str, tp: Door, caller: Asker) -> Response:
    """Forget it."""
    await tp.schedules.delete(await _visible(tp, caller, task_id), user=caller.user)
    return answer({"success": True})


def _who(caller: Caller) -> dict[str, Any]:
    return {"user": caller.user, "permissions": tuple(sorted(caller.permissions))}


def _draft(body: CronTask) -> ScheduleDraft:
    return ScheduleDraft(
        title=body.cron_name,
        template_id=body.plan_template_id or None,
        inputs=body.replacement_params,
        cron=body.cron_time,
        time_zone=body.time_zone,
        paused=None if body.status is None else body.status == 1,
    )


def _shown(schedule: Schedule) -> JsonObject:
    last = next((tick.at for tick in reversed(schedule.ticks) if tick.run_id), None)
    return {
        "id": schedule.schedule_id,
        "cronName": schedule.title,
        "cronTime": schedule.cron,
        "planDesc": schedule.title,
        "status": 1 if schedule.paused else 0,
        "planTemplateId": schedule.template_id,
        "replacementParams": schedule.inputs,
        "timeZone": schedule.time_zone,
        "createTime": round(schedule.created_at * 1000),
        "lastExecutedTime": None if last is None else round(last * 1000),
    }
