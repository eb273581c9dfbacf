"""Cutting off what is under way: a block, a step with all that is inside it, or the run. Pure."""

from __future__ import annotations

from toolpath.engine.decide.decider import Decider
from toolpath.engine.state.ends import cut_off
from toolpath.engine.state.instances import ENDED, Scope, StepState
from toolpath.model import events as ev
from toolpath.model.events import Failure

_OPEN = frozenset({"ready", "running", "waiting", "unknown", "pending"})


def cancel_scope(decider: Decider, scope: Scope, reason: str) -> None:
    """Cut off everything in the block, innermost first."""
    for step in list(scope.steps.values()):
        cancel_step(decider, step, reason)
    # The event that follows says the same of the block to whoever reads the journal.
    cut_off(scope)
    finished = decider.state.finished
    if scope in finished:
        finished.remove(scope)


def cancel_step(decider: Decider, step: StepState, reason: str) -> None:
    """Cut off the step. Nobody is asked about a write that may have happened: its record says so."""
    if step.status not in _OPEN:
        return
    if step.lane is not None:
        step.lane.close()
    for inner in list(step.scopes or ()):
        # Also where it is done: another driver may have come to no more than half of this.
        cancel_scope(decider, inner, reason)
    for child in step.children():
        cancel_step(decider, child, reason)
    decider.unwatch(step)
    calling = step.status == "running" and bool(step.key)
    target = step.node.targets[step.target] if step.node.targets else None
    in_doubt = step.status == "unknown" or (calling and target is not None and not target.repeatable)
    decider.emit(ev.StepCancelled(decider.seq, decider.at, step.path, reason, in_doubt))
    if calling or step.question:
        decider.stop_call(step)


def cut_calls(decider: Decider, step: StepState) -> None:
    """The tool has ended: what it has called and not waited for ends with it, and nobody is asked about that."""
    for child in step.children():
        if child.status not in ENDED:
            cancel_step(decider, child, f"{step.path} has ended")
            decider.reply_to(child)


def cancel_run(decider: Decider, reason: str) -> None:
    """End the run as cancelled."""
    if decider.state.root is not None:
        cancel_scope(decider, decider.state.root, reason or "the run was cancelled")
    decider.emit(ev.RunCancelled(decider.seq, decider.at, reason))


def fail_run(decider: Decider, reason: str, failure: Failure) -> None:
    """End the run as failed, whatever still runs."""
    if decider.state.root is not None:
        cancel_scope(decider, decider.state.root, reason)
    decider.emit(ev.RunFailed(decider.seq, decider.at, reason, failure))
