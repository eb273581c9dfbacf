"""Decisions at the end of a step or a block: retry, fallback, variables, branch, next item, join, the run's end.

Pure: decides by state and events, writes events, and leaves commands for the runner. Clock and chance are given to it.
"""

from __future__ import annotations

from collections.abc import Callable

from toolpath.engine.decide.bounds import block_limit
from toolpath.engine.decide.cancel import cancel_scope, cancel_step, cut_calls, fail_run
from toolpath.engine.decide.joins import Verdict, loop_verdict, may_begin, parallel_verdict, won_by
from toolpath.engine.decide.retries import next_delay
from toolpath.engine.decide.starts import Starts
from toolpath.engine.state import ends
from toolpath.engine.state.instances import EMPTY, Lane, Scope, StepState
from toolpath.engine.state.resolve import Resolved, failure_of, resolve, resolve_outputs
from toolpath.engine.state.results import Done, exhausted, redacted
from toolpath.engine.state.state import State
from toolpath.engine.state.variables import Writing
from toolpath.expressions.names import Frame
from toolpath.model import events as ev
from toolpath.model.events import Failure
from toolpath.model.redaction import is_redacted
from toolpath.values import Json, JsonObject


class Control(Starts):
    """Decides for one run."""

    def __init__(self, state: State, *, chance: Callable[[], float], view: Callable[[Scope], Frame]) -> None:
        super().__init__(state, view=view)
        self.lane_of: Callable[[StepState], Lane | None] = lambda _: None
        """How the items of a loop are called, where each is one call."""
        self.lanes: dict[StepState, Lane] = {}
        """Loops whose items are called so."""
        self._chance = chance

    # What goes into the journal, without any secret.

    def skip(self, step: StepState, reason: str, *, spreads: bool = False) -> None:
        """The step will not run."""
        super().skip(step, str(self.redact(reason)), spreads=spreads)

    def warn(self, path: str, code: str, message: str) -> None:
        """Something to know that stops nothing."""
        super().warn(path, code, str(self.redact(message)))

    # A step has ended.

    def succeed(self, step: StepState, done: Done, merged: JsonObject | None = None) -> None:
        """The step's call, block or form gave an output. `merged`: variables that were written inside it."""
        node = step.node
        if done.confidence is not None and len(node.targets) > 1 and self._doubted(step, done):
            return
        if step.doubt is not None and (step.doubt.confidence or 0.0) >= (
            1.0 if done.confidence is None else done.confidence
        ):
            done.output, done.confidence, done.sources = step.doubt.output, step.doubt.confidence, step.doubt.sources
            done.output, done.handle = self.restore(done.output), None
        output = done.output if done.handle is None else done.handle
        if step.calls:
            # First what is inside it: with this success the item around it may be over, and nothing in it is left.
            cut_calls(self, step)
        if merged or node.map_outputs or node.transform:
            self._write_state(step, done.output, output, merged or {})
        self.emit(
            ev.StepSucceeded(
                self.state.seq + 1,
                self.at,
                step.path,
                output,
                done.duration,
                done.cached,
                done.confidence,
                done.sources,
                done.cost,
                done.tokens,
                large=done.handle is not None,
            )
        )
        if node.after_success is not None and step.scope.block.flow == "chain":
            self._jumped(step, node.after_success, "on_success")
        self._after(step)

    def _after(self, step: StepState) -> None:
        if step.watched:
            self.unwatch(step)
        if step.scope.block is EMPTY:
            self.reply_to(step)
            return
        self.settle()

    def _doubted(self, step: StepState, done: Done) -> bool:
        """Whether another tool is asked since this one was not sure enough."""
        targets = step.node.targets
        for index in range(step.target + 1, len(targets)):
            target = targets[index]
            assert done.confidence is not None
            if target.condition == "on_low_confidence" and done.confidence < target.threshold:
                event = ev.FallbackStarted(
                    self.seq,
                    self.at,
                    step.path,
                    index,
                    target.key,
                    None,
                    done.output,
                    done.confidence,
                    done.sources,
                    done.duration,
                )
                self.emit(event)
                self.begin(step)
                self.settle()
                return True
        return False

    def _write_state(self, step: StepState, whole: Json, output: Json, merged: JsonObject) -> None:
        """Write down what the step writes, then that it succeeded: only with that do the variables change."""
        owner = self.state.state_owner(step.scope)
        written, warnings = Writing(step, owner).of(self.restore(whole), output, merged, lambda: self.frame_of(step))
        for code, message in warnings:
            self.warn(step.path, code, message)
        for values in written:
            self.emit(ev.StateWritten(self.seq, self.at, owner.path, self.redact(values), step.path))

    def _jumped(self, step: StepState, target: int, cause: str) -> None:
        block = step.scope.block
        name = "end" if target < 0 else block.nodes[target].id
        self.emit(ev.BranchTaken(self.seq, self.at, step.scope.path, step.node.id, name, cause))

    def attempt_failed(self, step: StepState, failure: Failure, duration: float) -> None:
        """An attempt failed: try again, ask another tool, or give up."""
        self.unwatch(step)
        node, failure = step.node, redacted(failure, self.redact)
        if node.targets:
            target = node.targets[step.target]
            pause = next_delay(target, step.attempt, failure, self._chance())
            if pause is not None:
                self.emit(ev.StepRetrying(self.seq, self.at, step.path, step.attempt, pause, failure, duration))
                if pause > 0:
                    self.watch(step, self.timers, step)
                else:
                    self.retry_now(step)
                self.settle()
                return
            if target.retry.max_retries and step.attempt > target.retry.max_retries:
                failure = exhausted(failure, target.retry.max_retries, node.id)
            index = self._next_fallback(step, failure)
            if index is not None:
                tool = node.targets[index].key
                self.emit(ev.FallbackStarted(self.seq, self.at, step.path, index, tool, failure, duration=duration))
                self.begin(step)
                self.settle()
                return
        self.fail(step, failure, duration)

    def retry_now(self, step: StepState) -> None:
        """The pause is over: begin the next attempt."""
        step.due = None
        self.begin(step)

    def _next_fallback(self, step: StepState, failure: Failure) -> int | None:
        if failure.code in ("denied", "cancelled"):
            return None
        targets = step.node.targets
        for index in range(step.target + 1, len(targets)):
            if targets[index].condition == "on_error":
                return index
        return None

    def fail(self, step: StepState, failure: Failure, duration: float = 0.0) -> None:
        """All attempts and fallbacks have failed."""
        node, scope, failure = step.node, step.scope, redacted(failure, self.redact)
        if step.doubt is not None:
            # An answer that was not sure enough is better than none.
            doubt, step.doubt = step.doubt, None
            done = Done(doubt.output, duration)
            done.confidence, done.sources = doubt.confidence, doubt.sources
            step.target = len(node.targets) - 1
            self.succeed(step, done)
            return
        if self.lanes and scope.block.mode == "stop":
            self._stop_lanes(scope)
        # A limit of the plan is no fault of a tool that the plan could have foreseen.
        continued = node.continues and scope.block is not EMPTY and failure.code not in ("step_visits", "depth")
        if step.scopes:
            for inner in step.scopes:
                cancel_scope(self, inner, f"{step.path} failed")
        cut_calls(self, step)
        kind = ev.StepTimedOut if failure.code == "timeout" else ev.StepFailed
        self.emit(kind(self.seq, self.at, step.path, failure, duration, continued))
        if continued and node.after_failure is not None and scope.block.flow == "chain":
            self._jumped(step, node.after_failure, "on_failure")
        if scope.stopping:
            self.stop_block(scope, f"{node.id} failed")
        self._after(step)

    def stop_block(self, scope: Scope, reason: str) -> None:
        """Start nothing new in the block and in what is open inside it; what runs may finish."""
        if not scope.block.is_chain:
            for node in scope.block.nodes:
                self.state.step_of(scope, node.index)
        for step in list(scope.steps.values()):
            # What only looks at how others ended still starts: it may be there to clean up.
            if step.status in ("pending", "ready", "waiting") and not step.entered and not step.node.soft:
                self.skip(step, reason, spreads=True)
            elif step.status == "waiting" and (step.node.kind == "ask" or step.held):
                cancel_step(self, step, reason)
            for inner in list(step.scopes or ()):
                if not inner.done:
                    self.stop_block(inner, reason)

    # A block has ended.

    def block_finished(self, scope: Scope) -> None:
        """Nothing of the block is left to run."""
        owner = scope.owner
        if owner is None:
            self._finish_run(scope)
        elif owner.status != "running":
            return
        elif scope.halted:
            if not any(not other.done for other in owner.scopes or ()):
                self.emit(ev.StepCancelled(self.seq, self.at, owner.path, scope.halted))
                self._after(owner)
        elif owner.node.kind == "loop":
            self._item_finished(owner, scope)
        elif owner.node.kind == "parallel":
            self._branch_finished(owner, scope)
        else:
            self._plan_finished(owner, scope)

    def _item_finished(self, owner: StepState, scope: Scope) -> None:
        collect = owner.node.collect
        if collect is not None and scope.failure is None:
            scope.last = ends.default_output(scope)
            found = resolve(collect, self.view(scope), owner.node.on_unresolved)
            for fault in found.missing:
                self.warn(scope.path, "unresolved", str(fault))
            if found.failure is not None:
                self.emit(ev.StepFailed(self.seq, self.at, scope.path, redacted(found.failure, self.redact)))
            else:
                self.emit(ev.StepSucceeded(self.seq, self.at, scope.path, self.redact(found.value)))
        self.feed(owner)

    def feed(self, owner: StepState) -> None:
        """Begin as many items as may run, or end the loop."""
        if owner not in self.begun and not self._renewed(owner):
            return
        body = owner.node.blocks[0]
        if owner.lane is None and owner.node.light and (lane := self.lane_of(owner)) is not None:
            owner.lane = self.lanes[owner] = lane
        if owner.lane is not None:
            owner.lane.queue()
        while owner.lane is None and self.halted is None and may_begin(owner, len(self.state.scopes)):
            assert owner.loop is not None
            self.open_block(self.state.open(owner, body, branch=owner.loop.next))
        verdict = loop_verdict(owner)
        if verdict is not None:
            self._conclude(owner, verdict)

    def _renewed(self, owner: StepState) -> bool:
        """Take up a loop that another driver began; False where it cannot go on.

        Secrets are in no journal: what its items hold of them is found anew, from the outermost loop inwards.
        """
        scope = owner.scope
        while scope.owner is not None and scope.owner.loop is None:
            scope = scope.owner.scope
        if scope.owner is not None and scope.owner not in self.begun and not self._renewed(scope.owner):
            return False
        self.begun.add(owner)
        assert owner.loop is not None
        assert owner.node.over is not None
        if not is_redacted(owner.loop.items):
            return True
        found = resolve(owner.node.over, self.frame_of(owner), owner.node.on_unresolved)
        if found.failure is not None:
            self.fail(owner, found.failure)
            return False
        items = found.value
        if not isinstance(items, list) or len(items) != len(owner.loop.items):
            message = f"`over` of {owner.path} holds a secret, and does not give the list any more that it gave."
            self.fail(owner, Failure(type="LoopOverChanged", message=message, code="validation"))
            return False
        owner.loop.items = items
        for inner in owner.scopes or ():
            inner.item = items[inner.branch]
        return True

    def _branch_finished(self, owner: StepState, scope: Scope) -> None:
        verdict = parallel_verdict(owner, scope)
        if verdict is not None:
            self._decide(owner, verdict)

    def branch_won(self, owner: StepState) -> None:
        """Go on with a `parallel` of which no more than the winner was said."""
        scopes = owner.scopes or []
        self._decide(owner, won_by(next(scope for scope in scopes if scope.block.id == owner.winner), scopes))

    def _decide(self, owner: StepState, verdict: Verdict) -> None:
        if verdict.winner and not owner.winner:
            self.emit(ev.BranchTaken(self.seq, self.at, owner.path, owner.node.id, verdict.winner, "winner"))
        for branch in verdict.losers:
            cancel_scope(self, branch, f"{verdict.winner} was first")
        self._conclude(owner, verdict)

    def _leave_lane(self, owner: StepState) -> None:
        if owner.lane is not None:
            owner.lane.close()
            owner.lane = None
            self.lanes.pop(owner, None)

    def leave_lanes(self) -> None:
        """Give every item that is under way its step, and begin others as blocks."""
        for owner in list(self.lanes):
            self._leave_lane(owner)
            self.feed(owner)
        self.settle()

    def _stop_lanes(self, scope: Scope) -> None:
        """The block is being stopped: what is called without a block of its own in it gets one, to be stopped too."""
        for owner in list(self.lanes):
            outer: Scope | None = owner.scope
            while outer is not None and outer is not scope:
                outer = outer.owner.scope if outer.owner is not None else None
            if outer is None:
                continue
            self._leave_lane(owner)
            if owner.loop is not None and not owner.loop.active and may_begin(owner):
                self.open_block(self.state.open(owner, owner.node.blocks[0], branch=owner.loop.next))

    def _conclude(self, owner: StepState, verdict: Verdict) -> None:
        self.begun.discard(owner)
        self._leave_lane(owner)
        if verdict.failure is not None:
            self.attempt_failed(owner, verdict.failure, self._since(owner))
            return
        self.succeed(owner, Done(self.redact(verdict.output), self._since(owner)), verdict.writes)

    def _plan_finished(self, owner: StepState, scope: Scope) -> None:
        if scope.failure is not None:
            self.attempt_failed(owner, scope.failure, self._since(owner))
            return
        target = owner.node.targets[owner.target]
        found = self._block_output(scope)
        output = found.value
        if found.failure is None and target.returns is not None and target.validation == "strict":
            try:
                output = target.returns.accept(output)
            except Exception as error:  # noqa: BLE001  # an error of our own fails this step, and no more
                found.failure = failure_of(error)
        if found.failure is not None:
            self.attempt_failed(owner, found.failure, self._since(owner))
        else:
            self.succeed(owner, Done(self.redact(output), self._since(owner)))

    def _block_output(self, scope: Scope) -> Resolved:
        block = scope.block
        if block.outputs is None:
            return Resolved(ends.default_output(scope))
        found = resolve_outputs(block.outputs, self.view(scope), block.plan.on_unresolved if block.plan else "error")
        for fault in found.missing:
            self.warn(scope.path, "unresolved", f"outputs: {fault}")
        return found

    def _since(self, step: StepState) -> float:
        return max(0.0, self.at - (step.started_at or self.at) - step.duration)

    def _finish_run(self, scope: Scope) -> None:
        if self.halted is not None:
            fail_run(self, *self.halted)
            return
        if scope.failure is not None:
            outputs = ends.default_output(scope) if scope.block.by_id else None
            self.emit(ev.RunFailed(self.seq, self.at, "", scope.failure, outputs))
            return
        found = self._block_output(scope)
        if found.failure is not None:
            self.emit(ev.RunFailed(self.seq, self.at, "outputs", redacted(found.failure, self.redact)))
            return
        outputs = self.redact(found.value)
        status = "completed_with_errors" if self.state.errors else "completed"
        self.emit(ev.RunCompleted(self.seq, self.at, status, outputs, len(self.state.warnings)))  # type: ignore[arg-type]

    def block_lost(self, step: StepState, failure: Failure, why: str = "failed") -> None:
        """A block cannot go on: what is open in it is cut off."""
        self._leave_lane(step)
        for inner in list(step.scopes or ()):
            cancel_scope(self, inner, f"{step.path} {why}")
        self.attempt_failed(step, failure, self._since(step))

    def block_timed_out(self, step: StepState) -> None:
        """A block took longer than it may."""
        if step.status != "running":
            return
        message = f"{step.path} took longer than {block_limit(step):g} s."
        self.block_lost(step, Failure(type="Timeout", message=message, code="timeout", retryable=True), "timed out")
