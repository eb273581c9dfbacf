"""Drive of a run: the record that its parts share, with its program, state, way into the journal and calls under way.

`Runner` puts the parts together; each of them sees only this and what it is given beside it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, NamedTuple

from toolpath.config import Settings
from toolpath.engine.compile.program import Program
from toolpath.engine.decide.cancel import fail_run
from toolpath.engine.decide.ceilings import Ceilings
from toolpath.engine.decide.control import Control
from toolpath.engine.decide.decisions import Decisions, Hooks
from toolpath.engine.decide.ready_queue import ReadyQueue
from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.commits import Commits
from toolpath.engine.drive.large import LargeValues
from toolpath.engine.drive.limited_plans import LimitedPlans, LimitQueue
from toolpath.engine.drive.run_secrets import RunSecrets
from toolpath.engine.drive.services import Services
from toolpath.engine.drive.slots import Slots
from toolpath.engine.drive.tenant_bytes import RunBeside
from toolpath.engine.drive.time_limits import TimeLimits
from toolpath.engine.drive.timers import Deadlines
from toolpath.engine.state.instances import ItemCaller, StepState
from toolpath.engine.state.large_parts import parted
from toolpath.engine.state.resolve import fault_of
from toolpath.engine.state.results import redacted
from toolpath.engine.state.state import State
from toolpath.engine.state.weights import WEIGHTY, weight_of
from toolpath.errors import QueueError, RecordConflict, RunNotFound, StaleEpoch, StoreError
from toolpath.expressions.work import Work
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, Failure
from toolpath.model.redaction import Redactor
from toolpath.model.run import ENDED_RUN
from toolpath.ports import Journal
from toolpath.values import writable

#: A call that was cut off has this long to clean up before its slot is given away.
GRACE = 2.0
#: What is no error of our own: the journal is away, or the run another driver's by now.
GROUND = (StoreError, StaleEpoch, RecordConflict, RunNotFound, QueueError, OSError)


class DriveHooks(NamedTuple):
    """Ways from the record of a drive to its parts, which are made after it."""

    wake: Callable[[], None]
    """Something changed outside of a worker: keep what was written, then go on."""
    expired: Callable[[Attempt], None]
    """A call took too long."""
    items_of: Callable[[StepState], ItemCaller | None]
    """How the items of a loop are called, where each is one call."""


class Drive:
    """One process's hold on one run."""

    def __init__(self, program: Program, services: Services, journal: Journal, hooks: DriveHooks) -> None:
        settings = services.settings
        self.program = program.latest
        self.services = services
        self.wake = hooks.wake
        self.large = large = LargeValues()
        work = Work(
            settings.max_run_work, services.turns.charge, settings.max_run_bytes, lambda: self.decisions.largest
        )
        self.state = state = State(
            program, restore=large.restored, view=large.view, secrets=services.secrets, work=work
        )
        self._beside = RunBeside(services.tenant_bytes, state)
        self.running: dict[StepState, Attempt] = {}
        """Calls under way."""
        ready = ReadyQueue(state)
        self.limit_queue = LimitQueue(ready, self._again)
        limits = self.limited_plans = LimitedPlans(services.limits, self.limit_queue)
        self.decisions = Decisions(
            state,
            chance=services.chance,
            view=large.view,
            ceilings=_ceilings(settings, large, self._beside),
            hooks=Hooks(
                restore=large.restored,
                put_aside=partial(parted, shelf=large, most=settings.max_result_size),
                redactor=services.redactor,
                turn=services.turns,
                plan_limits=limits,
                items_of=hooks.items_of,
            ),
            calls=self.running,
            ready=ready,
        )
        self.secrets = RunSecrets(services, self.decisions)
        self.control = Control(self.decisions)
        self.slots = Slots(self.control, self.program.concurrency)
        self.commits = Commits(
            journal,
            self.decisions,
            services.clock,
            self.fail,
            services.observer,
            full=self.slots.are_taken,
            blobs=large.blobs,
        )
        self.time_limits = TimeLimits(services.statistics, program.settings)
        self.deadlines = Deadlines(services.clock, hooks.expired)
        self.left: asyncio.Future[None] | None = None
        """Done when the drive is over."""
        self.gone = asyncio.Event()
        """Set when everything of the drive has ended."""
        self.held = False
        """A tool has changed: nothing but a cancel is applied and nothing begun, until a person accepts it."""
        self.tasks: set[asyncio.Task[Any]] = set()
        self.loop = asyncio.get_running_loop()

    @property
    def over(self) -> bool:
        """The drive has ended: what is still awake does nothing more."""
        return self.left is not None and self.left.done()

    @property
    def redactor(self) -> Redactor:
        """Takes secrets out of what is written: those of plans, and those that people told this run."""
        return self.decisions.redactor

    def taken(self, events: list[AnyEvent]) -> None:
        """Tell observers that the run is driven here; `events` are in its journal."""
        self.commits.asking.follow(events)
        weights = [weight_of(event) for event in events if type(event) in WEIGHTY]
        self.decisions.bytes, self.decisions.largest = sum(weights), max(weights, default=0)
        if self.services.observer is not None:
            self.services.observer.taken(self.state.run_id, events)

    def let_go(self) -> None:
        """Everything of the drive has ended: tell those who wait for it, and observers."""
        self.gone.set()
        self.secrets.let_go(self.state.run_id)
        self._beside.let_go()
        held = self.services.held_for.pop(self.state.run_id, {})
        if self.state.status in ENDED_RUN:
            for let_go in held.values():
                let_go()
        if self.services.observer is not None:
            self.services.observer.left(self.state.run_id)

    def hold_if_changed(self) -> bool:
        """Hold the run where a tool is no longer what it was when it began: a person has to accept that first."""
        current, known = self.program.fingerprints, self.state.fingerprints
        changed = [key for key in known if current.get(key, known[key]) != known[key]]
        if changed:
            message = f"Changed since the run began: {', '.join(changed)}. Settle it with accept_tool to go on."
            self.decisions.emit(ev.Warned(self.decisions.seq, self.decisions.at, "", "tool_changed", message))
            self.commits.parked = self.held = True
        return self.held

    def hold(self, step: StepState, failure: Failure) -> None:
        """Hold the step, whose tool has changed and was not called, and the run: nothing more is begun."""
        decisions = self.decisions
        decisions.unwatch(step)
        decisions.emit(ev.StepWaiting(decisions.seq, decisions.at, step.path, "tool_changed"))
        if not self.held:
            self.warn("", "tool_changed", f"{failure.message} Settle it with accept_tool to go on.")
        self.held = True

    def _again(self, step: StepState) -> None:
        """A step has waited for a limit that may have a place for it now."""
        if step.status in ("pending", "ready"):
            self.decisions.at = self.services.clock.time()
            # A plan has to be begun: that is done with the next that is taken.
            self.decisions.ready.push(step)
        self.wake()

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run it beside; its errors end the drive."""
        task = asyncio.create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """The journal cannot be written: the drive ends and its caller learns why. An error of our own ends the run."""
        if self.left is None or self.left.done():
            return
        if isinstance(error, Exception) and not isinstance(error, GROUND) and self._end_run(error):
            return
        if not self.left.done():
            self.left.set_exception(error)

    def _end_run(self, error: Exception) -> bool:
        """Write down that the run has failed by an error of our own; False where that cannot be written."""
        decisions, left = self.decisions, self.left
        if left is None or self.state.status in ENDED_RUN:
            return False
        failure = redacted(fault_of(error), self.redactor.value)
        if decisions.batch and decisions.batch[-1].seq > self.state.seq:
            # What could not be made true is not told either: the journal would not fold.
            decisions.batch.pop()
        decisions.at = max(self.state.last_at, self.services.clock.time())
        try:
            try:
                fail_run(decisions, "internal", failure)
            except Exception:  # noqa: BLE001  # what is wrong in the state may be in the way of this, too
                decisions.emit(ev.RunFailed(decisions.seq, decisions.at, "internal", failure))
            commit = self.commits.flush()
        except Exception:  # noqa: BLE001  # then the first error is what the caller learns
            return False
        if commit is None:
            left.set_result(None)
        else:
            commit.add_done_callback(partial(_leave, left))
        return True

    def warn(self, path: str, code: str, message: str) -> None:
        """Journal something to know."""
        self.decisions.warn(path, code, writable(self.redactor.text(message)))


def _leave(left: asyncio.Future[None], _: object) -> None:
    if not left.done():
        left.set_result(None)


def _ceilings(settings: Settings, large: LargeValues, beside: RunBeside) -> Ceilings:
    return Ceilings(
        events=settings.max_run_events,
        bytes=settings.max_run_bytes,
        inline=settings.max_result_size,
        aside=large,
        tenant=beside,
    )
