"""Rules on budgets: what a plan surely spends is within what it may. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from toolpath.checks.context import Context
from toolpath.checks.remarks import error
from toolpath.errors import Finding


def budgets_can_hold(context: Context) -> Iterator[Finding]:
    """budget_too_small: the steps that must run alone need more than the plan may spend."""
    plan, least = context.plan, context.least
    if plan.budget.calls is not None and least.calls > plan.budget.calls:
        yield error(
            "budget_too_small",
            "/budget/calls",
            f"The plan makes at least {least.calls} calls, and its budget is {plan.budget.calls}.",
            hint=f"Set it to {least.calls} or more.",
        )
    if plan.budget.cost is not None and least.cost > plan.budget.cost:
        yield error(
            "budget_too_small",
            "/budget/cost",
            f"The plan costs at least {least.cost:.4f} USD, and its budget is {plan.budget.cost:.4f}.",
        )
    if least.steps > plan.limits.steps:
        yield error(
            "budget_too_small",
            "/limits/steps",
            f"The plan runs at least {least.steps} steps, and its limit is {plan.limits.steps}.",
            hint=f"Set it to {least.steps} or more.",
        )
