"""Body that a plan and a composite share: flow and steps, outputs, failure mode, bounds, state."""

from __future__ import annotations

from typing import Any, cast

from toolpath.model.plan import Flow, Step
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.ids import Ids
from toolpath.notation.steps import Steps
from toolpath.notation.tables import FLOWS, OUTPUTS, SETTINGS


def read_flow(fields: Fields, default: Flow = "graph") -> tuple[Flow, tuple[Step, ...]]:
    """Flow and steps of a plan or of the body of a composite."""
    flow = cast(Flow, fields.choice("flow", FLOWS) or default)
    node = fields.require("steps", hint="Add a list of steps: steps: [{tool: name}].")
    # Pointers into the canonical form start at the plan, wherever its steps stand in the file.
    return flow, Steps(fields.notes, Ids(fields.notes, node)).read(node, "/steps", flow) if node is not None else ()


def read_settings(fields: Fields) -> dict[str, Any]:
    """How the plan runs, by the names of the record: outputs, failure mode, bounds, state."""
    return OUTPUTS.values(fields) | SETTINGS.values(fields)
