"""Start of a step: visits, condition, exclusiveness, approval, and the begin of each kind. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from toolpath.engine.compile.nodes import Kind
from toolpath.engine.decide import approvals, loops, step_values
from toolpath.engine.decide.bounds import block_limit, too_deep, too_many_visits
from toolpath.engine.decide.commands import AwaitBlock
from toolpath.engine.decide.decisions import Decisions
from toolpath.engine.decide.follow_ups import Fail, FailAttempt, FollowUp, Succeed
from toolpath.engine.state import ends
from toolpath.engine.state.instances import EMPTY, Scope, StepState
from toolpath.engine.state.resolve import Resolved, resolve, resolve_inputs
from toolpath.engine.state.results import Done
from toolpath.model import events as ev
from toolpath.model.events import Failure
from toolpath.model.policy import refusal
from toolpath.values import Json

#: What beginning a step counts for in a turn, in elements visited.
OF_STEP = 100
_WORDS = {"failed": "failed", "timed_out": "timed out", "cancelled": "was cancelled"}


def arrive(decisions: Decisions, scope: Scope, index: int) -> FollowUp | None:
    """Start the step, for which everything has ended that it waited for; gives what follows."""
    block = scope.block
    node = block.nodes[index]
    if scope.done or decisions.halted is not None:
        return None
    # A call is asked about when there is a slot for it.
    if not node.plain and decisions.is_too_long(scope.prefix + node.id):
        return None
    decisions.turn.charge(OF_STEP)
    visit = 1
    if block.flow == "chain":
        visit = _visit(scope, index)
    step = decisions.state.step_of(scope, index, visit)
    if step.status != "pending":
        return None
    if visit > block.max_visits:
        return Fail(step, too_many_visits(node, block.max_visits))
    if scope.trouble and _skipped_by_trouble(decisions, step):
        return None
    if node.plain:
        decisions.ready.push(step)
        return None
    if node.when is not None:
        found = step_values.resolved(decisions, step, node.when)
        if not isinstance(found, Resolved):
            return found
        if not found.value:
            decisions.skip(step, f"when: {node.step.when}")
            return None
    return begin(decisions, step)


def _visit(scope: Scope, index: int) -> int:
    if scope.visits is None:
        scope.visits = {}
        # A resumed chain has visited what its steps say.
        for known, step in scope.steps.items():
            scope.visits[known] = step.visit if step.status != "pending" else step.visit - 1
    scope.visits[index] = visit = scope.visits.get(index, 0) + 1
    return visit


def _skipped_by_trouble(decisions: Decisions, step: StepState) -> bool:
    scope, node = step.scope, step.node
    if scope.block.is_chain:
        if scope.halted:
            decisions.skip(step, scope.halted, spreads=True)
        return bool(scope.halted)
    for dep in node.deps:
        cause = scope.steps.get(dep)
        if cause is None:
            continue
        failed = cause.status in ("failed", "timed_out", "cancelled") and not cause.continued
        if failed or (cause.status == "skipped" and cause.spreads):
            word = _WORDS.get(cause.status, "was skipped")
            decisions.skip(step, f"{cause.node.id} {word}", spreads=True)
            return True
    if scope.stopping and not node.soft:
        decisions.skip(step, "the run was stopping", spreads=True)
        return True
    return False


def begin(decisions: Decisions, step: StepState) -> FollowUp | None:
    """Begin the step; nothing is in its way but a person's word, where one is needed, the gate, and a slot."""
    node = step.node
    if step.approved is None:
        asked = approvals.ask_approval(decisions, step)
        if asked is not None:
            return asked
    is_call = bool(node.targets) and node.targets[step.target].plan is None
    if not is_call and decisions.state.program.has_exclusive and not decisions.gate.admits(step):
        return None
    if is_call:
        decisions.ready.push(step)
        return None
    return BEGINS[node.kind](decisions, step)


def _begin_plan(decisions: Decisions, step: StepState) -> FollowUp | None:
    state, target = decisions.state, step.node.targets[step.target]
    assert target.plan is not None
    if approvals.is_outdated(decisions, step):
        approvals.revoke(step)
        return begin(decisions, step)
    refused = refusal(target.tool, state.context) if target.guarded else None
    if refused is not None:
        return FailAttempt(step, refused)
    # What a tool calls is a level of its own already.
    deep = None if step.scope.block is EMPTY else too_deep(step.scope, step.path)
    if deep is not None:
        return Fail(step, deep)
    inputs = step_values.inputs_of(decisions, step, target)
    if not isinstance(inputs, dict):
        return inputs
    if not decisions.plan_limits.enter(step, target):
        decisions.announce(step)
        return None
    journaled: Json = inputs
    if target.inputs.uses_secrets and step.given is None:
        frame = decisions.frame_of(step)
        journaled = resolve_inputs(target, frame, step.node.on_unresolved, shown=True).value
    journaled = decisions.redact(journaled)
    decisions.emit(ev.StepStarted(decisions.seq, decisions.at, step.path, step.attempt + 1, target.key, journaled))
    watch_block(decisions, step)
    for scope in step.scopes or ():
        ends.open_block(state, scope)
    return None


def _begin_parallel(decisions: Decisions, step: StepState) -> FollowUp | None:
    decisions.emit(ev.StepStarted(decisions.seq, decisions.at, step.path))
    watch_block(decisions, step)
    if not step.node.blocks:
        return Succeed(step, Done({}, 0.0))
    for scope in list(step.scopes or ()):
        ends.open_block(decisions.state, scope)
    return None


def _begin_loop(decisions: Decisions, step: StepState) -> FollowUp | None:
    assert step.node.over is not None
    over = resolve(step.node.over, decisions.frame_of(step), step.node.on_unresolved)
    found = step_values.heed(decisions, step, over, FailAttempt)
    if not isinstance(found, Resolved):
        return found
    items = [] if found.value is None and found.missing else found.value
    if not isinstance(items, list):
        message = f"`over` of {step.path} gave {type(items).__name__}, not a list."
        return Fail(step, Failure(type="LoopOverNoList", message=message, code="validation"))
    most = decisions.ceilings.events
    if len(items) > most:
        message = f"`over` of {step.path} gave {len(items):,} items; a run has no more than {most:,} events."
        return Fail(step, Failure(type="TooManyItems", message=message, code="validation"))
    journaled = decisions.redact(items)
    started = ev.StepStarted(decisions.seq, decisions.at, step.path, step.attempt + 1, "", {"over": journaled})
    decisions.emit(started)
    if journaled is not items and step.loop is not None:
        # The items are given as they are to what is begun with them.
        step.loop.items = items
    decisions.begun.add(step)
    watch_block(decisions, step)
    return loops.feed(decisions, step)


def watch_block(decisions: Decisions, step: StepState) -> None:
    """Bound the time of the block from now on."""
    limit = block_limit(step)
    if limit is not None:
        decisions.watch(step, AwaitBlock(step, decisions.at + limit, step.entry))


def _ask(decisions: Decisions, step: StepState) -> FollowUp | None:
    assert step.node.form is not None
    found = step_values.resolved(decisions, step, step.node.form)
    if not isinstance(found, Resolved):
        return found
    deadline = None if step.node.timeout is None else decisions.at + step.node.timeout
    decisions.emit(ev.StepWaiting(decisions.seq, decisions.at, step.path, "input"))
    form = decisions.redact(found.value)
    decisions.emit(ev.InputRequested(decisions.seq, decisions.at, step.path, form, deadline))
    if deadline is not None:
        decisions.watch_answer(step, deadline)
    return None


#: What begins a step that is no call, by its kind. A call goes to the driver.
BEGINS: Mapping[Kind, Callable[[Decisions, StepState], FollowUp | None]] = {
    # A call whose tool is a plan, or falls back to one.
    "call": _begin_plan,
    "nested": _begin_plan,
    "parallel": _begin_parallel,
    "loop": _begin_loop,
    "ask": _ask,
}
