"""Plans over the tools of a test, without a model, and what they would write."""

from __future__ import annotations

from datetime import date

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.planner import plan_offline

TODAY = date(2026, 5, 13)


def planned(text: str, catalog: Catalog) -> Plan:
    return plan_offline(text, catalog, today=TODAY)


def calls_of(plan: Plan) -> list[Call]:
    return [step for _, step in every_step(plan.block) if isinstance(step, Call)]


def writes(plan: Plan, catalog: Catalog) -> list[Call]:
    return [one for one in calls_of(plan) if not catalog.tools[one.tool].is_read]


def is_left_alone(text: str, catalog: Catalog) -> bool:
    """Whether the request is refused or asked about, or its plan only reads."""
    try:
        plan = planned(text, catalog)
    except NoToolFits:
        return True
    return bool(plan.questions) or not writes(plan, catalog)
