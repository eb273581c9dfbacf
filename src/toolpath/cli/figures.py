"""The figures of an evaluation as people, programs and a picture show them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from toolpath.cli.exits import UsageError
from toolpath.cli.output import seconds
from toolpath.cli.plot import svg
from toolpath.model.chat import Usage
from toolpath.planner.evaluation import Attempt, Summary
from toolpath.values import JsonObject


def rows_of(summary: Summary) -> list[tuple[str, str]]:
    """Measure and value, line by line."""
    sure = summary.calibration
    confident = f"{sure.right_of_confident:.1%} of {sure.confident:,}" if sure and sure.confident else "-"
    return [
        ("tasks", f"{summary.tasks:,}"),
        ("right", _share(summary.right)),
        ("whole plans right", _share(summary.whole_plans)),
        ("tool F1", _number(summary.tool_f1)),
        ("edge F1", _number(summary.edge_f1)),
        ("arguments right", _share(summary.arguments)),
        ("refusals right", f"{summary.right_refusals:,}"),
        ("refusals wrong", f"{summary.wrong_refusals:,}"),
        ("refusals missed", f"{summary.missed_refusals:,}"),
        ("failures", f"{summary.failures:,}"),
        ("calibration error", _number(sure.error if sure else None)),
        ("right of those 70% sure", confident),
        ("time", seconds(summary.seconds)),
        ("median time", "-" if summary.median_seconds is None else f"{summary.median_seconds * 1000:.1f} ms"),
        ("tokens", f"{summary.usage.input_tokens:,} in, {summary.usage.output_tokens:,} out"),
        ("cost", f"{summary.cost:.4f} USD"),
    ]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def as_json(summary: Summary, attempts: Sequence[Attempt]) -> JsonObject:
    """All figures, and what came of each task."""
    return {
        **msgspec.to_builtins(summary),
        "usage": _tokens(summary.usage),
        "attempts": [
            {**msgspec.to_builtins(one), "usage": _tokens(one.usage), "right": one.is_right} for one in attempts
        ],
    }


def _tokens(usage: Usage) -> JsonObject:
    return {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}


def draw(file: str, title: str, summary: Summary, attempts: Sequence[Attempt]) -> None:
    """Write the picture. Raises `UsageError` where the file cannot be written."""
    shares = {
        "right": summary.right,
        "whole plans right": summary.whole_plans,
        "tool F1": summary.tool_f1,
        "edge F1": summary.edge_f1,
        "arguments right": summary.arguments,
    }
    pairs = [(one.confidence, one.is_right) for one in attempts if one.came == "plan"]
    try:
        Path(file).write_text(svg(title, shares, pairs), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The picture cannot be written to {file}: {error.strerror}.") from None
