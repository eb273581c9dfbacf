"""Approvals: whether a person has to allow a step before it begins, and what they are shown of it. Pure."""

from __future__ import annotations

from toolpath.engine.compile.nodes import CallTarget
from toolpath.engine.decide import step_values
from toolpath.engine.decide.decisions import Decisions
from toolpath.engine.decide.follow_ups import WAIT, FailAttempt, FollowUp
from toolpath.engine.state.instances import EMPTY, StepState
from toolpath.engine.state.resolve import Resolved, resolve_inputs
from toolpath.model import events as ev
from toolpath.model.plan import Agent
from toolpath.model.policy import refusal
from toolpath.values import Json, digest


def ask_approval(decisions: Decisions, step: StepState) -> FollowUp | None:
    """Ask a person first, where one has to decide; gives what follows then, or None: the step may begin."""
    node = step.node
    target = node.targets[step.target] if node.targets else None
    asks = node.always_approve or (target is not None and (target.asks or _is_agents_write(step, target)))
    if not asks and (node.approval is None or step.attempt):
        # What an expression has said of a tool's first attempt holds for those after it.
        return None
    refused = refusal(target.tool, decisions.state.context) if target is not None and target.guarded else None
    if refused is not None:
        # Nobody is asked about what will not be done whatever they say.
        return FailAttempt(step, refused)
    if not asks and node.approval is not None:
        found = step_values.resolved(decisions, step, node.approval)
        if not isinstance(found, Resolved):
            return found
        # Whether a person is needed cannot be told without the value: then one is.
        if not found.value and not found.missing:
            return None
    if target is not None:
        unfit = _would_fail(decisions, step, target)
        if unfit is not None:
            return unfit
    shown, bound = approval_of(decisions, step)
    decisions.emit(ev.StepWaiting(decisions.seq, decisions.at, step.path, "approval"))
    tool = target.key if target else ""
    decisions.emit(ev.ApprovalRequested(decisions.seq, decisions.at, step.path, bound, tool, shown))
    return WAIT


def _is_agents_write(step: StepState, target: CallTarget) -> bool:
    """Whether the call writes and comes of an agent that has to ask before it writes: what was allowed stands."""
    if target.reads:
        return False
    scope, owner = step.scope, step.scope.owner
    while owner is not None and scope.block is EMPTY:
        match owner.node.step:
            case Agent(approve_writes=asks_first):
                return asks_first
            case _ if not owner.node.targets or not owner.node.targets[owner.target].reads:
                # It writes itself, and was asked about, with all that it does.
                return False
        scope, owner = owner.scope, owner.scope.owner
    return False


def _would_fail(decisions: Decisions, step: StepState, target: CallTarget) -> FollowUp | None:
    """The failure of a call that could not be made with its inputs: nobody is asked in vain."""
    if step.given is None:
        # What is only kept as written is warned of when the call is made.
        made = resolve_inputs(target, decisions.frame_of(step), step.node.on_unresolved, shown=True)
        if not made.missing:
            heeded = step_values.heed(decisions, step, made, FailAttempt)
            if not isinstance(heeded, Resolved):
                return heeded
    accepted = step_values.fitting(decisions, step, target, step.given)
    return None if isinstance(accepted, dict) else accepted


def approval_of(decisions: Decisions, step: StepState) -> tuple[Json, str]:
    """The inputs that a person is shown, and the digest that their approval binds to."""
    node = step.node
    if not node.targets:
        return {}, digest([step.path, step.visit])
    target = node.targets[step.target]
    # What a running tool has given to the call it makes is no template.
    shown: Json = step.given
    if shown is None:
        shown = resolve_inputs(target, decisions.frame_of(step), node.on_unresolved, shown=True).value
    shown = decisions.redact(shown)
    return shown, digest([step.path, step.visit, target.tool.fingerprint, shown])


def is_outdated(decisions: Decisions, step: StepState) -> bool:
    """Whether what a person has allowed is not what would be called now."""
    return step.approved is not None and approval_of(decisions, step)[1] != step.approved


def revoke(step: StepState) -> None:
    """The approval does not hold for what would be called now: somebody is asked again."""
    step.approved, step.status = None, "pending"
