"""Rules on bounds: budgets that cannot hold, nesting and ids. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from toolpath.checks.context import Context
from toolpath.checks.remarks import error
from toolpath.checks.views import StepView
from toolpath.errors import Finding
from toolpath.expressions.names import KEYWORDS, RESERVED
from toolpath.json_schema.document import Node, subschemas
from toolpath.json_schema.validate import schema_faults
from toolpath.notation.reading.parameters import TYPES
from toolpath.values import MAX_DEPTH, JsonObject


def budgets_can_hold(context: Context) -> Iterator[Finding]:
    """budget_too_small: the steps that must run alone need more than the plan may spend."""
    plan, least = context.plan, context.least
    if plan.budget.calls is not None and least.calls > plan.budget.calls:
        yield error(
            "budget_too_small",
            "/budget/calls",
            f"The plan makes at least {least.calls} calls, and its budget is {plan.budget.calls}.",
            hint=f"Set it to {least.calls} or more.",
        )
    if plan.budget.cost is not None and least.cost > plan.budget.cost:
        yield error(
            "budget_too_small",
            "/budget/cost",
            f"The plan costs at least {least.cost:.4f} USD, and its budget is {plan.budget.cost:.4f}.",
        )
    if least.steps > plan.limits.steps:
        yield error(
            "budget_too_small",
            "/limits/steps",
            f"The plan runs at least {least.steps} steps, and its limit is {plan.limits.steps}.",
            hint=f"Set it to {least.steps} or more.",
        )


def inputs_are_described(context: Context) -> Iterator[Finding]:
    """not_a_schema: the plan's inputs are described by a JSON Schema."""
    faults = schema_faults(context.plan.inputs) if context.plan.inputs else ()
    misnamed = [*_misnamed_types(context.plan.inputs)] if faults else []
    yield from misnamed
    for at, fault in () if misnamed else faults:
        yield error(
            "not_a_schema",
            f"/inputs{at}",
            f"The plan's inputs are not described by a JSON Schema: {fault}.",
            hint="Write {type: object, properties: {name: {type: string}}, required: [name]}.",
        )


def _misnamed_types(schema: JsonObject) -> Iterator[Finding]:
    """Types by names that other languages have for them."""
    for node in subschemas(Node(schema)):
        said = node.get("type")
        for index, word in enumerate(said) if isinstance(said, list) else [(-1, said)]:
            known = TYPES.get(word.lower(), "") if isinstance(word, str) else ""
            if known and word != known:
                at = f"/inputs{node.at}/type" + (f"/{index}" if index >= 0 else "")
                yield error("not_a_schema", at, f"{word!r} is no type of a JSON Schema.", suggestions=(known,))


def ids_are_usable(context: Context) -> Iterator[Finding]:
    """duplicate_id, reserved_id, too_deep: every step can be named, and blocks nest no deeper than anything goes."""
    for block in context.views.blocks():
        seen: set[str] = set()
        for view in block.steps:
            yield from _id(view, seen)
            seen.add(view.step.id)
    for path in context.views.too_deep:
        yield error("too_deep", path, f"Blocks are nested more than {MAX_DEPTH} deep.", hint="Make a plan of its own.")


def _id(view: StepView, seen: set[str]) -> Iterator[Finding]:
    step_id = view.step.id
    if step_id in seen:
        yield error(
            "duplicate_id",
            f"{view.path}/id",
            f"Another step is called '{step_id}' already.",
            hint="Give each step an id of its own.",
        )
    if step_id in RESERVED or step_id in KEYWORDS:
        yield error(
            "reserved_id",
            f"{view.path}/id",
            f"'{step_id}' has a meaning of its own and can be no step's id.",
            suggestions=(f"{step_id}_step",),
        )
