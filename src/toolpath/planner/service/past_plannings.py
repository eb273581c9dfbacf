"""Past plannings: what was asked and how each plan came about, so that what became of the plan can be learned from."""

from __future__ import annotations

import msgspec

from toolpath.model.plan import Plan, freeze
from toolpath.planner.records import Ground, Planned, PlanRequest
from toolpath.values import digest

#: How many plannings are kept, and characters of each request.
KEPT = 256
LONGEST_REQUEST = 10_000


class PastPlanning(msgspec.Struct, frozen=True):
    """One planning."""

    asked: PlanRequest
    ground: Ground
    planned: Planned
    tenant: str
    """Who asked for it."""


class PastPlannings:
    """The newest plannings of a process, by the plan that came of them."""

    def __init__(self) -> None:
        self._kept: dict[str, PastPlanning] = {}

    def keep(self, planning: PastPlanning) -> None:
        """Keep it, and forget the oldest where there are too many."""
        while len(self._kept) >= KEPT:
            del self._kept[next(iter(self._kept))]
        planned = planning.planned
        record = msgspec.structs.replace(planned.record, request=planned.record.request[:LONGEST_REQUEST])
        self._kept[digest(freeze(planned.plan))] = msgspec.structs.replace(
            planning,
            asked=msgspec.structs.replace(planning.asked, text=planning.asked.text[:LONGEST_REQUEST]),
            planned=msgspec.structs.replace(planned, record=record),
        )

    def of(self, plan: Plan) -> PastPlanning | None:
        """The planning that the plan came of; None where it was not planned here, or long ago."""
        return self._kept.get(digest(freeze(plan)))
