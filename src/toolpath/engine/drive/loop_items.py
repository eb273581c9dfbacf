"""Items of a loop that are one call each, called without a block and a step of their own.

Most items of a large loop are a call that succeeds. Of these the run keeps a count and a result; its journal has the
events that it always has. As soon as anything else happens to an item (it fails, is cut off, its result is large) it
is given its block and its step, which are those that the journal tells of, and goes on as any other.
"""

from __future__ import annotations

from typing import Any

from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.drive import Drive
from toolpath.engine.state import ends
from toolpath.engine.state.fold import HANDLERS
from toolpath.engine.state.instances import LoopProgress, Scope, StepState
from toolpath.engine.state.paths import call_key, scope_name
from toolpath.engine.state.resolve import without_nulls
from toolpath.engine.state.results import Done
from toolpath.engine.state.weights import weight_of_value
from toolpath.errors import ExpressionError, SchemaError
from toolpath.model import events as ev
from toolpath.values import JsonObject

#: In the place of the step that an item's call has not.
_NO_STEP: Any = None


class ItemAttempt(Attempt, eq=False, kw_only=True):
    """The call of an item. Its `step` is made when somebody asks for it."""

    loop_items: LoopItems
    index: int
    event: ev.StepStarted
    _step: StepState | None = None

    @property  # type: ignore[misc]
    def step(self) -> StepState:  # type: ignore[override]
        """Its step. A property of its own: with `__getattr__` each look at any attribute would cost a multiple."""
        return self.loop_items.open(self) if self._step is None else self._step

    def where(self) -> tuple[str, str, int]:
        """Run, path and number of the attempt."""
        return self.loop_items.run_id, self.event.path, 1


class LoopItems:
    """The items of one loop that are still to come, and those under way."""

    def __init__(self, drive: Drive, owner: StepState, loop: LoopProgress, *, concurrency: int, most: int) -> None:
        state, node = drive.state, owner.node
        block = node.blocks[0]
        call = block.nodes[0]
        self.drive = drive
        self._state = state
        self._decisions = drive.decisions
        self._large = drive.large
        self._inline = drive.decisions.ceilings.inline
        self.owner = owner
        self.loop = loop
        self.concurrency = concurrency
        self.most = most
        """Calls that the run may make."""
        self._inputs_weigh = 0
        """Weight of the inputs that were computed last."""
        self.run_id = state.run_id
        self.target = call.targets[0]
        self.timeout = self.target.timeout if self.target.timeout is not None else drive.time_limits.of(self.target)
        self.needs = state.seq
        """The last event of those that set the items free."""
        self.flying: dict[int, ItemAttempt] = {}
        """By item: calls under way of which there is no step."""
        self.queued = False
        """It stands among what is ready."""
        self._id = call.id
        self._collect = node.collect
        self._asks_last = node.collect is None or any(
            getattr(reference.root, "kind", "") == "last" for reference in node.collect.references
        )
        name = scope_name(node.id, 0, owner.visit, owner.entry)
        head, _, tail = (owner.scope.prefix + name).rpartition("[0]")
        self._head, self._tail = f"{head}[", f"]{tail}"
        # One frame for all: an expression is evaluated from its begin to its end before the next one.
        self._frame = Scope(block, owner, "")
        state.frame(self._frame, owner.scope)
        done = StepState(call, self._frame, "", 1)
        done.status = "succeeded"
        self._frame.steps[0] = done
        rank, outer = block.rank, owner.scope
        base = outer.base + (outer.block.rank[node.index] if node.index < len(outer.block.rank) else 0.0)
        self._weight = base + (rank[0] if rank else 0.0)

    @property
    def room(self) -> int:
        """How many more items may begin now."""
        return min(self.concurrency - self.loop.active, len(self.loop.items) - self.loop.next)

    def queue(self) -> None:
        """Stand among what is ready, as long as an item may begin."""
        loop = self.loop
        if (
            not self.queued
            and loop.active < self.concurrency
            and loop.next < len(loop.items)
            and loop.failure is None
            and not loop.halted
        ):
            self.queued = True
            self.drive.decisions.ready.push_loop(self.owner, self._weight)

    def take(self) -> ItemAttempt | None:
        """The next item's call for who has taken the loop from what is ready."""
        self.queued = False
        return self.next()

    def next(self) -> ItemAttempt | None:
        """The next item's call, its start written; None where none may begin, or it has to be begun as a block."""
        loop, state, decisions = self.loop, self._state, self._decisions
        index = loop.next
        if (
            loop.active >= self.concurrency
            or index >= len(loop.items)
            or loop.failure is not None
            or loop.halted
            or self.owner.loop_items is not self
            or decisions.is_too_long(self.owner.path)
        ):
            return None
        inputs = self._inputs(index)
        if inputs is None:
            ends.open_block(state, state.open(self.owner, self._frame.block, branch=index))
            self.drive.control.settle()
            self.queue()
            return None
        path = f"{self._head}{index}{self._tail}/{self._id}"
        key = call_key(self.run_id, path, 0, state.program.revision)
        state.seq = seq = state.seq + 1
        state.last_at = at = decisions.at
        started = ev.StepStarted(seq, at, path, 1, self.target.key, inputs, self.timeout, key)
        decisions.batch.append(started)
        decisions.bytes += self._inputs_weigh
        # What the event changes, where there is no step: as `fold` has it.
        state.calls += 1
        loop.next = index + 1
        loop.active += 1
        # One after the other: each is set free by the end of the one before.
        needs = self.needs if self.concurrency > 1 else seq - 1
        attempt = self.flying[index] = ItemAttempt(
            _NO_STEP, self.target, inputs, key, self.timeout, needs,
            light=True, loop_items=self, index=index, event=started,
        )  # fmt: skip
        if loop.active < self.concurrency and not self.queued:
            self.queue()
        return attempt

    def _inputs(self, index: int) -> JsonObject | None:
        """The inputs of the item's call; None where they have to be looked into."""
        decisions, target, frame = self._decisions, self.target, self._frame
        if decisions.redactor.active or self._large.values or self._state.calls >= self.most:
            return None
        frame.item = self.loop.items[index]
        try:
            inputs: JsonObject = target.inputs.evaluate(frame)
            if target.droppable:
                inputs = without_nulls(inputs, target)
            is_valid = target.is_valid
            if not is_valid(inputs):
                return None
            self._inputs_weigh = weight = weight_of_value(inputs)
        except (ExpressionError, SchemaError, ValueError, TypeError):
            return None
        return inputs if weight <= self._inline else None

    def succeed(self, attempt: ItemAttempt, done: Done) -> bool:
        """Write that the item's call succeeded and what the item gives; false where that takes a step.

        The worker that made the call takes the next one, or has the loop queue for others.
        """
        loop, index, decisions = self.loop, attempt.index, self._decisions
        if not attempt.light or done.handle is not None or done.warning:
            return False
        if decisions.redactor.active or self._large.values:
            return False
        frame, output, collect = self._frame, done.output, self._collect
        weight = weight_of_value(output) if done.weight is None else done.weight
        if weight > decisions.largest:  # noqa: PLR1730  # with each item, as `Decisions.emit` has it
            decisions.largest = weight
        frame.item = loop.items[index]
        frame.outputs = {self._id: output}
        given = output
        if self._asks_last:
            frame.last = output
            given = frame.last = ends.default_output(frame)
        state, at = self._state, decisions.at
        seq = state.seq + 1
        succeeded = ev.StepSucceeded(
            seq, at, attempt.event.path, output, done.duration, False,
            done.confidence, done.sources, done.cost, done.tokens,
        )  # fmt: skip
        if collect is None:
            decisions.batch.append(succeeded)
        else:
            try:
                given = collect.evaluate(frame)
            except ExpressionError:
                return False
            weighs = weight_of_value(given)
            if weighs > self._inline:
                return False
            seq, weight = seq + 1, weight + weighs
            collected = ev.StepSucceeded(seq, at, f"{self._head}{index}{self._tail}", given)
            decisions.batch += (succeeded, collected)
        decisions.bytes += weight
        state.seq, state.last_at = seq, at
        if done.cost:
            state.cost += done.cost
        if done.tokens:
            state.tokens += done.tokens
        loop.results[index] = given
        loop.active -= 1
        del self.flying[index]
        if loop.next >= len(loop.items) or loop.failure is not None:
            self.drive.control.feed(self.owner)
            self.drive.control.settle()
        return True

    def open(self, attempt: ItemAttempt) -> StepState:
        """The step of an item's call: as the journal has it."""
        state = self.drive.state
        del self.flying[attempt.index]
        seq, at = state.seq, state.last_at
        state.calls -= 1
        self.loop.active -= 1
        HANDLERS[ev.StepStarted](state, attempt.event)
        state.seq, state.last_at = seq, at
        attempt._step = step = state.steps[attempt.event.path]
        attempt.light = False
        self.drive.running[step] = attempt
        return step

    def close(self) -> None:
        """Something else than success comes to the loop: every item under way is given its step."""
        for attempt in list(self.flying.values()):
            self.open(attempt)
