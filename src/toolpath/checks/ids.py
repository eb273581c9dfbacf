"""Rules on ids: each step can be named, and blocks nest no deeper than anything goes. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from toolpath.checks.context import Context
from toolpath.checks.remarks import error
from toolpath.checks.views import StepView
from toolpath.errors import Finding
from toolpath.expressions.names import KEYWORDS, RESERVED
from toolpath.values import MAX_DEPTH


def ids_are_usable(context: Context) -> Iterator[Finding]:
    """duplicate_id, reserved_id, too_deep: every step can be named, and blocks nest no deeper than anything goes."""
    for block in context.views.blocks():
        seen: set[str] = set()
        for view in block.steps:
            yield from _id(view, seen)
            seen.add(view.step.id)
    for path in context.views.too_deep:
        yield error("too_deep", path, f"Blocks are nested more than {MAX_DEPTH} deep.", hint="Make a plan of its own.")


def _id(view: StepView, seen: set[str]) -> Iterator[Finding]:
    step_id = view.step.id
    if step_id in seen:
        yield error(
            "duplicate_id",
            f"{view.path}/id",
            f"Another step is called '{step_id}' already.",
            hint="Give each step an id of its own.",
        )
    if step_id in RESERVED or step_id in KEYWORDS:
        yield error(
            "reserved_id",
            f"{view.path}/id",
            f"'{step_id}' has a meaning of its own and can be no step's id.",
            suggestions=(f"{step_id}_step",),
        )
