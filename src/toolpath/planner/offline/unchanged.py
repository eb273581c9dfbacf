"""Changes that change nothing: a tool is called with the thing alone, and what becomes of it is not said. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.request.toolbox import Kit, Toolbox

#: First words of names of tools that change what they are told of a thing, and nothing else.
_CHANGING: Final = frozenset(("change", "update", "edit", "modify", "amend", "adjust", "alter", "patch"))


def unchanged(plan: Plan, box: Toolbox) -> Iterator[str]:
    """A question for each call that would change a thing, and says of nothing what it becomes."""
    kits = {kit.key: kit for kit in box.kits if kit.is_acting and _may_leave_all(kit)}
    for _, step in every_step(plan.block):
        kit = kits.get(step.tool) if isinstance(step, Call) else None
        if isinstance(step, Call) and kit is not None and {*step.inputs} <= {one.name for one in kit.required}:
            left = [one.name for one in kit.fields if not one.required]
            yield f"{step.id}: what is to be changed ({', '.join(left[:5])})?"


def _may_leave_all(kit: Kit) -> bool:
    """Whether the tool changes a thing, needs its id alone, and takes what it becomes."""
    is_changing = bool(_CHANGING.intersection(raw_words(kit.tool.name)[:1]))
    return is_changing and len(kit.fields) > len(kit.required) > 0 and all(one.kind == "id" for one in kit.required)
