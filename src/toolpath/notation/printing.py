"""`Plan` → the plan notation, as a tree or as text: only what differs from the defaults, in the contract's names.

Law: `read_plan(print_plan(plan)) == plan`, in both formats.
"""

from __future__ import annotations

import json
from typing import Literal

from toolpath.model.plan import Flow, Plan, Step
from toolpath.notation.tables import HEAD, OUTPUTS, SETTINGS, TAIL, step_written
from toolpath.notation.yaml_printing import print_yaml
from toolpath.values import Json, JsonObject


def print_plan(plan: Plan, format: Literal["yaml", "json"] = "yaml") -> str:
    """The plan as text that `read_plan` reads as an equal plan; ends with a line end."""
    return print_tree(plan_to_dict(plan), format)


def print_tree(tree: Json, format: Literal["yaml", "json"] = "yaml") -> str:
    """A JSON value as YAML or indented JSON text. Raises `ValueError` for what is no JSON."""
    if format == "yaml":
        return print_yaml(tree)
    return json.dumps(tree, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def plan_to_dict(plan: Plan) -> JsonObject:
    """The plan as a tree of plain values in the notation."""
    return HEAD.written(plan) | body_to_dict(plan) | TAIL.written(plan)


def body_to_dict(plan: Plan, default_flow: Flow = "graph") -> JsonObject:
    """The fields that a plan and the body of a composite share: flow, steps, outputs and how it runs."""
    found: JsonObject = {}
    # A plan that jumps and does not say its flow is read as a chain (`notation.plan`): such a graph has to say it.
    if plan.flow != default_flow or (plan.flow == "graph" and any(_jumps(step) for step in plan.steps)):
        found["flow"] = plan.flow
    steps = [step_written(step, plan.flow) for step in plan.steps]
    return found | SETTINGS.written(plan) | {"steps": steps} | OUTPUTS.written(plan)


def _jumps(step: Step) -> bool:
    return step.on_success.next is not None or step.on_failure.next is not None
