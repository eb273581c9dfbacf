"""What must hold of plans inside plans that have bounds of their own, wherever they are called from."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
from plays import differing, faults_of, play, resume_from
from structures import body, structure, tight_body
from virtual import in_virtual_time
from worlds import World, drawn

from toolpath.errors import PlanInvalid
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.plan import Budget, Plan

#: USD that each call of a leaf costs.
COST = 0.01
#: Bounds are made wider until a plan may be begun.
_SCALES = 12
_ROUNDING = 1e-9


def of_budgets(seed: int) -> Iterator[str]:
    """No plan in a run spends more than it may, and one that spends less is as if it had no bounds.

    So it is where the run is cut and goes on. Bounds are on calls, money and time, in tools that are plans and in the
    plan itself.
    """
    for scale in range(1, _SCALES):
        try:
            yield from _of_bounds(Bounds(seed, scale))
            return
        except PlanInvalid as refused:
            # The check foresees that it spends more than that.
            if {one.code for one in refused.findings if one.severity == "error"} != {"budget_too_small"}:
                raise


class Bounds(msgspec.Struct, frozen=True):
    """Bounds that may be too tight for the plans that they are given to."""

    seed: int
    scale: int

    def of(self, plan: Plan) -> Plan:
        """The plan with bounds."""
        chance = random.Random(drawn("bounds", self.seed, plan.name))
        kind, many = chance.choice(["calls", "cost", "timeout", "none"]), chance.randint(1, 12) * self.scale**2
        match kind:
            case "calls":
                return msgspec.structs.replace(plan, budget=Budget(calls=many))
            case "cost":
                return msgspec.structs.replace(plan, budget=Budget(cost=many * COST + COST / 2))
            case "timeout":
                return msgspec.structs.replace(plan, timeout=many * 0.04)
        return plan

    def body(self, tool: str) -> Plan:
        """The plan inside a tool."""
        name = tool.removeprefix("sim.")
        return self.of(body(int(name[4:]))) if name.startswith("body") else tight_body(int(name[5:]))

    def world(self) -> World:
        """Tools that cost something, and are bounded."""
        world = World(self.seed % 5)
        world.cost, world.bound = COST, self.of
        return world


def _of_bounds(bounds: Bounds) -> Iterator[str]:
    this = structure(bounds.seed)
    outer = bounds.of(this.plan) if bounds.seed % 3 == 0 else this.plan
    played = in_virtual_time(play(outer, bounds.world()))
    yield from faults_of(played)
    yield from _overspent(outer, played.events, bounds, timed=True)
    if this.exact and not _is_bounded(played.events):
        yield from differing(played, in_virtual_time(play(this.plan, World(bounds.seed % 5))))
    place = random.Random(bounds.seed).randrange(1, len(played.events))
    resumed = in_virtual_time(resume_from(played.events[:place], bounds.world()))
    about = f"cut after {place} of {len(played.events)}: "
    yield from (about + fault for fault in faults_of(resumed))
    yield from (about + fault for fault in _overspent(outer, resumed.events, bounds, timed=False))


def _is_bounded(events: Sequence[AnyEvent]) -> bool:
    """Whether any bound was met."""
    return any(
        isinstance(event, ev.BudgetExceeded)
        or (isinstance(event, ev.RunFailed) and event.reason == "timeout")
        or (isinstance(event, ev.StepFailed | ev.StepTimedOut) and event.error.code in ("budget", "timeout"))
        # A fallback that meets its bound leaves the answer as it was, and says nothing.
        or (isinstance(event, ev.FallbackStarted) and (event.error is None or event.error.code != "tool_failed"))
        for event in events
    )


def _overspent(outer: Plan, events: Sequence[AnyEvent], bounds: Bounds, *, timed: bool) -> Iterator[str]:
    """Plans in which more was spent than they may."""
    begun: dict[str, tuple[Plan, float]] = {"": (outer, events[0].at)}
    calls: Counter[str] = Counter()
    costs: Counter[str] = Counter()
    # Time that passes while people are asked is not counted.
    timed = timed and not any(isinstance(one, ev.ApprovalRequested | ev.InputRequested) for one in events)
    for event in events:
        match event:
            case ev.StepStarted(key=""):
                if event.tool:
                    begun[event.path] = (bounds.body(event.tool), event.at)
            case ev.StepStarted():
                calls.update(_around(event.path))
                for prefix in _around(event.path) if timed else ():
                    plan, at = begun.get(prefix, (Plan(), 0.0))
                    if plan.timeout is not None and event.at > at + plan.timeout + _ROUNDING:
                        yield f"{event.path} was called after the time of {prefix or 'the run'} was over"
            case ev.StepSucceeded(cost=float()):
                # In hundredths of a cent: sums of them are exact.
                costs.update(dict.fromkeys(_around(event.path), round((event.cost or 0.0) * 10_000)))
    for prefix, (plan, _) in begun.items():
        for entry in [prefix, *(name for name in calls if name.startswith(f"{prefix}~"))]:
            if plan.budget.calls is not None and calls[entry] > plan.budget.calls:
                yield f"{entry or 'the run'} made {calls[entry]} calls, and may make {plan.budget.calls}"
            if plan.budget.cost is not None and costs[entry] > round(plan.budget.cost * 10_000):
                yield f"{entry or 'the run'} cost {costs[entry] / 10_000}, and may cost {plan.budget.cost}"


def _around(path: str) -> Iterator[str]:
    """The run, and each step that this one may be inside of."""
    yield ""
    for place, mark in enumerate(path):
        if mark == "/":
            yield path[:place]
