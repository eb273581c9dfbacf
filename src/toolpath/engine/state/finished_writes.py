"""Finished writes inside a step that has not succeeded: a block that begins anew would make them again. Pure."""

from __future__ import annotations

from toolpath.engine.compile.nodes import BlockProgram, CallTarget, Node
from toolpath.engine.state.instances import StepState


def has_written_inside(step: StepState) -> bool:
    """Whether a write that may not be repeated is finished in the blocks of the step, or in calls of its tools."""
    if step.loop is not None and step.loop.next > len(step.scopes or ()):
        # Of items that have succeeded nothing is kept.
        return any(_may_write(block, set()) for block in step.node.blocks)
    inside = [inner for scope in step.scopes or () for inner in scope.steps.values()]
    return any(map(_has_written, (*inside, *step.children())))


def _has_written(step: StepState) -> bool:
    if step.status != "succeeded":
        return has_written_inside(step)
    # What was inside a step that has succeeded is not kept either.
    targets = step.node.targets[step.target : step.target + 1]
    return _node_may_write(step.node, targets, set()) or any(map(_has_written, step.children()))


def _node_may_write(node: Node, targets: tuple[CallTarget, ...], seen: set[int]) -> bool:
    if any(_target_may_write(target, seen) for target in targets):
        return True
    return any(_may_write(block, seen) for block in node.blocks)


def _may_write(block: BlockProgram, seen: set[int]) -> bool:
    """Whether some step of the block may write what may not be written twice. `seen`: a plan may call itself."""
    if id(block) in seen:
        return False
    seen.add(id(block))
    return any(_node_may_write(node, node.targets, seen) for node in block.nodes)


def _target_may_write(target: CallTarget, seen: set[int]) -> bool:
    if target.plan is not None:
        return _may_write(target.plan, seen)
    return not (target.reads or target.repeatable)
