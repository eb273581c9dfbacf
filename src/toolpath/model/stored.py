"""A plan as it is kept: a version of what a request became, and what a person approved of it. Data only."""

from __future__ import annotations

import msgspec

from toolpath.values import JsonObject


class Approval(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Approval by a person: this plan with these tools, inputs and names of secrets, as its digest says."""

    digest: str
    by: str = ""
    at: float = 0.0
    comment: str = ""


class PlanRevision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of the documents that a stored plan was."""

    revision: int
    """That of the plan when it was saved."""
    digest: str
    """Of the plan and of what was written, comments and all."""
    at: float = 0.0
    """Unix time at which it was saved."""
    by: str = ""
    comment: str = ""


class PlanContent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Content of a revision."""

    plan: JsonObject
    """In the plan notation."""
    source: str = ""
    """The text that it was written as, with its comments; empty where it was given as data or in another notation."""


class StoredPlan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A plan that is kept, as one version of what a request became."""

    plan_id: str
    request_id: str
    version: int
    """Among the plans of its request, from 1."""
    request: str = ""
    """What was asked for, in words."""
    name: str = ""
    plan: JsonObject
    """In the plan notation."""
    source: str = ""
    """The text that it was written as, with its comments; empty where it was given as data or in another notation."""
    revisions: tuple[PlanRevision, ...] = ()
    """What it was, oldest first; the last is what it is now."""
    requires_approval: bool = False
    """A person must approve it before it may run."""
    approval: Approval | None = None
    planner: str = ""
    """model, offline or cache; empty: nobody planned it."""
    outcome: str = ""
    reason: str = ""
    """Why the planner fell back."""
    tenant: str = ""
    user: str = ""
    revision: int = 0
    """One more with each change; what `expected` of a change is compared with."""
    created_at: float = 0.0
    updated_at: float = 0.0
