"""Cutting off what is under way: a block, a step with all that is inside it, or the run. Pure."""

from __future__ import annotations

from toolpath.engine.decide.commands import Reply, StopCall
from toolpath.engine.decide.decisions import Decisions
from toolpath.engine.state.ends import cut_off
from toolpath.engine.state.instances import EMPTY, ENDED, Scope, StepState
from toolpath.model import events as ev
from toolpath.model.events import Failure

_OPEN = frozenset({"ready", "running", "waiting", "unknown", "pending"})


def cancel_scope(decisions: Decisions, scope: Scope, reason: str) -> None:
    """Cut off everything in the block, innermost first."""
    for step in list(scope.steps.values()):
        cancel_step(decisions, step, reason)
    # The event that follows says the same of the block to readers of the journal.
    cut_off(scope)
    finished = decisions.state.finished
    if scope in finished:
        finished.remove(scope)


def cancel_step(decisions: Decisions, step: StepState, reason: str) -> None:
    """Cut off the step. Nobody is asked about a write that may have happened: its record says so."""
    if step.status not in _OPEN:
        return
    if step.loop_items is not None:
        step.loop_items.close()
    for inner in list(step.scopes or ()):
        # Also where it is done: another driver may have come to no more than half of this.
        cancel_scope(decisions, inner, reason)
    for child in step.children():
        cancel_step(decisions, child, reason)
    decisions.unwatch(step)
    calling = step.status == "running" and bool(step.key)
    target = step.node.targets[step.target] if step.node.targets else None
    in_doubt = step.status == "unknown" or (calling and target is not None and not target.repeatable)
    decisions.emit(ev.StepCancelled(decisions.seq, decisions.at, step.path, reason, in_doubt))
    if calling or step.question:
        decisions.commands.append(StopCall(step))
    if step.scope.block is EMPTY:
        # Whatever a tool has left behind still waits for it, and what is called again is begun only where nobody does.
        decisions.commands.append(Reply(step))


def cut_calls(decisions: Decisions, step: StepState) -> None:
    """The tool has ended: what it has called and not waited for ends with it, and nobody is asked about that."""
    for child in step.children():
        if child.status not in ENDED:
            cancel_step(decisions, child, f"{step.path} has ended")


def cancel_run(decisions: Decisions, reason: str) -> None:
    """End the run as cancelled."""
    if decisions.state.root is not None:
        cancel_scope(decisions, decisions.state.root, reason or "the run was cancelled")
    decisions.emit(ev.RunCancelled(decisions.seq, decisions.at, reason))


def fail_run(decisions: Decisions, reason: str, failure: Failure) -> None:
    """End the run as failed, whatever still runs."""
    if decisions.state.root is not None:
        cancel_scope(decisions, decisions.state.root, reason)
    decisions.emit(ev.RunFailed(decisions.seq, decisions.at, reason, failure))
