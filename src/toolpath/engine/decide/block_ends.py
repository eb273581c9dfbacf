"""End of a block: an item, a branch, a nested plan, or the run, as soon as nothing of it is left to run. Pure."""

from __future__ import annotations

from toolpath.engine.decide import loops, step_ends
from toolpath.engine.decide.cancel import cancel_scope, fail_run
from toolpath.engine.decide.decisions import Decisions
from toolpath.engine.decide.follow_ups import FailAttempt, FollowUp, Succeed
from toolpath.engine.decide.joins import BlockVerdict, parallel_verdict, won_by
from toolpath.engine.state import ends
from toolpath.engine.state.instances import Scope, StepState
from toolpath.engine.state.resolve import Resolved, failure_of, resolve_outputs
from toolpath.engine.state.results import Done, redacted
from toolpath.model import events as ev
from toolpath.model.events import Failure


def block_finished(decisions: Decisions, scope: Scope) -> FollowUp | None:
    """End the block, of which nothing is left to run."""
    owner = scope.owner
    if owner is None:
        _finish_run(decisions, scope)
        return None
    if owner.status != "running":
        return None
    if scope.halted:
        if any(not other.done for other in owner.scopes or ()):
            return None
        decisions.emit(ev.StepCancelled(decisions.seq, decisions.at, owner.path, scope.halted))
        return step_ends.after(decisions, owner)
    match owner.node.kind:
        case "loop":
            return loops.item_finished(decisions, owner, scope)
        case "parallel":
            verdict = parallel_verdict(owner, scope)
            return None if verdict is None else _join(decisions, owner, verdict)
        case _:
            return _plan_finished(decisions, owner, scope)


def branch_won(decisions: Decisions, owner: StepState) -> FollowUp:
    """Go on with a `parallel` of which no more than the winner was said."""
    scopes = owner.scopes or []
    winner = next(scope for scope in scopes if scope.block.id == owner.winner)
    return _join(decisions, owner, won_by(winner, scopes))


def _join(decisions: Decisions, owner: StepState, verdict: BlockVerdict) -> FollowUp:
    if verdict.winner and not owner.winner:
        taken = ev.BranchTaken(decisions.seq, decisions.at, owner.path, owner.node.id, verdict.winner, "winner")
        decisions.emit(taken)
    for branch in verdict.losers:
        cancel_scope(decisions, branch, f"{verdict.winner} was first")
    return loops.conclude(decisions, owner, verdict)


def _plan_finished(decisions: Decisions, owner: StepState, scope: Scope) -> FollowUp:
    if scope.failure is not None:
        return FailAttempt(owner, scope.failure, loops.duration_of(decisions, owner))
    target = owner.node.targets[owner.target]
    found = _output_of(decisions, scope)
    output = found.value
    if found.failure is None and target.returns is not None and target.validation == "strict":
        try:
            output = target.returns.accept(output)
        except Exception as error:  # noqa: BLE001  # an error of our own fails this step, and no more
            found.failure = failure_of(error)
    duration = loops.duration_of(decisions, owner)
    if found.failure is not None:
        return FailAttempt(owner, found.failure, duration)
    return Succeed(owner, Done(decisions.redact(output), duration))


def _output_of(decisions: Decisions, scope: Scope) -> Resolved:
    block = scope.block
    if block.outputs is None:
        return Resolved(ends.default_output(scope))
    mode = block.plan.on_unresolved if block.plan else "error"
    found = resolve_outputs(block.outputs, decisions.view(scope), mode)
    for fault in found.missing:
        decisions.warn(scope.path, "unresolved", f"outputs: {fault}")
    return found


def _finish_run(decisions: Decisions, scope: Scope) -> None:
    if decisions.halted is not None:
        fail_run(decisions, *decisions.halted)
        return
    if scope.failure is not None:
        outputs = ends.default_output(scope) if scope.block.by_id else None
        decisions.emit(ev.RunFailed(decisions.seq, decisions.at, "", scope.failure, outputs))
        return
    found = _output_of(decisions, scope)
    if found.failure is not None:
        failure = redacted(found.failure, decisions.redact)
        decisions.emit(ev.RunFailed(decisions.seq, decisions.at, "outputs", failure))
        return
    outputs, state = decisions.redact(found.value), decisions.state
    status = "completed_with_errors" if state.errors else "completed"
    decisions.emit(ev.RunCompleted(decisions.seq, decisions.at, status, outputs, len(state.warnings)))  # type: ignore[arg-type]


def block_lost(decisions: Decisions, step: StepState, failure: Failure, why: str = "failed") -> FollowUp:
    """A block cannot go on: what is open in it is cut off."""
    loops.close_items(decisions, step)
    for inner in list(step.scopes or ()):
        cancel_scope(decisions, inner, f"{step.path} {why}")
    return FailAttempt(step, failure, loops.duration_of(decisions, step))
