"""The least that a run of a plan spends when all goes well: calls, money, steps. Pure; reports nothing."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from toolpath.checks.history import History
from toolpath.checks.jumps import may_skip
from toolpath.checks.views import BlockView, StepView
from toolpath.model.plan import Loop, Parallel, Plan
from toolpath.model.tool import Tool


class LeastSpent(msgspec.Struct, frozen=True):
    """Calls, cost and steps."""

    calls: int = 0
    cost: float = 0.0
    """USD, of the tools that say what a call costs."""
    steps: int = 0

    def __add__(self, other: LeastSpent) -> LeastSpent:
        return LeastSpent(self.calls + other.calls, self.cost + other.cost, self.steps + other.steps)

    def times(self, count: int) -> LeastSpent:
        """The same, spent so many times."""
        return LeastSpent(self.calls * count, self.cost * count, self.steps * count)


class Spending:
    """The least that the steps and blocks of one plan spend."""

    __slots__ = ("_history", "_of_body", "_plan")

    def __init__(self, plan: Plan, history: History, of_body: Callable[[Tool], LeastSpent]) -> None:
        self._plan = plan
        self._history = history
        self._of_body = of_body

    def block(self, block: BlockView) -> LeastSpent:
        """The calls and costs of the steps that surely run where the block ends well."""
        facts = self._history.end(block)
        spent = LeastSpent()
        for view in block.steps:
            if facts is not None and facts.sure >> view.index & 1:
                spent += self._step(view)
        return spent

    def _step(self, view: StepView) -> LeastSpent:
        if may_skip(view.step, self._plan.on_unresolved):
            return LeastSpent()
        one = LeastSpent(steps=1)
        match view.step:
            case Parallel(wait_for="all"):
                return sum((self.block(block) for block in view.blocks), one)
            case Parallel():
                branches = [self.block(block) for block in view.blocks]
                return one + min(branches, key=lambda spent: spent.calls, default=LeastSpent())
            case Loop(over=list() as over):
                return one + self.block(view.blocks[0]).times(len(over)) if view.blocks else one
            case _ if view.tool is None:
                return one
            case _ if isinstance(view.tool.body, Plan):
                return one + self._of_body(view.tool)
            case _ if view.step.cache is not None or view.tool.cache is not None:
                # A result that is kept costs nothing.
                return one
            case _:
                return LeastSpent(1, view.tool.cost or 0.0, 1)
