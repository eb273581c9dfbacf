"""Items of a loop: when the next ones begin, and what the loop gives when the last one has ended. Pure."""

from __future__ import annotations

from toolpath.engine.decide.decisions import Decisions
from toolpath.engine.decide.follow_ups import Fail, FailAttempt, FollowUp, Succeed
from toolpath.engine.decide.joins import BlockVerdict, loop_verdict, may_begin
from toolpath.engine.state import ends
from toolpath.engine.state.instances import Scope, StepState
from toolpath.engine.state.resolve import resolve
from toolpath.engine.state.results import Done, redacted
from toolpath.model import events as ev
from toolpath.model.events import Failure
from toolpath.model.redaction import is_redacted


def feed(decisions: Decisions, owner: StepState) -> FollowUp | None:
    """Begin as many items as may run, or end the loop."""
    if owner not in decisions.begun and (failed := _renew(decisions, owner)) is not None:
        return failed
    body = owner.node.blocks[0]
    if owner.loop_items is None and owner.node.light and (items := decisions.items_of(owner)) is not None:
        owner.loop_items = decisions.loop_items[owner] = items
    if owner.loop_items is not None:
        owner.loop_items.queue()
    state = decisions.state
    while owner.loop_items is None and decisions.halted is None and may_begin(owner, len(state.scopes)):
        assert owner.loop is not None
        ends.open_block(state, state.open(owner, body, branch=owner.loop.next))
    verdict = loop_verdict(owner)
    return None if verdict is None else conclude(decisions, owner, verdict)


def _renew(decisions: Decisions, owner: StepState) -> FollowUp | None:
    """Take up a loop that another driver began; gives the failure where it cannot go on.

    Secrets are in no journal: what its items hold of them is found anew, from the outermost loop inwards.
    """
    scope = owner.scope
    while scope.owner is not None and scope.owner.loop is None:
        scope = scope.owner.scope
    if scope.owner is not None and scope.owner not in decisions.begun:
        failed = _renew(decisions, scope.owner)
        if failed is not None:
            return failed
    decisions.begun.add(owner)
    assert owner.loop is not None
    assert owner.node.over is not None
    if not is_redacted(owner.loop.items):
        return None
    found = resolve(owner.node.over, decisions.frame_of(owner), owner.node.on_unresolved)
    if found.failure is not None:
        return Fail(owner, found.failure)
    items = found.value
    if not isinstance(items, list) or len(items) != len(owner.loop.items):
        message = f"`over` of {owner.path} holds a secret, and does not give the list any more that it gave."
        return Fail(owner, Failure(type="LoopOverChanged", message=message, code="validation"))
    owner.loop.items = items
    for inner in owner.scopes or ():
        inner.item = items[inner.branch]
    return None


def item_finished(decisions: Decisions, owner: StepState, scope: Scope) -> FollowUp | None:
    """Write what the item gives, where the loop says so, and begin the next ones."""
    collect = owner.node.collect
    if collect is not None and scope.failure is None:
        scope.last = ends.default_output(scope)
        found = resolve(collect, decisions.view(scope), owner.node.on_unresolved)
        for fault in found.missing:
            decisions.warn(scope.path, "unresolved", str(fault))
        if found.failure is not None:
            failure = redacted(found.failure, decisions.redact)
            decisions.emit(ev.StepFailed(decisions.seq, decisions.at, scope.path, failure))
        else:
            value = decisions.redact(found.value)
            decisions.emit(ev.StepSucceeded(decisions.seq, decisions.at, scope.path, value))
    return feed(decisions, owner)


def conclude(decisions: Decisions, owner: StepState, verdict: BlockVerdict) -> FollowUp:
    """The end of a `loop` or a `parallel`, as the verdict has it."""
    decisions.begun.discard(owner)
    close_items(decisions, owner)
    duration = duration_of(decisions, owner)
    if verdict.failure is not None:
        return FailAttempt(owner, verdict.failure, duration)
    return Succeed(owner, Done(decisions.redact(verdict.output), duration), verdict.writes)


def duration_of(decisions: Decisions, step: StepState) -> float:
    """Seconds that the block's attempt has taken."""
    return max(0.0, decisions.at - (step.started_at or decisions.at) - step.duration)


def close_items(decisions: Decisions, owner: StepState) -> None:
    """Give every item that is under way its step, and begin others as blocks."""
    if owner.loop_items is not None:
        owner.loop_items.close()
        owner.loop_items = None
        decisions.loop_items.pop(owner, None)


def stop_items(decisions: Decisions, scope: Scope) -> None:
    """The block is being stopped: what is called without a block of its own in it gets one, to be stopped too."""
    for owner in list(decisions.loop_items):
        outer: Scope | None = owner.scope
        while outer is not None and outer is not scope:
            outer = outer.owner.scope if outer.owner is not None else None
        if outer is None:
            continue
        close_items(decisions, owner)
        if owner.loop is not None and not owner.loop.active and may_begin(owner):
            state = decisions.state
            ends.open_block(state, state.open(owner, owner.node.blocks[0], branch=owner.loop.next))
