"""Rules on what steps do to the world: writes that are repeated or kept. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from toolpath.checks.context import Context
from toolpath.checks.remarks import error, warning
from toolpath.checks.views import StepView, called_tools
from toolpath.errors import Finding
from toolpath.model.plan import Loop, Parallel
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


def blocks_hold_something(context: Context) -> Iterator[Finding]:
    """empty_block, not_a_list: a block has steps, a loop has a list to go over."""
    for view in context.views.steps:
        match view.step:
            case Parallel(branches=()) as parallel:
                severity = warning if parallel.wait_for == "all" else error
                yield severity(
                    "empty_block",
                    f"{view.path}/parallel",
                    f"'{view.step.id}' has no branches"
                    + ("." if parallel.wait_for == "all" else f", and waits for one of them ('{parallel.wait_for}')."),
                    hint="Give it branches, or take it out.",
                )
            case Loop() as loop:
                if not loop.body.steps:
                    yield error("empty_block", f"{view.path}/loop", f"The loop '{view.step.id}' has no steps.")
                # A loop without `over` is the reader's to tell.
                if loop.over is not None and not isinstance(loop.over, str | list):
                    yield error(
                        "not_a_list",
                        f"{view.path}/loop/over",
                        f"'{view.step.id}' goes over {_kind(loop.over)}, which is no list.",
                        hint="Write a list, or a template that gives one.",
                    )
                elif isinstance(loop.over, str) and "{{" not in loop.over:
                    yield error(
                        "not_a_list",
                        f"{view.path}/loop/over",
                        f"'{view.step.id}' goes over the text '{loop.over[:60]}', which is no list.",
                        hint=f"For a variable or output of that name write '{{{{ {loop.over[:60]} }}}}'.",
                    )
            case _:
                pass


def _kind(value: object) -> str:
    return "nothing" if value is None else "an object" if isinstance(value, dict) else f"'{value}'"
