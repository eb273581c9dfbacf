"""A run that failed → a plan for what is still missing. What was carried out stays as it is and is never done again."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.dependencies import waits_of
from toolpath.checks.views import Views
from toolpath.errors import Finding, PlanningFailed
from toolpath.expressions.quoted import BRACES
from toolpath.model.events import Failure
from toolpath.model.plan import Call, Loop, Plan, Step, blocks_of, every_step
from toolpath.model.run import StepResult
from toolpath.planner.by_model.planner import plan_with_model
from toolpath.planner.by_model.signatures import cut
from toolpath.planner.records import Ground, PlanningResult, PlanRequest
from toolpath.values import Json, JsonObject, encode

_MAX_REPLANS: Final = 2
#: A run that failed for these is not planned anew: somebody, or a limit, wanted its end.
_FINAL: Final = frozenset({"budget", "cancelled", "denied", "permission", "policy"})
#: Characters of an output and of all outputs that a model is shown.
_OUTPUT: Final = 1_500
_OUTPUTS: Final = 15_000


class Replanning(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds within which a run that fails may be planned anew."""

    times: int = _MAX_REPLANS
    timeout: float | None = None
    """Seconds for all plannings of the run together; None: as long as the settings give one planning, each time."""
    max_tokens: int = 200_000
    """Of all plannings of the run together."""
    max_cost: float | None = None
    """USD, likewise."""
    new_writes: bool = False
    """Tools that write and were not in the plan from the start may be called without asking a person."""


class Replanned(msgspec.Struct, frozen=True, kw_only=True):
    """The plan as a whole, and which of its steps are done."""

    planned: PlanningResult
    kept: tuple[str, ...]
    """Ids of the steps that were carried out: their outputs stand, they are not run again."""
    in_doubt: tuple[str, ...] = ()
    """Ids of earlier writes that may have happened; new steps of their tools wait for a person's consent."""


async def replan(
    plan: Plan,
    results: Sequence[StepResult],
    ground: Ground,
    *,
    findings: Sequence[Finding] = (),
    replans: int = 0,
    max_replans: int = _MAX_REPLANS,
) -> Replanned:
    """A plan of the steps that succeeded and of new ones for what is unfinished.

    `replans`: how often this request was replanned before. Raises `PlanningFailed` when that is often enough or no plan
    comes of it, `NoToolFits` where nothing can be done.
    """
    if replans >= max_replans:
        raise PlanningFailed(
            f"The request was replanned {replans} times; that is enough.",
            findings=findings,
            hint="Mend the plan by hand.",
        )
    # Without a model there is nothing that a second plan would do otherwise.
    options = msgspec.structs.replace(ground.options, fallback="error")
    request = replan_request(plan, results, ground.catalog, findings=findings)
    planned = await plan_with_model(request, msgspec.structs.replace(ground, options=options))
    if len(planned.plan.steps) <= len(request.kept):
        raise PlanningFailed("The new plan does nothing of what is unfinished.", record=planned.record)
    doubtful = doubtful_writes(plan, results)
    plan = with_consent(planned.plan, doubtful, {step.id for step in request.kept})
    return Replanned(
        planned=msgspec.structs.replace(planned, plan=plan),
        kept=tuple(step.id for step in request.kept),
        in_doubt=tuple(step.id for step in doubtful),
    )


def refuses_replanning(error: Failure | None, results: Sequence[StepResult]) -> bool:
    """Whether the run ended because somebody or a limit wanted it: then no way around that is looked for."""
    if error is not None and (error.code in _FINAL or error.type == "RunTimeout"):
        return True
    return any(result.error is not None and result.error.code in _FINAL for result in results)


def revised_plan(old: Plan, new: Plan, catalog: Catalog, *, kept: Sequence[str], new_writes: bool) -> Plan:
    """The new plan under what the old one was run under: its limits, and consent for writes that nobody has seen."""
    known = {step.tool for _, step in every_step(old.block) if isinstance(step, Call)}
    steps = tuple(step if step.id in kept or new_writes else _asking(step, known, catalog) for step in new.steps)
    return msgspec.structs.replace(
        new,
        name=old.name,
        description=new.description or old.description,
        inputs=old.inputs,
        steps=steps,
        concurrency=old.concurrency,
        timeout=old.timeout,
        budget=old.budget,
        limits=old.limits,
        origin=msgspec.structs.replace(new.origin, request=new.origin.request or old.origin.request),
    )


def _asking(step: Step, known: Set[str], catalog: Catalog) -> Step:
    def is_new(one: Step) -> bool:
        tool = catalog.get(one.tool) if isinstance(one, Call) else None
        return tool is not None and not tool.is_read and tool.key not in known

    inner = [one for block in blocks_of(step) for _, one in every_step(block)]
    if any(is_new(one) for one in (step, *inner)):
        return msgspec.structs.replace(step, requires_approval=True)
    return step


def replan_request(
    plan: Plan, results: Sequence[StepResult], catalog: Catalog, *, findings: Sequence[Finding] = ()
) -> PlanRequest:
    """The request to the planner: the first one, what is done with its outputs, what failed and why."""
    ended = latest(results)
    done = [step for step in plan.steps if step.id in ended and ended[step.id].status == "succeeded"]
    failed = [step for step in plan.steps if step.id in ended and ended[step.id].error is not None]
    context: JsonObject = {
        "finished": _finished(done, ended),
        "failed": [_failed(step, ended[step.id]) for step in failed],
        "unfinished": [step.id for step in plan.steps if step not in done and step not in failed],
    }
    if findings:
        context["faults"] = [cut(str(finding), 500) for finding in findings[:10]]
    return PlanRequest(
        text=plan.origin.request or plan.description or plan.name,
        is_words=bool(plan.origin.request),
        inputs=plan.inputs,
        kept=kept_steps(plan, done, ended, catalog),
        context=context,
    )


def latest(results: Sequence[StepResult]) -> dict[str, StepResult]:
    """Id of each of the plan's own steps → what came of its last visit."""
    return {result.step: result for result in results if not set("/[") & set(result.path)}


def _finished(done: Sequence[Step], ended: dict[str, StepResult]) -> list[Json]:
    found: list[Json] = []
    room = _OUTPUTS
    for step in done:
        text = encode(ended[step.id].output).decode()
        shown: Json = (
            ended[step.id].output if len(text) <= min(_OUTPUT, room) else cut(text, max(min(_OUTPUT, room), 1))
        )
        room = max(room - len(text), 0)
        found.append({"id": step.id, "tool": step.tool if isinstance(step, Call) else "", "output": shown})
    return found


def _failed(step: Step, result: StepResult) -> JsonObject:
    error = result.error
    said: JsonObject = {"error": cut(error.message, 500), "code": error.code} if error is not None else {}
    if error is not None and error.in_doubt:
        said["may_have_happened"] = True
    return {"id": step.id, "tool": step.tool if isinstance(step, Call) else "", **said}


def kept_steps(plan: Plan, done: Sequence[Step], ended: dict[str, StepResult], catalog: Catalog) -> tuple[Step, ...]:
    """The steps that are done, as they stand in the new plan.

    A step that read something which is done is as it was; one that waited for what is not in the new plan holds the
    values that it was called with.
    """
    views = Views(plan, catalog)
    kept = {step.id for step in done}
    waits: dict[str, set[str]] = {}
    for wait in waits_of(views)[views.root]:
        waits.setdefault(plan.steps[wait.step].id, set()).add(plan.steps[wait.source].id)
    views.let_go()
    reads_state = plan.flow == "chain"
    return tuple(
        step if not reads_state and waits.get(step.id, set()) <= kept else _fixed(step, ended[step.id]) for step in done
    )


def _fixed(step: Step, result: StepResult) -> Step:
    match step:
        case Call():
            inputs = _literal(result.inputs) if isinstance(result.inputs, dict) else {}
            # What did it may have been a fallback.
            return Call(id=step.id, tool=result.tool or step.tool, inputs=inputs, critical=step.critical)
        case Loop():
            return msgspec.structs.replace(step, depends_on=(), when=None, over=_literal(result.inputs or []))
        case _:
            return msgspec.structs.replace(step, depends_on=(), when=None)


def _literal(value: Json) -> Json:
    """The value as a template that gives it."""
    match value:
        case str():
            return value.replace("{{", BRACES)
        case dict():
            return {key: _literal(item) for key, item in value.items()}
        case list():
            return [_literal(item) for item in value]
        case _:
            return value


def doubtful_writes(plan: Plan, results: Sequence[StepResult]) -> tuple[Call, ...]:
    """The calls that may have written although they failed."""
    ended = latest(results)
    return tuple(
        step
        for step in plan.steps
        if isinstance(step, Call) and step.id in ended and (error := ended[step.id].error) and error.in_doubt
    )


def with_consent(plan: Plan, doubtful: Sequence[Call], kept: set[str]) -> Plan:
    """The plan in which new steps of tools that may have written already wait for a person's consent."""
    tools = {step.tool for step in doubtful}
    if not tools:
        return plan
    steps = tuple(
        msgspec.structs.replace(step, requires_approval=True)
        if isinstance(step, Call) and step.tool in tools and step.id not in kept
        else step
        for step in plan.steps
    )
    return msgspec.structs.replace(plan, steps=steps)
