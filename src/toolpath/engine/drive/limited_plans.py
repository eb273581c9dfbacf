"""Plans under way that are bodies of tools with limits: each holds places within the limits of its tool."""

from __future__ import annotations

from collections.abc import Callable

from toolpath.engine.compile.nodes import CallTarget
from toolpath.engine.decide.exclusive import owners_of
from toolpath.engine.decide.ready_queue import ReadyQueue
from toolpath.engine.drive.limits import CallLimits, Limit
from toolpath.engine.state.instances import StepState


class LimitedPlan:
    """A plan under way that is the body of a tool with limits."""

    __slots__ = ("active", "held", "limits")

    def __init__(self, limits: tuple[Limit, ...], *, held: bool) -> None:
        self.limits = limits
        self.held = held
        self.active = 0
        """Calls at work in it."""


class LimitQueue:
    """Steps of one run that wait for a limit of a tool, a server or a tenant."""

    def __init__(self, ready: ReadyQueue, again: Callable[[StepState], None]) -> None:
        self._ready = ready
        self._again = again
        """Makes the step ready again."""
        self._closed = False

    def wait(self, step: StepState, limit: Limit, *, first: bool = False) -> None:
        """Try the step again when the limit lets it."""
        self._ready.at_limits += 1
        limit.wait(lambda: self._called(step), first=first)

    def _called(self, step: StepState) -> None:
        self._ready.at_limits -= 1
        if not self._closed:
            self._again(step)

    def close(self) -> None:
        """Begin nothing any more: what waits for a place gives way to other runs."""
        self._closed = True


class LimitedPlans:
    """The plans under way in one run that hold places within limits."""

    def __init__(self, limits: CallLimits, queue: LimitQueue) -> None:
        self._limits_of = limits.of
        self._queue = queue
        self._limits: dict[str, tuple[Limit, ...]] = {}
        """Of tools and their servers, by the tool's key."""
        self.plans: dict[StepState, LimitedPlan] = {}

    def of_tool(self, target: CallTarget) -> tuple[Limit, ...]:
        """The limits of the tool and its server, whether the plan names the tool or another tool calls it."""
        if target.key not in self._limits:
            self._limits[target.key] = self._limits_of(target.tool)
        return self._limits[target.key]

    def around(self, step: StepState) -> tuple[LimitedPlan, ...]:
        """The plans with limits that the step is inside of, innermost first."""
        if not self.plans:
            return ()
        return tuple(self.plans[owner] for owner in owners_of(step) if owner in self.plans)

    def enter(self, step: StepState, target: CallTarget) -> bool:
        """Whether a plan that is a tool's body may begin now, by that tool's limits; else it begins when it may."""
        limits = self.of_tool(target)
        if not limits or step in self.plans:
            return True
        blocked = next((limit for limit in limits if limit.blocked()), None)
        if blocked is not None:
            self._queue.wait(step, blocked)
            return False
        for limit in limits:
            limit.take()
        self._hold(step, LimitedPlan(limits, held=True))
        return True

    def take_up(self, step: StepState) -> None:
        """A plan that another driver began goes on: it holds its places again, now or with its next call."""
        target = step.node.targets[step.target] if step.node.targets else None
        if target is None or target.plan is None or step in self.plans:
            return
        limits = self.of_tool(target)
        if limits:
            plan = LimitedPlan(limits, held=False)
            if not any(limit.is_full() for limit in limits):
                retake([plan])
            self._hold(step, plan)

    def _hold(self, step: StepState, plan: LimitedPlan) -> None:
        self.plans[step] = plan
        # Its end is told like that of a time limit.
        step.watched = True

    def leave(self, step: StepState) -> None:
        """A step is not watched any more: if it was such a plan, and is over, its places are free."""
        if step.status != "running":
            plan = self.plans.pop(step, None)
            if plan is not None:
                _let_go([plan])

    def lapse(self) -> None:
        """Release the places of plans of which nothing is at work, where nothing more can begin."""
        if self.plans:
            _let_go([plan for plan in self.plans.values() if plan.held and not plan.active])

    def let_go(self) -> None:
        """The drive is over: no plan under way holds anything here."""
        plans, self.plans = self.plans, {}
        _let_go(list(plans.values()))


def lapsed(around: tuple[LimitedPlan, ...]) -> list[LimitedPlan]:
    """The plans around a call whose places have to be taken again: of each tool once, however often it is around."""
    if not around:
        return []
    have = {limit for plan in around if plan.held for limit in plan.limits}
    found = []
    for plan in reversed(around):
        if not plan.held and not have.issuperset(plan.limits):
            found.append(plan)
            have.update(plan.limits)
    return found


def retake(plans: list[LimitedPlan]) -> None:
    """The plans hold their places again."""
    for plan in plans:
        plan.held = True
        for limit in plan.limits:
            limit.retake()


def _let_go(plans: list[LimitedPlan]) -> None:
    held = [plan for plan in plans if plan.held]
    for plan in held:
        plan.held = False
    for plan in held:
        for limit in plan.limits:
            limit.release()
