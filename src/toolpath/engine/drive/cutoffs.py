"""Cut-offs of calls under way: cancelled, given a moment to clean up, and abandoned where they do not heed it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.drive import GRACE, Drive
from toolpath.engine.drive.outcomes import timed_out
from toolpath.engine.state.instances import StepState
from toolpath.engine.state.results import Done
from toolpath.model.events import Failure

Conclude = Callable[[Attempt, Done | Failure | None], None]


class Cutoffs:
    """Cuts off calls of one run. `conclude` writes the outcome of one that is abandoned."""

    def __init__(self, drive: Drive, conclude: Conclude) -> None:
        self._drive = drive
        self._conclude = conclude

    def expired(self, attempt: Attempt) -> None:
        """A call took too long."""
        self._cut_off(attempt, "timeout")

    def stop(self, step: StepState) -> None:
        """Cut off the step's call, if it is under way."""
        attempt = self._drive.running.get(step)
        if attempt is not None:
            self._cut_off(attempt, "cancelled")

    def _cut_off(self, attempt: Attempt, why: str) -> None:
        if attempt.stopped:
            return
        attempt.stopped = why
        if attempt.task is None or not attempt.calling:
            return
        clock = self._drive.services.clock
        attempt.grace = clock.call_at(clock.monotonic() + GRACE, partial(self._abandon, attempt))
        # A tool that is cut off by what it does itself learns that where it would wait.
        if attempt.task is not asyncio.current_task():
            attempt.task.cancel()

    def _abandon(self, attempt: Attempt) -> None:
        """Abandon a call that does not heed being cut off: its slot is given away, what it gives later thrown away."""
        drive = self._drive
        if not attempt.calling or attempt.abandoned:
            return
        attempt.abandoned = True
        drive.deadlines.remove(attempt)
        if not attempt.resting:
            drive.slots.busy -= 1
        outcome = timed_out(attempt.target, attempt.timeout) if attempt.stopped == "timeout" else None
        self._conclude(attempt, outcome)
        drive.wake()
