"""`/api/config`: stored settings under the names that clients of that service know."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from toolpath.errors import SchemaError, closest
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.plan_service.answers import ServiceRoute, body_of
from toolpath.server.rest.described import answer
from toolpath.server.rest.settings import of_the_house
from toolpath.values import JsonObject
from toolpath.workspace.settings.stored_settings import CHANGEABLE, Setting

router = APIRouter(prefix="/api/config", route_class=ServiceRoute, include_in_schema=False)

_CAN_READ = [Depends(Needs("read"))]
_CAN_KEEP = [Depends(Needs("admin"))]
_GROUP: Final = "lynxe"
#: That service's names of settings that it has as well.
_OURS: Final = {
    "lynxe.maxSteps": "agent_rounds",
    "lynxe.agent.parallelToolCalls": "agent_parallel_calls",
    "lynxe.agent.executorPoolSize": "parallel_limit",
    "lynxe.agent.userInputTimeout": "user_input_timeout",
    "lynxe.agent.conversationMemoryMaxChars": "conversation_memory",
}
_THEIRS: Final = {ours: theirs for theirs, ours in _OURS.items()}


@router.get("/group/{group}", dependencies=_CAN_READ)
async def listed(group: str, tp: Door) -> Response:
    """The settings of a group; they are all in one."""
    found = await tp.stored_settings.all() if group == _GROUP else []
    return answer([_shown(setting) for setting in found])


@router.post("/batch-update", dependencies=_CAN_KEEP)
async def batch_update(request: Request, tp: Door, caller: Asker) -> Response:
    """Store all of these, or none."""
    of_the_house(caller)
    entries: list[dict[str, Any]] = await body_of(request, list[dict[str, Any]])
    values = {_name(str(entry.get("configPath") or "")): entry.get("configValue") for entry in entries}
    await tp.stored_settings.change(values, user=caller.user)
    return answer({"success": True})


@router.post("/reset-all-defaults", dependencies=_CAN_KEEP)
async def reset(tp: Door, caller: Asker) -> Response:
    """Store none any more."""
    of_the_house(caller)
    await tp.stored_settings.reset(user=caller.user)
    return answer({"success": True})


def _name(path: str) -> str:
    name = _OURS.get(path, path.removeprefix(f"{_GROUP}."))
    if name not in CHANGEABLE:
        known = [*_OURS, *(f"{_GROUP}.{ours}" for ours in CHANGEABLE if ours not in _THEIRS)]
        raise SchemaError(f"There is no setting {path[:100]!r}.", suggestions=closest(path[:100], known))
    return name


def _shown(setting: Setting) -> JsonObject:
    path = _THEIRS.get(setting.name, f"{_GROUP}.{setting.name}")
    return {
        "configGroup": _GROUP,
        "configKey": path.rpartition(".")[2],
        "configPath": path,
        "configValue": _text(setting.value),
        "defaultValue": _text(setting.default),
        "source": setting.source,
    }


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
