"""`/models`: language models that are kept, with their keys sealed."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Path
from starlette.responses import Response

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.errors import RecordNotFound
from toolpath.model.language_model import LanguageModel
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.rest.bodies import JsonBody, ModelWords
from toolpath.server.rest.described import answer, problems, shows, takes
from toolpath.server.rest.views import ModelList, ModelRow, ModelTrial, model_row
from toolpath.values import made_ready
from toolpath.workspace.models.models import ModelDraft

router = APIRouter(prefix="/models", tags=["models"])

_ModelId = Annotated[str, Path(max_length=200, description="The model's id, or its name where a URL can hold it.")]
_Body = Annotated[ModelWords, Depends(JsonBody(ModelWords))]
_CAN_READ = [Depends(Needs("read"))]
#: Keys are spent by every caller who may name the model, and its address is asked from here.
_CAN_KEEP = [Depends(Needs("admin"))]
_SHOWN = shows(ModelRow, "The model, without its key.")


@router.post(
    "",
    status_code=201,
    responses={**shows(ModelRow, "The model is kept.", status=201), **problems(409, 415)},
    openapi_extra=takes(ModelWords),
    dependencies=_CAN_KEEP,
)
async def add(tp: Door, caller: Asker, body: _Body) -> Response:
    """Keep a model of the caller's tenant."""
    made = await tp.models.add(draft_of(body), tenant=caller.tenant, user=caller.user)
    return answer(model_row(made), 201, {"Location": f"/api/v1/models/{made.model_id}"})


@router.get("", responses=shows(ModelList, "Models."), dependencies=_CAN_READ)
async def listed(tp: Door, caller: Asker) -> Response:
    """The caller's own models by name, then the house's."""
    found = await tp.models.list(tenant=caller.tenant)
    return answer(ModelList(models=tuple(model_row(model) for model in found)))


@router.post(
    "/validate",
    responses={**shows(ModelTrial, "What came of it."), **problems(404, 415)},
    openapi_extra=takes(ModelWords),
    dependencies=_CAN_KEEP,
)
async def validate(tp: Door, caller: Asker, body: _Body) -> Response:
    """Ask the provider whether it takes the key and has the model, without keeping anything."""
    return answer(
        msgspec.convert(
            await tp.models.validate(draft_of(body), tenant=caller.tenant), ModelTrial, from_attributes=True
        )
    )


@router.get("/{model_id}", responses={**_SHOWN, **problems(404)}, dependencies=_CAN_READ)
async def show(model_id: _ModelId, tp: Door, caller: Asker) -> Response:
    """One model."""
    return answer(model_row(await tp.models.get(model_id, tenant=caller.tenant)))


@router.put(
    "/{model_id}",
    responses={**_SHOWN, **problems(404, 409, 415)},
    openapi_extra=takes(ModelWords),
    dependencies=_CAN_KEEP,
)
async def change(model_id: _ModelId, tp: Door, caller: Asker, body: _Body) -> Response:
    """Change what is given. A key goes to no other host than it was given for."""
    model = await own_model(tp, caller, model_id)
    kept = await tp.models.change(model, draft_of(body), expected=body.expected, user=caller.user)
    return answer(model_row(kept))


@router.delete(
    "/{model_id}",
    status_code=204,
    responses={204: {"description": "It is gone, with its key."}, **problems(404)},
    dependencies=_CAN_KEEP,
)
async def remove(model_id: _ModelId, tp: Door, caller: Asker) -> Response:
    """Forget the model. A run that would ask it is held."""
    await tp.models.remove(await own_model(tp, caller, model_id), user=caller.user)
    return Response(status_code=204)


@router.post("/{model_id}/default", responses={**_SHOWN, **problems(404)}, dependencies=_CAN_KEEP)
async def set_default(model_id: _ModelId, tp: Door, caller: Asker) -> Response:
    """Have it asked where nobody names a model; runs that have begun keep theirs."""
    model = await own_model(tp, caller, model_id)
    return answer(model_row(await tp.models.set_default(model, tenant=caller.tenant, user=caller.user)))


@router.post(
    "/{model_id}/validate",
    responses={**shows(ModelTrial, "What came of it."), **problems(404)},
    dependencies=_CAN_KEEP,
)
async def validate_kept(model_id: _ModelId, tp: Door, caller: Asker) -> Response:
    """Ask the provider of a kept model whether it takes its key."""
    model = await own_model(tp, caller, model_id)
    trial = await tp.models.validate(ModelDraft(), model=model, tenant=caller.tenant)
    return answer(msgspec.convert(trial, ModelTrial, from_attributes=True))


async def own_model(tp: Toolpath, caller: Caller, model_id: str) -> LanguageModel:
    """The model, where the caller may change it: it is of their tenant. Raises `RecordNotFound`."""
    model = await tp.models.get(model_id, tenant=caller.tenant)
    if model.tenant != caller.tenant:
        raise RecordNotFound(
            f"There is no model {model_id[:100]!r} of yours.", hint="It is the house's: only the house changes it."
        )
    return model


def draft_of(body: ModelWords) -> ModelDraft:
    """The model that the body describes."""
    return ModelDraft(**{name: getattr(body, name) for name in ModelDraft.__struct_fields__})


made_ready(ModelTrial)
