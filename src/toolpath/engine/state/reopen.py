"""Taking back the failures of a block, so that a retry goes on from there. Pure; part of applying an event."""

from __future__ import annotations

from toolpath.engine.state.ends import CUT, block_done, follow
from toolpath.engine.state.instances import ENDED, Scope, StepState
from toolpath.engine.state.state import State


def reopen(state: State, scope: Scope) -> None:
    """Take back every failure in the block, so that a retry goes on from there."""
    scope.failure, scope.stopping, scope.done, scope.halted = None, False, False, ""
    for step in _stopped(scope) if scope.block.is_chain else scope.steps.values():
        if _in_vain(step):
            scope.outputs.pop(step.node.id, None)
            _take_back(state, step)
            if scope.block.is_chain:
                scope.position = step.node.index
    recount(scope)
    _conclude(state, scope)


def _stopped(scope: Scope) -> list[StepState]:
    """Where a chain came to its end in vain: its last step, and before it those that were skipped as it was halted."""
    found: list[StepState] = []
    index = scope.position
    while (step := scope.steps.get(index)) is not None and (not found or (step.status == "skipped" and step.spreads)):
        found.append(step)
        if step.status != "skipped":
            break
        index -= 1
    return found


def _conclude(state: State, scope: Scope) -> None:
    """Where all of the block has ended well, it was only halted: it has ended."""
    last = scope.steps.get(scope.position)
    if not scope.block.is_chain:
        if not scope.left and scope.block.nodes:
            block_done(state, scope)
    elif last is not None and last.status in ENDED:
        follow(state, scope, last)


def take_back_half_said(state: State, scope: Scope) -> None:
    """Take back what a driver had only begun to say when it died.

    A question without its form, and a block of which some steps are cut off, with nothing said of what became of it.
    """
    half_cut = scope.done and scope.halted == CUT and scope.failure is None
    for step in list(scope.steps.values()):
        if step.status == "cancelled" and half_cut:
            scope.outputs.pop(step.node.id, None)
            _take_back(state, step)
        elif step.status == "waiting" and step.asked is None and not step.held:
            step.status = "ready" if step.entered else "pending"
        elif step.status == "running":
            for inner in [] if step.winner else list(step.scopes or ()):
                take_back_half_said(state, inner)
            for calls in (step.calls or {}).values():
                take_back_half_said(state, calls)
    if half_cut:
        scope.done, scope.halted = False, ""
        recount(scope)


def _in_vain(step: StepState) -> bool:
    """Whether a retry does the step again."""
    if step.status == "skipped":
        return step.spreads
    return step.status in ("failed", "timed_out", "cancelled") and not step.continued


def _take_back(state: State, step: StepState) -> None:
    doubt = step.error is not None and step.error.in_doubt
    parts = _unfinished(step)
    if not parts and not doubt:
        # Its own tool is asked first; a plan that a fallback has begun goes on, and a doubt is about the tool it is of.
        if step.target:
            # What a person has allowed was the fallback.
            step.approved = None
        step.target = 0
    step.attempt, step.error, step.continued = 0, None, False
    _ask_again(step)
    step.denied, step.spreads, step.due, step.asked, step.winner = False, False, None, None, ""
    if not parts and step.loop is None:
        _begin_anew(state, step)
        _take_back_calls(state, step)
        step.status, step.entered = ("unknown" if doubt else "pending"), False
        return
    # The attempt that goes on is the first again.
    step.status, step.entered, step.attempt = "running", True, 1
    if step.loop is not None:
        step.loop.failure, step.loop.halted, step.loop.active = None, "", len(parts)
    for part in parts:
        if _gave_nothing(step, part):
            _begin_item_anew(state, step, part)
        else:
            reopen(state, part)


def _take_back_calls(state: State, step: StepState) -> None:
    """Plans that the tool has called itself go on from what failed in them, as soon as it calls them again."""
    for child in step.children():
        doubt = child.error is not None and child.error.in_doubt
        if _in_vain(child) and (doubt or _unfinished(child)):
            _take_back(state, child)
            child.scope.active += child.entered
        else:
            _take_back_calls(state, child)


def _unfinished(step: StepState) -> list[Scope]:
    """The blocks inside the step that a retry goes on with."""
    scopes = step.scopes or []
    cut = [known for known in scopes if known.failure is not None or known.stopping or known.halted or not known.done]
    # Where every block ended well and their step did not, what was tolerated inside may be the cause.
    return cut or [known for known in scopes if any(_in_vain(inner) for inner in known.steps.values())]


def _gave_nothing(step: StepState, part: Scope) -> bool:
    """Whether all went well in a loop's item, and what it is to give could not be made of that."""
    return step.loop is not None and part.failure is not None and not any(map(_in_vain, part.steps.values()))


def _begin_item_anew(state: State, step: StepState, part: Scope) -> None:
    assert step.scopes is not None
    assert step.loop is not None
    state.drop(part)
    step.scopes.remove(part)
    step.loop.active -= 1
    state.open(step, part.block, branch=part.branch)


def _ask_again(step: StepState) -> None:
    """Ask again about a tool's own calls that a person did not allow."""
    for child in step.children():
        child.denied = child.stands = False
        _ask_again(child)


def _begin_anew(state: State, step: StepState) -> None:
    if not step.scopes:
        return
    for scope in step.scopes:
        state.drop(scope)
    step.scopes = None
    if step.node.kind != "call" or state.paths > 1:
        step.entry += 1


def recount(scope: Scope) -> None:
    """Count anew what of the block has ended, and what each step still waits for."""
    block = scope.block
    ended = {
        index for index, step in scope.steps.items() if step.status in ("succeeded", "failed", "timed_out", "skipped")
    }
    scope.left = len(block.nodes) - len(ended)
    scope.active = sum(1 for step in scope.steps.values() if step.entered)
    scope.missing = [sum(1 for dep in (*node.deps, *node.soft) if dep not in ended) for node in block.nodes]
