"""Recovery of a run that another driver left: what it goes on with; the state says it all. Pure.

Reads that were in flight are made again; a write in flight is unknown, and repeated only where that is safe or a person
says so.
"""

from __future__ import annotations

from toolpath.engine.decide.commands import AwaitRetry
from toolpath.engine.decide.control import Control
from toolpath.engine.decide.exclusive import owners_of
from toolpath.engine.decide.joins import loop_verdict
from toolpath.engine.decide.people import expire
from toolpath.engine.decide.starts import watch_block
from toolpath.engine.decide.step_ends import after, stop_step
from toolpath.engine.state import ends
from toolpath.engine.state.instances import EMPTY, ENDED, Scope, StepState
from toolpath.engine.state.results import Done
from toolpath.model import events as ev
from toolpath.ports import EARLY


def recover(control: Control) -> None:
    """Take up everything that is open."""
    decisions = control.decisions
    state = decisions.state
    state.unblocked.clear()
    state.finished.clear()
    exclusive = [step for step in state.steps.values() if step.node.exclusive and step.entered]
    for step in sorted(exclusive, key=lambda step: len(owners_of(step))):
        # What a running tool has called goes through the gate when that tool calls it again.
        if step.status not in ENDED and not _is_called(step.scope):
            decisions.gate.hold(step)
    for step in list(state.steps.values()):
        if step.status == "running" and step.key:
            _in_flight(control, step)
        elif step.status == "unknown" and not step.entered:
            # Taken back by a retry: somebody has to say first what became of it.
            decisions.emit(
                ev.StepUnknown(decisions.seq, decisions.at, step.path, step.node.targets[step.target].key, step.key)
            )
    for step in [step for step in state.steps.values() if step.held and step.status == "waiting"]:
        # Its tool was accepted since, and had not been called.
        decisions.emit(ev.StepReady(decisions.seq, decisions.at, step.path))
        if not _is_called(step.scope):
            control.begin(step)
    for step, failure in state.lost:
        if step.status == "running":
            control.block_lost(step, failure)
    state.lost.clear()
    if state.root is not None and state.status == "running":
        with control.deferred():
            _take_up(control, state.root)
        _take_up_forms(control)
    control.settle()


def _take_up_forms(control: Control) -> None:
    """Forms that running tools and agents have put before people: no block has their steps."""
    for step in list(control.decisions.state.steps.values()):
        if _is_called(step.scope):
            _take_up_asked(control, step)


def _in_flight(control: Control, step: StepState) -> None:
    decisions = control.decisions
    target = step.node.targets[step.target]
    if target.repeatable or step.answers or _waited(control, step):
        # An attempt that its driver did not live to see is made again, not counted as failed.
        decisions.emit(ev.StepReady(decisions.seq, decisions.at, step.path))
        if not _is_called(step.scope):
            # What a running tool has called is begun by that tool, which is run again.
            decisions.ready.push(step)
    else:
        decisions.emit(ev.StepUnknown(decisions.seq, decisions.at, step.path, target.key, step.key))


def _is_called(scope: Scope) -> bool:
    """Whether the block is, or is inside, what a running tool has called."""
    at: Scope | None = scope
    while at is not None:
        if at.block is EMPTY:
            return True
        at = at.owner.scope if at.owner is not None else None
    return False


def _waited(control: Control, step: StepState) -> bool:
    """Whether the tool was waiting for a call of its own that in turn waits for a person, or has their answer.

    Such a tool is run again, and meets the answer.
    """
    prefixes = tuple(scope.prefix for scope in (step.calls or {}).values())
    return bool(prefixes) and any(
        inner.status in ("waiting", "unknown")
        or inner.denied
        or (inner.status not in ENDED and (inner.answers or inner.approved))
        for path, inner in control.decisions.state.steps.items()
        if path.startswith(prefixes)
    )


def _take_up(control: Control, scope: Scope) -> None:
    decisions = control.decisions
    block = scope.block
    if scope.done:
        # What is in it has ended, and what follows from that was not said.
        decisions.state.finished.append(scope)
        return
    steps = list(scope.steps.values())
    # First what ended before: what ends now sets free what follows by itself.
    if not block.nodes:
        ends.open_block(decisions.state, scope)
    elif block.flow == "chain":
        _take_up_chain(control, scope)
    else:
        _take_up_graph(control, scope)
    if scope.stopping:
        _stop(control, scope)
    for step in steps:
        _take_up_step(control, step)


def _stop(control: Control, scope: Scope) -> None:
    """The block was being stopped, and not all of that was told. What is not at its turn yet is skipped then."""
    failed = (step.node.id for step in scope.steps.values() if step.error is not None and step.error is scope.failure)
    reason = scope.halted or f"{next(failed, 'a step')} failed"
    for step in list(scope.steps.values()):
        if step.status != "pending":
            stop_step(control.decisions, step, reason)


def _take_up_graph(control: Control, scope: Scope) -> None:
    state = control.decisions.state
    for node in scope.block.nodes:
        if not scope.missing[node.index] and state.step_of(scope, node.index).status == "pending":
            state.unblocked.append((scope, node.index))
    if not scope.left:
        state.finished.append(scope)


def _take_up_chain(control: Control, scope: Scope) -> None:
    decisions = control.decisions
    if scope.position < 0:
        ends.open_block(decisions.state, scope)
        return
    step = scope.steps[scope.position]
    if step.status == "pending":
        # `arrive` counts the visit again.
        if scope.visits is not None:
            scope.visits[scope.position] = step.visit - 1
        decisions.state.unblocked.append((scope, scope.position))
    elif step.status in ENDED:
        ends.follow(decisions.state, scope, step)


def take_up_step(control: Control, step: StepState) -> None:
    """Go on with what is open in the step. A plan that a tool has called waits for that tool to call it again."""
    with control.deferred():
        _take_up_step(control, step)


def _take_up_step(control: Control, step: StepState) -> None:
    decisions = control.decisions
    if step.status == "running" and not step.key:
        # What it had taken before is not counted: nobody drove it meanwhile.
        decisions.plan_limits.take_up(step)
        watch_block(decisions, step)
    for inner in list(step.scopes or ()):
        _take_up(control, inner)
    if step.status == "ready":
        if step.due is not None and step.due > decisions.at:
            decisions.watch(step, AwaitRetry(step, step.due))
        else:
            step.due = None
            control.begin(step)
    elif step.status == "running" and step.node.kind == "loop" and step.loop is not None:
        if step.loop.halted and not step.loop.active and loop_verdict(step) is None:
            # Nothing is under way in it whose end would end it.
            decisions.emit(ev.StepCancelled(decisions.seq, decisions.at, step.path, step.loop.halted))
            control.follow(after(decisions, step))
        else:
            control.feed(step)
    elif step.status == "running" and step.node.kind == "parallel" and not step.node.blocks:
        control.succeed(step, Done({}, 0.0))
    elif step.status == "running" and step.winner:
        control.branch_won(step)
    else:
        _take_up_asked(control, step)


def _take_up_asked(control: Control, step: StepState) -> None:
    """Go on watching the time to answer the question of the step, where it has one that ends."""
    decisions, asked = control.decisions, step.asked
    if step.status != "waiting" or not isinstance(asked, ev.InputRequested) or asked.deadline is None:
        return
    deadline = asked.deadline
    if deadline > decisions.at + EARLY:
        decisions.watch_answer(step, deadline)
        return
    # The run is taken up for this: it would be parked again before a timer could tell.
    decisions.at = max(decisions.at, deadline)
    expire(control, step)
