"""Evaluation of plans for tasks whose right plans are known, and the figures of all of them together. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, Literal

import msgspec

from toolpath.model.chat import Usage
from toolpath.planner.scoring.gold import Right
from toolpath.planner.scoring.intervals import ConfidenceInterval, newcombe, wilson
from toolpath.planner.scoring.score import Calibration, Score, calibration
from toolpath.values import JsonObject

Came = Literal["plan", "refusal", "failure"]
#: The least confidence of a plan that calls itself confident.
CONFIDENT: Final = 0.7


class TaskAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """Attempt of a planner or the router at one task."""

    line: int
    """Of the data set, from 1."""
    task: str = ""
    """Its id; its request, where it has none."""
    came: Came = "plan"
    """A plan; a refusal, since no tool fits or can be called; or nothing. `error` has the reason."""
    wants_plan: bool = True
    """False: nothing may be called."""
    right: tuple[Right, ...] = ()
    """What is right, as the task says it; none: a plan where it `wants_plan`, questions or not, else a refusal."""
    language: str = ""
    category: str = ""
    asked: bool = False
    """The plan has open questions: nothing runs it."""
    wrong_writes: tuple[str, ...] = ()
    """Tools that a run of the plan would change something with, though no right plan has that call."""
    score: Score | None = None
    confidence: float = 0.0
    seconds: float = 0.0
    usage: Usage = Usage()
    cost: float = 0.0
    error: str = ""
    answered: bool = True
    """False: a model was asked and did not answer."""
    plan: JsonObject | None = None
    """The plan as it can be read again."""

    @property
    def outcome(self) -> Right | None:
        """The outcome; None: there is none."""
        if self.came == "failure":
            return None
        if self.came == "plan" and self.asked and self.right:
            return "question"
        return self.came

    @property
    def is_right(self) -> bool:
        """A plan that is right as a whole, or a question or refusal where that is right."""
        if not self.right and not self.wants_plan:
            return self.came == "refusal"
        if self.outcome == "plan":
            return self.wants_plan and self.score is not None and self.score.is_whole
        return self.outcome in self.right

    @property
    def may_refuse(self) -> bool:
        """Whether a refusal is right."""
        return "refusal" in self.right if self.right else not self.wants_plan


class EvaluationSummary(msgspec.Struct, frozen=True, kw_only=True):
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
    must_refuse: int
    """Tasks of which nothing but a refusal is right."""
    must_not_refuse: int
    """Tasks of which a refusal is wrong."""
    right_questions: int
    missed_questions: int
    """Not asked although nothing but a question is right."""
    needless_questions: int
    """Asked although nothing but a plan is right."""
    wrong_writes: int
    """Tasks whose plan would write what nobody asked for."""
    right_plans: int
    """Plans that are right as a whole, and wanted."""
    confident_right_plans: int
    """Those of them that call themselves confident."""
    failures: int
    calibration: Calibration | None
    """Of the plans that were made."""
    seconds: float
    """Of all tasks."""
    median_seconds: float | None
    usage: Usage
    cost: float
    """USD."""


def summary_of(attempts: Sequence[TaskAttempt]) -> EvaluationSummary:
    """All attempts together."""
    wanted = [one for one in attempts if one.wants_plan]
    made = [(one.confidence, one.is_right) for one in attempts if one.outcome == "plan"]
    right_plans = [one for one in attempts if one.outcome == "plan" and one.is_right]
    times = sorted(one.seconds for one in attempts)
    return EvaluationSummary(
        tasks=len(attempts),
        right=_mean(attempts, lambda one: one.is_right),
        whole_plans=_mean(wanted, lambda one: one.score is not None and one.score.is_whole),
        tools_right=_mean(wanted, lambda one: one.score is not None and one.score.are_tools_right),
        tool_f1=_mean(wanted, lambda one: one.score.tool_f1 if one.score else 0.0),
        edge_f1=_mean(wanted, lambda one: one.score.edge_f1 if one.score else 0.0),
        arguments=_mean(wanted, lambda one: one.score.arguments if one.score else 0.0),
        right_refusals=sum(one.came == "refusal" and one.may_refuse for one in attempts),
        wrong_refusals=sum(one.came == "refusal" and not one.may_refuse for one in attempts),
        missed_refusals=sum(one.came == "plan" and one.may_refuse and not one.is_right for one in attempts),
        must_refuse=sum(one.may_refuse and one.right in ((), ("refusal",)) for one in attempts),
        must_not_refuse=sum(not one.may_refuse for one in attempts),
        right_questions=sum(one.outcome == "question" and one.is_right for one in attempts),
        missed_questions=sum(one.right == ("question",) and not one.is_right for one in attempts),
        needless_questions=sum(one.outcome == "question" and not one.is_right for one in attempts),
        wrong_writes=sum(bool(one.wrong_writes) for one in attempts),
        right_plans=len(right_plans),
        confident_right_plans=sum(one.confidence >= CONFIDENT for one in right_plans),
        failures=sum(one.came == "failure" for one in attempts),
        calibration=calibration(made, threshold=CONFIDENT) if made else None,
        seconds=sum(times),
        median_seconds=times[len(times) // 2] if times else None,
        usage=sum((one.usage for one in attempts), Usage()),
        cost=sum(one.cost for one in attempts),
    )


def _mean(attempts: Sequence[TaskAttempt], of: Callable[[TaskAttempt], float]) -> float | None:
    return sum(of(one) for one in attempts) / len(attempts) if attempts else None


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks of one category or language: how many of them are right, and the interval that the share lies in."""

    name: str
    tasks: int
    right: int
    interval: ConfidenceInterval
    wrong_writes: int


def groups_of(attempts: Sequence[TaskAttempt], name: Callable[[TaskAttempt], str]) -> list[Group]:
    """A group for each name, in the order of first appearance; of what has no name none."""
    found: dict[str, list[TaskAttempt]] = {}
    for one in attempts:
        if name(one):
            found.setdefault(name(one), []).append(one)
    return [_group(named, members) for named, members in found.items()]


def _group(name: str, members: Sequence[TaskAttempt]) -> Group:
    right = sum(one.is_right for one in members)
    wrong = sum(bool(one.wrong_writes) for one in members)
    return Group(name=name, tasks=len(members), right=right, interval=wilson(right, len(members)), wrong_writes=wrong)


class GroupComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two evaluations of the tasks of one category or language side by side."""

    name: str
    tasks: int
    right: int
    interval: ConfidenceInterval
    right_before: int
    interval_before: ConfidenceInterval
    difference: ConfidenceInterval
    """Of the two shares."""


class EvaluationComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two evaluations of the same tasks side by side."""

    tasks: int
    """That both have."""
    right: int
    right_before: int
    gained: tuple[str, ...]
    """Ids of tasks that are right now and were not."""
    lost: tuple[str, ...]
    difference: ConfidenceInterval
    """Of the two shares."""
    wrong_writes: int
    wrong_writes_before: int
    categories: tuple[GroupComparison, ...] = ()
    languages: tuple[GroupComparison, ...] = ()


def compared(attempts: Sequence[TaskAttempt], before: Sequence[TaskAttempt]) -> EvaluationComparison:
    """Attempts beside earlier ones, or those of another planner; a task is known by its id, else by its request."""
    earlier = _by_task(before)
    pairs = [(one, earlier[known]) for known, one in _by_task(attempts).items() if known in earlier]
    right, right_before = sum(one.is_right for one, _ in pairs), sum(other.is_right for _, other in pairs)
    return EvaluationComparison(
        tasks=len(pairs),
        right=right,
        right_before=right_before,
        gained=tuple(one.task for one, other in pairs if one.is_right and not other.is_right),
        lost=tuple(one.task for one, other in pairs if other.is_right and not one.is_right),
        difference=newcombe((right, len(pairs)), (right_before, len(pairs))),
        wrong_writes=sum(bool(one.wrong_writes) for one, _ in pairs),
        wrong_writes_before=sum(bool(other.wrong_writes) for _, other in pairs),
        categories=_groups_compared(pairs, lambda one: one.category),
        languages=_groups_compared(pairs, lambda one: one.language),
    )


def _by_task(attempts: Sequence[TaskAttempt]) -> dict[tuple[str, int], TaskAttempt]:
    """Attempts by their task; of several that are called the same, each is known by its place among them."""
    found: dict[tuple[str, int], TaskAttempt] = {}
    count: Counter[str] = Counter()
    for one in attempts:
        if one.task:
            count[one.task] += 1
            found[one.task, count[one.task]] = one
    return found


def _groups_compared(
    pairs: Sequence[tuple[TaskAttempt, TaskAttempt]], name: Callable[[TaskAttempt], str]
) -> tuple[GroupComparison, ...]:
    found: dict[str, list[tuple[TaskAttempt, TaskAttempt]]] = {}
    for one, other in pairs:
        if name(one):
            found.setdefault(name(one), []).append((one, other))
    return tuple(_group_compared(named, members) for named, members in found.items())


def _group_compared(name: str, members: Sequence[tuple[TaskAttempt, TaskAttempt]]) -> GroupComparison:
    right, before = sum(one.is_right for one, _ in members), sum(other.is_right for _, other in members)
    tasks = len(members)
    return GroupComparison(
        name=name,
        tasks=tasks,
        right=right,
        interval=wilson(right, tasks),
        right_before=before,
        interval_before=wilson(before, tasks),
        difference=newcombe((right, tasks), (before, tasks)),
    )
