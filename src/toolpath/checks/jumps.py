"""Control flow of a chain: its edges, what a jump means, what can be reached. Pure; reports nothing."""

from __future__ import annotations

from typing import Literal

import msgspec

from toolpath.checks.views import BlockView, StepView
from toolpath.model.plan import END, FailureMode, OnUnresolved, Plan, Step

Cause = Literal["success", "skip", "failure"]


class Edge(msgspec.Struct, frozen=True):
    """Control may go from one step to another when the first one ends in this way."""

    source: int
    target: int
    """Index in the block; the number of steps: the end."""
    cause: Cause


def target_of(block: BlockView, name: str) -> int | tuple[str, ...] | None:
    """The index a jump goes to (the number of steps: the end), the ids it could mean, or None for no such step."""
    if name == END:
        return len(block.steps)
    if name in block.names.ids:
        return block.positions.get(block.names.ids[name])
    return block.names.shared.get(name)


def may_skip(step: Step, on_unresolved: OnUnresolved) -> bool:
    """The step may be skipped although nothing has failed: by `when`, or since something it reads is not there."""
    return (step.when is not None and step.when is not True) or (step.on_unresolved or on_unresolved) == "skip"


def goes_on_after_failure(step: Step, failure_mode: FailureMode) -> bool:
    """The step may have failed, and what comes after it, or reads it, still runs."""
    match step.on_failure.action:
        case "continue":
            return True
        case "stop":
            return False
        case None:
            return failure_mode == "continue" or step.on_failure.next is not None


def edges_of(block: BlockView, plan: Plan) -> list[list[Edge]]:
    """The edges out of each step of a chain. A jump to nowhere, of which another rule speaks, goes to the next step."""
    return [list(_edges(view, plan)) for view in block.steps]


def _edges(view: StepView, plan: Plan) -> list[Edge]:
    step, here = view.step, view.index
    found: list[tuple[int, Cause]] = []
    if step.when is not False:
        found.append((_jump(view, step.on_success.next), "success"))
    if may_skip(step, plan.on_unresolved):
        found.append((here + 1, "skip"))
    if step.when is not False and (goes_on_after_failure(step, plan.failure_mode) or not step.critical):
        found.append((_jump(view, step.on_failure.next), "failure"))
    return [Edge(here, target, cause) for target, cause in found]


def _jump(view: StepView, name: str | None) -> int:
    target = None if name is None else target_of(view.block, name)
    return target if isinstance(target, int) else view.index + 1


def reached(edges: list[list[Edge]]) -> set[int]:
    """The steps that control can get to from the first one, and the end where it can."""
    found = {0}
    open_ends = [0]
    while open_ends:
        here = open_ends.pop()
        for edge in edges[here] if here < len(edges) else ():
            if edge.target not in found:
                found.add(edge.target)
                open_ends.append(edge.target)
    return found


def can_end(edges: list[list[Edge]]) -> set[int]:
    """The steps from which control can get to the end of the chain."""
    sources: dict[int, list[int]] = {}
    for steps in edges:
        for edge in steps:
            sources.setdefault(edge.target, []).append(edge.source)
    found = {len(edges)}
    open_ends = [len(edges)]
    while open_ends:
        for source in sources.get(open_ends.pop(), ()):
            if source not in found:
                found.add(source)
                open_ends.append(source)
    return found
