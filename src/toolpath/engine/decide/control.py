"""Control of a run: follows what its events set free, one decision after the other, until it waits for others.

Pure: decides by state and events, writes events, and leaves commands for the driver. Clock and chance are given to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from toolpath.engine.compile.nodes import CallTarget
from toolpath.engine.decide import block_ends, loops, starts, step_ends, step_values
from toolpath.engine.decide.bounds import block_limit
from toolpath.engine.decide.commands import SettleLater
from toolpath.engine.decide.decisions import Decisions
from toolpath.engine.decide.follow_ups import SETTLE, Begin, Fail, FailAttempt, FollowUp, Settle, Succeed, Wait
from toolpath.engine.state.instances import StepState
from toolpath.engine.state.resolve import Resolved
from toolpath.engine.state.results import Done
from toolpath.expressions.compile import Compiled
from toolpath.model.events import Failure
from toolpath.values import JsonObject


class Control:
    """Makes the decisions of one run in their order."""

    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions
        self.unsettled = False
        """Steps that were set free are followed further in another turn."""
        self._settling = False

    # What follows.

    def settle(self) -> None:
        """Follow everything that the latest events have set free, until only calls, timers and people remain."""
        decisions, state = self.decisions, self.decisions.state
        if self._settling:
            # What is decided on the way is followed by the loop below, not by a deeper one.
            return
        self.unsettled = False
        turn, gate = decisions.turn, decisions.gate
        if not (state.unblocked or state.finished or gate.closings):
            return
        self._settling = True
        try:
            while state.unblocked or state.finished or (gate.closings and gate.release()):
                unblocked, state.unblocked = state.unblocked, []
                left = len(unblocked)
                for scope, index in unblocked:
                    follow_up = starts.arrive(decisions, scope, index)
                    if follow_up is not None:
                        self.follow(follow_up)
                    left -= 1
                    if left and turn.is_full():
                        state.unblocked = unblocked[-left:] + state.unblocked
                        break
                if state.finished:
                    self._end_blocks()
                if (state.unblocked or state.finished) and turn.is_full():
                    # What the plan does without any call must not keep all others waiting.
                    self.unsettled = True
                    decisions.commands.append(SettleLater())
                    return
        finally:
            self._settling = False

    def _end_blocks(self) -> None:
        """End the blocks of which nothing is left to run, as many as this turn has room for."""
        decisions, state = self.decisions, self.decisions.state
        finished, state.finished = state.finished, []
        left = len(finished)
        for scope in finished:
            self.follow(block_ends.block_finished(decisions, scope))
            left -= 1
            if left and decisions.turn.is_full():
                state.finished = finished[-left:] + state.finished
                break

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Decide what is decided inside without following it: `settle` does, afterwards."""
        before, self._settling = self._settling, True
        try:
            yield
        finally:
            self._settling = before

    def follow(self, follow_up: FollowUp | None) -> None:
        """Make the decision that is due, and those that are due because of it."""
        decisions = self.decisions
        settles = False
        while follow_up is not None:
            match follow_up:
                case Settle():
                    settles, follow_up = True, None
                case Begin(step):
                    settles, follow_up = True, starts.begin(decisions, step)
                case Succeed(step, done, merged):
                    follow_up = step_ends.succeed(decisions, step, done, merged)
                case FailAttempt(step, failure, duration):
                    follow_up = step_ends.attempt_failed(decisions, step, failure, duration)
                case Fail(step, failure, duration):
                    follow_up = step_ends.fail(decisions, step, failure, duration)
                case Wait():
                    follow_up = None
        if settles:
            self.settle()

    # Steps.

    def begin(self, step: StepState) -> None:
        """Begin the step, or have a person asked about it."""
        self.follow(starts.begin(self.decisions, step))

    def retry_now(self, step: StepState) -> None:
        """The pause is over: begin the next attempt."""
        step.due = None
        self.begin(step)

    def succeed(self, step: StepState, done: Done) -> None:
        """The step's call or form gave an output."""
        follow_up = step_ends.succeed(self.decisions, step, done, None)
        if follow_up is SETTLE:
            self.settle()
        else:
            self.follow(follow_up)

    def attempt_failed(self, step: StepState, failure: Failure, duration: float) -> None:
        """An attempt failed: try again, ask another tool, or give up."""
        self.follow(FailAttempt(step, failure, duration))

    def fail(self, step: StepState, failure: Failure) -> None:
        """The step has failed, whatever retries and fallbacks it has."""
        self.follow(Fail(step, failure))

    def inputs_of(self, step: StepState, target: CallTarget) -> JsonObject | None:
        """The inputs of the step's call, fitting its schema; None where the step has gone on for want of them."""
        found = step_values.inputs_of(self.decisions, step, target)
        if isinstance(found, dict):
            return found
        self.follow(found)
        return None

    def resolved(self, step: StepState, compiled: Compiled) -> Resolved | None:
        """The value of an expression of the step; None where the step has ended for want of it."""
        found = step_values.resolved(self.decisions, step, compiled)
        if isinstance(found, Resolved):
            return found
        self.follow(found)
        return None

    # Blocks.

    def feed(self, owner: StepState) -> None:
        """Begin as many items of the loop as may run, or end it."""
        self.follow(loops.feed(self.decisions, owner))

    def branch_won(self, owner: StepState) -> None:
        """Go on with a `parallel` of which no more than the winner was said."""
        self.follow(block_ends.branch_won(self.decisions, owner))

    def leave_loop_items(self) -> None:
        """Give every item that is under way its step, and begin others as blocks."""
        for owner in list(self.decisions.loop_items):
            loops.close_items(self.decisions, owner)
            self.feed(owner)
        self.settle()

    def block_lost(self, step: StepState, failure: Failure, why: str = "failed") -> None:
        """A block cannot go on: what is open in it is cut off."""
        self.follow(block_ends.block_lost(self.decisions, step, failure, why))

    def block_timed_out(self, step: StepState) -> None:
        """A block took longer than it may."""
        if step.status != "running":
            return
        message = f"{step.path} took longer than {block_limit(step):g} s."
        self.block_lost(step, Failure(type="Timeout", message=message, code="timeout", retryable=True), "timed out")
