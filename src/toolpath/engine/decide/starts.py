"""Start of a step: visits, condition, exclusiveness, approval, and the begin of each kind. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from heapq import heappush

from toolpath.engine.compile.nodes import Target
from toolpath.engine.decide.bounds import block_limit, too_deep, too_many_visits
from toolpath.engine.decide.decider import Decider, ReadyStep
from toolpath.engine.decide.exclusive import ExclusiveGate
from toolpath.engine.state import ends
from toolpath.engine.state.instances import EMPTY, Scope, StepState
from toolpath.engine.state.resolve import Resolved, failure_of, resolve, resolve_inputs
from toolpath.engine.state.results import Done, unfit_of_secrets
from toolpath.engine.state.state import State
from toolpath.errors import SchemaError
from toolpath.expressions.compile import Compiled
from toolpath.expressions.names import Frame
from toolpath.model import events as ev
from toolpath.model.events import Failure
from toolpath.model.policy import refusal
from toolpath.values import Json, JsonObject, digest

Fail = Callable[[StepState, Failure, float], None]

#: What beginning a step counts for in a turn, in elements visited.
OF_STEP = 100
_WORDS = {"failed": "failed", "timed_out": "timed out", "cancelled": "was cancelled"}


class Starts(Decider):
    """Begins steps. What follows their end is added by `Control`."""

    def __init__(self, state: State, *, view: Callable[[Scope], Frame]) -> None:
        super().__init__(state, view=view)
        self._tick = 0
        self._settling = False
        self.unsettled = False
        """What was set free is followed further in another turn."""
        self.gate = ExclusiveGate(self)
        self.enter: Callable[[StepState, Target], bool] = lambda _, __: True
        """Whether a plan may begin now, by the limits of the tool whose body it is; else it begins when it may."""
        self.take_up_places: Callable[[StepState], None] = lambda _: None
        """A plan goes on that another driver began: it is under the limits of the tool whose body it is."""
        self.begun: set[StepState] = set()
        """Loops whose items are known as they are, not as the journal has them."""

    def settle(self) -> None:
        """Follow everything that the latest events have set free, until only calls, timers and people remain."""
        state = self.state
        if self._settling:
            # What is decided on the way is followed by the loop below, not by a deeper one.
            return
        self._settling, self.unsettled = True, False
        try:
            while state.unblocked or state.finished or (self.gate.closings and self.gate.release()):
                unblocked, state.unblocked = state.unblocked, []
                for count, (scope, index) in enumerate(unblocked, start=1):
                    self.arrive(scope, index)
                    if self.turn.is_full and count < len(unblocked):
                        state.unblocked = unblocked[count:] + state.unblocked
                        break
                finished, state.finished = state.finished, []
                for count, scope in enumerate(finished, start=1):
                    self.block_finished(scope)
                    if self.turn.is_full and count < len(finished):
                        state.finished = finished[count:] + state.finished
                        break
                if self.turn.is_full and (state.unblocked or state.finished):
                    # What the plan does without any call must not keep all others waiting.
                    self.unsettled = self.has_commands = True
                    return
        finally:
            self._settling = False

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Decide what is decided inside without following it: `settle` does, afterwards."""
        before, self._settling = self._settling, True
        try:
            yield
        finally:
            self._settling = before

    def open_block(self, scope: Scope) -> None:
        """Begin the block: its first steps may start."""
        block = scope.block
        if not block.nodes:
            ends.block_done(self.state, scope)
        for index in block.roots:
            self.state.unblocked.append((scope, index))

    # A step may start.

    def arrive(self, scope: Scope, index: int) -> None:
        """Everything the step waited for has ended."""
        if scope.done or self.halted is not None or self.is_too_long(scope.prefix + scope.block.nodes[index].id):
            return
        self.turn.charge(OF_STEP)
        block = scope.block
        visit = 1
        if block.flow == "chain":
            visit = self._visit(scope, index)
        step = self.state.step_of(scope, index, visit)
        if step.status != "pending":
            return
        node = step.node
        if visit > block.max_visits:
            self.fail(step, too_many_visits(node, block.max_visits))
            return
        if scope.trouble and self._skipped_by_trouble(step):
            return
        if node.plain:
            self.push(step)
        elif node.when is None or self._condition(step):
            self.begin(step)

    def _visit(self, scope: Scope, index: int) -> int:
        if scope.visits is None:
            scope.visits = {}
            # A resumed chain has visited what its steps say.
            for known, step in scope.steps.items():
                scope.visits[known] = step.visit if step.status != "pending" else step.visit - 1
        scope.visits[index] = visit = scope.visits.get(index, 0) + 1
        return visit

    def _skipped_by_trouble(self, step: StepState) -> bool:
        scope, node = step.scope, step.node
        if scope.block.is_chain:
            if scope.halted:
                self.skip(step, scope.halted, spreads=True)
            return bool(scope.halted)
        for dep in node.deps:
            cause = scope.steps.get(dep)
            if cause is None:
                continue
            failed = cause.status in ("failed", "timed_out", "cancelled") and not cause.continued
            if failed or (cause.status == "skipped" and cause.spreads):
                word = _WORDS.get(cause.status, "was skipped")
                self.skip(step, f"{cause.node.id} {word}", spreads=True)
                return True
        if scope.stopping and not node.soft:
            self.skip(step, "the run was stopping", spreads=True)
            return True
        return False

    def _condition(self, step: StepState) -> bool:
        assert step.node.when is not None
        found = self.resolved(step, step.node.when)
        if found is None:
            return False
        if found.value:
            return True
        source = step.node.step.when
        self.skip(step, f"when: {source}")
        return False

    def resolved(self, step: StepState, compiled: Compiled) -> Resolved | None:
        """What an expression of the step gives; None where the step has ended for want of it."""
        return self.heed(step, resolve(compiled, self.frame_of(step), step.node.on_unresolved), self.fail)

    def inputs_of(self, step: StepState, target: Target) -> JsonObject | None:
        """What the step's call is given, fitting its schema; None where the step has gone on for want of it."""
        inputs = step.given
        if inputs is None:
            found = resolve_inputs(target, self.frame_of(step), step.node.on_unresolved)
            if self.heed(step, found, self.attempt_failed) is None:
                return None
            inputs = found.value
        try:
            accepted: JsonObject = target.accepts.accept(inputs)
        except Exception as error:  # noqa: BLE001  # an error of our own fails this step, and no more
            self.attempt_failed(step, self.unfit(error, inputs), 0.0)
            return None
        return accepted

    def heed(self, step: StepState, found: Resolved, fail: Fail) -> Resolved | None:
        """What was found, its warnings written; None where the step is skipped or fails for want of a value."""
        for fault in found.missing:
            self.warn(step.path, "unresolved", str(fault))
        if found.failure is not None:
            fail(step, found.failure, 0.0)
        elif found.skipped:
            self.skip(step, found.skipped)
            self.settle()
        else:
            return found
        return None

    def unfit(self, error: Exception, inputs: Json) -> Failure:
        """The failure of inputs that do not fit, without any secret nor a piece of one."""
        if isinstance(error, SchemaError) and self.redact(inputs) != inputs:
            return unfit_of_secrets(error)
        return failure_of(error)

    def begin(self, step: StepState) -> None:
        """Nothing is in the step's way but a person's word, where one is needed, the gate, and a slot."""
        node = step.node
        if step.approved is None and self._asks_approval(step):
            return
        is_call = bool(node.targets) and node.targets[step.target].plan is None
        if not is_call and self.state.program.has_exclusive and not self.gate.admits(step):
            return
        match node.kind:
            case "call" | "nested":
                if node.targets[step.target].plan is None:
                    self.push(step)
                else:
                    self._begin_plan(step)
            case "parallel":
                self.emit(ev.StepStarted(self.seq, self.at, step.path))
                self.watch_block(step)
                if not node.blocks:
                    self.succeed(step, Done({}, 0.0))
                for scope in list(step.scopes or ()):
                    self.open_block(scope)
            case "loop":
                self._begin_loop(step)
            case "ask":
                self._ask(step)

    def push(self, step: StepState) -> None:
        """Queue the step for a slot."""
        heappush(self.ready, self.entry_of(step))
        if step.status == "pending":
            self.announce.append(step)

    def entry_of(self, step: StepState) -> ReadyStep:
        """Where the step stands among those that are ready."""
        scope = step.scope
        rank = scope.block.rank
        tick = step.tick
        if not tick:
            # A step that is queued again keeps its place.
            tick = step.tick = self.next_tick()
        step.needs = self.state.seq
        return -(scope.base + (rank[step.node.index] if rank else 0.0)), tick, step

    def next_tick(self) -> int:
        """A place behind all that were given."""
        self._tick = tick = self._tick + 1
        return tick

    def _begin_plan(self, step: StepState) -> None:
        target = step.node.targets[step.target]
        assert target.plan is not None
        if step.approved is not None and self.approval_of(step)[1] != step.approved:
            # What was approved is not what would be called now.
            step.approved, step.status = None, "pending"
            self.begin(step)
            return
        refused = refusal(target.tool, self.state.context) if target.guarded else None
        if refused is not None:
            self.attempt_failed(step, refused, 0.0)
            return
        # What a tool calls is a level of its own already.
        deep = None if step.scope.block is EMPTY else too_deep(step.scope, step.path)
        if deep is not None:
            self.fail(step, deep)
            return
        inputs = self.inputs_of(step, target)
        if inputs is None or not self.enter(step, target):
            return
        journaled = inputs
        if target.inputs.uses_secrets and step.given is None:
            journaled = resolve_inputs(target, self.frame_of(step), step.node.on_unresolved, shown=True).value
        journaled = self.redact(journaled)
        self.emit(ev.StepStarted(self.seq, self.at, step.path, step.attempt + 1, target.key, journaled))
        self.watch_block(step)
        for scope in step.scopes or ():
            self.open_block(scope)

    def _begin_loop(self, step: StepState) -> None:
        assert step.node.over is not None
        found = self.heed(
            step, resolve(step.node.over, self.frame_of(step), step.node.on_unresolved), self.attempt_failed
        )
        if found is None:
            return
        items = [] if found.value is None and found.missing else found.value
        if not isinstance(items, list):
            message = f"`over` of {step.path} gave {type(items).__name__}, not a list."
            self.fail(step, Failure(type="LoopOverNoList", message=message, code="validation"))
            return
        if len(items) > self.most_events:
            message = (
                f"`over` of {step.path} gave {len(items):,} items; a run has no more than {self.most_events:,} events."
            )
            self.fail(step, Failure(type="TooManyItems", message=message, code="validation"))
            return
        journaled = self.redact(items)
        self.emit(ev.StepStarted(self.seq, self.at, step.path, step.attempt + 1, "", {"over": journaled}))
        if journaled is not items and step.loop is not None:
            # The items are given as they are to what is begun with them.
            step.loop.items = items
        self.begun.add(step)
        self.watch_block(step)
        self.feed(step)

    def watch_block(self, step: StepState) -> None:
        """See to it that the block takes no longer than it may from now on."""
        limit = block_limit(step)
        if limit is not None:
            self.watch(step, self.block_timers, (self.at + limit, step))

    def _ask(self, step: StepState) -> None:
        assert step.node.form is not None
        found = self.resolved(step, step.node.form)
        if found is None:
            return
        deadline = None if step.node.timeout is None else self.at + step.node.timeout
        self.emit(ev.StepWaiting(self.seq, self.at, step.path, "input"))
        self.emit(ev.InputRequested(self.seq, self.at, step.path, self.redact(found.value), deadline))
        if deadline is not None:
            self.watch_answer(step, deadline)

    def watch_answer(self, step: StepState, deadline: float) -> None:
        """See to it that the question is over at this Unix time."""
        self.watch(step, self.deadlines, (deadline, step))

    def _asks_approval(self, step: StepState) -> bool:
        """Whether a person has to decide first, or the step has ended since its caller may not call it at all."""
        node = step.node
        target = node.targets[step.target] if node.targets else None
        asks = node.always_approve or (target is not None and target.asks)
        if not asks and (node.approval is None or step.attempt):
            # What an expression has said of a tool's first attempt holds for those after it.
            return False
        refused = refusal(target.tool, self.state.context) if target is not None and target.guarded else None
        if refused is not None:
            # Nobody is asked about what will not be done whatever they say.
            self.attempt_failed(step, refused, 0.0)
            return True
        if not asks and node.approval is not None:
            found = self.resolved(step, node.approval)
            if found is None:
                return True
            # Whether a person is needed cannot be told without the value: then one is.
            if not found.value and not found.missing:
                return False
        if target is not None and step.given is None:
            # What is only kept as written is warned of when the call is made.
            made = resolve_inputs(target, self.frame_of(step), node.on_unresolved, shown=True)
            if not made.missing and self.heed(step, made, self.attempt_failed) is None:
                return True
        if target is not None and not self._fits(step, target):
            return True
        shown, bound = self.approval_of(step)
        self.emit(ev.StepWaiting(self.seq, self.at, step.path, "approval"))
        self.emit(ev.ApprovalRequested(self.seq, self.at, step.path, bound, target.key if target else "", shown))
        return True

    def _fits(self, step: StepState, target: Target) -> bool:
        """Whether the call would be made with its inputs; where not, it has failed: nobody is asked in vain."""
        inputs = step.given
        try:
            if inputs is None:
                inputs = resolve_inputs(target, self.frame_of(step), step.node.on_unresolved).value
            target.accepts.accept(inputs)
        except Exception as error:  # noqa: BLE001  # an error of our own fails this step, and no more
            self.attempt_failed(step, self.unfit(error, inputs), 0.0)
            return False
        return True

    def approval_of(self, step: StepState) -> tuple[Json, str]:
        """What a person is shown of the step, and the digest that their approval binds to."""
        node = step.node
        if not node.targets:
            return {}, digest([step.path, step.visit])
        target = node.targets[step.target]
        # What a running tool has given to the call it makes is no template.
        shown = step.given
        if shown is None:
            shown = resolve_inputs(target, self.frame_of(step), node.on_unresolved, shown=True).value
        shown = self.redact(shown)
        return shown, digest([step.path, step.visit, target.tool.fingerprint, shown])

    # What `Control` adds.

    def succeed(self, step: StepState, done: Done, merged: JsonObject | None = None) -> None:
        """The step's call, block or form gave an output. `merged`: variables that were written inside it."""
        raise NotImplementedError

    def attempt_failed(self, step: StepState, failure: Failure, duration: float) -> None:
        """An attempt failed: try again, ask another tool, or give up."""
        raise NotImplementedError

    def fail(self, step: StepState, failure: Failure, duration: float = 0.0) -> None:
        """All attempts and fallbacks have failed."""
        raise NotImplementedError

    def feed(self, owner: StepState) -> None:
        """Begin as many items as may run, or end the loop."""
        raise NotImplementedError

    def block_finished(self, scope: Scope) -> None:
        """Nothing of the block is left to run."""
        raise NotImplementedError
