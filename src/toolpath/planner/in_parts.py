"""Plans of rules along a decomposition: its parts in the order of their stages, with what each waits for. Pure."""

from __future__ import annotations

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.mandate import mandated
from toolpath.model.plan import Call, Plan
from toolpath.planner.decompose import Decomposition
from toolpath.planner.offline.refused_values import asked_where_refused
from toolpath.planner.records import PlannerOptions, PlanRequest


def text_in_parts(request: PlanRequest, options: PlannerOptions) -> str:
    """The request as its decomposition says it, each part a sentence; as it is where that is not sure of itself."""
    found = followed(request, options)
    if found is None:
        return request.text
    parts = {part.id: part.query.strip().rstrip(".;") for part in found.sub_queries}
    texts = [parts[name] for stage in found.stages for name in stage if parts[name]]
    return ". ".join(text[:1].upper() + text[1:] for text in texts) or request.text


def followed(request: PlanRequest, options: PlannerOptions) -> Decomposition | None:
    """The decomposition of a request, if a planner has to follow it."""
    found = request.decomposition
    if found is None or not found.sub_queries:
        return None
    return None if found.confidence is not None and found.confidence < options.simple_below else found


def along(plan: Plan, request: PlanRequest, catalog: Catalog, options: PlannerOptions) -> Plan:
    """The plan of a decomposition's parts with what each part waits for, held against the request itself."""
    found = followed(request, options)
    if found is None:
        return plan
    tools = {part.id: catalog.get(part.suggested_tool) for part in found.sub_queries}
    made = {
        part: [step.id for step in plan.steps if tool and getattr(step, "tool", "") == tool.key]
        for part, tool in tools.items()
    }
    waits = {
        made[part.id][0]: [made[other][0] for other in part.dependencies if len(made.get(other, ())) == 1]
        for part in found.sub_queries
        if len(made[part.id]) == 1
    }
    steps = tuple(
        msgspec.structs.replace(step, depends_on=tuple(dict.fromkeys((*step.depends_on, *waits[step.id]))))
        if isinstance(step, Call) and waits.get(step.id)
        else step
        for step in plan.steps
    )
    origin = msgspec.structs.replace(plan.origin, request=request.text)
    told = mandated(msgspec.structs.replace(plan, steps=steps, origin=origin), request.text, catalog)
    # The parts are somebody else's words: what they say and the request does not is asked, as of a model.
    return asked_where_refused(mandated(told, request.text, catalog, strict=False), catalog)
