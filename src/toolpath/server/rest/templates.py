"""`/templates`: plan templates that are kept, their versions, where they are published, and runs of them."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.model.template import PlanTemplate
from toolpath.model.versions import DocumentDiff
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.problems import Problem
from toolpath.server.rest.bodies import (
    ChangedTemplate,
    JsonBody,
    KeyHeader,
    NewTemplate,
    TemplateImport,
    TemplatePublication,
    TemplateRollback,
    TemplateStart,
)
from toolpath.server.rest.described import Filter, answer, problems, shows, takes
from toolpath.server.rest.paging import ROWS, Before, Limit, one_page
from toolpath.server.rest.runs import begun
from toolpath.server.rest.views import (
    RunRow,
    TemplateDetail,
    TemplateExport,
    TemplateImported,
    TemplatePage,
    template_row,
)
from toolpath.server.visibility import visible_run
from toolpath.workspace.template_exchange import TemplateExchange
from toolpath.workspace.templates import TemplateDraft

router = APIRouter(prefix="/templates", tags=["templates"])

TemplateId = Annotated[
    str, Path(max_length=500, description="The template's id, its `group.title`, or its title where one alone has it.")
]
_Version = Annotated[int | None, Query(ge=1, le=2**31, description="A version of it; else the newest.")]
_CAN_READ = [Depends(Needs("read"))]
_CAN_RUN = [Depends(Needs("run"))]
_DETAIL = shows(TemplateDetail, "The template, a version of its document, and what a run is to be given.")


async def _visible(tp: Toolpath, caller: Caller, name: str) -> PlanTemplate:
    return await tp.templates.get(name, tenant=caller.of_tenant)


async def _detailed(tp: Toolpath, template: PlanTemplate, status: int = 200, *, version: int | None = None) -> Response:
    number = template.version if version is None else version
    read = await tp.templates.read(template, number)
    plan = read.plan()
    review = await tp.plans.review(plan)
    needed = await tp.templates.parameters(template, version=number)
    detail = TemplateDetail(
        **msgspec.structs.asdict(template),
        shown=number,
        document=await tp.templates.document(template, number),
        source=await tp.templates.text(template, number),
        parameters=needed.parameters,
        input_schema=needed.schema,
        findings=() if read.fixed else review.findings,
    )
    place = {"Location": f"/api/v1/templates/{template.template_id}"} if status == 201 else None
    return answer(detail, status, place)


@router.post(
    "",
    status_code=201,
    responses={**shows(TemplateDetail, "The template is kept.", status=201), **problems(404, 409, 415)},
    openapi_extra=takes(NewTemplate),
    dependencies=_CAN_RUN,
)
async def create(tp: Door, caller: Asker, body: Annotated[NewTemplate, Depends(JsonBody(NewTemplate))]) -> Response:
    """Keep a document as a template, as a draft; or the plan of a run that succeeded."""
    if bool(body.run_id) == (body.document is not None):
        raise Problem(
            422, "invalid_request", "There must be a document or a run_id, and not both.", hint="Give one of the two."
        )
    draft = _draft(body)
    if body.run_id:
        await visible_run(tp, caller, body.run_id)
        made = await tp.templates.from_run(body.run_id, draft, tenant=caller.tenant, user=caller.user)
    else:
        assert body.document is not None
        made = await tp.templates.save(body.document, draft, tenant=caller.tenant, user=caller.user)
    return await _detailed(tp, made, 201)


@router.get("", responses={**shows(TemplatePage, "Templates, newest first."), **problems(404)}, dependencies=_CAN_READ)
async def listed(tp: Door, caller: Asker, group: Filter = None, limit: Limit = ROWS, before: Before = None) -> Response:
    """The caller's templates, newest first, a page at a time."""
    if before is not None:
        await _visible(tp, caller, before)
    found = await tp.templates.newest(tenant=caller.of_tenant, group=group, limit=limit + 1, before=before)
    page, mark = one_page(found, limit, lambda template: template.template_id)
    return answer(TemplatePage(templates=tuple(template_row(template) for template in page), next=mark))


@router.get(
    "/export",
    responses=shows(TemplateExport, "The templates, as `import` takes them."),
    dependencies=_CAN_READ,
)
async def export(tp: Door, caller: Asker, group: Filter = None) -> Response:
    """All templates of the caller, or those of a group, to be imported elsewhere."""
    exported = await TemplateExchange(tp.templates).exported(tenant=caller.of_tenant, group=group)
    return answer(TemplateExport(templates=tuple(exported)))


@router.post(
    "/import",
    responses={**shows(TemplateImported, "What came of each."), **problems(415)},
    openapi_extra=takes(TemplateImport),
    dependencies=_CAN_RUN,
)
async def import_(
    tp: Door, caller: Asker, body: Annotated[TemplateImport, Depends(JsonBody(TemplateImport))]
) -> Response:
    """Take templates that were exported here or by another system; one whose title is taken becomes a version."""
    found = await TemplateExchange(tp.templates).import_all(body.templates, tenant=caller.tenant, user=caller.user)
    return answer(TemplateImported(templates=tuple(found)))


@router.get("/{template_id}", responses={**_DETAIL, **problems(404)}, dependencies=_CAN_READ)
async def show(template_id: TemplateId, tp: Door, caller: Asker, version: _Version = None) -> Response:
    """The template, checked against the tools as they are now."""
    return await _detailed(tp, await _visible(tp, caller, template_id), version=version)


@router.put(
    "/{template_id}",
    responses={**_DETAIL, **problems(404, 409, 415)},
    openapi_extra=takes(ChangedTemplate),
    dependencies=_CAN_RUN,
)
async def change(
    template_id: TemplateId,
    tp: Door,
    caller: Asker,
    body: Annotated[ChangedTemplate, Depends(JsonBody(ChangedTemplate))],
) -> Response:
    """Save a further version, or change what is said of the template. A document equal to the newest adds none."""
    template = await _visible(tp, caller, template_id)
    draft = _draft(body)
    if body.document is None:
        kept = await tp.templates.change(template, draft, expected=body.expected, user=caller.user)
    else:
        kept = await tp.templates.save(
            body.document, draft, template=template, expected=body.expected, tenant=template.tenant, user=caller.user
        )
    return await _detailed(tp, kept)


@router.delete(
    "/{template_id}",
    status_code=204,
    responses={204: {"description": "It is gone with its versions; its runs stay."}, **problems(404)},
    dependencies=_CAN_RUN,
)
async def delete(template_id: TemplateId, tp: Door, caller: Asker) -> Response:
    """Forget the template."""
    await tp.templates.delete(await _visible(tp, caller, template_id), user=caller.user)
    return Response(status_code=204)


@router.get(
    "/{template_id}/diff",
    responses={**shows(DocumentDiff, "What the later version does otherwise."), **problems(404)},
    dependencies=_CAN_READ,
)
async def diff(
    template_id: TemplateId,
    tp: Door,
    caller: Asker,
    earlier: Annotated[int | None, Query(ge=1, le=2**31, description="Else the one before the later.")] = None,
    later: _Version = None,
) -> Response:
    """Two versions beside each other: steps that came, went and changed, and the lines."""
    template = await _visible(tp, caller, template_id)
    last = template.version if later is None else later
    first = max(last - 1, 1) if earlier is None else earlier
    return answer(await tp.templates.diff(template, first, last))


@router.post(
    "/{template_id}/rollback",
    responses={**_DETAIL, **problems(404, 409, 415)},
    openapi_extra=takes(TemplateRollback),
    dependencies=_CAN_RUN,
)
async def rollback(
    template_id: TemplateId,
    tp: Door,
    caller: Asker,
    body: Annotated[TemplateRollback, Depends(JsonBody(TemplateRollback))],
) -> Response:
    """Make the document of an earlier version the newest one."""
    template = await _visible(tp, caller, template_id)
    return await _detailed(tp, await tp.templates.roll_back(template, body.version, user=caller.user))


@router.post(
    "/{template_id}/publish",
    responses={**_DETAIL, **problems(404, 409, 415)},
    openapi_extra=takes(TemplatePublication),
    dependencies=_CAN_RUN,
)
async def publish(
    template_id: TemplateId,
    tp: Door,
    caller: Asker,
    body: Annotated[TemplatePublication, Depends(JsonBody(TemplatePublication))],
) -> Response:
    """Let a version be run in these channels and no others; in none: it becomes a draft."""
    template = await _visible(tp, caller, template_id)
    if body.channels:
        kept = await tp.templates.publish(template, body.channels, version=body.version, user=caller.user)
    else:
        kept = await tp.templates.withdraw(template, user=caller.user)
    return await _detailed(tp, kept)


@router.post(
    "/{template_id}/runs",
    status_code=202,
    responses={
        **shows(RunRow, "The run is stored and will be driven.", status=202),
        **shows(RunRow, "A run with the same idempotency key was there already.", status=200),
        **problems(404, 409, 415),
    },
    openapi_extra=takes(TemplateStart, optional=True),
    dependencies=_CAN_RUN,
)
async def run(
    template_id: TemplateId,
    tp: Door,
    caller: Asker,
    body: Annotated[TemplateStart, Depends(JsonBody(TemplateStart, optional=True))],
    idempotency_key: KeyHeader = "",
) -> Response:
    """Begin a run of the version that is published in the channel `http`."""
    template = await _visible(tp, caller, template_id)
    version = tp.templates.open_to(template, "http")
    what = await tp.templates.run_of(template, body.inputs, version=version)
    key = body.idempotency_key or idempotency_key
    return await begun(
        tp,
        caller,
        what,
        body.inputs,
        conversation_id=body.conversation_id,
        key=key,
        priority=body.priority,
        uploads=body.uploads,
    )


def _draft(body: NewTemplate | ChangedTemplate) -> TemplateDraft:
    return TemplateDraft(
        title=body.title,
        group=body.group,
        description=body.description,
        access=body.access,
        comment=body.comment,
    )
