"""Plans inside a run as runs of their own: nested plans, calls of templates, agents and blocks. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from toolpath.errors import RunNotFound, closest
from toolpath.model.events import AnyEvent
from toolpath.model.run import RunResult, RunStatus, StepResult
from toolpath.model.sub_plan import SubPlan, plan_id
from toolpath.projections.paths import ancestors

_ROUND: Final = re.compile(r"round\[\d+\]")
#: The tool of an agent's step.
AGENT: Final = "toolpath.agent"
#: How a call stands, as a run does.
_STATUS: Final[dict[str, RunStatus]] = {
    "pending": "pending",
    "ready": "pending",
    "running": "running",
    "waiting": "waiting",
    "unknown": "waiting",
    "succeeded": "completed",
    "failed": "failed",
    "timed_out": "failed",
    "cancelled": "cancelled",
    "skipped": "cancelled",
}
ENDED: Final = frozenset({"succeeded", "failed", "timed_out", "cancelled", "skipped"})


def sub_result(whole: RunResult, path: str) -> RunResult:
    """The result so far of the plan that the call at `path` began. Raises `RunNotFound` where there is no such call."""
    call = next((result for result in whole.results if result.path == path), None)
    if call is None:
        near = closest(path[:200], [result.path for result in whole.results])
        raise RunNotFound(
            f"The run {whole.run_id} has no plan at {path[:200]!r}.",
            suggestions=[plan_id(whole.run_id, each) for each in near],
        )
    inside = tuple(result for result in whole.results if result.path != path and is_inside(result.path, path))
    status = _STATUS[call.status]
    if status == "running" and whole.status in ("waiting", "paused", "failed", "cancelled"):
        # Nothing of it goes on without the run.
        status = whole.status if whole.status != "waiting" or _waits(inside) else "running"
    return RunResult(
        run_id=plan_id(whole.run_id, path),
        status=status,
        reason=call.reason,
        outputs=call.output,
        error=call.error,
        total_duration=call.duration,
        cost=sum(result.cost or 0.0 for result in inside) or (call.cost or 0.0),
        warnings=tuple(each for each in whole.warnings if is_inside(str(getattr(each, "path", "")), path)),
        questions=tuple(each for each in whole.questions if is_inside(str(getattr(each, "path", "")), path)),
        read=lambda: inside,
        sub_plan=_place(whole.run_id, call, {result.path for result in whole.results}),
    )


def sub_plans(run_id: str, results: Sequence[StepResult]) -> tuple[SubPlan, ...]:
    """Every plan inside the run that has begun something, and every agent, in the order in which they were begun."""
    paths = {result.path for result in results}
    heads = {next((outer for outer in _around(result.path) if outer in paths), "") for result in results}
    found = (result for result in results if result.path in heads or result.tool == AGENT)
    return tuple(_place(run_id, result, paths) for result in found)


def is_inside(path: str, head: str) -> bool:
    """Whether the path is that of the call itself, or of something that it began."""
    return path == head or head in ancestors(path)


def events_inside(events: Sequence[AnyEvent], head: str) -> list[AnyEvent]:
    """The events of the call and of all that it began; all where there is no `head`."""
    return [event for event in events if is_inside(str(getattr(event, "path", "")), head)] if head else list(events)


def parent_path(path: str, paths: set[str]) -> str:
    """Path of the call that began the plan which the call belongs to; empty: it is the run's own."""
    return next((outer for outer in _around(path) if outer in paths), "")


def _around(path: str) -> list[str]:
    """The paths that this one lies in, nearest first, without the rounds of agents."""
    return [outer for outer in ancestors(path) if not _ROUND.fullmatch(outer.rpartition("/")[2])]


def _place(run_id: str, call: StepResult, paths: set[str]) -> SubPlan:
    return SubPlan(
        plan_id=plan_id(run_id, call.path),
        root=run_id,
        parent=plan_id(run_id, parent_path(call.path, paths)),
        call=call.path,
        title=call.tool or call.step,
        status=call.status,
    )


def _waits(inside: Sequence[StepResult]) -> bool:
    return any(result.status in ("waiting", "unknown") for result in inside)
