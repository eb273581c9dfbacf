"""Views of how requests were planned and routed."""

from __future__ import annotations

from typing import Literal

import msgspec

from toolpath.errors import Finding
from toolpath.planner.records import PlanningRecord
from toolpath.planner.router.routing_records import Outcome, RouteRecord, ToolMatch
from toolpath.values import Json, JsonObject


class PlanningRow(msgspec.Struct, frozen=True, kw_only=True):
    """How one request was planned, in a list."""

    id: str
    request: str
    planner: Literal["model", "offline", "cache"]
    strategy: str = ""
    outcome: str = ""
    confidence: float | None = None
    cost: float = 0.0
    tokens: int = 0
    started_at: float = 0.0
    duration: float = 0.0
    run_id: str = ""
    success: bool | None = None


class PlanningPage(msgspec.Struct, frozen=True, kw_only=True):
    """Plannings, newest first. `next` is the `before` of the next page; null: this was the last."""

    plannings: tuple[PlanningRow, ...]
    next: str | None = None


class PlanningStats(msgspec.Struct, frozen=True, kw_only=True):
    """How planning did so far: the cache, lessons, the ways of planning beside each other."""

    plans: int
    hits: int
    misses: int
    hit_rate: float | None
    lessons: list[JsonObject]
    ways: JsonObject
    text: str
    """All of it as people read it."""


class Routing(msgspec.Struct, frozen=True, kw_only=True):
    """What a request means: calls as a plan, a text, or a message that says why neither."""

    route_id: str
    outcome: Outcome
    plan: JsonObject | None = None
    text: str = ""
    message: str = ""
    suggestions: tuple[str, ...] = ()
    decisions: tuple[ToolMatch, ...] = ()
    findings: tuple[Finding, ...] = ()
    questions: tuple[str, ...] = ()
    """What the request leaves open: nothing runs the plan before it is said."""
    run_id: str = ""
    status: str = ""
    outputs: list[Json] = []
    """Of each call in its order: tool, status, output, error."""


class RoutePage(msgspec.Struct, frozen=True, kw_only=True):
    """Routings, newest first, without what models were asked. `next` is the `before` of the next page."""

    routes: tuple[RouteRecord, ...]
    next: str | None = None


#: For the description of the interface.
PLANNING_VIEWS: tuple[type, ...] = (PlanningPage, PlanningRecord, PlanningStats, Routing, RoutePage, RouteRecord)


def planning_row(record: PlanningRecord) -> PlanningRow:
    """The planning as a list shows it."""
    same = {name: getattr(record, name) for name in PlanningRow.__struct_fields__ if name not in ("cost", "tokens")}
    return PlanningRow(**same, cost=record.cost, tokens=record.usage.total)
