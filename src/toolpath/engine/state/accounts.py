"""Account of a nested plan with bounds of its own: calls, cost, tokens, slots; counted in all around it, too. Pure."""

from __future__ import annotations

from collections import deque

from toolpath.engine.state.instances import Scope, StepState
from toolpath.model.events import Failure
from toolpath.model.plan import Budget, Limits, Plan


class Account:
    """One instance of a nested plan that has a budget, limits or a concurrency of its own."""

    __slots__ = ("budget", "busy", "calls", "cost", "failure", "owner", "slots", "steps", "tokens", "up", "waiting")

    def __init__(self, plan: Plan, owner: StepState, up: Account | None) -> None:
        self.budget = plan.budget or Budget()
        self.steps = plan.limits.steps if plan.limits != Limits() else None
        self.slots = plan.concurrency
        self.owner = owner
        """The step whose plan it is."""
        self.up = up
        """The account of the plan around it."""
        self.calls = 0
        self.cost = 0.0
        self.tokens = 0
        self.busy = 0
        """Calls under way in it that wait for none of their own."""
        self.waiting: deque[StepState] = deque()
        """Steps that wait for a slot of it."""
        self.failure: Failure | None = None
        """Why nothing more begins in it."""

    @property
    def is_full(self) -> bool:
        """Every slot is taken."""
        return self.slots is not None and self.busy >= self.slots

    def exceeded(self, price: float, *, begun: int) -> tuple[str, float, float] | None:
        """Which bound one more call would exceed, what it would come to, and what it may; None: none."""
        calls, budget = self.calls + 1 - begun, self.budget
        if self.steps is not None and calls > self.steps:
            return "steps", calls, self.steps
        if budget.calls is not None and calls > budget.calls:
            return "calls", calls, budget.calls
        if budget.cost is not None and (self.cost + price > budget.cost + 1e-9):
            return "cost", self.cost + price, budget.cost
        if budget.tokens is not None and self.tokens > budget.tokens:
            return "tokens", self.tokens, budget.tokens
        return None


def account_of(plan: Plan | None, owner: StepState, up: Account | None) -> Account | None:
    """The account that counts in a nested plan: its own, where it has bounds of its own."""
    if plan is None:
        return up
    bounded = plan.budget not in (None, Budget()) or plan.concurrency is not None or plan.limits != Limits()
    return Account(plan, owner, up) if bounded else up


def charge(scope: Scope, *, calls: int = 0, cost: float = 0.0, tokens: int = 0) -> None:
    """Count what was spent in the block, in every account around it."""
    account = scope.account
    while account is not None:
        account.calls += calls
        account.cost += cost
        account.tokens += tokens
        account = account.up


def occupy(account: Account | None) -> None:
    """A call begins, or goes on: it takes a slot in every plan around it."""
    while account is not None:
        account.busy += 1
        account = account.up


def is_in(account: Account | None, around: Account) -> bool:
    """Whether what the one counts is counted in the other, too."""
    while account is not None and account is not around:
        account = account.up
    return account is around
