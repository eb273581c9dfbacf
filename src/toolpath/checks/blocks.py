"""Rules on blocks: a block has steps or branches, a loop has a list to go over. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from toolpath.checks.context import Context
from toolpath.checks.remarks import error, warning
from toolpath.errors import Finding
from toolpath.model.plan import Loop, Parallel


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
