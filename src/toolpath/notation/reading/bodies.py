"""Body that a plan and a composite share: flow and steps, outputs, failure mode, bounds, state."""

from __future__ import annotations

from typing import Any, cast

from toolpath.model.plan import Budget, FailureMode, Flow, Limits, Step
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.ids import Ids
from toolpath.notation.reading.steps import FLOWS, Steps, read_on_unresolved

BUDGET_FIELDS = ("calls", "cost", "tokens")
LIMIT_FIELDS = ("step_visits", "steps", "depth")
FAILURE_MODES = ("stop", "isolate", "continue")


def read_flow(fields: Fields, default: Flow = "graph") -> tuple[Flow, tuple[Step, ...]]:
    """Flow and steps of a plan or of the body of a composite."""
    flow = cast(Flow, fields.choice("flow", FLOWS) or default)
    node = fields.require("steps", hint="Add a list of steps: steps: [{tool: name}].")
    # Pointers into the canonical form start at the plan, wherever its steps stand in the file.
    return flow, Steps(fields.notes, Ids(fields.notes, node)).read(node, "/steps", flow) if node is not None else ()


def read_settings(fields: Fields) -> dict[str, Any]:
    """How the plan runs, by the names of the record: outputs, failure mode, bounds, state."""
    failure_mode = fields.choice("failure_mode", FAILURE_MODES)
    return {
        "outputs": fields.json("outputs"),
        "failure_mode": cast(FailureMode, failure_mode or "stop"),
        "concurrency": fields.integer("concurrency", least=1),
        "timeout": fields.time_limit("timeout", named=False),
        "budget": fields.inside("budget", _budget) or Budget(),
        "limits": fields.inside("limits", _limits) or Limits(),
        "on_unresolved": read_on_unresolved(fields) or "error",
        "state": fields.mapping("initial_state", "state"),
    }


def _budget(fields: Fields) -> Budget:
    budget = Budget(calls=fields.integer("calls"), cost=fields.number("cost"), tokens=fields.integer("tokens"))
    fields.finish("A budget", BUDGET_FIELDS)
    return budget


def _limits(fields: Fields) -> Limits:
    visits, steps, depth = (fields.integer(name, least=1) for name in LIMIT_FIELDS)
    fields.finish("Limits", LIMIT_FIELDS)
    usual = Limits()
    return Limits(step_visits=visits or usual.step_visits, steps=steps or usual.steps, depth=depth or usual.depth)
