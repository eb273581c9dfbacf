"""Bounds of a block: how deep it may stand in others, how long it may take, how often it may be come to. Pure."""

from __future__ import annotations

from toolpath.engine.compile.nodes import Node
from toolpath.engine.state.instances import EMPTY, Scope, StepState
from toolpath.model.events import Failure
from toolpath.model.plan import Limits

#: No plan may be deeper, whatever its limit says: what cuts off a run goes down all of it.
DEEPEST = 100


def too_deep(around: Scope, path: str) -> Failure | None:
    """Why what is called in this block may not have a plan or a call of its own, or None where it may.

    A plan inside another one counts, and so does a call that a tool makes; the limit of every plan around holds.
    """
    depth = around.depth + 1
    scope: Scope | None = around
    while scope is not None:
        plan = scope.block.plan
        is_outermost = scope.owner is None
        if scope.up is None and scope.block is not EMPTY and plan is not None:
            # A nested plan that says nothing goes by what is around it.
            limit = min(plan.limits.depth, DEEPEST) if is_outermost or plan.limits != Limits() else DEEPEST
            if depth - scope.depth > limit:
                message = f"Plans and calls are nested more than {limit} deep (limits.depth) at {path}."
                hint = "Raise limits.depth, or call the tool from a step of its own." if limit < DEEPEST else ""
                return Failure(type="DepthExceeded", message=message, code="depth", hint=hint)
        scope = None if is_outermost or scope.owner is None else scope.owner.scope
    return None


def block_limit(step: StepState) -> float | None:
    """Seconds that the block inside the step may take; None: no limit."""
    node = step.node
    target = node.targets[step.target] if node.targets else None
    plan = target.plan if target is not None else None
    # A step's own limit goes before that of its tool; that of the tool's plan holds besides.
    own = node.timeout if target is None else target.timeout
    limits = [limit for limit in (own, plan.timeout if plan else None) if limit is not None]
    return min(limits, default=None)


def too_many_visits(node: Node, limit: int) -> Failure:
    """The failure of a step to which its chain came too often."""
    message = f"The chain came to {node.id} more than {limit} times (limits.step_visits)."
    return Failure(type="TooManyVisits", message=message, code="step_visits")
