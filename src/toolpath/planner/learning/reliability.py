"""Plans for tools that fail: another tool that can stand in for one that fails often; what a plan will take. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.explainer import explain
from toolpath.json_schema.validate import Validator
from toolpath.model.plan import Call, Fallback, Plan, with_calls
from toolpath.model.tool import Tool, ToolStats
from toolpath.planner.records import PlannerOptions
from toolpath.values import JsonObject

_NO_CALLS: Final = ToolStats()


def with_fallbacks(plan: Plan, catalog: Catalog, options: PlannerOptions) -> Plan:
    """The plan in which each call of a tool that fails often, and only reads, names one that can stand in for it."""
    return msgspec.structs.replace(
        plan, steps=with_calls(plan.steps, lambda call: _with_stand_in(call, catalog, options))
    )


def _with_stand_in(call: Call, catalog: Catalog, options: PlannerOptions) -> Call:
    other = None if call.fallback else stand_in(call, catalog, options)
    return call if other is None else msgspec.structs.replace(call, fallback=(Fallback(tool=other.key),))


def stand_in(step: Call, catalog: Catalog, options: PlannerOptions) -> Tool | None:
    """The most reliable tool that reads, can do the same, and takes these inputs; None where none is needed or there.

    A call that writes never gets one: it may have written before it failed.
    """
    tool = catalog.get(step.tool)
    if tool is None or not tool.is_read:
        return None
    rate = _failure_rate(tool, catalog, options)
    if rate is None or rate <= options.failing_rate:
        return None
    found = [
        (_failure_rate(other, catalog, options) or 0.0, _duration(other, catalog), other.key, other)
        for other in _alike(tool, catalog)
        if other.is_read and _takes(other, step.inputs)
    ]
    best = min(found, default=None, key=lambda one: one[:3])
    return best[3] if best is not None and best[0] < rate else None


def _alike(tool: Tool, catalog: Catalog) -> Iterable[Tool]:
    own = {capability.casefold() for capability in tool.capabilities}
    for other in catalog.tools.values():
        if other.key != tool.key and own & {capability.casefold() for capability in other.capabilities}:
            yield other


def _takes(tool: Tool, inputs: JsonObject) -> bool:
    """Whether the tool can be called with these inputs; of a template only its name counts."""
    schema = tool.input_schema
    properties = schema.get("properties")
    required = schema.get("required") or ()
    if not isinstance(properties, dict) or not set(required) <= inputs.keys() <= properties.keys():
        return False
    plain = {name: value for name, value in inputs.items() if "{{" not in str(value)}
    part = {**schema, "required": [name for name in required if name in plain]}
    return Validator(part).is_valid(plain)


def _failure_rate(tool: Tool, catalog: Catalog, options: PlannerOptions) -> float | None:
    stats = catalog.stats.get(tool.key, _NO_CALLS)
    return stats.failure_rate if stats.calls >= options.min_calls else None


def _duration(tool: Tool, catalog: Catalog) -> float:
    return catalog.stats.get(tool.key, _NO_CALLS).average_duration or 0.0


def with_estimates(plan: Plan, catalog: Catalog) -> Plan:
    """The plan whose origin says what it will take, in seconds, and cost, in USD, as far as that is known."""
    told = explain(plan, catalog)
    estimates = {
        name: round(estimate.value, 6)
        for name, estimate in (("duration", told.duration), ("cost", told.cost))
        if estimate.value or not estimate.unknown
    }
    return msgspec.structs.replace(plan, origin=msgspec.structs.replace(plan.origin, estimates=estimates))
