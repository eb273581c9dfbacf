"""Evaluation of plans for tasks whose right plans are known, and the figures of all of them together. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from toolpath.model.chat import Usage
from toolpath.planner.scoring.score import Calibration, Score, calibration

Came = Literal["plan", "refusal", "failure"]


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """Attempt of a planner or the router at one task."""

    line: int
    """Of the data set, from 1."""
    task: str = ""
    """Its id."""
    came: Came = "plan"
    """A plan; a refusal, since no tool fits or can be called; or nothing. `error` has the reason."""
    wants_plan: bool = True
    """False: nothing may be called."""
    score: Score | None = None
    confidence: float = 0.0
    seconds: float = 0.0
    usage: Usage = Usage()
    cost: float = 0.0
    error: str = ""
    answered: bool = True
    """False: a model was asked and did not answer."""

    @property
    def is_right(self) -> bool:
        """A plan that is right as a whole, or a refusal where nothing may be called."""
        if not self.wants_plan:
            return self.came == "refusal"
        return self.score is not None and self.score.is_whole


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a planner or the router on data sets. Shares are 0 to 1; None: there was nothing to count."""

    tasks: int
    right: float | None
    """Plans that are right as a whole and right refusals, of all tasks."""
    whole_plans: float | None
    """Every call and every argument right, of the tasks that want a plan."""
    tools_right: float | None
    """The choice: the right tools, each as often, whatever the arguments. Of the tasks that want a plan."""
    tool_f1: float | None
    edge_f1: float | None
    arguments: float | None
    """These three: mean of the tasks that want a plan; where none was made it counts 0."""
    right_refusals: int
    wrong_refusals: int
    """Refused although a plan was wanted."""
    missed_refusals: int
    """Planned although nothing may be called."""
    failures: int
    calibration: Calibration | None
    """Of the plans that were made."""
    seconds: float
    """Of all tasks."""
    median_seconds: float | None
    usage: Usage
    cost: float
    """USD."""


def summary_of(attempts: Sequence[Attempt]) -> Summary:
    """All attempts together."""
    wanted = [one for one in attempts if one.wants_plan]
    made = [(one.confidence, one.is_right) for one in attempts if one.came == "plan"]
    times = sorted(one.seconds for one in attempts)
    return Summary(
        tasks=len(attempts),
        right=_mean(attempts, lambda one: one.is_right),
        whole_plans=_mean(wanted, lambda one: one.is_right),
        tools_right=_mean(wanted, lambda one: one.score is not None and one.score.are_tools_right),
        tool_f1=_mean(wanted, lambda one: one.score.tool_f1 if one.score else 0.0),
        edge_f1=_mean(wanted, lambda one: one.score.edge_f1 if one.score else 0.0),
        arguments=_mean(wanted, lambda one: one.score.arguments if one.score else 0.0),
        right_refusals=sum(one.came == "refusal" and not one.wants_plan for one in attempts),
        wrong_refusals=sum(one.came == "refusal" and one.wants_plan for one in attempts),
        missed_refusals=sum(one.came == "plan" and not one.wants_plan for one in attempts),
        failures=sum(one.came == "failure" for one in attempts),
        calibration=calibration(made) if made else None,
        seconds=sum(times),
        median_seconds=times[len(times) // 2] if times else None,
        usage=sum((one.usage for one in attempts), Usage()),
        cost=sum(one.cost for one in attempts),
    )


def _mean(attempts: Sequence[Attempt], of: Callable[[Attempt], float]) -> float | None:
    return sum(of(one) for one in attempts) / len(attempts) if attempts else None
