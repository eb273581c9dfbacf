"""Outcome of the calls that a request was routed to, as every door shows it. Pure."""

from __future__ import annotations

from toolpath.model.run import RunResult
from toolpath.values import Json


def outputs_of_calls(result: RunResult) -> list[Json]:
    """The output of each call in its order, with its status, and its fault where it failed."""
    return [
        {"tool": step.tool, "status": step.status, "output": step.output}
        | ({"error": step.error.message} if step.error is not None else {})
        for step in result.results
        if step.tool and "/" not in step.path
    ]
