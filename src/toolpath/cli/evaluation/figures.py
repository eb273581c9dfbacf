"""The figures of an evaluation as people, programs and a picture show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from rich.text import Text

from toolpath.cli.evaluation.plot import PlotRow, svg
from toolpath.cli.exits import writing
from toolpath.cli.output import table
from toolpath.model.chat import Usage
from toolpath.planner.scoring.evaluation import (
    EvaluationComparison,
    EvaluationSummary,
    TaskAttempt,
    groups_of,
    summary_of,
)
from toolpath.values import JsonObject, duration_text

TOTAL = "all"
Figures = dict[str, str]


@dataclass(slots=True)
class Measured:
    """One data set, and the outcome of its tasks so far."""

    data_set: str
    file: str
    attempts: list[TaskAttempt] = field(default_factory=list)
    left_out: int = 0
    """Tasks that are not scored, by their own marks."""
    is_complete: bool = False


class BadLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line that could not be read or scored, and why."""

    file: str
    line: int
    message: str


def tables_of(measured: Sequence[Measured]) -> Text:
    """One data set: a measure a line. Several: a row for each and one for all, what was planned and what it took."""
    if len(measured) == 1:
        summary = summary_of(measured[0].attempts)
        rows = [*_planned(summary).items(), *_taken(summary).items()]
        return table([("tasks", f"{summary.tasks:,}"), *rows], ("measure", "value"))
    named = [(_named(one), summary_of(one.attempts)) for one in measured]
    named.append((TOTAL, summary_of(_all(measured))))
    above = [(name, f"{one.tasks:,}", *_planned(one).values()) for name, one in named]
    below = [(name, *_taken(one).values()) for name, one in named]
    nothing = summary_of(())
    text = table(above, ("data set", "tasks", *_planned(nothing)))
    return text.append("\n\n").append_text(table(below, ("data set", *_taken(nothing))))


def _named(measured: Measured) -> str:
    return measured.data_set if measured.is_complete else f"{measured.data_set} (not all)"


def _all(measured: Sequence[Measured]) -> list[TaskAttempt]:
    return [attempt for one in measured for attempt in one.attempts]


def _planned(summary: EvaluationSummary) -> Figures:
    """How right the plans are."""
    return {
        "right": _share(summary.right),
        "wrong writes": f"{summary.wrong_writes:,}",
        "whole plans right": _share(summary.whole_plans),
        "tools right": _share(summary.tools_right),
        "tool F1": _number(summary.tool_f1),
        "edge F1": _number(summary.edge_f1),
        "arguments right": _share(summary.arguments),
    }


def _taken(summary: EvaluationSummary) -> Figures:
    """Refusals, confidence, and what it took."""
    sure = summary.calibration
    return {
        "refusals right": f"{summary.right_refusals:,}",
        "refusals wrong": f"{summary.wrong_refusals:,}",
        "refusals missed": f"{summary.missed_refusals:,}",
        "questions right": f"{summary.right_questions:,}",
        "questions missed": f"{summary.missed_questions:,}",
        "questions needless": f"{summary.needless_questions:,}",
        "failures": f"{summary.failures:,}",
        "calibration error": _number(sure.error if sure else None),
        "right of those 70% sure": f"{sure.right_of_confident:.1%} of {sure.confident:,}"
        if sure and sure.confident
        else "-",
        "right plans that are sure": f"{summary.confident_right_plans:,} of {summary.right_plans:,}",
        "time": duration_text(summary.seconds),
        "median time": "-" if summary.median_seconds is None else f"{summary.median_seconds * 1000:.1f} ms",
        "tokens": f"{summary.usage.input_tokens:,} in, {summary.usage.output_tokens:,} out",
        "cost": f"{summary.cost:.4f} USD",
    }


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def as_json(
    measured: Sequence[Measured], bad: Sequence[BadLine], comparison: EvaluationComparison | None = None
) -> JsonObject:
    """The figures of all together, of each data set, category and language, and the outcome of each task."""
    attempts = _all(measured)
    return {
        "categories": msgspec.to_builtins(groups_of(attempts, lambda one: one.category)),
        "languages": msgspec.to_builtins(groups_of(attempts, lambda one: one.language)),
        "compared": msgspec.to_builtins(comparison),
        "left_out": sum(one.left_out for one in measured),
        "unreadable": [msgspec.to_builtins(one) for one in bad],
        **_summary(_all(measured)),
        "sets": [
            {
                "data_set": one.data_set,
                "file": one.file,
                "complete": one.is_complete,
                "left_out": one.left_out,
                "unreadable": sum(line.file == one.file for line in bad),
                **_summary(one.attempts),
            }
            for one in measured
        ],
        "attempts": [
            {
                "data_set": one.data_set,
                **msgspec.to_builtins(attempt),
                "usage": _tokens(attempt.usage),
                "right": attempt.is_right,
            }
            for one in measured
            for attempt in one.attempts
        ],
    }


def _summary(attempts: Sequence[TaskAttempt]) -> JsonObject:
    summary = summary_of(attempts)
    return {**msgspec.to_builtins(summary), "usage": _tokens(summary.usage)}


def _tokens(usage: Usage) -> JsonObject:
    return {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}


def draw(file: str, title: str, measured: Sequence[Measured]) -> None:
    """Write the picture. Raises `UsageError` where the file cannot be written."""
    rows = [_row(_named(one), one.attempts) for one in measured]
    if len(rows) > 1:
        rows.append(_row(TOTAL, _all(measured)))
    pairs = [(one.confidence, one.is_right) for one in _all(measured) if one.came == "plan"]
    with writing(file):
        Path(file).write_text(svg(title, rows, pairs), encoding="utf-8")


def _row(name: str, attempts: Sequence[TaskAttempt]) -> PlotRow:
    summary = summary_of(attempts)
    sure = summary.calibration
    return PlotRow(
        name=name,
        tasks=summary.tasks,
        shares={
            "right": summary.right,
            "whole plans right": summary.whole_plans,
            "tools right": summary.tools_right,
            "tool F1": summary.tool_f1,
            "edge F1": summary.edge_f1,
            "arguments right": summary.arguments,
        },
        refusals=(summary.right_refusals, summary.wrong_refusals, summary.missed_refusals),
        calibration_error=sure.error if sure else None,
    )
