"""End of a step: its success with the variables it writes, or retry, fallback, failure. Pure."""

from __future__ import annotations

from toolpath.engine.decide import loops
from toolpath.engine.decide.cancel import cancel_scope, cancel_step, cut_calls
from toolpath.engine.decide.commands import AwaitRetry, Reply
from toolpath.engine.decide.decisions import Decisions
from toolpath.engine.decide.follow_ups import SETTLE, Begin, Fail, FollowUp, Succeed
from toolpath.engine.decide.retries import next_delay
from toolpath.engine.state.instances import EMPTY, Scope, StepState
from toolpath.engine.state.results import Done, exhausted, redacted
from toolpath.engine.state.variables import VariableWriting
from toolpath.model import events as ev
from toolpath.model.events import Failure
from toolpath.values import Json, JsonObject


def succeed(decisions: Decisions, step: StepState, done: Done, merged: JsonObject | None) -> FollowUp | None:
    """The step's call, block or form gave an output. `merged`: variables that were written inside it."""
    node = step.node
    if done.confidence is not None and len(node.targets) > 1:
        index = _surer_fallback(step, done.confidence)
        if index is not None:
            _fall_back(decisions, step, index, done)
            return Begin(step)
    if step.doubt is not None:
        _prefer_surer(decisions, step.doubt, done)
    if step.calls:
        # First what is inside it: with this success the item around it may be over, and nothing in it is left.
        cut_calls(decisions, step)
    is_large = done.handle is not None
    output = done.handle if is_large else done.output
    if merged or node.writes:
        _write_state(decisions, step, done.output, output, merged or {})
    decisions.emit(
        ev.StepSucceeded(
            decisions.state.seq + 1, decisions.at, step.path, output, done.duration, done.cached,
            done.confidence, done.sources, done.cost, done.tokens, large=is_large,
        ),
        None if is_large else done.weight,
    )  # fmt: skip
    if node.after_success is not None and step.scope.block.is_chain:
        _jump(decisions, step, node.after_success, "on_success")
    return after(decisions, step) if step.watched or step.scope.block is EMPTY else SETTLE


def _prefer_surer(decisions: Decisions, doubt: ev.FallbackStarted, done: Done) -> None:
    """Take the answer that was not sure enough, where the one that was asked for instead is no surer."""
    if (doubt.confidence or 0.0) >= (1.0 if done.confidence is None else done.confidence):
        done.output, done.confidence, done.sources = decisions.restore(doubt.output), doubt.confidence, doubt.sources
        done.handle, done.weight = None, None


def after(decisions: Decisions, step: StepState) -> FollowUp | None:
    """Go on after the end of a step: that of a tool's own call is told to the tool."""
    if step.watched:
        decisions.unwatch(step)
    if step.scope.block is EMPTY:
        decisions.commands.append(Reply(step))
        return None
    return SETTLE


def _surer_fallback(step: StepState, confidence: float) -> int | None:
    """The tool that is asked since this one was not sure enough, if there is one."""
    targets = step.node.targets
    for index in range(step.target + 1, len(targets)):
        target = targets[index]
        if target.condition == "on_low_confidence" and confidence < target.threshold:
            return index
    return None


def _fall_back(decisions: Decisions, step: StepState, index: int, done: Done) -> None:
    decisions.emit(
        ev.FallbackStarted(
            decisions.seq,
            decisions.at,
            step.path,
            index,
            step.node.targets[index].key,
            None,
            done.output,
            done.confidence,
            done.sources,
            done.duration,
        )
    )


def _write_state(decisions: Decisions, step: StepState, whole: Json, output: Json, merged: JsonObject) -> None:
    """Write down what the step writes, then that it succeeded: only with that do the variables change."""
    owner = decisions.state.state_owner(step.scope)
    restored = decisions.restore(whole)
    written, warnings = VariableWriting(step, owner).of(restored, output, merged, lambda: decisions.frame_of(step))
    for code, message in warnings:
        decisions.warn(step.path, code, message)
    for values in written:
        told = decisions.redact(values)
        decisions.emit(ev.StateWritten(decisions.seq, decisions.at, owner.path, told, step.path))


def _jump(decisions: Decisions, step: StepState, target: int, cause: str) -> None:
    block = step.scope.block
    name = "end" if target < 0 else block.nodes[target].id
    decisions.emit(ev.BranchTaken(decisions.seq, decisions.at, step.scope.path, step.node.id, name, cause))


def attempt_failed(decisions: Decisions, step: StepState, failure: Failure, duration: float) -> FollowUp:
    """An attempt failed: try again, ask another tool, or give up."""
    decisions.unwatch(step)
    node, failure = step.node, redacted(failure, decisions.redact)
    if not node.targets:
        return Fail(step, failure, duration)
    target = node.targets[step.target]
    pause = next_delay(target, step.attempt, failure, decisions.chance())
    if pause is not None:
        at = decisions.at
        decisions.emit(ev.StepRetrying(decisions.seq, at, step.path, step.attempt, pause, failure, duration))
        if pause <= 0:
            step.due = None
            return Begin(step)
        assert step.due is not None
        decisions.watch(step, AwaitRetry(step, step.due))
        return SETTLE
    if target.retry.max_retries and step.attempt > target.retry.max_retries:
        failure = exhausted(failure, target.retry.max_retries, node.id)
    index = _next_fallback(step, failure)
    if index is None:
        return Fail(step, failure, duration)
    tool = node.targets[index].key
    decisions.emit(ev.FallbackStarted(decisions.seq, decisions.at, step.path, index, tool, failure, duration=duration))
    return Begin(step)


def _next_fallback(step: StepState, failure: Failure) -> int | None:
    if failure.code in ("denied", "cancelled"):
        return None
    # A write in doubt goes on as well: who wrote the fallback has consented.
    targets = step.node.targets
    for index in range(step.target + 1, len(targets)):
        if targets[index].condition == "on_error":
            return index
    return None


def fail(decisions: Decisions, step: StepState, failure: Failure, duration: float) -> FollowUp | None:
    """All attempts and fallbacks have failed."""
    node, scope, failure = step.node, step.scope, redacted(failure, decisions.redact)
    if step.doubt is not None:
        # An answer that was not sure enough is better than none.
        doubt, step.doubt = step.doubt, None
        done = Done(doubt.output, duration)
        done.confidence, done.sources = doubt.confidence, doubt.sources
        step.target = len(node.targets) - 1
        return Succeed(step, done)
    if decisions.loop_items and scope.block.mode == "stop":
        loops.stop_items(decisions, scope)
    # A limit of the plan is no fault of a tool that the plan could have foreseen.
    continued = node.continues and scope.block is not EMPTY and failure.code not in ("step_visits", "depth")
    if step.scopes:
        for inner in step.scopes:
            cancel_scope(decisions, inner, f"{step.path} failed")
    cut_calls(decisions, step)
    kind = ev.StepTimedOut if failure.code == "timeout" else ev.StepFailed
    decisions.emit(kind(decisions.seq, decisions.at, step.path, failure, duration, continued))
    if continued and node.after_failure is not None and scope.block.flow == "chain":
        _jump(decisions, step, node.after_failure, "on_failure")
    if scope.stopping:
        _stop_block(decisions, scope, f"{node.id} failed")
    return after(decisions, step)


def _stop_block(decisions: Decisions, scope: Scope, reason: str) -> None:
    """Start nothing new in the block and in what is open inside it; what runs may finish."""
    if not scope.block.is_chain:
        for node in scope.block.nodes:
            decisions.state.step_of(scope, node.index)
    for step in list(scope.steps.values()):
        stop_step(decisions, step, reason)
        for inner in list(step.scopes or ()):
            if not inner.done:
                _stop_block(decisions, inner, reason)


def stop_step(decisions: Decisions, step: StepState, reason: str) -> None:
    """Do not start the step, nor wait for people any more; one that runs may finish."""
    # What only looks at how others ended still starts: it may be there to clean up.
    if step.status in ("pending", "ready", "waiting") and not step.entered and not step.node.soft:
        decisions.skip(step, reason, spreads=True)
    elif step.status == "waiting" and (step.node.kind == "ask" or step.held):
        cancel_step(decisions, step, reason)
