"""Defaults of the chaining system: unresolved templates stay, a failure stops, all outputs are given."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from toolpath.model.plan import Call, Plan

#: By the names of a plan's fields.
PRESET: Mapping[str, str] = {"failure_mode": "stop", "on_unresolved": "keep"}


def every_output(steps: Mapping[str, str]) -> dict[str, str] | None:
    """The outputs of a plan that gives every step's by its id; `steps` maps ids to names of tools.

    None where several steps use one tool: its name says nothing alone, and a graph's own outputs are clearer.
    """
    names = [name.rpartition(".")[2] for name in steps.values()]
    if len(set(names)) < len(names):
        return None
    return {step: f"{{{{ {step if step.isidentifier() else f'steps[{step!r}].output'} }}}}" for step in steps}


def as_chaining(plan: Plan) -> Plan:
    """The plan with the preset, where it says nothing else."""
    calls = {step.id: step.tool for step in plan.steps if isinstance(step, Call)}
    outputs = every_output(calls) if plan.outputs is None and len(calls) == len(plan.steps) else plan.outputs
    keeps = "keep" if plan.on_unresolved == "error" else plan.on_unresolved
    return msgspec.structs.replace(plan, on_unresolved=keeps, outputs=outputs)
