"""Runs as the chaining system shows executions: counts, results, outputs, errors, four words for how it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence

import strawberry

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.start import fill_inputs
from toolpath.errors import Finding, PlanInvalid
from toolpath.model.events import AnyEvent, Failure, RunStarted
from toolpath.model.run import RunInfo, RunResult, RunStatus, StepResult
from toolpath.model.stored import StoredPlan
from toolpath.projections.results import run_result
from toolpath.runs.beside_the_loop import weight_of
from toolpath.server.graphql.types import (
    Execution,
    ExecutionWithChaining,
    ExecutionWithResults,
    Question,
    moment,
    text,
)
from toolpath.server.questions import questions_of
from toolpath.server.shown import MOST_SHOWN, shown_results
from toolpath.values import JsonObject

_STATES: dict[RunStatus, str] = {
    "pending": "pending",
    "running": "in-progress",
    "waiting": "in-progress",
    "paused": "in-progress",
    "completed": "completed",
    "completed_with_errors": "completed",
    "failed": "failed",
    "cancelled": "failed",
}
_FAILED = ("failed", "timed_out")
_UNKNOWN = re.compile(r"'([^']+)'")


def state_of(status: RunStatus) -> str:
    """The chaining system's word for how a run stands."""
    return _STATES[status]


def execution_results(result: RunResult) -> tuple[JsonObject, list[str]]:
    """Output by tool (by step, where a tool is called twice), but for those left out, and what went wrong."""
    left_out = _left_out(result)
    calls = [step for step in result.results if step.tool]
    uses: dict[str, int] = {}
    for step in calls:
        uses[_bare(step.tool)] = uses.get(_bare(step.tool), 0) + 1
    outputs = {
        (_bare(step.tool) if uses[_bare(step.tool)] == 1 else step.path): step.output
        for step in calls
        if step.status == "succeeded" and step.path not in left_out
    }
    errors = [f"{step.path}: {_said(step.error)}" for step in calls if step.error is not None and _is_failed(step)]
    if not errors and result.error is not None:
        errors = [_said(result.error)]
    if not errors and result.status == "cancelled":
        errors = [f"The run was cancelled. {result.reason}".rstrip()]
    return outputs, errors


def _left_out(result: RunResult) -> set[str]:
    """Paths of the results whose values an answer has no room for: it shows them twice."""
    shown, left_out = shown_results(result.results, MOST_SHOWN // 2)
    return {step.path for step in shown[len(shown) - left_out :]}


def _bare(tool: str) -> str:
    return tool.rpartition(".")[2]


def _is_failed(step: StepResult) -> bool:
    return step.status in _FAILED


def _said(failure: Failure) -> str:
    return f"{failure.message} {failure.hint}".rstrip()


async def shown_execution(tp: Toolpath, info: RunInfo) -> ExecutionWithChaining:
    """A run, as the execution of its plan."""
    events, request_id = await tp.events(info.run_id), await _request_of(tp, info.plan_id)
    catalog = tp.known_tools(tenant=info.tenant)
    return await tp.aside.do(lambda: _execution(info, events, request_id, catalog), weight_of([events]))


def _execution(info: RunInfo, events: Sequence[AnyEvent], request_id: str, catalog: Catalog) -> ExecutionWithChaining:
    result = run_result(info.run_id, events, row=info, parked=info.status == "waiting")
    outputs, errors = execution_results(result)
    calls = [step for step in result.results if step.tool]
    return ExecutionWithChaining(
        id=strawberry.ID(info.run_id),
        request_id=request_id,
        plan_id=info.plan_id,
        total_executions=len(calls),
        successful=sum(step.status == "succeeded" for step in calls),
        failed=sum(map(_is_failed, calls)),
        results=text(_records(calls, catalog, _left_out(result))),
        outputs=text(outputs),
        errors=errors,
        created_at=moment(info.created_at),
        updated_at=moment(info.updated_at),
        run_id=info.run_id,
        state=state_of(result.status),
        status=result.status,
        questions=shown_questions(result),
    )


async def executed_before(tp: Toolpath, caller: Caller, stored: StoredPlan) -> str:
    """The run of the plan, without inputs, that an earlier version began under a key like a caller's; or none."""
    key = f"execute {stored.plan_id} {stored.revision}"
    for info in await tp.store.list_runs(tenant=caller.tenant, plan_id=stored.plan_id):
        if info.idempotency_key == key:
            (started,) = await tp.store.read_events(info.run_id, limit=1)
            assert isinstance(started, RunStarted)
            if started.inputs == fill_inputs(await tp.plans.plan(stored), {}):
                return info.run_id
    return ""


async def shown_at_once(tp: Toolpath, run_id: str, plan: str) -> ExecutionWithResults:
    """A run of tools that were given with the call."""
    info = await tp.store.get_run(run_id)
    shown = await shown_execution(tp, info)
    return ExecutionWithResults(
        id=shown.id,
        plan=plan,
        total_executions=shown.total_executions,
        successful=shown.successful,
        failed=shown.failed,
        results=shown.results,
        errors=shown.errors,
        created_at=shown.created_at,
        updated_at=shown.updated_at,
    )


def refused_at_once(tp: Toolpath, plan: str, steps: int, error: PlanInvalid) -> ExecutionWithResults:
    """Tools that were not executed, none of them, since the check found errors."""
    now = moment(tp.clock.time())
    errors = [in_their_words(finding) for finding in error.findings if finding.severity == "error"]
    return ExecutionWithResults(
        id=strawberry.ID(""),
        plan=plan,
        total_executions=steps,
        successful=0,
        failed=len(errors),
        results="[]",
        errors=errors,
        created_at=now,
        updated_at=now,
    )


def in_their_words(finding: Finding) -> str:
    """The finding; an unknown tool in the chaining system's words."""
    name = _UNKNOWN.search(finding.message)
    if finding.code == "unknown_tool" and name is not None:
        return f'Tool "{name[1]}" not found'
    return finding.message


async def shown_as_texts(tp: Toolpath, info: RunInfo) -> Execution:
    """A run as input and output texts."""
    events = await tp.events(info.run_id)
    return await tp.aside.do(lambda: _as_texts(info, events), weight_of([events]))


def _as_texts(info: RunInfo, events: Sequence[AnyEvent]) -> Execution:
    first = events[0] if events else None
    inputs = {"plan": first.plan, "inputs": first.inputs} if isinstance(first, RunStarted) else {}
    return Execution(
        id=strawberry.ID(info.run_id),
        input=text(inputs),
        output=text(run_result(info.run_id, events).outputs),
        created_at=moment(info.created_at),
        updated_at=moment(info.updated_at),
    )


def shown_questions(result: RunResult) -> list[Question]:
    """The questions to people that the run waits for."""
    return [
        Question(
            run_id=asked.run_id,
            step=asked.step,
            kind=asked.kind,
            title=str((asked.form or {}).get("title") or f"{asked.tool or asked.step} waits for {asked.kind}."),
            tool=asked.tool,
            inputs=None if asked.inputs is None else text(asked.inputs),
            form=None if asked.form is None else text(asked.form),
            deadline=None if asked.deadline is None else moment(asked.deadline),
        )
        for asked in questions_of(result)
    ]


def _records(calls: list[StepResult], catalog: Catalog, left_out: set[str]) -> list[JsonObject]:
    def keys(name: str) -> str:
        """A step that was not reached has its tool's name as the plan writes it; one that was, its key."""
        tool = catalog.get(name)
        return tool.key if tool is not None else name

    records: list[JsonObject] = []
    for step in calls:
        record: JsonObject = {"tool": keys(step.tool), "step": step.path, "status": step.status, "output": step.output}
        if step.path in left_out:
            record |= {"output": None, "left_out": True}
        if step.error is not None:
            record["error"] = _said(step.error)
        if step.reason:
            record["reason"] = step.reason
        records.append(record)
    return records


async def _request_of(tp: Toolpath, plan_id: str) -> str:
    record = await tp.store.get_record("plan", plan_id) if plan_id else None
    return record.parent if record is not None else ""
