"""Record that all decisions of a run are made on: its state, the events written so far, the commands left. Pure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from toolpath.engine.compile.nodes import CallTarget
from toolpath.engine.decide.ceilings import UNBOUNDED, Ceilings
from toolpath.engine.decide.commands import AwaitAnswer, AwaitBlock, AwaitRetry, Command, StopTimers
from toolpath.engine.decide.exclusive import ExclusiveGate, UnderWay
from toolpath.engine.decide.ready_queue import ReadyQueue
from toolpath.engine.state.cleaning import clean
from toolpath.engine.state.fold import HANDLERS
from toolpath.engine.state.instances import EMPTY, ItemCaller, Scope, StepState
from toolpath.engine.state.state import State
from toolpath.engine.state.weights import WEIGHTY, weight_of
from toolpath.expressions.names import Frame
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, Failure
from toolpath.model.redaction import Redactor
from toolpath.ports import Authority
from toolpath.values import Json


def _unchanged(value: Any) -> Any:
    return value


class LoopTurn(Protocol):
    """Work that was done in this turn of the loop."""

    def is_full(self) -> bool:
        """Whether nothing more is done in this turn."""
        ...

    def charge(self, work: int) -> None:
        """Count work that was done in this turn."""
        ...


class _Endless:
    def is_full(self) -> bool:
        return False

    def charge(self, work: int) -> None:
        pass


class PlanLimits(Protocol):
    """Limits of the tools whose body is a plan."""

    def enter(self, step: StepState, target: CallTarget) -> bool:
        """Whether the plan may begin now; else it begins when it may."""
        ...

    def take_up(self, step: StepState) -> None:
        """The plan goes on that another driver began."""
        ...


class _NoLimits:
    def enter(self, step: StepState, target: CallTarget) -> bool:
        return True

    def take_up(self, step: StepState) -> None:
        pass


class Hooks(NamedTuple):
    """Ways from the decisions of a run to what is around it."""

    restore: Callable[[Json], Json] = _unchanged
    """Puts large values in the place of what stands for them in the journal."""
    put_aside: Callable[[AnyEvent], AnyEvent] = _unchanged
    """Puts the large parts of an event aside."""
    redactor: Redactor = Redactor()
    """Takes secrets out of all that goes into the journal, before it is made true."""
    turn: LoopTurn = _Endless()
    plan_limits: PlanLimits = _NoLimits()
    items_of: Callable[[StepState], ItemCaller | None] = lambda _: None
    """How the items of a loop are called, where each is one call."""


NO_HOOKS = Hooks()


class Decisions:
    """State of a run, with the events and commands that were decided on it and are not carried out yet."""

    def __init__(
        self,
        state: State,
        *,
        chance: Callable[[], float],
        view: Callable[[Scope], Frame],
        ceilings: Ceilings = UNBOUNDED,
        hooks: Hooks = NO_HOOKS,
        calls: Mapping[StepState, UnderWay] | None = None,
        ready: ReadyQueue | None = None,
    ) -> None:
        self.state = state
        self.chance = chance
        self.view = view
        """The frame that a block's expressions read."""
        self.ceilings = ceilings
        # Asked for with every call: looked up once.
        self._most_events, self._most_bytes, self._inline, self._aside, self._tenant = ceilings
        self.restore = hooks.restore
        self.put_aside = hooks.put_aside
        self.redactor = hooks.redactor
        self.turn = hooks.turn
        self.plan_limits = hooks.plan_limits
        self.items_of = hooks.items_of
        self.at = 0.0
        """Unix time of what is being decided; the driver sets it."""
        self.batch: list[AnyEvent] = []
        """Events that the journal does not have yet."""
        self.bytes = 0
        """Weight of the values in the journal, but for those aside."""
        self.largest = sys.maxsize
        """The most that one of them weighs, as soon as the journal has been looked through."""
        self.commands: list[Command] = []
        """Acts that the driver has to do besides calling ready steps."""
        self.ready = ReadyQueue(state) if ready is None else ready
        self.gate = ExclusiveGate(self.ready, {} if calls is None else calls)
        self.halted: tuple[str, Failure] | None = None
        """Reason and failure with which the run ends as soon as nothing is under way."""
        self.loop_items: dict[StepState, ItemCaller] = {}
        """Loops whose items are calls without steps of their own."""
        self.begun: set[StepState] = set()
        """Loops whose items are known as they are, not as the journal has them."""

    # Events.

    @property
    def seq(self) -> int:
        """Number of the event to be written next."""
        return self.state.seq + 1

    def emit(self, event: AnyEvent, weight: int | None = None) -> None:
        """Write the event and make it true. `weight`: of its value, where that is known."""
        if self.redactor.active:
            event, weight = clean(event, self.redactor), None
        kind = type(event)
        if weight is None and kind in WEIGHTY:
            weight = weight_of(event)
        if weight is not None:
            if weight > self._inline:
                event = self.put_aside(event)
                weight = weight_of(event)
            self.bytes += weight
            if weight > self.largest:  # noqa: PLR1730  # with each step: a call of `max` takes many times as long
                self.largest = weight
        self.batch.append(event)
        state = self.state
        # `fold.apply` in place: twice a step is often enough to count.
        if kind in HANDLERS:
            HANDLERS[kind](state, event)
        state.seq = event.seq
        state.last_at = event.at

    def redact(self, value: Json) -> Json:
        """The value as the journal may have it."""
        return self.redactor.value(value)

    def warn(self, path: str, code: str, message: str) -> None:
        """Write something to know that stops nothing."""
        self.emit(ev.Warned(self.seq, self.at, path, code, str(self.redact(message))))

    def skip(self, step: StepState, reason: str, *, spreads: bool = False) -> None:
        """Write that the step will not run."""
        self.unwatch(step)
        self.emit(ev.StepSkipped(self.seq, self.at, step.path, str(self.redact(reason)), spreads))

    def announce(self, step: StepState) -> None:
        """Write that the step could start, where nothing is written of it yet."""
        # A child that a tool called is named by its start: only that says which tool it is.
        if step.status == "pending" and step.scope.block is not EMPTY:
            self.emit(ev.StepReady(self.seq, self.at, step.path))

    def announce_ready(self) -> None:
        """Write `step.ready` for what could not start at once."""
        ready = self.ready
        steps, ready.unannounced = ready.unannounced, []
        for step in steps:
            self.announce(step)

    def authorize(self, authority: Authority | None) -> None:
        """Limit all calls from here on to what this authority may do, too, where that changes anything."""
        if authority is None:
            return
        state = self.state
        if state.began.limited_to(authority.permissions).permissions != state.context.permissions:
            self.emit(ev.RunAuthorized(self.seq, self.at, authority.permissions, authority.by))

    # Bounds.

    def halt(self, name: str, used: float, limit: float, path: str, *, hint: str = "") -> None:
        """End the run as soon as nothing is under way: it has spent what it may."""
        if self.halted is not None:
            return
        self.emit(ev.BudgetExceeded(self.seq, self.at, name, used, limit, path))
        message = f"The budget of {name} is {limit:g}; {path} would make it {used:g}."
        self.halted = ("budget", Failure(type="BudgetExceeded", message=message, code="budget", hint=hint))

    def is_too_long(self, path: str) -> bool:
        """Whether the journal is as long as it may be, with what is open counted too, or its values weigh as much as
        they may, or those of the tenant's runs: then nothing more is begun."""
        state, most_events, most_bytes = self.state, self._most_events, self._most_bytes
        count = state.seq + len(state.steps) + len(state.scopes)
        weight = self.bytes + self._aside.weight
        if count < most_events and weight < most_bytes and not self._tenant.is_too_much(weight):
            return False
        tenant = self._tenant
        if count >= most_events:
            self.halt("events", count, most_events, path, hint="Do less in one run, or raise max_run_events.")
        elif weight >= most_bytes:
            hint = "Keep large data in files or a database, and hand on where it is; or raise max_run_bytes."
            self.halt("bytes", weight, most_bytes, path, hint=hint)
        else:
            hint = "Begin fewer runs at once, or smaller ones; or raise max_tenant_bytes."
            self.halt("tenant_bytes", tenant.held, tenant.most, path, hint=hint)
        return True

    # Timers.

    def watch(self, step: StepState, timer: AwaitRetry | AwaitAnswer | AwaitBlock) -> None:
        """Set a timer for the step."""
        step.watched = True
        self.commands.append(timer)

    def watch_answer(self, step: StepState, deadline: float) -> None:
        """End the question at this Unix time."""
        self.watch(step, AwaitAnswer(step, deadline))

    def unwatch(self, step: StepState) -> None:
        """Cancel the step's timers: what they were set for is over."""
        if step.watched:
            step.watched = False
            self.commands.append(StopTimers(step))

    def frame_of(self, step: StepState) -> Frame:
        """Where the step's expressions find their values."""
        return self.view(step.scope)
