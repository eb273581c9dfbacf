"""`/api/models` and `/api/init`: stored models as that service's clients know them."""

from __future__ import annotations

from typing import Final

import msgspec
from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from toolpath.errors import ReadError, RecordNotFound
from toolpath.model.language_model import MASK, LanguageModel
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.plan_service.answers import ServiceRoute, body_of
from toolpath.server.rest.described import answer
from toolpath.server.rest.models import own_model
from toolpath.values import JsonObject
from toolpath.workspace.models.models import ModelDraft

router = APIRouter(prefix="/api", route_class=ServiceRoute, include_in_schema=False)

_CAN_READ = [Depends(Needs("read"))]
_CAN_KEEP = [Depends(Needs("admin"))]
_TYPES: Final = ("GENERAL", "REASONING", "PLANNER", "VISION", "CODE", "TEXT_GENERATION")
#: Where the service's own guided setting up goes.
_DASHSCOPE: Final = "https://dashscope.aliyuncs.com/compatible-mode/v1"
_USUAL_PATH: Final = "/v1/chat/completions"


class ModelConfig(msgspec.Struct, frozen=True, rename="camel"):
    """A model as that service has it."""

    model_name: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    headers: dict[str, str] | None = None
    model_description: str | None = None
    type: str | None = None
    is_default: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    completions_path: str | None = None


class Setup(msgspec.Struct, frozen=True, rename="camel"):
    """The first model, as it is set up."""

    config_mode: str = "custom"
    api_key: str = ""
    base_url: str = ""
    model_name: str = ""
    model_display_name: str = ""
    completions_path: str = ""


@router.get("/models", dependencies=_CAN_READ)
async def listed(tp: Door, caller: Asker) -> Response:
    """All models."""
    return answer([_shown(model) for model in await tp.models.list(tenant=caller.tenant)])


@router.get("/models/types", dependencies=_CAN_READ)
async def types() -> Response:
    """The types that a model may be given."""
    return answer(list(_TYPES))


@router.get("/models/available-models", dependencies=_CAN_READ)
@router.get("/config/available-models", dependencies=_CAN_READ)
async def available(tp: Door, caller: Asker) -> Response:
    """The names that a step may ask."""
    found = await tp.models.list(tenant=caller.tenant)
    options = [{"value": model.name, "label": model.description or model.name} for model in found]
    return answer({"options": options, "total": len(options)})


@router.post("/models/validate", dependencies=_CAN_KEEP)
async def validate(request: Request, tp: Door, caller: Asker) -> Response:
    """Whether the provider takes the key, and what it has."""
    body: ModelConfig = await body_of(request, ModelConfig)
    draft = msgspec.structs.replace(_draft(body), name=body.model_name or "new", model=body.model_name or "")
    trial = await tp.models.validate(draft, tenant=caller.tenant)
    names = [{"modelName": name} for name in trial.available]
    return answer({"valid": trial.valid, "message": trial.message, "availableModels": names})


@router.post("/models", dependencies=_CAN_KEEP)
async def create(request: Request, tp: Door, caller: Asker) -> Response:
    """Keep a model."""
    body: ModelConfig = await body_of(request, ModelConfig)
    made = await tp.models.add(_draft(body), tenant=caller.tenant, user=caller.user)
    if body.is_default:
        made = await tp.models.set_default(made, tenant=caller.tenant, user=caller.user)
    return answer(_shown(made), 201)


@router.get("/models/{model_id}", dependencies=_CAN_READ)
async def show(model_id: str, tp: Door, caller: Asker) -> Response:
    """One model."""
    return answer(_shown(await tp.models.get(model_id, tenant=caller.tenant)))


@router.put("/models/{model_id}", dependencies=_CAN_KEEP)
async def change(model_id: str, request: Request, tp: Door, caller: Asker) -> Response:
    """Change what is given; its name stays."""
    body: ModelConfig = await body_of(request, ModelConfig)
    made = await tp.models.change(await own_model(tp, caller, model_id), _draft(body), user=caller.user)
    if body.is_default:
        made = await tp.models.set_default(made, tenant=caller.tenant, user=caller.user)
    return answer(_shown(made))


@router.delete("/models/{model_id}", dependencies=_CAN_KEEP)
async def remove(model_id: str, tp: Door, caller: Asker) -> Response:
    """Forget it."""
    await tp.models.remove(await own_model(tp, caller, model_id), user=caller.user)
    return answer({"success": True})


@router.post("/models/{model_id}/set-default", dependencies=_CAN_KEEP)
async def set_default(model_id: str, tp: Door, caller: Asker) -> Response:
    """Have it asked where nobody names a model."""
    model = await own_model(tp, caller, model_id)
    made = await tp.models.set_default(model, tenant=caller.tenant, user=caller.user)
    return answer({"success": True, "message": f"{made.name} is the default", "modelId": made.model_id})


@router.get("/init/status", dependencies=_CAN_READ)
async def status(tp: Door, caller: Asker) -> Response:
    """Whether there is a model to ask."""
    known = await tp.models.known(caller.tenant)
    has = bool(known.default or known.prints or known.takes_any)
    return answer({"success": True, "initialized": has, "hasConfiguredModels": has})


@router.post("/init/save", dependencies=_CAN_KEEP)
async def save(request: Request, tp: Door, caller: Asker) -> Response:
    """Keep the first model, and have it asked where nobody names one. The whole of it, or nothing."""
    body: Setup = await body_of(request, Setup)
    if not body.api_key.strip() and body.config_mode == "dashscope":
        raise ReadError("API key cannot be empty")
    if body.config_mode not in ("dashscope", "custom"):
        raise ReadError(f"configMode is {body.config_mode[:50]!r}; it is dashscope or custom.")
    if body.config_mode == "custom" and not (body.base_url.strip() and body.model_name.strip()):
        raise ReadError("Base URL and model name cannot be empty")
    name = body.model_name.strip() or "qwen-plus"
    config = ModelConfig(
        model_name=name,
        base_url=body.base_url.strip() or _DASHSCOPE if body.config_mode == "custom" else _DASHSCOPE,
        api_key=body.api_key,
        model_description=body.model_display_name or name,
        completions_path=body.completions_path or None,
    )
    draft = _draft(config)
    try:
        known = await own_model(tp, caller, name)
    except RecordNotFound:
        made = await tp.models.add(draft, tenant=caller.tenant, user=caller.user)
    else:
        made = await tp.models.change(known, draft, user=caller.user)
    await tp.models.set_default(made, tenant=caller.tenant, user=caller.user)
    return answer(
        {
            "success": True,
            "message": "The model is kept, and is the default.",
            "requiresRestart": False,
            "modelId": made.model_id,
            "configMode": body.config_mode,
        }
    )


def _draft(body: ModelConfig) -> ModelDraft:
    path = body.completions_path
    if path is None and body.base_url is not None and not _has_path(body.base_url):
        # That service adds the path to an address that is a host alone.
        path = _USUAL_PATH
    return ModelDraft(
        name=body.model_name,
        model=body.model_name,
        base_url=body.base_url,
        key=body.api_key,
        headers=body.headers,
        temperature=body.temperature,
        top_p=body.top_p,
        completions_path=path,
        description=body.model_description,
        type=body.type,
    )


def _has_path(url: str) -> bool:
    return "/" in url.partition("://")[2].rstrip("/")


def _shown(model: LanguageModel) -> JsonObject:
    return {
        "id": model.model_id,
        "modelName": model.name,
        "baseUrl": model.base_url,
        "apiKey": MASK if model.has_key else "",
        "headers": dict.fromkeys(model.headers, MASK),
        "modelDescription": model.description,
        "type": model.type,
        "isDefault": model.is_default,
        "temperature": model.temperature,
        "topP": model.top_p,
        "completionsPath": model.completions_path or _USUAL_PATH,
    }
