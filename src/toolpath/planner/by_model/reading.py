"""A model's answer → a plan that does only what a planner's plan may do. Pure.

What the model may not decide (approval, budgets, limits, retries of writes, secrets) is not read from its answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check
from toolpath.errors import Finding, ReadError, closest
from toolpath.expressions.quoted import escaped
from toolpath.model.plan import Block, Call, Loop, OnSuccess, Origin, Plan, Step, every_step, with_calls
from toolpath.model_output.model_text import read_model_plan
from toolpath.planner.by_model.mending import mended_text
from toolpath.planner.records import PlannerOptions, PlanRequest
from toolpath.values import Json, JsonObject, decode, encode

_LONGEST_REASON: Final = 2_000
_LARGEST_ANSWER: Final = 200_000
_LONGEST_FAULT: Final = 400


def read_answer(text: str, request: PlanRequest, catalog: Catalog) -> Plan:
    """The plan in a model's answer; no steps where it says that no tool fits. Raises `ReadError`."""
    if len(text) > _LARGEST_ANSWER:
        raise ReadError(f"The answer has {len(text):,} characters; at most {_LARGEST_ANSWER:,} are read.")
    nothing = _without_steps(text, request)
    if nothing is not None:
        return nothing
    clear = mended_text(text, catalog, request.text)
    if clear is not None:
        text = encode(clear).decode()
    return as_allowed(read_model_plan(text, input_names=_input_names(catalog)), request)


def _input_names(catalog: Catalog) -> dict[str, list[str]]:
    """Tool → names of its inputs in order, for answers that give them by position."""
    found: dict[str, list[str]] = {}
    for key, tool in catalog.tools.items():
        properties = tool.input_schema.get("properties")
        if isinstance(properties, dict):
            found[key] = list(properties)
            found.setdefault(tool.name, list(properties))
    return found


def _without_steps(text: str, request: PlanRequest) -> Plan | None:
    try:
        value = decode(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("steps") != []:
        return None
    origin = value.get("origin")
    said: JsonObject = origin if isinstance(origin, dict) else value
    questions = said.get("questions")
    return Plan(
        origin=Origin(
            request=request.text,
            reasoning=str(said.get("reasoning", ""))[:_LONGEST_REASON],
            confidence=_share(said.get("confidence")),
            questions=tuple(map(str, questions)) if isinstance(questions, list) else (),
        )
    )


def _share(value: Json) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return min(max(float(value), 0.0), 1.0) if is_number else None


def as_allowed(plan: Plan, request: PlanRequest) -> Plan:
    """The plan with what a model may decide: tools, inputs, order, conditions, loops; all else as by default."""
    source = plan.source
    why = plan.metadata.get("why")
    return Plan(
        name=plan.name if plan.name != "plan" else "planned",
        description=plan.description[:_LONGEST_REASON],
        inputs=request.inputs,
        steps=(*request.kept, *_new(_in_order(plan, [_step(step, request.text) for step in plan.steps]), request)),
        outputs=escaped(plan.outputs, request.text),
        origin=Origin(
            request=request.text,
            reasoning=plan.origin.reasoning[:_LONGEST_REASON],
            confidence=plan.origin.confidence,
            questions=plan.origin.questions[:20],
        ),
        metadata={"why": why} if isinstance(why, dict) else {},
        source=source,
    )


def _new(steps: Sequence[Step], request: PlanRequest) -> Iterable[Step]:
    """The steps that are not carried out yet; what is done is never done again."""
    kept = {step.id for step in request.kept}
    return (step for step in steps if step.id not in kept)


def _in_order(plan: Plan, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps of a graph; those of a chain wait for one another."""
    if plan.flow == "graph":
        return tuple(steps)
    before: list[Step | None] = [None, *steps[:-1]]
    return tuple(
        step if last is None else msgspec.structs.replace(step, depends_on=tuple({*step.depends_on, last.id}))
        for last, step in zip(before, steps, strict=True)
    )


def _step(step: Step, request: str) -> Step:
    match step:
        case Call():
            return Call(
                id=step.id,
                derived_id=step.derived_id,
                depends_on=step.depends_on,
                when=step.when,
                critical=step.critical,
                tool=step.tool,
                inputs=escaped(step.inputs, request),
                # Variables are names for parts of a result; where it goes on from there a model may not say.
                on_success=OnSuccess(map_outputs=step.on_success.map_outputs),
            )
        case Loop():
            body = Block(id=step.body.id, flow="graph", steps=tuple(_step(one, request) for one in step.body.steps))
            return Loop(
                id=step.id,
                derived_id=step.derived_id,
                depends_on=step.depends_on,
                when=step.when,
                over=step.over,
                item=step.item,
                body=body,
                collect=step.collect,
            )
        case _:
            return step


def faults_of(
    plan: Plan,
    catalog: Catalog,
    offered: Collection[str],
    options: PlannerOptions,
    *,
    kept: Collection[str] = (),
) -> tuple[Finding, ...]:
    """The errors of a planned plan: those of the checks, and tools and kinds of steps that were not offered.

    `kept`: ids of steps that were carried out before; they need not be offered again.
    """
    # No secret is offered to a planner, so that a plan which reads one is at fault.
    found = [finding for finding in check(plan, catalog, secrets=()) if finding.severity == "error"]
    return (*found, *_not_offered(plan, catalog, offered, options, kept))


def _not_offered(
    plan: Plan, catalog: Catalog, offered: Collection[str], options: PlannerOptions, kept: Collection[str]
) -> Iterable[Finding]:
    done = {path for path, step in every_step(plan.block) if step.id in kept and path.count("/") == 2}
    steps = [(path, step) for path, step in every_step(plan.block) if "/".join(path.split("/")[:3]) not in done]
    if len(steps) > options.max_steps:
        yield Finding(
            code="too_many_steps",
            severity="error",
            message=f"The plan has {len(steps)} steps; at most {options.max_steps} are planned at once.",
            path="/steps",
            hint="Use fewer steps, or a loop.",
        )
    for path, step in steps:
        match step:
            case Call():
                tool = catalog.get(step.tool)
                if tool is not None and tool.key not in offered:
                    yield Finding(
                        code="tool_not_offered",
                        severity="error",
                        message=f"The tool {step.tool!r} was not offered for this request.",
                        path=f"{path}/tool",
                        hint="Use one of the listed tools.",
                        suggestions=closest(step.tool, offered),
                    )
            case Loop():
                pass
            case _:
                yield Finding(
                    code="step_not_offered",
                    severity="error",
                    message="A planner may write calls of tools and loops of them.",
                    path=path,
                    hint="Write {id, tool, inputs}.",
                )


def with_tool_keys(plan: Plan, catalog: Catalog) -> Plan:
    """The plan with every tool by its full key."""
    return msgspec.structs.replace(plan, steps=with_calls(plan.steps, lambda call: _keyed(call, catalog)))


def _keyed(call: Call, catalog: Catalog) -> Call:
    tool = catalog.get(call.tool)
    return call if tool is None else msgspec.structs.replace(call, tool=tool.key)


def still_wrong(rounds: int, findings: Sequence[Finding]) -> str:
    """Why the model's plan is not taken: how often it was mended, and what is wrong with the last one."""
    said = f"The model's plan still has errors after {rounds} rounds"
    if not findings:
        return f"{said}."
    first = f"{findings[0].message} {findings[0].hint}".strip()
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return f"{said}: {first[:_LONGEST_FAULT]}{more}"


def unreadable(error: ReadError) -> tuple[Finding, ...]:
    """The findings that tell the model of an answer that is no plan."""
    if error.findings:
        return tuple(msgspec.structs.replace(one, hint=error.hint or one.hint) for one in error.findings)
    hint = error.hint or "Answer with the JSON object alone."
    return (Finding(code="unreadable", severity="error", message=error.message, hint=hint),)
