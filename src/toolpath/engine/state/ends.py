"""End of a step as its block takes it: what it sets free, where a chain goes, and what a block gives. Pure.

Part of applying an event: deterministic, and evaluates no expression.
"""

from __future__ import annotations

from toolpath.engine.compile.nodes import TO_END
from toolpath.engine.state.instances import Scope, StepState
from toolpath.engine.state.state import State
from toolpath.model.events import Failure
from toolpath.values import Json

#: What halted a block that was cut off together with the step around it.
CUT = "it was cut off"


def end(state: State, step: StepState) -> None:
    """The step has ended: count, and see what that sets free."""
    scope = step.scope
    if step.entered:
        scope.active -= 1
        step.entered = False
    scope.left -= 1
    if scope.block.is_chain:
        follow(state, scope, step)
        return
    dependents = step.node.dependents
    if dependents:
        missing = scope.missing
        for dependent in dependents:
            missing[dependent] -= 1
            if not missing[dependent]:
                state.unblocked.append((scope, dependent))
    if not scope.left:
        block_done(state, scope)


def follow(state: State, scope: Scope, step: StepState) -> None:
    """Where a chain goes after a step: to the next one, by a jump, or to its end."""
    node = step.node
    scope.position = node.index
    scope.failure = None
    if step.status == "succeeded":
        target = node.after_success
    elif step.status == "skipped" or step.continued:
        target = None if step.status == "skipped" else node.after_failure
    elif node.critical:
        scope.failure = step.error
        block_done(state, scope)
        return
    else:
        target = None
    index = node.index + 1 if target is None else target
    if index == TO_END or index >= len(scope.block.nodes):
        block_done(state, scope)
    else:
        state.unblocked.append((scope, index))


def open_block(state: State, scope: Scope) -> None:
    """The block begins: its first steps may start."""
    block = scope.block
    if not block.nodes:
        block_done(state, scope)
    for index in block.roots:
        state.unblocked.append((scope, index))


def block_done(state: State, scope: Scope) -> None:
    """End the block, of which nothing is left to run."""
    scope.done = True
    owner = scope.owner
    if owner is not None and owner.loop is not None:
        if scope.halted:
            owner.loop.active -= 1
        elif scope.failure is not None:
            item_failed(state, scope, scope.failure)
        elif owner.node.collect is None:
            item_done(state, scope, default_output(scope))
    state.finished.append(scope)


def cut_off(scope: Scope) -> None:
    """The block comes to no end of its own: it gives nothing, and only a retry goes on with it."""
    if scope.done:
        return
    scope.done = True
    scope.halted = scope.halted or CUT
    for step in scope.steps.values():
        cut_inside(step)


def cut_inside(step: StepState) -> None:
    """The step has ended in vain: so has everything that is still open inside it."""
    for inner in step.scopes or ():
        cut_off(inner)


def default_output(scope: Scope) -> Json:
    """The output of a block where nothing else is said: of a chain its last success, of a graph `{sink: output}`."""
    block = scope.block
    outputs = scope.outputs
    if block.by_id:
        return {node.id: outputs.get(node.id) for node in block.nodes}
    if block.composite:
        return dict(scope.state)
    if block.flow == "chain":
        return scope.last
    if block.single:
        return outputs.get(block.nodes[0].id)
    return {block.nodes[index].id: outputs.get(block.nodes[index].id) for index in block.sinks}


def item_done(state: State, scope: Scope, output: Json) -> None:
    """An item of a loop gave this."""
    owner = scope.owner
    assert owner is not None
    assert owner.loop is not None
    owner.loop.results[scope.branch] = output
    owner.loop.active -= 1
    _forget(state, owner, scope)


def item_failed(state: State, scope: Scope, failure: Failure) -> None:
    """An item of a loop failed: so will the loop, unless the plan goes on."""
    owner = scope.owner
    assert owner is not None
    assert owner.loop is not None
    owner.loop.active -= 1
    if scope.block.mode == "stop":
        if owner.loop.failure is None:
            owner.loop.failure = failure
        return
    state.errors += 1
    _forget(state, owner, scope)


def _forget(state: State, owner: StepState, scope: Scope) -> None:
    if scope.writes and scope.owns_state and owner.loop is not None:
        owner.loop.writes[scope.branch] = scope.writes
    state.drop(scope)
    scopes = owner.scopes
    if scopes:
        if scopes[-1] is scope:
            scopes.pop()
        else:
            scopes.remove(scope)
