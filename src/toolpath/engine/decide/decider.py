"""Ground of all decisions: the state, the events written so far, and the commands left for the runner. Pure."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

from toolpath.engine.state.cleaning import clean
from toolpath.engine.state.fold import HANDLERS
from toolpath.engine.state.instances import EMPTY, Scope, StepState
from toolpath.engine.state.state import State
from toolpath.engine.state.weights import WEIGHTY, weight_of
from toolpath.expressions.names import Frame
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, Failure
from toolpath.model.redaction import Redactor
from toolpath.ports import Authority
from toolpath.values import Json

#: A heap entry: the longest way to the end first, then first come, first served.
ReadyStep = tuple[float, int, StepState]


def _as_it_is(value: Json) -> Json:
    return value


class Turn(Protocol):
    """How much was done in this turn of the loop."""

    @property
    def is_full(self) -> bool:
        """What comes next waits for another turn."""
        ...

    def charge(self, work: int) -> None:
        """Count work that was done in this turn."""
        ...


class _Endless:
    is_full = False

    def charge(self, work: int) -> None:
        pass


class Beside(Protocol):
    """The runs of one tenant, of which this is one."""

    most: int
    """Bytes that they may hold together."""

    @property
    def held(self) -> int:
        """Bytes that they hold."""
        ...

    def is_too_much(self, weight: int) -> bool:
        """Whether they hold too much, and this one, which holds so much and asks for more, no less than its share."""
        ...


class _Alone:
    most = sys.maxsize
    held = 0

    def is_too_much(self, weight: int) -> bool:
        return False


class Decider:
    """Writes events and makes them true; keeps what the runner has to do about them."""

    beside: Beside = _Alone()
    """What the runs of the tenant hold together."""

    def __init__(self, state: State, *, view: Callable[[Scope], Frame]) -> None:
        self.state = state
        self.at = 0.0
        """Unix time of what is being decided; the runner sets it."""
        self.view = view
        """The frame that a block's expressions read."""
        self.batch: list[AnyEvent] = []
        """Events that the journal does not have yet."""
        self.ready: list[ReadyStep] = []
        self.announce: list[StepState] = []
        """Ready steps whose event is written only if they do not start at once."""
        self.timers: list[StepState] = []
        """Steps whose `due` the runner has to watch."""
        self.deadlines: list[tuple[float, StepState]] = []
        """When the time to answer is over."""
        self.block_timers: list[tuple[float, StepState]] = []
        """When a block has taken too long."""
        self.unwatched: list[StepState] = []
        """Steps whose timers mean nothing any more."""
        self.stops: list[StepState] = []
        """Running calls to be cut off."""
        self.has_commands = False
        """The runner has something to do besides beginning ready steps."""
        self.restore: Callable[[Json], Json] = _as_it_is
        """Puts large values in the place of what stands for them in the journal."""
        self.redactor = Redactor()
        """Takes secrets out of all that goes into the journal, before it is made true."""
        self.halted: tuple[str, Failure] | None = None
        """Reason and failure with which the run ends as soon as nothing is under way."""
        self.turn: Turn = _Endless()
        self.most_events = sys.maxsize
        """How long the journal may become: a run that goes beyond begins nothing more."""
        self.most_bytes = sys.maxsize
        """How much the values in the journal may weigh: a run that goes beyond begins nothing more."""
        self.bytes = 0
        """What they weigh, but for those aside."""
        self.most_inline = sys.maxsize
        """What weighs more has large parts, perhaps, that stand by their handles."""
        self.put_aside: Callable[[AnyEvent], AnyEvent] = _as_it_is
        """Puts the large parts of an event aside."""
        self.aside: Callable[[], int] = int
        """What the values weigh that are kept aside of the journal."""
        self.replies: list[StepState] = []
        """Ended calls that a running tool had made, and its questions that were answered."""

    def emit(self, event: AnyEvent) -> None:
        """Write the event and make it true."""
        if self.redactor.active:
            event = clean(event, self.redactor)
        if type(event) in WEIGHTY:
            weight = weight_of(event)
            if weight > self.most_inline:
                event = self.put_aside(event)
                weight = weight_of(event)
            self.write(event, weight)
        else:
            self.batch.append(event)
        state = self.state
        # `fold.apply` in place: three times a step is often enough to count.
        handler = HANDLERS.get(type(event))
        if handler is not None:
            handler(state, event)
        state.seq = event.seq
        state.last_at = event.at

    def write(self, event: AnyEvent, weight: int) -> None:
        """Write the event, which is true already, and whose value weighs this."""
        self.batch.append(event)
        self.bytes += weight

    def redact(self, value: Json) -> Json:
        """The value as the journal may have it."""
        return self.redactor.value(value)

    @property
    def seq(self) -> int:
        """Number of the event to be written next."""
        return self.state.seq + 1

    def authorize(self, authority: Authority | None) -> None:
        """Have all calls from here on allowed to whom it is as well, where that changes anything."""
        if authority is None:
            return
        state = self.state
        if state.began.limited_to(authority.permissions).permissions != state.context.permissions:
            self.emit(ev.RunAuthorized(self.seq, self.at, authority.permissions, authority.by))

    def frame_of(self, step: StepState) -> Frame:
        """Where the step's expressions find their values."""
        return self.view(step.scope)

    def halt(self, name: str, used: float, limit: float, path: str, *, hint: str = "") -> None:
        """Have the run end as soon as nothing is under way: it has spent what it may."""
        if self.halted is not None:
            return
        self.emit(ev.BudgetExceeded(self.seq, self.at, name, used, limit, path))
        message = f"The budget of {name} is {limit:g}; {path} would make it {used:g}."
        self.halted = ("budget", Failure(type="BudgetExceeded", message=message, code="budget", hint=hint))
        self.has_commands = True

    def is_too_long(self, path: str) -> bool:
        """Whether the journal is as long as it may be, with what is open counted too, or its values weigh as much as
        they may, or those of the tenant's runs: then nothing more is begun."""
        state = self.state
        count = state.seq + len(state.steps) + len(state.scopes)
        if count >= self.most_events:
            self.halt("events", count, self.most_events, path, hint="Do less in one run, or raise max_run_events.")
        elif (weight := self.bytes + self.aside()) >= self.most_bytes:
            hint = "Keep large data in files or a database, and hand on where it is; or raise max_run_bytes."
            self.halt("bytes", weight, self.most_bytes, path, hint=hint)
        elif self.beside.is_too_much(weight):
            hint = "Begin fewer runs at once, or smaller ones; or raise max_tenant_bytes."
            self.halt("tenant_bytes", self.beside.held, self.beside.most, path, hint=hint)
        else:
            return False
        return True

    def stop_call(self, step: StepState) -> None:
        """Have the step's call cut off."""
        self.stops.append(step)
        self.has_commands = True

    def reply_to(self, step: StepState) -> None:
        """Have the tool that waits for the step go on."""
        self.replies.append(step)
        self.has_commands = True

    def announce_ready(self) -> None:
        """Write `step.ready` for what could not start at once."""
        announce, self.announce = self.announce, []
        for step in announce:
            self.announce_step(step)

    def announce_step(self, step: StepState) -> None:
        """Write that the step could start, where nothing is written of it yet."""
        # A child that a tool called is named by its start: only that says which tool it is.
        if step.status == "pending" and step.scope.block is not EMPTY:
            self.emit(ev.StepReady(self.seq, self.at, step.path))

    def watch(self, step: StepState, timers: list[Any], timer: Any) -> None:
        """Have the time watched for the step."""
        step.watched = self.has_commands = True
        timers.append(timer)

    def unwatch(self, step: StepState) -> None:
        """What the step's timers were set for is over."""
        if step.watched:
            step.watched = False
            self.unwatched.append(step)
            self.has_commands = True
            # Those that are not set yet will never be.
            self.timers = [waiting for waiting in self.timers if waiting is not step]
            self.deadlines = [entry for entry in self.deadlines if entry[1] is not step]
            self.block_timers = [entry for entry in self.block_timers if entry[1] is not step]

    def skip(self, step: StepState, reason: str, *, spreads: bool = False) -> None:
        """The step will not run."""
        self.unwatch(step)
        self.emit(ev.StepSkipped(self.seq, self.at, step.path, reason, spreads))

    def warn(self, path: str, code: str, message: str) -> None:
        """Something to know that stops nothing."""
        self.emit(ev.Warned(self.seq, self.at, path, code, message))
