"""Two runs beside each other: what differs between them, and what took longer. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from toolpath.model.events import AnyEvent, PlanRevised, RunStarted
from toolpath.model.run import RunResult, StepResult
from toolpath.projections.steps import step_results
from toolpath.values import Json, JsonObject

Difference = Literal["status", "tool", "inputs", "output", "error", "attempts"]

#: What of a step is compared, besides how long it took.
_COMPARED: Final[tuple[Difference, ...]] = ("status", "tool", "inputs", "output", "error", "attempts")


class StepSide(msgspec.Struct, frozen=True, kw_only=True):
    """How a step stood in one of the runs."""

    status: str
    duration: float
    """Seconds."""
    attempts: int
    cached: bool = False


class StepDifference(msgspec.Struct, frozen=True, kw_only=True):
    """One step instance in both runs."""

    path: str
    first: StepSide | None = None
    """None: the first run has no such step."""
    second: StepSide | None = None
    differs: tuple[Difference, ...] = ()
    longer: float = 0.0
    """Seconds that it took longer in the second; below 0: it took less."""


class PlanDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Steps of the plan, by their ids."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What the second run did otherwise than the first."""

    plan: PlanDifference
    inputs: tuple[str, ...]
    """Names of the inputs that differ."""
    outputs_differ: bool
    durations: tuple[float, float]
    """Seconds of both."""
    costs: tuple[float, float]
    """USD of both."""
    differing: int
    """Steps that differ in more than time."""
    total: int
    """Steps that either has."""
    steps: tuple[StepDifference, ...]
    """Those that differ first, then by how much longer they took."""


def compared(
    first: RunResult, first_events: Sequence[AnyEvent], second: RunResult, second_events: Sequence[AnyEvent], most: int
) -> Comparison:
    """The two runs, at most so many steps told one by one. Values that the journal keeps aside are known by digest."""
    before = {step.path: step for step in step_results(first_events)}
    after = {step.path: step for step in step_results(second_events)}
    steps = [_step(path, before.get(path), after.get(path)) for path in {**before, **after}]
    steps.sort(key=lambda step: (not step.differs and _is_in_both(step), -step.longer))
    given, later = _inputs(first_events), _inputs(second_events)
    return Comparison(
        plan=_plans(_steps_of(first_events), _steps_of(second_events)),
        inputs=tuple(name for name in {**given, **later} if _at(given, name) != _at(later, name)),
        outputs_differ=first.outputs != second.outputs,
        durations=(first.total_duration, second.total_duration),
        costs=(first.cost, second.cost),
        differing=sum(bool(step.differs) or not _is_in_both(step) for step in steps),
        total=len(steps),
        steps=tuple(steps[:most]),
    )


def _is_in_both(step: StepDifference) -> bool:
    return step.first is not None and step.second is not None


def _step(path: str, before: StepResult | None, after: StepResult | None) -> StepDifference:
    if before is None or after is None:
        return StepDifference(path=path, first=_side(before), second=_side(after))
    differs = tuple(name for name in _COMPARED if _told(before, name) != _told(after, name))
    longer = after.duration - before.duration
    return StepDifference(path=path, first=_side(before), second=_side(after), differs=differs, longer=longer)


def _told(step: StepResult, name: Difference) -> object:
    if name == "error":
        return (step.error.code, step.error.message) if step.error else None
    return getattr(step, name)


def _side(step: StepResult | None) -> StepSide | None:
    if step is None:
        return None
    return StepSide(status=step.status, duration=step.duration, attempts=step.attempts, cached=step.cached)


def _inputs(events: Sequence[AnyEvent]) -> JsonObject:
    return next((event.inputs for event in events if isinstance(event, RunStarted)), {})


def _at(values: JsonObject, name: str) -> tuple[Json, ...]:
    return (values[name],) if name in values else ()


def _steps_of(events: Sequence[AnyEvent]) -> dict[str, Json]:
    plan: JsonObject = {}
    for event in events:
        if isinstance(event, RunStarted | PlanRevised):
            plan = event.plan
    steps = plan.get("steps")
    if not isinstance(steps, list | tuple):
        return {}
    return {str(step.get("id")): step for step in steps if isinstance(step, dict)}


def _plans(before: dict[str, Json], after: dict[str, Json]) -> PlanDifference:
    return PlanDifference(
        added=tuple(step for step in after if step not in before),
        removed=tuple(step for step in before if step not in after),
        changed=tuple(step for step in after if step in before and before[step] != after[step]),
    )
