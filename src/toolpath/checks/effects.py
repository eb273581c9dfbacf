"""Rules on what steps do to the world: writes that are repeated or kept. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from toolpath.checks.context import Context
from toolpath.checks.remarks import warning
from toolpath.checks.views import StepView, called_tools
from toolpath.errors import Finding
from toolpath.model.tool import Tool


def writes_are_made_once(context: Context) -> Iterator[Finding]:
    """effect_retried, cached_write: a tool that writes is neither repeated nor answered from memory unawares."""
    for view in context.views.steps:
        for path, tool in called_tools(context.catalog, view):
            if not tool.is_repeatable:
                yield from _retried(view, tool, path)
            if tool.effect != "read" and (view.step.cache or tool.cache) is not None:
                yield _cached(view, tool)


def _retried(view: StepView, tool: Tool, path: str) -> Iterator[Finding]:
    retry = view.step.retry or tool.retry
    if retry is not None and retry.max_retries > 0:
        yield warning(
            "effect_retried",
            f"{view.path}/retry" if view.step.retry is not None else path,
            f"'{tool.key}' writes and is not idempotent, yet step '{view.step.id}' calls it up to "
            f"{retry.max_retries + 1} times: what a failed attempt has done is done again.",
            hint="Take the retry out, or declare the tool idempotent if it is.",
        )


def _cached(view: StepView, tool: Tool) -> Finding:
    return warning(
        "cached_write",
        f"{view.path}/cache" if view.step.cache is not None else f"{view.path}/tool",
        f"'{tool.key}' writes, but its results are cached: an equal call within the time writes nothing.",
        hint="Cache only tools that read.",
    )
