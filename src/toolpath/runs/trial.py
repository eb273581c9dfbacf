"""Trial of one step: a plan of that step alone, with what it would have read from others given. Pure."""

from __future__ import annotations

import msgspec

from toolpath.errors import StepNotFound, closest
from toolpath.model.plan import Call, OnFailure, OnSuccess, Plan, Step, blocks_of
from toolpath.values import JsonObject


def trial_of(plan: Plan, path: str, arguments: JsonObject | None = None) -> Plan:
    """The plan that runs the step at `path` alone: ids from the outside in, `report/fetch`.

    `arguments` stand in place of the inputs of a call; None: it keeps its own, which may read the plan's inputs. What
    leads to other steps is left out; whatever guards the step stays: an approval that hangs on what other steps gave,
    or is that of a block around the step, is always asked for. Raises `StepNotFound`.
    """
    around, step = _found(plan.steps, path)
    changes: JsonObject = {
        "depends_on": (),
        "when": None,
        "on_success": msgspec.structs.replace(step.on_success, next=None),
        "on_failure": OnFailure(),
    }
    if isinstance(step.requires_approval, str) or any(block.requires_approval for block in around):
        changes["requires_approval"] = True
    schema = plan.inputs
    if isinstance(step, Call) and arguments is not None:
        changes |= {"inputs": arguments, "on_success": OnSuccess()}
        schema = {**schema, "required": []}
    alone = msgspec.structs.replace(step, **changes)
    # What becomes of one step says nothing of how well the plan did what was asked for.
    origin = msgspec.structs.replace(plan.origin, request="")
    name = f"{plan.name}: {step.id}"
    return msgspec.structs.replace(plan, name=name, inputs=schema, steps=(alone,), outputs=None, origin=origin)


def _found(steps: tuple[Step, ...], path: str) -> tuple[tuple[Step, ...], Step]:
    """The steps around the one at `path`, from the outside in, and the step itself."""
    name, _, rest = path.partition("/")
    step = next((step for step in steps if step.id == name), None)
    if step is None:
        near = closest(name, [step.id for step in steps])
        raise StepNotFound(f"The plan has no step {path[:200]!r}.", suggestions=near)
    inside = tuple(inner for block in blocks_of(step) for inner in block.steps)
    if not rest:
        return (), step
    around, found = _found(inside, rest)
    return (step, *around), found
