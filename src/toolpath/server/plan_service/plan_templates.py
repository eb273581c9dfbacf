"""`/api/plan-template/*`, `/api/tools` and `/api/version`: templates and tools as that service's clients know them."""

from __future__ import annotations

from importlib.metadata import version as version_of
from typing import Any

import msgspec
from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.errors import ReadError
from toolpath.machine import new_id
from toolpath.model.template import PlanTemplate
from toolpath.notation.template_config import read_config
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.plan_service.answers import ServiceRoute, body_of
from toolpath.server.rest.described import answer
from toolpath.values import JsonObject, encode
from toolpath.workspace.template_exchange import TemplateExchange
from toolpath.workspace.templates import TemplateDraft

router = APIRouter(prefix="/api", route_class=ServiceRoute, include_in_schema=False)

_CAN_READ = [Depends(Needs("read"))]
_CAN_RUN = [Depends(Needs("run"))]
#: Templates that a list has.
_MOST = 1_000


class _PlanId(msgspec.Struct, frozen=True, rename="camel"):
    plan_id: str = ""
    version_index: int | str = 0


async def _visible(tp: Toolpath, caller: Caller, name: str) -> PlanTemplate:
    return await tp.templates.get(name, tenant=caller.of_tenant)


async def _newest(tp: Toolpath, caller: Caller) -> list[PlanTemplate]:
    return await tp.templates.newest(tenant=caller.of_tenant, limit=_MOST)


@router.post("/plan-template/versions", dependencies=_CAN_READ)
async def versions(request: Request, tp: Door, caller: Asker) -> Response:
    """All versions of a template, oldest first, each as JSON text."""
    body: _PlanId = await body_of(request, _PlanId)
    template = await _visible(tp, caller, body.plan_id)
    exchange = TemplateExchange(tp.templates)
    texts = [encode(await exchange.config(template, version=each.version)).decode() for each in template.versions]
    return answer({"planId": template.template_id, "versionCount": len(texts), "versions": texts})


@router.post("/plan-template/get-version", dependencies=_CAN_READ)
async def get_version(request: Request, tp: Door, caller: Asker) -> Response:
    """One version, counted from 0."""
    body: _PlanId = await body_of(request, _PlanId)
    template = await _visible(tp, caller, body.plan_id)
    try:
        index = int(body.version_index)
    except ValueError:
        raise ReadError("Version index must be a number") from None
    if not 0 <= index < len(template.versions):
        raise ReadError("Version index out of range")
    config = await TemplateExchange(tp.templates).config(template, version=template.versions[index].version)
    return answer(
        {
            "planId": template.template_id,
            "versionIndex": index,
            "versionCount": len(template.versions),
            "planJson": encode(config).decode(),
        }
    )


@router.get("/plan-template/list", dependencies=_CAN_READ)
async def listed(tp: Door, caller: Asker) -> Response:
    """Title and times of all templates."""
    found = [
        {
            "id": each.template_id,
            "title": each.title,
            "description": each.description,
            "createTime": round(each.created_at * 1000),
            "updateTime": round(each.updated_at * 1000),
        }
        for each in await _newest(tp, caller)
    ]
    return answer({"templates": found, "count": len(found)})


@router.get("/plan-template/list-config", dependencies=_CAN_READ)
async def list_config(tp: Door, caller: Asker) -> Response:
    """All templates whole."""
    return answer(await TemplateExchange(tp.templates).exported(tenant=caller.of_tenant))


@router.get("/plan-template/export-all", dependencies=_CAN_READ)
async def export_all(tp: Door, caller: Asker) -> Response:
    """All templates, for `import-all`."""
    return answer(await TemplateExchange(tp.templates).exported(tenant=caller.of_tenant))


@router.post("/plan-template/import-all", dependencies=_CAN_RUN)
async def import_all(request: Request, tp: Door, caller: Asker) -> Response:
    """Take templates; what was not taken is told with its reason."""
    documents: list[dict[str, Any]] = await body_of(request, list[dict[str, Any]])
    taken = await TemplateExchange(tp.templates).import_all(documents, tenant=caller.tenant, user=caller.user)
    errors = [{"planTemplateId": each.template_id or each.title, "message": each.error} for each in taken if each.error]
    kept = sum(bool(each.template_id) for each in taken)
    counts = {"total": len(taken), "successCount": kept, "failureCount": len(taken) - kept}
    return answer({"success": kept == len(taken), **counts, "errors": errors})


@router.get("/plan-template/generate-plan-template-id", dependencies=_CAN_READ)
async def generate_id(tp: Door) -> Response:
    """An id that no template has. Saving gives one anyhow."""
    return answer({"planTemplateId": new_id("tpl", tp.clock.time())})


@router.post("/plan-template/create-or-update-with-tool", dependencies=_CAN_RUN)
async def create_or_update(request: Request, tp: Door, caller: Asker) -> Response:
    """Keep a template and publish it where its `toolConfig` says."""
    document: dict[str, Any] = await body_of(request, dict[str, Any])
    config = read_config(document)
    known = await _known(tp, caller, config.template_id)
    draft = TemplateDraft(title=config.title or None, group=config.group, description=config.description or None)
    template = await tp.templates.save(
        document, draft, template=known, tenant=caller.tenant if known is None else known.tenant, user=caller.user
    )
    if config.channels:
        template = await tp.templates.publish(template, config.channels, user=caller.user)
    return answer(
        {
            "success": True,
            "planTemplateId": template.template_id,
            "toolRegistered": "tool" in template.channels,
        }
    )


async def _known(tp: Toolpath, caller: Caller, template_id: str) -> PlanTemplate | None:
    """The template of that id; a new one begins with `new-` or is not there yet."""
    if not template_id or template_id.startswith("new-"):
        return None
    found = [each for each in await _newest(tp, caller) if each.template_id == template_id]
    return found[0] if found else None


@router.post("/plan-template/delete", dependencies=_CAN_RUN)
async def delete(request: Request, tp: Door, caller: Asker) -> Response:
    """Forget a template with its versions."""
    body: _PlanId = await body_of(request, _PlanId)
    template = await _visible(tp, caller, body.plan_id)
    await tp.templates.delete(template, user=caller.user)
    return answer({"status": "success", "message": "Plan template deleted", "planId": template.template_id})


@router.get("/plan-template/{template_id}/config", dependencies=_CAN_READ)
async def config_of(template_id: str, tp: Door, caller: Asker) -> Response:
    """One template whole."""
    return answer(await TemplateExchange(tp.templates).config(await _visible(tp, caller, template_id)))


@router.get("/plan-template/{template_id}/parameters", dependencies=_CAN_READ)
async def parameters(template_id: str, tp: Door, caller: Asker) -> Response:
    """The names of its parameters."""
    needed = await tp.templates.parameters(await _visible(tp, caller, template_id))
    names = [each.name for each in needed.parameters]
    told = "; ".join(f"{each.name}: {each.description or each.type or 'any value'}" for each in needed.parameters)
    return answer({"parameters": names, "hasParameters": bool(names), "requirements": told})


@router.get("/tools", dependencies=_CAN_READ)
async def tools(tp: Door) -> Response:
    """All tools, as a template may select them."""
    catalog = await tp.tools()
    found: list[JsonObject] = [
        {
            "key": tool.key,
            "name": tool.name,
            "description": tool.description,
            "enabled": True,
            "serviceGroup": tool.group,
            "selectable": True,
        }
        for tool in catalog.tools.values()
    ]
    return answer(found)


@router.get("/version", dependencies=_CAN_READ)
async def version() -> Response:
    """The version of this service."""
    return answer({"version": version_of("toolpath")})
