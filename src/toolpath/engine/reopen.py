"""Taking back the failures of a block, so that a retry goes on from there. Pure; part of applying an event."""

from __future__ import annotations

from toolpath.engine.ends import CUT
from toolpath.engine.instances import Scope, StepState
from toolpath.engine.state import State


def reopen(state: State, scope: Scope) -> None:
    """Take back every failure in the block, so that a retry goes on from there."""
    scope.failure, scope.stopping, scope.done, scope.halted = None, False, False, ""
    for step in scope.steps.values():
        if _in_vain(step):
            scope.outputs.pop(step.node.id, None)
            _take_back(state, step)
    recount(scope)


def take_back_half_said(state: State, scope: Scope) -> None:
    """Take back what a driver had only begun to say when it died.

    A question without its form, and a block of which some steps are cut off, with nothing said of what became of it.
    """
    half_cut = scope.done and scope.halted == CUT and scope.failure is None
    for step in list(scope.steps.values()):
        if step.status == "cancelled" and half_cut:
            scope.outputs.pop(step.node.id, None)
            _take_back(state, step)
        elif step.status == "waiting" and step.asked is None:
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
    step.attempt, step.target, step.error, step.continued = 0, 0, None, False
    _ask_again(step)
    step.denied, step.spreads, step.due, step.asked, step.winner = False, False, None, None, ""
    if not parts and step.loop is None:
        _begin_anew(state, step)
        _take_back_calls(state, step)
        step.status, step.entered = ("unknown" if doubt else "pending"), False
        return
    # The attempt that goes on is the first again.
    step.status, step.entered, step.attempt = "running", True, 1
    for part in parts:
        reopen(state, _begin_item_anew(state, step, part) if _gave_nothing(step, part) else part)
    if step.loop is not None:
        step.loop.failure, step.loop.halted, step.loop.active = None, "", len(parts)


def _take_back_calls(state: State, step: StepState) -> None:
    """Plans that the tool has called itself go on from what failed in them, as soon as it calls them again."""
    for child in step.children():
        if _in_vain(child) and _unfinished(child):
            _take_back(state, child)
            child.scope.active += 1
        else:
            _take_back_calls(state, child)


def _unfinished(step: StepState) -> list[Scope]:
    """The blocks inside the step that a retry goes on with."""
    scopes = step.scopes or []
    if step.target:
        # They are of a fallback; a retry asks the step's own tool first.
        return []
    cut = [kept for kept in scopes if kept.failure is not None or kept.stopping or kept.halted or not kept.done]
    # Where every block ended well and their step did not, what was tolerated inside may be the cause.
    return cut or [kept for kept in scopes if any(_in_vain(inner) for inner in kept.steps.values())]


def _gave_nothing(step: StepState, part: Scope) -> bool:
    """Whether all went well in a loop's item, and what it is to give could not be made of that."""
    return step.loop is not None and part.failure is not None and not any(map(_in_vain, part.steps.values()))


def _begin_item_anew(state: State, step: StepState, part: Scope) -> Scope:
    assert step.scopes is not None
    state.drop(part)
    step.scopes.remove(part)
    return state.open(step, part.block, branch=part.branch)


def _ask_again(step: StepState) -> None:
    """What a person did not allow to a tool's own calls is asked about again."""
    for child in step.children():
        child.denied = False
        _ask_again(child)


def _begin_anew(state: State, step: StepState) -> None:
    if not step.scopes:
        return
    for scope in step.scopes:
        state.drop(scope)
    step.scopes = None
    if step.node.kind != "call":
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
