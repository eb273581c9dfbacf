"""Reasons that a request gives for a command, put where the tool takes one: `…, the brakes squeal`. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.catalog.words import raw_words
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.model.plan import Call, Plan, every_step, with_calls

#: What a parameter for a reason is called.
_FOR_REASONS: Final = frozenset(
    ("reason", "resolution", "cause", "justification", "why", "comment", "remarks", "remark")
)


def with_reason(plan: Plan, reasons: Sequence[str], catalog: Catalog) -> Plan:
    """The plan with the one reason of its request, where its one act takes a reason and has none."""
    acting = [
        step
        for _, step in every_step(plan.block)
        if isinstance(step, Call) and (tool := catalog.get(step.tool)) is not None and not tool.is_read
    ]
    if len(reasons) != 1 or len(acting) != 1:
        return plan
    call = acting[0]
    name = _parameter(call, catalog)
    if name is None:
        return plan
    steps = with_calls(
        plan.steps,
        lambda one: msgspec.structs.replace(one, inputs={**one.inputs, name: reasons[0]}) if one is call else one,
    )
    asked = f"{call.id}: what is {name!r} "
    origin = msgspec.structs.replace(
        plan.origin, questions=tuple(one for one in plan.questions if not one.startswith(asked))
    )
    return msgspec.structs.replace(plan, steps=steps, origin=origin)


def _parameter(call: Call, catalog: Catalog) -> str | None:
    """The parameter that is for a reason and free text; None where there is none, or it is given."""
    tool = catalog.get(call.tool)
    properties = plain_inputs(tool).get("properties") if tool is not None else None
    for name, schema in (properties if isinstance(properties, dict) else {}).items():
        is_free = (
            isinstance(schema, dict) and schema.get("type") == "string" and not {"enum", "pattern"} & schema.keys()
        )
        if is_free and name not in call.inputs and _FOR_REASONS.intersection(raw_words(name)):
            return str(name)
    return None
