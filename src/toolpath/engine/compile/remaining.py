"""Tools that a run may still call, as far as its plan says so. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeGuard

from toolpath.engine.compile.nodes import BlockProgram, Node
from toolpath.engine.compile.program import Program
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.tool import Tool


def remaining_tools(program: Program, events: Iterable[AnyEvent]) -> list[Tool]:
    """The tools of the plan's steps that are not finished, with those of all that is inside them.

    In a chain whatever is finished may be come to again by a jump: there it counts only where nothing jumps.
    """
    root = program.root
    jumps = any(node.after_success is not None or node.after_failure is not None for node in root.nodes)
    finished = set() if jumps else {event.path for event in events if _is_finished(event)}
    found: dict[str, Tool] = {}
    blocks = [block for node in root.nodes if node.id not in finished for block in _inside(node, found)]
    seen: set[int] = set()
    while blocks:
        block = blocks.pop()
        if id(block) not in seen:
            seen.add(id(block))
            blocks += [inner for node in block.nodes for inner in _inside(node, found)]
    return list(found.values())


def _is_finished(event: AnyEvent) -> TypeGuard[ev.StepSucceeded | ev.StepSkipped]:
    return isinstance(event, ev.StepSucceeded) or (isinstance(event, ev.StepSkipped) and not event.spreads)


def _inside(node: Node, found: dict[str, Tool]) -> Iterator[BlockProgram]:
    """The blocks of the step and of the tools it calls, which are added to those found."""
    yield from node.blocks
    for call in node.may_call:
        yield from _inside(call, found)
    for target in node.targets:
        found[target.key] = target.tool
        if target.plan is not None:
            yield target.plan
