"""Plans as GraphQL shows them: of stored plans, with how their latest run stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import strawberry

from toolpath.app import Toolpath
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import has_errors
from toolpath.checks.explanation import Explanation
from toolpath.errors import Finding
from toolpath.model import plan as notation
from toolpath.model.run import RunInfo
from toolpath.model.stored import StoredPlan
from toolpath.notation.printing import plan_to_dict
from toolpath.projections.results import run_result
from toolpath.runs.beside_the_loop import weight_of
from toolpath.server.graphql.executions import execution_results, state_of
from toolpath.server.graphql.types import PlanWithRequest, PlanWithTools, Tool, ToolExecution, moment, text
from toolpath.values import JsonObject
from toolpath.workspace.plans import Review


async def shown_plan(tp: Toolpath, stored: StoredPlan) -> PlanWithRequest:
    """The stored plan with all that the chaining system tells of one."""
    plan = await tp.plans.plan(stored)
    review = await tp.plans.review(plan)
    run = await latest_run(tp, stored)
    names = ToolNames(await tp.load(plan))
    shown = await tp.aside.do(lambda: _shown(plan, review, names), weight_of([plan.steps]))
    return PlanWithRequest(
        id=strawberry.ID(stored.plan_id),
        request_id=stored.request_id,
        plan_id=stored.plan_id,
        query=stored.request,
        plan=shown.text,
        selected_tools=shown.calls,
        tool_order=shown.order,
        execution_state="pending" if run is None else state_of(run.status),
        execution_results=None if run is None else text(await _results(tp, run)),
        validation_result=text(validation(review.findings, plan.questions)),
        created_at=moment(stored.created_at),
        updated_at=moment(max(stored.updated_at, run.updated_at if run else 0.0)),
        version=stored.version,
        document=shown.document,
    )


class _Shown(msgspec.Struct):
    """Parts of a shown plan that grow with it."""

    text: str
    calls: list[ToolExecution]
    order: list[str]
    document: str


def _shown(plan: notation.Plan, review: Review, names: ToolNames) -> _Shown:
    calls = [step for _, step in notation.every_step(plan.block) if isinstance(step, notation.Call)]
    waits = _waits(review.explanation)
    tools = {call.id: names.of(call.tool) for call in calls}
    return _Shown(
        text=plan.reasoning or str(review.explanation),
        calls=[_call(call, tools, waits) for call in calls],
        order=list(dict.fromkeys(tools[call.id] for call in _ordered(calls, waits))),
        document=text(plan_to_dict(plan)),
    )


async def shown_with_tools(tp: Toolpath, stored: StoredPlan) -> PlanWithTools:
    """The stored plan with the tools that it uses."""
    plan = await tp.plans.plan(stored)
    review = await tp.plans.review(plan)
    catalog = await tp.load(plan)
    used = {step.tool: None for _, step in notation.every_step(plan.block) if isinstance(step, notation.Call)}
    return PlanWithTools(
        id=strawberry.ID(stored.plan_id),
        query=stored.request,
        plan=plan.reasoning or str(review.explanation),
        selected_tools=shown_tools(catalog, [tool for tool in map(catalog.get, used) if tool is not None]),
        validation_result=text(validation(review.findings, plan.questions)),
        created_at=moment(stored.created_at),
        updated_at=moment(stored.updated_at),
    )


class ToolNames:
    """Names of tools as they are called here: bare names where these are enough, as the chaining system knows them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def of(self, name: str) -> str:
        """The name to show for a key, alias or bare name."""
        tool = self._catalog.get(name)
        if tool is None:
            return name
        return tool.name if self._catalog.get(tool.name) is tool else tool.key


def shown_tools(catalog: Catalog, tools: Iterable[Any]) -> list[Tool]:
    """The tools as a list shows them."""
    names = ToolNames(catalog)
    return [
        Tool(
            name=names.of(tool.key),
            description=tool.description,
            category=tool.category or None,
            parameters=text(tool.input_schema),
        )
        for tool in tools
    ]


def validation(findings: Sequence[Finding], questions: Sequence[str]) -> JsonObject:
    """Whether the plan may run, and everything that is wrong with it or was not said."""
    errors = [finding.message for finding in findings if finding.severity == "error"]
    return {"isValid": not has_errors(findings) and not questions, "errors": [*errors, *questions]}


async def latest_run(tp: Toolpath, stored: StoredPlan) -> RunInfo | None:
    """The newest run of the plan that is of the plan's tenant: who sees all tenants may have run it for themselves."""
    found = await tp.store.list_runs(plan_id=stored.plan_id, tenant=stored.tenant, limit=1)
    return found[0] if found else None


async def _results(tp: Toolpath, run: RunInfo) -> JsonObject:
    result = run_result(run.run_id, await tp.events(run.run_id))
    outputs, errors = execution_results(result)
    return {**outputs, "errors": errors}


def _call(call: notation.Call, tools: dict[str, str], waits: dict[str, tuple[str, ...]]) -> ToolExecution:
    before = [known for known in waits.get(call.id, ()) if known in tools] or [*call.depends_on]
    mapping = call.on_success.map_outputs
    return ToolExecution(
        tool_name=tools[call.id],
        parameters=text(call.inputs),
        depends_on=tools.get(before[-1], before[-1]) if before else None,
        output_mapping=text(msgspec.to_builtins(mapping)) if mapping else None,
        step_id=call.id,
    )


def _waits(explanation: Explanation) -> dict[str, tuple[str, ...]]:
    """Step → the steps that it waits for, those told and those whose output it reads."""
    return {step.id: tuple(waiting.step for waiting in step.waits) for step in _steps(explanation.block)}


def _steps(block: Any) -> Iterator[Any]:
    for step in block.steps:
        yield step
        for inner in step.blocks:
            yield from _steps(inner)


def _ordered(calls: Sequence[notation.Call], waits: dict[str, tuple[str, ...]]) -> list[notation.Call]:
    """The calls, each after those that it waits for, else as they are written."""
    ids = {call.id for call in calls}
    left = {call.id: len(ids.intersection(waits.get(call.id, ()))) for call in calls}
    followers: dict[str, list[notation.Call]] = {}
    for call in calls:
        for before in ids.intersection(waits.get(call.id, ())):
            followers.setdefault(before, []).append(call)
    place = {call.id: number for number, call in enumerate(calls)}
    ready = [call for call in calls if not left[call.id]]
    ordered: list[notation.Call] = []
    while ready:
        ordered += ready
        freed: dict[str, notation.Call] = {}
        for call in ready:
            for follower in followers.get(call.id, ()):
                left[follower.id] -= 1
                if not left[follower.id]:
                    freed[follower.id] = follower
        ready = sorted(freed.values(), key=lambda call: place[call.id])
    # A circle has no order: its steps come as they are written.
    done = {call.id for call in ordered}
    return [*ordered, *(call for call in calls if call.id not in done)]
