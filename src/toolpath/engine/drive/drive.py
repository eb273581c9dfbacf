"""State that the parts of one drive share: program, run state, the way into the journal, the calls under way.

The runner is a drive with the loop; what takes steps, serves running tools and keeps results sees only this.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from toolpath.engine.compile.program import Program
from toolpath.engine.decide.cancel import fail_run
from toolpath.engine.decide.control import Control
from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.commits import Commits
from toolpath.engine.drive.large import LargeValues
from toolpath.engine.drive.services import Services
from toolpath.engine.drive.tenant_bytes import RunBeside
from toolpath.engine.drive.time_limits import TimeLimits
from toolpath.engine.drive.timers import Deadlines
from toolpath.engine.state.accounts import Account
from toolpath.engine.state.instances import StepState
from toolpath.engine.state.large_parts import parted
from toolpath.engine.state.resolve import fault_of
from toolpath.engine.state.results import redacted
from toolpath.engine.state.state import State
from toolpath.engine.state.weights import WEIGHTY, weight_of
from toolpath.errors import QueueError, RecordConflict, RunNotFound, StaleEpoch, StoreError
from toolpath.expressions.work import Work
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, Failure
from toolpath.model.run import ENDED_RUN
from toolpath.ports import Journal
from toolpath.values import writable

#: A call that was cut off has this long to clean up before its slot is given away.
GRACE = 2.0
#: What is no error of our own: the journal is away, or the run another driver's by now.
GROUND = (StoreError, StaleEpoch, RecordConflict, RunNotFound, QueueError, OSError)


class Drive:
    """One process's hold on one run."""

    def __init__(self, program: Program, services: Services, journal: Journal) -> None:
        self.program = program.latest
        self.services = services
        self.state = State(program)
        self.state.secrets = services.secrets
        settings = services.settings
        self.state.work = Work(settings.max_run_work, services.turns.charge, settings.max_run_bytes)
        self.large = LargeValues()
        self.control = Control(self.state, chance=services.chance, view=self.large.view)
        self.control.turn = services.turns
        self.control.most_events = services.settings.max_run_events
        self.control.most_bytes = services.settings.max_run_bytes
        self.control.aside = lambda: self.large.weight
        self.control.beside = RunBeside(services.tenant_bytes, self.state)
        self.control.restore = self.large.restored
        self.control.most_inline = services.settings.max_result_size
        self.control.put_aside = partial(parted, shelf=self.large, most=services.settings.max_result_size)
        self.state.restore, self.state.view = self.large.restored, self.large.view
        self.control.redactor = services.redactor
        self.commits = Commits(journal, self.control, services.clock, self.fail, services.observer)
        self.commits.blobs = self.large.blobs
        self.time_limits = TimeLimits(services.statistics, services.settings)
        self.deadlines = Deadlines(services.clock, self.expired)
        self.running: dict[StepState, Attempt] = {}
        """Calls under way."""
        self.control.gate.calls = self.running
        self.slots = self.program.concurrency
        self.busy = 0
        """Slots taken."""
        self.commits.full = lambda: self.busy >= self.slots
        self.left: asyncio.Future[None] | None = None
        """Done when the drive is over."""
        self.gone = asyncio.Event()
        """Set when everything of the drive has ended."""
        self.held = False
        """A tool has changed: nothing is begun or heard but a cancel, until a person has accepted it."""
        self.tasks: set[asyncio.Task[Any]] = set()
        self.loop = asyncio.get_running_loop()
        self.over_for: Callable[[StepState], None] = lambda _: None
        """Told of each step that is not watched any more."""
        self.rest: Callable[[Attempt], None] = lambda _: None
        """A call waits for what another one does: its slot and its places are others' meanwhile."""
        self.wind_up: Callable[[Attempt], None] = lambda _: None
        """A call has rested, and ends."""

    @property
    def over(self) -> bool:
        """The drive has ended: what is still awake does nothing more."""
        return self.left is not None and self.left.done()

    def taken(self, events: list[AnyEvent]) -> None:
        """Let who looks on know that the run is driven here; `events` are in its journal."""
        self.commits.asking.follow(events)
        self.control.bytes = sum(weight_of(event) for event in events if type(event) in WEIGHTY)
        if self.services.observer is not None:
            self.services.observer.taken(self.state.run_id, events)

    def let_go(self) -> None:
        """Everything of the drive has ended: tell those who wait for it, and who looks on."""
        self.gone.set()
        self.services.tenant_bytes.let_go(self.state.context.tenant, self.state.run_id)
        if self.services.observer is not None:
            self.services.observer.left(self.state.run_id)

    def hold_if_changed(self) -> bool:
        """Hold the run where a tool is no longer what it was when it began: a person has to accept that first."""
        current, known = self.program.fingerprints, self.state.fingerprints
        changed = [key for key in known if current.get(key, known[key]) != known[key]]
        if changed:
            message = f"Changed since the run began: {', '.join(changed)}. Settle it with accept_tool to go on."
            self.control.emit(ev.Warned(self.control.seq, self.control.at, "", "tool_changed", message))
            self.commits.parked = self.held = True
        return self.held

    def returned(self, attempt: Attempt) -> None:
        """The tool is back: whatever it has called and does not wait for any more, its slot is its worker's again."""
        attempt.ended = True
        if not attempt.abandoned:
            attempt.paused = 0
            self.wind_up(attempt)

    def hold(self, step: StepState, failure: Failure) -> None:
        """Hold the step, whose tool has changed and was not called, and the run: nothing more is begun."""
        control = self.control
        control.unwatch(step)
        control.emit(ev.StepWaiting(control.seq, control.at, step.path, "tool_changed"))
        if not self.held:
            self.warn("", "tool_changed", f"{failure.message} Settle it with accept_tool to go on.")
        self.held = True

    def vacate(self, account: Account | None) -> None:
        """A call in these plans has ended, or waits for one of its own: who waits for its slot may have it."""
        control = self.control
        while account is not None:
            account.busy -= 1
            if account.failure is not None:
                if not account.busy and account.owner.status == "running":
                    control.block_lost(account.owner, account.failure)
                    control.settle()
            else:
                self._offer(account)
            account = account.up

    def pass_on(self, account: Account | None) -> None:
        """A step of these plans could not take the slot that it was offered: the next ones may have it."""
        while account is not None:
            self._offer(account)
            account = account.up

    def _offer(self, account: Account) -> None:
        while account.waiting and not account.is_full:
            step = account.waiting.popleft()
            if step.status in ("pending", "ready"):
                self.control.push(step)
                break

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
        control, left = self.control, self.left
        if left is None or self.state.status in ENDED_RUN:
            return False
        failure = redacted(fault_of(error), self.services.redactor.value)
        if control.batch and control.batch[-1].seq > self.state.seq:
            # What could not be made true is not told either: the journal would not fold.
            control.batch.pop()
        control.at = max(self.state.last_at, self.services.clock.time())
        try:
            try:
                fail_run(control, "internal", failure)
            except Exception:  # noqa: BLE001  # what is wrong in the state may be in the way of this, too
                control.emit(ev.RunFailed(control.seq, control.at, "internal", failure))
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
        self.control.warn(path, code, writable(self.services.redactor.text(message)))

    def unaffordable(self, attempt: Attempt) -> Failure | None:
        """Why the call may not be made, where a budget says so."""
        raise NotImplementedError

    def expired(self, attempt: Attempt) -> None:
        """A call took too long."""
        self._cut_off(attempt, "timeout")

    def stop_calls(self) -> None:
        """Cut off the calls that are to be stopped."""
        stops, self.control.stops = self.control.stops, []
        for step in stops:
            attempt = self.running.get(step)
            if attempt is not None:
                self._cut_off(attempt, "cancelled")

    def _cut_off(self, attempt: Attempt, why: str) -> None:
        if attempt.stopped:
            return
        attempt.stopped = why
        if attempt.task is None or not attempt.calling:
            return
        clock = self.services.clock
        attempt.grace = clock.call_at(clock.monotonic() + GRACE, lambda: self.abandon(attempt))
        # A tool that is cut off by what it does itself learns that where it would wait.
        if attempt.task is not asyncio.current_task():
            attempt.task.cancel()

    def abandon(self, attempt: Attempt) -> None:
        """It does not heed being cut off: its slot is given away, what it gives later thrown away."""
        raise NotImplementedError

    def wake(self) -> None:
        """Something changed outside of a worker: keep what was written, then go on."""
        raise NotImplementedError


def _leave(left: asyncio.Future[None], _: object) -> None:
    if not left.done():
        left.set_result(None)
