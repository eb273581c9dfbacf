"""Estimates of a plan: its calls, and how long and how much they take as far as that is known. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call
from toolpath.values import JsonObject


def estimated(steps: Sequence[Call], catalog: Catalog) -> JsonObject:
    """Calls, and where it is known `duration` in seconds and `cost` in USD."""
    durations = [stats.average_duration for step in steps if (stats := catalog.stats.get(step.tool)) is not None]
    known = [duration for duration in durations if duration is not None]
    costs = [tool.cost for step in steps if (tool := catalog.get(step.tool)) is not None and tool.cost is not None]
    estimates: JsonObject = {"calls": len(steps)}
    if known:
        estimates["duration"] = sum(known)
    if costs:
        estimates["cost"] = sum(costs)
    return estimates
