"""Steps in the order of their tree: what is inside a step stands below it, items of a loop in their order."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolpath.model.run import StepResult
from toolpath.projections.paths import ancestors

_COUNTS = re.compile(r"\[(\d+)\]|#(\d+)|~(\d+)")


def in_tree_order(results: Sequence[StepResult]) -> list[StepResult]:
    """The records, each below what it is a part of; side by side by item and visit, then as they first appeared."""
    by_path = {result.path: result for result in results}
    below: dict[str, list[StepResult]] = {}
    for result in results:
        parent = next((path for path in ancestors(result.path) if path in by_path), "")
        below.setdefault(parent, []).append(result)
    first = {result.path: position for position, result in enumerate(results)}
    found: list[StepResult] = []
    waiting = [""]
    while waiting:
        parent = waiting.pop()
        if parent:
            found.append(by_path[parent])
        inside = sorted(below.get(parent, ()), key=lambda result: (_item(result.path, parent), first[result.path]))
        waiting += [result.path for result in reversed(inside)]
    return found


def _item(path: str, parent: str) -> tuple[int, ...]:
    """The number of the item, visit and entry by which the path goes below its parent; zeros for what has none."""
    rest = path.removeprefix(parent)
    match = _COUNTS.match(rest)
    return (int(next(group for group in match.groups() if group)),) if match else (0,)
