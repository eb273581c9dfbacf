"""`/api/executor/*`: run a template by its name, look at records, answer forms, stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.errors import ReadError, RunConflict, RunNotFound
from toolpath.model.run import ENDED_RUN
from toolpath.model.sub_plan import split_plan_id
from toolpath.model.template import PlanTemplate
from toolpath.projections.plan_records import plan_record, step_record, waiting_form
from toolpath.runs.beside_the_loop import weight_of
from toolpath.runs.run import Run
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.plan_service.answers import ServiceRoute, body_of
from toolpath.server.rest.conversations import context_in
from toolpath.server.rest.described import answer
from toolpath.server.shown import shown_results
from toolpath.server.visibility import visible_run
from toolpath.values import Json, JsonObject, encode

router = APIRouter(prefix="/api/executor", route_class=ServiceRoute, include_in_schema=False)

_CAN_READ = [Depends(Needs("read"))]
_CAN_RUN = [Depends(Needs("run"))]
_CAN_ANSWER = [Depends(Needs("answer"))]
#: Seconds for which a synchronous call waits.
_LONGEST = 600.0


class TemplateExecution(msgspec.Struct, frozen=True, rename="camel"):
    """Request to run a template."""

    tool_name: str = ""
    """Id, title or `group.title` of a template."""
    service_group: str = ""
    replacement_params: dict[str, Any] | None = None
    conversation_id: str = ""
    upload_key: str = ""
    """An upload whose files are in the run's folder when it begins."""
    uploaded_files: list[Any] | None = None
    """Names of those of its files that are; None: all. A record of a file goes by its `name` or `originalName`."""


@router.post("/executeByToolNameAsync", dependencies=_CAN_RUN)
async def execute(request: Request, tp: Door, caller: Asker) -> Response:
    """Begin a run; its record is there from the first moment."""
    body: TemplateExecution = await body_of(request, TemplateExecution)
    template, run = await _begun(tp, caller, body)
    return answer(
        {
            "planId": run.run_id,
            "status": "processing",
            "message": "Task submitted, processing",
            "conversationId": body.conversation_id or None,
            "toolName": template.title,
            "planTemplateId": template.template_id,
        }
    )


@router.post("/executeByToolNameSync", dependencies=_CAN_RUN)
async def execute_and_wait(request: Request, tp: Door, caller: Asker) -> Response:
    """Run it and answer with what came of it."""
    return await _waited(tp, caller, await body_of(request, TemplateExecution))


@router.get("/executeByToolNameSync/{tool_name}", dependencies=_CAN_RUN)
async def execute_named(
    tool_name: str,
    request: Request,
    tp: Door,
    caller: Asker,
    service_group: Annotated[str, Query(alias="serviceGroup", max_length=200)] = "",
) -> Response:
    """The same, with the parameters in the query."""
    given = {name: value for name, value in request.query_params.items() if name not in ("serviceGroup", "allParams")}
    body = TemplateExecution(tool_name=tool_name, service_group=service_group, replacement_params=dict(given))
    return await _waited(tp, caller, body)


async def _begun(tp: Toolpath, caller: Caller, body: TemplateExecution) -> tuple[PlanTemplate, Run]:
    if not body.tool_name.strip():
        raise ReadError("Tool name cannot be empty")
    name = f"{body.service_group}.{body.tool_name}" if body.service_group else body.tool_name
    template = await tp.templates.get(name, tenant=caller.of_tenant)
    version = tp.templates.open_to(template, "http")
    values = body.replacement_params or {}
    what = await tp.templates.run_of(template, values, version=version)
    context = await context_in(tp, caller, body.conversation_id)
    said: dict[str, Any] = {"context": context, "priority": caller.priority}
    only = None if not body.uploaded_files else [_file_name(each) for each in body.uploaded_files]
    if only and not body.upload_key:
        raise ReadError("`uploadedFiles` names files of an upload.", hint="Say which one with `uploadKey`.")
    if body.upload_key:
        return template, await tp.files.start(what, values, uploads=[body.upload_key], only=only, **said)
    return template, await tp.start(what, values, **said)


def _file_name(given: object) -> str:
    """The name of a file of an upload, as it is or in the file's record. Raises `ReadError`."""
    match given:
        case str(name) | {"name": str(name)} | {"originalName": str(name)} if name.strip():
            return name
        case _:
            raise ReadError("`uploadedFiles` is a list of names of files of the upload.")


async def _waited(tp: Toolpath, caller: Caller, body: TemplateExecution) -> Response:
    _, run = await _begun(tp, caller, body)
    try:
        async with asyncio.timeout(_LONGEST):
            async for _ in tp.watch(run.run_id):
                pass
    except TimeoutError:
        return answer({"error": f"The run {run.run_id} takes long; ask for its details.", "status": "running"}, 504)
    result = await tp.info(run.run_id)
    if not result.success:
        why = result.error.message if result.error is not None else f"It is {result.status}."
        error = {"error": f"Execution failed: {tp.redact(why)}", "status": "failed", "planId": run.run_id}
        return answer(error, 500 if result.status in ENDED_RUN else 202)
    done = {"status": "completed", "result": _text(result.outputs), "planId": run.run_id}
    return answer({**done, "conversationId": body.conversation_id or None})


@router.get("/details/{plan_id:path}", dependencies=_CAN_READ)
async def details(plan_id: str, tp: Door, caller: Asker) -> Response:
    """The record of a plan: of a run, or of a plan that one of its calls began."""
    run_id, path = split_plan_id(plan_id)
    await visible_run(tp, caller, run_id)
    found = await _recorded(tp, run_id, lambda result, events, results: plan_record(result, events, results, path))
    if found is None:
        raise RunNotFound(f"There is no plan {plan_id[:100]!r}.")
    return found


async def _recorded(tp: Toolpath, run_id: str, made: Callable[..., msgspec.Struct | None]) -> Response | None:
    """The answer with the record that is made of the run's journal, beside the loop; None where there is none."""
    result, events = await tp.info(run_id), await tp.events(run_id)

    def work() -> Response | None:
        results, _ = shown_results(result.results)
        record = made(result, events, results)
        return None if record is None else answer(record)

    return await tp.aside.do(work, weight_of([events]))


@router.delete("/details/{plan_id:path}", dependencies=_CAN_READ)
async def forget(plan_id: str, tp: Door, caller: Asker) -> Response:
    """Nothing is to be deleted: records are read from the journal."""
    await visible_run(tp, caller, split_plan_id(plan_id)[0])
    return answer({"message": "Execution record found (no deletion needed)"})


@router.get("/agent-execution/{step_id:path}", dependencies=_CAN_READ)
async def agent_execution(step_id: str, tp: Door, caller: Asker) -> Response:
    """The record of one step, with its rounds."""
    run_id, path = split_plan_id(step_id)
    await visible_run(tp, caller, run_id)
    found = await _recorded(tp, run_id, lambda result, events, results: step_record(result, events, results, path))
    if found is None:
        raise RunNotFound(f"There is no step {step_id[:100]!r}.")
    return found


@router.post("/submit-input/{plan_id:path}", dependencies=_CAN_ANSWER)
async def submit_input(plan_id: str, request: Request, tp: Door, caller: Asker) -> Response:
    """Answer the form that the plan waits for, by the names or labels of its fields."""
    run_id, path = split_plan_id(plan_id)
    await visible_run(tp, caller, run_id)
    given: dict[str, Any] = await body_of(request, dict[str, Any])
    info = await tp.info(run_id)
    if any(question.path == path for question in info.questions if path):
        # One of several forms that are open at once.
        await tp.answer(run_id, path, given, by=caller.user)
        return answer({"message": "Input submitted successfully", "planId": plan_id})
    waiting = waiting_form(info)
    if waiting is None:
        raise ReadError("No plan is currently waiting for user input.")
    await tp.answer(run_id, waiting.step, _by_name(given, waiting.form_inputs), by=caller.user)
    return answer({"message": "Input submitted successfully", "planId": run_id})


def _by_name(given: JsonObject, fields: tuple[Json, ...]) -> JsonObject:
    """The answers under the names of their fields; a label is taken where one field alone has it."""
    names = [each for each in fields if isinstance(each, dict)]
    labels: dict[str, list[str]] = {}
    for each in names:
        labels.setdefault(str(each.get("label", "")), []).append(str(each.get("name", "")))
    known = {str(each.get("name", "")) for each in names}
    return {
        key if key in known or len(labels.get(key, ())) != 1 else labels[key][0]: value for key, value in given.items()
    }


def _nothing_to_stop() -> Response:
    return answer({"error": "No active task found for the given plan ID", "errorCode": "NO_ACTIVE_TASK"}, 400)


@router.post("/stopTask/{plan_id:path}", dependencies=_CAN_RUN)
async def stop_task(plan_id: str, tp: Door, caller: Asker) -> Response:
    """Stop a run with all that it has begun, or a plan inside it alone."""
    run_id = split_plan_id(plan_id)[0]
    info = await visible_run(tp, caller, run_id)
    if info.status in ENDED_RUN:
        return _nothing_to_stop()
    try:
        await tp.cancel(plan_id, reason="stopped")
    except RunConflict:
        return _nothing_to_stop()
    return answer(
        {
            "status": "stopped",
            "planId": plan_id,
            "message": "Task stop request submitted",
            "taskMarkedForStop": True,
            "wasRunning": info.status == "running",
        }
    )


@router.get("/taskStatus/{plan_id:path}", dependencies=_CAN_READ)
async def task_status(plan_id: str, tp: Door, caller: Asker) -> Response:
    """Whether the run goes on, and what came of it."""
    run_id = split_plan_id(plan_id)[0]
    try:
        info = await visible_run(tp, caller, run_id)
    except RunNotFound:
        return answer({"planId": run_id, "exists": False, "isRunning": False})
    result = await tp.info(run_id)
    ended = info.status in ENDED_RUN
    return answer(
        {
            "planId": run_id,
            "isRunning": not ended,
            "exists": True,
            "desiredState": "STOP" if ended else "START",
            "status": result.status,
            "startTime": round(info.created_at * 1000),
            "endTime": None if info.ended_at is None else round(info.ended_at * 1000),
            "lastUpdated": round(info.updated_at * 1000),
            "taskResult": _text(result.outputs) if ended else None,
        }
    )


def _text(value: Json) -> str:
    return value if isinstance(value, str) else encode(value).decode()
