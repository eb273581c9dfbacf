"""Figures by category and language with their intervals, and two evaluations side by side, as people read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from toolpath.cli.output import table
from toolpath.planner.scoring.evaluation import EvaluationComparison, TaskAttempt, groups_of
from toolpath.planner.scoring.intervals import ConfidenceInterval

#: Names of tasks that are told one by one.
_TOLD = 10


def groups_text(attempts: Sequence[TaskAttempt]) -> Iterator[Text]:
    """A table by category and one by language, where tasks have them."""
    for title, name in (("category", lambda one: one.category), ("language", lambda one: one.language)):
        rows = [
            (
                one.name,
                f"{one.tasks:,}",
                f"{one.right / one.tasks:.1%}",
                f"{one.interval.low:.0%} to {one.interval.high:.0%}",
                f"{one.wrong_writes:,}",
            )
            for one in groups_of(attempts, name)
        ]
        if rows:
            yield table(rows, (title, "tasks", "right", "95% interval", "wrong writes"))


def compared_text(comparison: EvaluationComparison | None, this: str = "now", other: str = "before") -> Iterator[Text]:
    """The differences between two evaluations, called `this` and `other`."""
    if comparison is None:
        return
    low, high = comparison.difference.low, comparison.difference.high
    rows = [
        ("tasks of both", f"{comparison.tasks:,}"),
        ("right", f"{this} {comparison.right:,}, {other} {comparison.right_before:,}"),
        ("difference", f"{low:+.1%} to {high:+.1%} (95%)"),
        ("wrong writes", f"{this} {comparison.wrong_writes:,}, {other} {comparison.wrong_writes_before:,}"),
        (f"right {this} alone", _named(comparison.gained)),
        (f"right {other} alone", _named(comparison.lost)),
    ]
    yield table(rows, ("compared", "value"))
    for title, groups in (("category", comparison.categories), ("language", comparison.languages)):
        beside = [
            (
                one.name,
                f"{one.tasks:,}",
                _share(one.right, one.tasks, one.interval),
                _share(one.right_before, one.tasks, one.interval_before),
                f"{one.difference.low:+.0%} to {one.difference.high:+.0%}",
            )
            for one in groups
        ]
        if beside:
            yield table(beside, (title, "tasks", f"right {this}", f"right {other}", "difference"))


def _share(right: int, tasks: int, interval: ConfidenceInterval) -> str:
    return f"{right / tasks:.1%} ({interval.low:.0%} to {interval.high:.0%})"


def _named(tasks: Sequence[str]) -> str:
    rest = f" and {len(tasks) - _TOLD:,} more" if len(tasks) > _TOLD else ""
    return f"{len(tasks):,}" + (f": {', '.join(tasks[:_TOLD])}{rest}" if tasks else "")
