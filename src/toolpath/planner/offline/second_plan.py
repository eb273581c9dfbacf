"""A second plan for a request without a model: the tools that failed are left out, what is done stays. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits, PlanningFailed
from toolpath.model.plan import Call, Plan, Step
from toolpath.planner.offline.planner import plan_offline
from toolpath.values import Json

_REFERENCE = re.compile(r"^\{\{ (?:steps\['([^']+)'\]\.output|([A-Za-z_]\w*))(.*) \}\}$", re.DOTALL)


def plan_again(
    request: str,
    catalog: Catalog,
    *,
    kept: Sequence[Step],
    given: Mapping[str, Json],
    failed: Collection[str],
    unfinished: Sequence[Step],
) -> Plan:
    """The plan of the request with the steps that are done and, for the rest, tools other than those that failed.

    `given`: id of a step that is done → the inputs it was called with; `unfinished`: the steps that are not. Raises
    `PlanningFailed` where there is no other way to what is unfinished.
    """
    if not request.strip():
        raise PlanningFailed("The plan came from no request in words.", hint="A model may plan it anew.")
    nothing = PlanningFailed(
        f"No other tool does what {', '.join(sorted(failed)) or 'the plan'} failed to do.",
        hint="Retry the run, or add a tool.",
    )
    others = [key for key in catalog.tools if key not in failed]
    try:
        fresh = plan_offline(request, catalog, tools=others or ["none"])
    except NoToolFits:
        raise nothing from None
    if fresh.questions:
        raise PlanningFailed(f"Without {', '.join(sorted(failed))} the request leaves open: {fresh.questions[0]}")
    new = _new_steps(fresh, kept, given)
    left = {step.tool for step in unfinished if isinstance(step, Call)}
    done = {step.tool for step in kept if isinstance(step, Call)} - left
    if len(new) < len(unfinished) or any(isinstance(step, Call) and step.tool in done for step in new):
        # A part of the request that no tool takes any more would be passed over in silence, or go to a tool that is
        # done with its own part.
        raise nothing
    return msgspec.structs.replace(fresh, steps=(*kept, *new))


def _new_steps(fresh: Plan, kept: Sequence[Step], given: Mapping[str, Json]) -> list[Step]:
    """The steps that are not done yet, reading what is done where they read a step that would do it again."""
    done = {step.id: step for step in kept if isinstance(step, Call)}
    names: dict[str, str] = {}
    new: list[Step] = []
    for step in fresh.steps:
        if not isinstance(step, Call):
            continue
        inputs = {name: _renamed(value, names) for name, value in step.inputs.items()}
        same = next(
            (one.id for one in done.values() if one.tool == step.tool and inputs in (one.inputs, given.get(one.id))), ""
        )
        if same:
            names[step.id] = same
            del done[same]
            continue
        names[step.id] = _free(step.id, {one.id for one in kept} | {one.id for one in new})
        new.append(msgspec.structs.replace(step, id=names[step.id], inputs=inputs))
    return new


def _renamed(value: Json, names: Mapping[str, str]) -> Json:
    found = _REFERENCE.match(value) if isinstance(value, str) else None
    if found is None:
        return value
    name = names.get(found[1] or found[2], "")
    if not name:
        return value
    start = f"steps['{name}'].output" if "-" in name else name
    return f"{{{{ {start}{found[3]} }}}}"


def _free(name: str, taken: Collection[str]) -> str:
    number, made = 1, name
    while made in taken:
        number += 1
        made = f"{name}_{number}"
    return made
