"""Plans inside a run, each of which can be looked at as a run of its own: their ids and places. Pure data."""

from __future__ import annotations

import msgspec

#: Between the run and the path in the id of such a plan, and between the parts of the path.
_MARK = ":"


class SubPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The place of a plan inside a run: what began it, and in which plan."""

    plan_id: str
    root: str
    """Id of the run."""
    parent: str
    """Id of the plan that it was begun in: of the run itself, or of another plan inside it."""
    call: str
    """Path of the call that began it."""
    title: str = ""
    status: str = ""
    """Of the call."""


def plan_id(run_id: str, path: str) -> str:
    """The id of the plan that the call at `path` began: nothing of it has another meaning in a path of a URL."""
    return f"{run_id}{_MARK}{path.replace('/', _MARK)}" if path else run_id


def split_plan_id(text: str) -> tuple[str, str]:
    """The id of the run and the path in it, empty for the run itself. A path may be written as it is, too."""
    run_id, _, path = text.partition(_MARK)
    return run_id, path.replace(_MARK, "/")
