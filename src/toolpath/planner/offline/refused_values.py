"""Values of a plan by rules that its tools refuse: what a request says and no tool takes is asked about. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.errors import Finding
from toolpath.json_schema.describe import type_text
from toolpath.model.plan import Call, Plan, every_step, with_calls
from toolpath.values import JsonObject, pointer

#: The most that a plan with such a question counts as.
_OPEN = 0.3


def asked_where_refused(plan: Plan, catalog: Catalog) -> Plan:
    """The plan without the values that its tools refuse, each a question with what the tool takes.

    What else is wrong with it is a question, too: whoever asked in words is answered in words, not with an error.
    """
    errors = [one for one in check(plan, catalog) if one.severity == "error" and one.code != "missing_input"]
    if not errors:
        return plan
    questions: list[str] = []
    refused: dict[str, set[str]] = {}
    for at, step in every_step(plan.block):
        if not isinstance(step, Call):
            continue
        for name in step.inputs:
            faults = _of_input(errors, at, name)
            if faults:
                refused.setdefault(step.id, set()).add(name)
                questions.append(_question(step, name, faults[0], catalog))
            errors = [one for one in errors if one not in faults]
    questions += [f"{one.message.rstrip('.')}. What is meant?" for one in errors]
    steps = with_calls(plan.steps, lambda call: _without(call, refused.get(call.id, set())))
    origin = msgspec.structs.replace(
        plan.origin,
        rests_on=_left_of(plan.origin.rests_on, refused),
        questions=tuple(dict.fromkeys((*questions, *plan.questions))),
        confidence=min(plan.confidence or 0.0, _OPEN),
    )
    return msgspec.structs.replace(plan, steps=steps, origin=origin)


def _of_input(errors: Sequence[Finding], at: str, name: str) -> list[Finding]:
    path = f"{at}/inputs{pointer(name)}"
    return [one for one in errors if one.path == path or one.path.startswith(f"{path}/")]


def _question(step: Call, name: str, fault: Finding, catalog: Catalog) -> str:
    tool = catalog.get(step.tool)
    properties = {} if tool is None else plain_inputs(tool).get("properties", {})
    return f"{step.id}: what is {name!r} ({type_text(properties.get(name))})? {fault.message}"


def _without(call: Call, names: set[str]) -> Call:
    if not names:
        return call
    kept = {name: value for name, value in call.inputs.items() if name not in names}
    return msgspec.structs.replace(call, inputs=kept)


def _left_of(rests_on: JsonObject, refused: dict[str, set[str]]) -> JsonObject:
    """The bases of the arguments, without those that the plan has no more."""
    left = {
        step: {name: basis for name, basis in arguments.items() if name not in refused.get(step, ())}
        for step, arguments in rests_on.items()
    }
    return {step: arguments for step, arguments in left.items() if arguments}
