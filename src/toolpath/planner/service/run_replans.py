"""A run that failed gets another plan, within bounds: what the planner is told, and what goes into the journal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import msgspec

from toolpath.engine.compile.program import Program
from toolpath.errors import PlanningFailed, RunConflict, ToolpathError
from toolpath.model.events import AnyEvent, PlanRevised, RunStarted, Warned
from toolpath.model.plan import Plan, thaw
from toolpath.model.run import RunContext, RunResult
from toolpath.planner.offline.second_plan import plan_again
from toolpath.planner.records import Ground, PlannerOptions, PlanningRecord, PlanningResult
from toolpath.planner.replan import (
    Replanned,
    Replanning,
    doubtful_writes,
    latest,
    refuses_replanning,
    replan,
    replan_request,
    revised_plan,
    with_consent,
)
from toolpath.projections.results import run_result
from toolpath.values import made_ready

Compile = Callable[[Plan], Awaitable[Program]]
"""A plan checked and compiled. Raises `PlanInvalid`."""


class Planners(Protocol):
    """Planners that a failed run is planned anew with."""

    options: PlannerOptions

    @property
    def has_model(self) -> bool:
        """Whether a model plans."""
        ...

    async def ground_for_replanning(self, tenant: str) -> Ground:
        """The tenant's tools, model and clock."""
        ...

    def remember(self, plan: Plan, planned: PlanningResult, tenant: str = "") -> None:
        """Keep how the plan came about."""
        ...


async def replan_by_leave(
    run_id: str, events: Sequence[AnyEvent], planning: Planners, compiled: Compile
) -> PlanRevised | Warned | None:
    """The failed run's next plan, or a warning that says why there is none; None where none is wanted.

    What its journal says of earlier plannings counts, so that the bounds hold for every driver.
    """
    started, result = events[0], run_result(run_id, events)
    assert isinstance(started, RunStarted)
    limits = msgspec.convert(started.replan, Replanning)
    before = [event for event in events if isinstance(event, PlanRevised)]
    if len(before) >= limits.times or refuses_replanning(result.error, result.results):
        return None
    try:
        return await replan_run(events, result, planning, compiled, limits=limits)
    except ToolpathError as error:
        return Warned(0, 0.0, "", "not_replanned", f"The run was not planned anew: {error.message}")


async def replan_run(
    events: Sequence[AnyEvent],
    result: RunResult,
    planning: Planners,
    compiled: Compile,
    *,
    limits: Replanning,
) -> PlanRevised:
    """The event that puts another plan in place of the failed one. Raises any `ToolpathError`."""
    old = plan_in_force(events)
    started = events[0]
    assert isinstance(started, RunStarted)
    tenant = RunContext.from_json(started.context).tenant
    ground = await planning.ground_for_replanning(tenant)
    began = ground.clock.monotonic()
    ground = _limited(ground, limits, [event for event in events if isinstance(event, PlanRevised)])
    replanned = await _replanned(old, result, ground, planning)
    plan = revised_plan(old, replanned.planned.plan, ground.catalog, kept=replanned.kept, new_writes=limits.new_writes)
    program = await compiled(plan)
    planning.remember(plan, replanned.planned, tenant)
    record = replanned.planned.record
    return PlanRevised(
        0,
        0.0,
        plan=program.frozen,
        bodies=program.frozen_bodies,
        tools=program.fingerprints,
        reason=result.error.message[:500] if result.error is not None else result.reason,
        kept=replanned.kept,
        planner=record.planner,
        seconds=ground.clock.monotonic() - began,
        tokens=record.usage.total,
        cost=record.cost,
    )


def _limited(ground: Ground, limits: Replanning, before: Sequence[PlanRevised]) -> Ground:
    """The ground with what is left of time, tokens and money. Raises `PlanningFailed` where nothing is."""
    options = ground.options
    timeout, cost = options.timeout, limits.max_cost
    if limits.timeout is not None:
        timeout = min(timeout, limits.timeout - sum(event.seconds for event in before))
    tokens = min(options.max_tokens, limits.max_tokens - sum(event.tokens for event in before))
    if cost is not None:
        cost -= sum(event.cost for event in before)
    if timeout <= 0 or tokens <= 0 or (cost is not None and cost <= 0):
        raise PlanningFailed("What planning anew may take is used up.")
    options = msgspec.structs.replace(options, timeout=timeout, max_tokens=tokens, max_cost=cost)
    return msgspec.structs.replace(ground, options=options)


async def _replanned(old: Plan, result: RunResult, ground: Ground, planning: Planners) -> Replanned:
    if not planning.has_model:
        return without_model(old, result, ground)
    try:
        return await replan(old, result.results, ground, max_replans=1)
    except PlanningFailed as failure:
        if planning.options.fallback != "offline":
            raise
        try:
            return without_model(old, result, ground)
        except PlanningFailed:
            raise failure from None


def without_model(old: Plan, result: RunResult, ground: Ground) -> Replanned:
    """The rules' plan of what is unfinished, with other tools. Raises `PlanningFailed` where there is none."""
    catalog = ground.catalog
    ended = latest(result.results)
    request = replan_request(old, result.results, catalog)
    kept = [step.id for step in request.kept]
    failed = {one.tool for name, one in ended.items() if one.error is not None and name not in kept and one.tool}
    given = {name: ended[name].inputs for name in kept}
    plan = plan_again(
        old.origin.request,
        catalog,
        kept=request.kept,
        given=given,
        failed=failed,
        unfinished=[step for step in old.steps if step.id not in kept],
    )
    doubtful = doubtful_writes(old, result.results)
    record = PlanningRecord(
        request=request.text, planner="offline", catalog=catalog.digest, started_at=ground.clock.time()
    )
    return Replanned(
        planned=PlanningResult(plan=with_consent(plan, doubtful, set(kept)), record=record),
        kept=tuple(kept),
        in_doubt=tuple(step.id for step in doubtful),
    )


def plan_in_force(events: Sequence[AnyEvent]) -> Plan:
    """The plan that a run goes by in the end. Raises `RunConflict` for the journal of a run that was never begun."""
    for event in reversed(events):
        if isinstance(event, RunStarted | PlanRevised):
            return thaw(event.plan)
    raise RunConflict("The run was stored, but never begun.", hint="Start it anew.")


made_ready(Replanning)
