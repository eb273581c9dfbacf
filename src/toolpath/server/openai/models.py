"""`/v1/models`: what can be asked over this door: the house's own agent, templates, and the model behind it."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Depends
from starlette.responses import Response

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.model.template import PlanTemplate
from toolpath.server.openai_problems import BadRequest, OpenAIRoute
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.rest.described import answer
from toolpath.values import JsonObject

router = APIRouter(prefix="/v1", route_class=OpenAIRoute, include_in_schema=False)

#: The agent that calls the tools of this server.
OWN: Final = "toolpath"
#: The model behind it, as it is configured.
PLAIN: Final = "default"
_CAN_READ = [Depends(Needs("read"))]


@router.get("/models", dependencies=_CAN_READ)
async def listed(tp: Door, caller: Asker) -> Response:
    """All of them."""
    found = [_shown(OWN, "toolpath")]
    found += [_shown(name, "model") for name in await _plain_names(tp, caller)]
    found += [_shown(each.key, "template", each.created_at) for each in await _templates(tp, caller)]
    return answer({"object": "list", "data": found})


@router.get("/models/{model:path}", dependencies=_CAN_READ)
async def show(model: str, tp: Door, caller: Asker) -> Response:
    """One of them, by its name."""
    if model == OWN or model in await _plain_names(tp, caller):
        return answer(_shown(model, "toolpath" if model == OWN else "model"))
    for each in await _templates(tp, caller):
        if model in (each.key, each.template_id, each.title):
            return answer(_shown(model, "template", each.created_at))
    raise unknown_model(model)


async def is_plain(tp: Toolpath, caller: Caller, model: str) -> bool:
    """Whether the name is that of a model itself."""
    return model in await _plain_names(tp, caller)


def unknown_model(model: str) -> BadRequest:
    """That there is no such model."""
    return BadRequest(
        f"There is no model {model[:100]!r}. See GET /v1/models.", param="model", code="model_not_found", status=404
    )


async def _plain_names(tp: Toolpath, caller: Caller) -> list[str]:
    """The default, the model of the settings, and those that are kept for the caller."""
    kept = [each.name for each in await tp.models.list(tenant=caller.tenant)]
    named = (PLAIN, tp.settings.planner_model.strip(), *kept)
    return [name for name in dict.fromkeys(named) if name and name != OWN]


async def _templates(tp: Toolpath, caller: Caller) -> list[PlanTemplate]:
    every = tp.templates.every(tenant=caller.of_tenant)
    return [each async for each in every if each.published and "conversation" in each.channels]


def _shown(name: str, owner: str, created: float = 0.0) -> JsonObject:
    return {"id": name, "object": "model", "created": int(created), "owned_by": owner}
