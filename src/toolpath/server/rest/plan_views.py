"""Views that answers show of plans: stored ones, what the check says, what a run would call."""

from __future__ import annotations

import msgspec

from toolpath.checks.explanation import Explanation
from toolpath.checks.preview import Planned
from toolpath.errors import Finding
from toolpath.model.stored import StoredPlan
from toolpath.model.versions import DocumentDiff
from toolpath.providers.builtin.examples.catalog import ExamplePlan
from toolpath.values import JsonObject


class PlanRow(msgspec.Struct, frozen=True, kw_only=True):
    """A stored plan in a list."""

    plan_id: str
    request_id: str
    version: int
    revision: int
    name: str = ""
    request: str = ""
    requires_approval: bool = False
    approved: bool = False
    created_at: float = 0.0
    updated_at: float = 0.0


class PlanDetail(StoredPlan, frozen=True, kw_only=True, omit_defaults=False):
    """A stored plan, what the check says of it, and what it will do."""

    shown: int
    """The revision whose plan and source these are."""
    findings: tuple[Finding, ...] = ()
    explanation: Explanation
    text: str = ""
    """The explanation as people read it."""
    confidence: float | None = None
    reasoning: str = ""
    questions: tuple[str, ...] = ()
    """What the planner could not know."""


class PlanPage(msgspec.Struct, frozen=True, kw_only=True):
    """Plans, newest first. `next` is the `before` of the next page; null: this was the last."""

    plans: tuple[PlanRow, ...]
    next: str | None = None


class PlanReview(msgspec.Struct, frozen=True, kw_only=True):
    """What the check says of a plan, and what it will do."""

    plan: JsonObject
    """As it is kept: in the notation of plans."""
    findings: tuple[Finding, ...] = ()
    explanation: Explanation
    text: str = ""
    """The explanation as people read it."""


class PlanPreview(msgspec.Struct, frozen=True, kw_only=True):
    """What a run with these inputs would call: every step in the order in which it is written."""

    steps: tuple[Planned, ...]


class ExampleList(msgspec.Struct, frozen=True, kw_only=True):
    """Plans that come with the package."""

    is_on: bool
    """Their tools are switched on: the group `examples` of the built-in ones."""
    examples: tuple[ExamplePlan, ...]


#: For the description of the interface.
PLAN_VIEWS: tuple[type, ...] = (PlanDetail, PlanPage, PlanReview, PlanPreview, DocumentDiff, ExampleList)


def plan_row(stored: StoredPlan) -> PlanRow:
    """The stored plan as a list shows it."""
    names = (name for name in PlanRow.__struct_fields__ if name != "approved")
    return PlanRow(**{name: getattr(stored, name) for name in names}, approved=stored.approval is not None)
