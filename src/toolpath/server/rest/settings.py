"""`/settings`: those that may change while processes run."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from toolpath.access.caller import Caller
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.problems import Problem
from toolpath.server.rest.bodies import JsonBody, SettingValues
from toolpath.server.rest.described import answer, problems, shows, takes
from toolpath.server.rest.views import SettingList

router = APIRouter(prefix="/settings", tags=["settings"])

_CAN_READ = [Depends(Needs("read"))]
_CAN_KEEP = [Depends(Needs("admin"))]
_LIST = shows(SettingList, "Settings, each with where its value comes from.")


@router.get("", responses=_LIST, dependencies=_CAN_READ)
async def listed(tp: Door) -> Response:
    """Every setting that may be changed."""
    return answer(SettingList(settings=tuple(await tp.stored_settings.all())))


@router.put("", responses={**_LIST, **problems(415)}, openapi_extra=takes(SettingValues), dependencies=_CAN_KEEP)
async def change(tp: Door, caller: Asker, body: Annotated[SettingValues, Depends(JsonBody(SettingValues))]) -> Response:
    """Store all of these, or none. Runs that have begun keep theirs."""
    of_the_house(caller)
    return answer(SettingList(settings=tuple(await tp.stored_settings.change(body.values, user=caller.user))))


@router.delete("", responses=_LIST, dependencies=_CAN_KEEP)
async def reset(tp: Door, caller: Asker) -> Response:
    """Store none any more: they are as file, environment and program say."""
    of_the_house(caller)
    return answer(SettingList(settings=tuple(await tp.stored_settings.reset(user=caller.user))))


def of_the_house(caller: Caller) -> None:
    """Raise `Problem` 403 for a tenant: these settings are those of all of them."""
    if caller.tenant:
        raise Problem(403, "scope", "These settings are those of all tenants.", hint="Ask the operator of the service.")
