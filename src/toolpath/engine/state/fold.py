"""Fold of the journal: `apply(state, event)` changes the state in place, as the event says. Pure and deterministic.

No expression is evaluated but for secrets, which no journal holds.

The law: folding a journal gives the state that its run had. `state.unblocked` and `state.finished` tell a live run what
an event has set free; a fold drops them, since the journal's next events say what was made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from toolpath.engine.state.accounts import charge
from toolpath.engine.state.ends import CUT, cut_inside, cut_off, end, item_done, item_failed
from toolpath.engine.state.instances import EMPTY, LoopProgress, Scope, StepState
from toolpath.engine.state.paths import top
from toolpath.engine.state.reopen import recount, reopen, take_back_half_said
from toolpath.engine.state.state import State
from toolpath.errors import ExpressionError
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, Failure
from toolpath.model.plan import Loop as LoopStep
from toolpath.model.redaction import is_redacted
from toolpath.model.run import RunContext
from toolpath.values import Json, JsonObject


def fold(state: State, events: Iterable[AnyEvent]) -> State:
    """The state after these events."""
    for event in events:
        apply(state, event)
        state.unblocked.clear()
        state.finished.clear()
    return state


def apply(state: State, event: AnyEvent) -> None:
    """Change the state as the event says. Its cost does not grow with the plan."""
    handler = HANDLERS.get(type(event))
    if handler is not None:
        handler(state, event)
    state.seq = event.seq
    state.last_at = event.at


def _run_started(state: State, event: ev.RunStarted) -> None:
    state.run_id = event.run_id
    state.status = "running"
    state.started_at = state.active_since = event.at
    state.inputs = event.inputs
    state.context = state.began = RunContext.from_json(event.context)
    state.fingerprints = dict(event.tools)
    state.approval = event.approval
    state.paths = event.paths
    state.run_frame = {"id": state.run_id, "started_at": datetime.fromtimestamp(event.at, UTC).isoformat()}
    state.open_root()


def _run_paused(state: State, event: ev.RunPaused) -> None:
    state.status = "paused"
    state.reason = event.reason


def _run_resumed(state: State, event: ev.RunResumed) -> None:
    # Only what was driven counts towards the run's time: not what it was parked for.
    state.active_time += max(0.0, state.last_at - state.active_since)
    state.active_since = event.at
    state.epoch = event.epoch
    state.status = "running"
    state.reason = ""
    state.staged.clear()
    state.fingerprints.update(event.accepted)
    if state.root is None:
        return
    if event.reason == "retry":
        state.error, state.outputs = None, None
        reopen(state, state.root)
    else:
        take_back_half_said(state, state.root)


def _run_authorized(state: State, event: ev.RunAuthorized) -> None:
    state.context = state.began.limited_to(event.permissions)


def _run_ended(state: State, event: ev.RunCompleted | ev.RunFailed | ev.RunCancelled) -> None:
    match event:
        case ev.RunCompleted():
            state.status = event.status
        case ev.RunFailed():
            state.status, state.reason, state.error = "failed", event.reason, event.error
        case ev.RunCancelled():
            state.status, state.reason = "cancelled", event.reason
    state.outputs = event.outputs
    if state.root is not None:
        cut_off(state.root)


def _ready(state: State, event: ev.StepReady) -> None:
    step = state.find(event.path)
    if step.attempt and (step.held or step.status == "unknown" or (step.status == "running" and step.key)):
        # An attempt of which nothing came is made again, not counted as failed.
        step.attempt -= 1
    step.status, step.held = "ready", False
    step.due = None


def _started(state: State, event: ev.StepStarted) -> None:
    step = state.steps.get(event.path)
    if step is None:
        step = state.find(event.path)
    else:
        # A chain comes again to what a retry has taken back.
        step.scope.position = step.node.index
    if not step.node.targets and event.tool and step.scope.block is EMPTY:
        step.node = state.program.dynamic(event.tool)
    step.status = "running"
    step.attempt = event.attempt
    if step.due is not None:
        step.due = None
    step.key = event.key
    if not step.entered:
        step.entered = True
        step.scope.active += 1
        step.started_at = event.at
    # What it was given is needed to open a block again, and to ask whether a write in doubt happened.
    step.inputs = event.inputs
    if event.key:
        state.calls += 1
        if step.scope.account is not None:
            charge(step.scope, calls=1)
    elif step.node.kind == "loop":
        items = state.restore(event.inputs["over"])
        step.loop = LoopProgress(_unredacted(state, step, items) if isinstance(items, list) else [])
        if step.node.blocks[0].has_state and isinstance(step.node.step, LoopStep) and step.node.step.concurrency != 1:
            step.loop.before = dict(step.scope.state)
    else:
        _open_blocks(state, step)


def _open_blocks(state: State, step: StepState) -> None:
    """Branches and nested plans begin with their step, whether or not anything is told of them."""
    if step.nested is not None:
        state.open(step, step.nested)
    for number, block in enumerate(step.node.blocks):
        state.open(step, block, branch=number)


def _unredacted(state: State, step: StepState, items: list[Json]) -> list[Json]:
    """A loop's items with the secrets in them, which are in no journal, where they are found the same as they were."""
    over = step.node.over
    if over is None or not is_redacted(items):
        return items
    try:
        found = over.evaluate(state.view(step.scope))
    except ExpressionError:
        # The next driver of the loop finds them, or says why not.
        return items
    return found if isinstance(found, list) and len(found) == len(items) else items


def _retrying(state: State, event: ev.StepRetrying) -> None:
    step = state.find(event.path)
    if step.status in ("failed", "timed_out", "cancelled", "skipped"):
        # A call that a tool made had failed, and is made anew.
        step.attempt = 0
    step.status = "ready"
    step.error = event.error
    step.duration += event.duration
    step.due = event.at + event.delay
    counted = step.scope.block.retry_counts.get(step.node.index)
    if counted is not None:
        step.scope.state[counted] = event.attempt
    _leave_blocks(state, step)


def _fallback(state: State, event: ev.FallbackStarted) -> None:
    step = state.find(event.path)
    if step.node.kind == "call" and step.calls and state.paths > 1:
        # What the next tool does stands beside the calls of this one.
        step.entry += 1
    _leave_blocks(state, step)
    step.status = "ready"
    step.target = event.index
    step.attempt = 0
    step.approved = None
    step.error = event.error
    step.duration += event.duration
    if event.confidence is not None:
        step.doubt = event


def _leave_blocks(state: State, step: StepState) -> None:
    """A step that is begun anew leaves its old scopes behind, and the failures of the calls that its tool made."""
    for child in step.children() if step.calls else ():
        child.stands = False
    nested = step.node.kind != "call" or (bool(step.scopes) and state.paths > 1)
    if step.scopes or step.loop is not None:
        for scope in step.scopes or ():
            state.drop(scope)
        step.scopes, step.loop, step.winner = None, None, ""
    if nested:
        step.entry += 1


def _succeeded(state: State, event: ev.StepSucceeded) -> None:
    step = state.steps.get(event.path)
    if step is None:
        item = state.scopes.get(event.path)
        if item is not None and item.owner is not None and item.owner.loop is not None:
            item_done(state, item, event.output)
            return
        step = state.find(event.path)
    if state.staged:
        set_variables(state, event.path)
    step.status = "succeeded"
    step.duration += event.duration
    scope = step.scope
    scope.outputs[step.node.id] = scope.last = event.output
    if event.cached:
        # A result that was kept is no call, though the step has begun like one.
        state.calls -= 1
        charge(scope, calls=-1)
    if event.cost:
        state.cost += event.cost
        charge(scope, cost=event.cost)
    if event.tokens:
        state.tokens += event.tokens
        charge(scope, tokens=event.tokens)
    if step.scopes or step.loop is not None:
        for inner in step.scopes or ():
            state.drop(inner)
        step.scopes = step.loop = None
    if scope.block is EMPTY:
        step.output = event.output
    end(state, step)


def _failed(state: State, event: ev.StepFailed | ev.StepTimedOut) -> None:
    step = state.steps.get(event.path)
    if step is None:
        item = state.scopes.get(event.path)
        if item is not None and item.owner is not None and item.owner.loop is not None:
            item.failure = event.error
            item_failed(state, item, event.error)
            return
        step = state.find(event.path)
    step.status = "failed" if type(event) is ev.StepFailed else "timed_out"
    step.error = event.error
    step.duration += event.duration
    step.continued = event.continued
    cut_inside(step)
    scope = step.scope
    scope.outputs[step.node.id] = None
    scope.trouble = True
    if scope.block is EMPTY:
        step.output, step.stands = None, True
    elif event.continued or not step.node.critical:
        state.errors += 1
    elif scope.failure is None:
        scope.failure = event.error
        if scope.block.mode == "stop":
            scope.stopping = True
            _halt_inside(scope, f"{step.node.id} failed")
    end(state, step)


def _skipped(state: State, event: ev.StepSkipped) -> None:
    step = state.find(event.path)
    step.status = "skipped"
    step.spreads = event.spreads
    step.scope.trouble = True
    step.scope.outputs[step.node.id] = None
    end(state, step)


def _cancelled(state: State, event: ev.StepCancelled) -> None:
    step = state.find(event.path)
    step.status = "cancelled"
    step.duration += event.duration
    step.error = Failure(type="Cancelled", message=event.reason, code="cancelled", in_doubt=event.in_doubt)
    cut_inside(step)
    scope = step.scope
    scope.trouble = True
    scope.outputs[step.node.id] = None
    if scope.stopping and not scope.done:
        # The block goes to its end, with what may finish in it.
        end(state, step)
        return
    if step.entered:
        scope.active -= 1
        step.entered = False
    if scope.block is not EMPTY and not scope.done:
        # Its other steps are told of one by one.
        scope.done, scope.halted = True, scope.halted or CUT


def _halt_inside(scope: Scope, reason: str) -> None:
    """A stop reaches every block that is open inside: nothing new starts there either."""
    for step in scope.steps.values():
        if step.loop is not None:
            step.loop.halted = reason
        for inner in step.scopes or ():
            if not inner.done:
                inner.stopping = inner.trouble = True
                inner.halted = reason
                _halt_inside(inner, reason)


def _unknown(state: State, event: ev.StepUnknown) -> None:
    state.find(event.path).status = "unknown"


def _waiting(state: State, event: ev.StepWaiting) -> None:
    step = state.find(event.path)
    # A write in doubt stays so while a person is asked about it.
    if event.reason != "settle":
        step.status = "waiting"
        step.held = event.reason == "tool_changed"


def _branch_taken(state: State, event: ev.BranchTaken) -> None:
    # Where a jump leads is told by the step that starts next; a winner is not.
    if event.cause == "winner":
        state.find(event.path).winner = event.target


def _approval_requested(state: State, event: ev.ApprovalRequested) -> None:
    step = state.find(event.path)
    # Whatever was allowed before, it is not this.
    step.status, step.asked, step.approved = "waiting", event, None


def _approval_decided(state: State, event: ev.ApprovalDecided) -> None:
    step = state.find(event.path)
    step.asked = None
    step.status = "ready"
    step.denied = not event.approved
    if event.approved:
        step.approved = event.digest


def _input_requested(state: State, event: ev.InputRequested) -> None:
    step = state.find(event.path)
    step.asked = event
    step.question = event.question
    step.status = "waiting"
    if not step.entered:
        step.entered = True
        step.scope.active += 1
        step.started_at = event.at


def _input_received(state: State, event: ev.InputReceived) -> None:
    step = state.find(event.path)
    step.asked = None
    if event.question:
        step.answers = {**(step.answers or {}), event.question: _told(event)}
        step.status = "running"


def _told(event: ev.InputReceived) -> dict[str, Any]:
    told: dict[str, Any] = {"values": event.values, "declined": event.declined}
    return {**told, "timed_out": True} if event.timed_out else told


def _warned(state: State, event: ev.Warned) -> None:
    state.warnings.append(event)


def state_written(state: State, event: ev.StateWritten) -> None:
    """Keep what the step writes until it has succeeded. Journals written earlier name no step: it is set at once."""
    if event.source:
        state.staged.append(event)
    else:
        _write(state, event)


def set_variables(state: State, source: str) -> None:
    """Set what the step that succeeds has written."""
    staged, state.staged = state.staged, []
    for event in staged:
        if event.source == source:
            _write(state, event)


def _write(state: State, event: ev.StateWritten) -> None:
    item = state.scopes.get(event.path)
    if item is None and (loop := state.ended_item(event.path)) is not None:
        # Journals written earlier tell of the last variables of an item after its end.
        owner, number = loop
        assert owner.loop is not None
        owner.loop.writes[number] = {**owner.loop.writes.get(number, {}), **event.values}
        return
    scope = item if item is not None and item.block is not EMPTY else state.written_at(event.path)
    scope.state.update(event.values)
    if scope is state.root:
        for variable, value in event.values.items():
            by = state.written_by.setdefault(variable, {})
            # The last to write stands last.
            by.pop(step := top(event.source), None)
            by[step] = value
    if scope.writes is None:
        scope.writes = {}
    scope.writes.update(event.values)


def tools_frozen(state: State, event: ev.ToolsFrozen) -> None:
    """Tools that running tools call stay as they were when they were first called."""
    state.fingerprints.update(event.tools)


def revise(state: State, event: ev.PlanRevised) -> None:
    """Put the program that follows in place of the run's, with the finished steps in it.

    Where there is none that follows, e.g. because a journal is only looked at, the state stays as it was.
    """
    program, old = state.program.revised, state.root
    if program is None or old is None:
        return
    state.program, state.status, state.reason = program, "running", ""
    state.steps.clear()
    state.scopes.clear()
    state.fingerprints.update(event.tools)
    state.error, state.outputs = None, None
    root = state.open_root()
    if root.block.has_state:
        root.state.update(_written(state, event.kept))
    for step_id in event.kept:
        _keep(state, root, old, step_id)
    recount(root)


def _written(state: State, kept: tuple[str, ...]) -> JsonObject:
    """The variables of the plan as its finished steps have written them. What is begun anew writes its own anew."""
    found: JsonObject = {}
    for variable, by in list(state.written_by.items()):
        # Journals written earlier do not say which step wrote.
        state.written_by[variable] = standing = {step: by[step] for step in by if step in kept or not step}
        if standing:
            found[variable] = list(standing.values())[-1]
    return found


def _keep(state: State, root: Scope, old: Scope, step_id: str) -> None:
    index, known = root.block.index_of.get(step_id), old.latest(step_id)
    if index is None or known is None or known.status != "succeeded":
        return
    step = state.step_of(root, index)
    step.status, step.inputs, step.duration = known.status, known.inputs, known.duration
    step.started_at, step.confidence = known.started_at, known.confidence
    root.outputs[step_id] = old.outputs.get(step_id)


#: Events that tell of something, and change nothing in a run: each event is here or in `HANDLERS`.
TOLD_ONLY: frozenset[type] = frozenset({ev.StepProgress, ev.BudgetExceeded})

HANDLERS: dict[type, Callable[[State, Any], None]] = {
    ev.RunStarted: _run_started,
    ev.RunPaused: _run_paused,
    ev.RunResumed: _run_resumed,
    ev.RunAuthorized: _run_authorized,
    ev.ToolsFrozen: tools_frozen,
    ev.RunCompleted: _run_ended,
    ev.RunFailed: _run_ended,
    ev.RunCancelled: _run_ended,
    ev.StepReady: _ready,
    ev.StepStarted: _started,
    ev.StepRetrying: _retrying,
    ev.FallbackStarted: _fallback,
    ev.StepSucceeded: _succeeded,
    ev.StepFailed: _failed,
    ev.StepTimedOut: _failed,
    ev.StepSkipped: _skipped,
    ev.StepCancelled: _cancelled,
    ev.StepUnknown: _unknown,
    ev.StepWaiting: _waiting,
    ev.StateWritten: state_written,
    ev.BranchTaken: _branch_taken,
    ev.ApprovalRequested: _approval_requested,
    ev.ApprovalDecided: _approval_decided,
    ev.InputRequested: _input_requested,
    ev.InputReceived: _input_received,
    ev.PlanRevised: revise,
    ev.Warned: _warned,
}
