"""A run's alarms: when a retry is due, an answer is late, a block or the run has taken too long."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from toolpath.engine.decide.cancel import fail_run
from toolpath.engine.decide.people import expire
from toolpath.engine.drive.drive import Drive
from toolpath.engine.state.instances import StepState
from toolpath.model.events import Failure
from toolpath.ports import EARLY, Timer


class Alarms:
    """Watches the time for one drive."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self._timers: dict[StepState | None, set[Timer]] = {}
        """By the step that each is set for; None: for the run."""
        self.settling = False
        """Steps that were set free are followed further when it is the run's turn."""

    def at(self, when: float, callback: Callable[[], None], step: StepState | None = None) -> None:
        """Call `callback` at Unix time `when`, while the drive lasts and the step is watched."""
        drive = self._drive
        clock = drive.services.clock
        timer: Timer

        def fire() -> None:
            self._fired(timer, step)
            if clock.time() < when - EARLY:
                # Clocks are set: one that counts seconds runs ahead of the one that tells the time.
                self.at(when, callback, step)
                return
            drive.decisions.at = max(clock.time(), when)
            drive.commits.weighty = True
            try:
                callback()
            except Exception as error:  # noqa: BLE001  # raised where the drive is awaited
                drive.fail(error)
            drive.wake()

        timer = clock.call_at(clock.monotonic() + max(0.0, when - clock.time()), fire)
        self._timers.setdefault(step, set()).add(timer)

    def _fired(self, timer: Timer, step: StepState | None) -> None:
        timers = self._timers.get(step)
        if timers is not None:
            timers.discard(timer)
            if not timers:
                del self._timers[step]

    def retry_at(self, step: StepState, due: float) -> None:
        """Begin the next attempt at this Unix time."""
        self.at(due, partial(self._retry, step, due), step)

    def expire_at(self, step: StepState, deadline: float) -> None:
        """End the question at this Unix time."""
        self.at(deadline, partial(expire, self._drive.control, step), step)

    def end_block_at(self, step: StepState, deadline: float, entry: int) -> None:
        """End the block at this Unix time, unless it was begun anew."""
        self.at(deadline, partial(self._block_timed_out, step, entry), step)

    def forget(self, step: StepState) -> None:
        """Cancel the timers of the step."""
        self._drive.limited_plans.leave(step)
        for timer in self._timers.pop(step, ()):
            timer.cancel()

    def settle_later(self) -> None:
        """Follow what was set free further in another turn of the loop."""
        if not self.settling:
            self.settling = True
            self._drive.spawn(self._settle_in_turn())

    async def _settle_in_turn(self) -> None:
        drive = self._drive
        await drive.services.turns.next(drive.state.run_id)
        self.settling = False
        if drive.over:
            return
        drive.decisions.at = drive.services.clock.time()
        try:
            drive.control.settle()
        except Exception as error:  # noqa: BLE001  # raised where the drive is awaited
            drive.fail(error)
        drive.wake()

    def _retry(self, step: StepState, due: float) -> None:
        if step.status == "ready" and step.due == due:
            control = self._drive.control
            control.retry_now(step)
            # A block that is begun anew has first steps.
            control.settle()

    def _block_timed_out(self, step: StepState, entry: int) -> None:
        if step.entry == entry:
            self._drive.control.block_timed_out(step)

    def arm_run(self) -> None:
        """Watch the time that the whole run may take; what it was parked for does not count."""
        drive = self._drive
        state, plan = drive.state, drive.program.plan
        limits = []
        if plan.timeout is not None:
            limits.append(drive.decisions.at + plan.timeout - state.active_time)
        if state.context.deadline is not None:
            limits.append(state.context.deadline)
        if limits and state.status == "running":
            self.at(min(limits), self._run_timed_out)

    def _run_timed_out(self) -> None:
        drive = self._drive
        if drive.state.status == "running" and not drive.commits.parked:
            limit = drive.program.plan.timeout
            message = "The run's deadline is over." if limit is None else f"The run took longer than {limit:g} s."
            fail_run(drive.decisions, "timeout", Failure(type="RunTimeout", message=message, code="timeout"))

    def close(self) -> None:
        """Watch nothing any more."""
        for timers in self._timers.values():
            for timer in timers:
                timer.cancel()
        self._timers.clear()
