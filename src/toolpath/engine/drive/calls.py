"""One call, cached or made: what comes of it, also where an error of our own came in between."""

from __future__ import annotations

from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.cache import CachedCalls, clear_group
from toolpath.engine.drive.drive import GROUND, Drive
from toolpath.engine.drive.one_attempt import Waiting, begin, perform
from toolpath.engine.drive.places import Places
from toolpath.engine.state.resolve import fault_of
from toolpath.engine.state.results import Done
from toolpath.model.events import Failure


class CallMaker:
    """Makes the calls of one run."""

    def __init__(self, drive: Drive, places: Places, cached: CachedCalls) -> None:
        self._services = drive.services
        self._decisions = drive.decisions
        self._deadlines = drive.deadlines
        self._places = places
        self._cached = cached

    def begin(self, attempt: Attempt) -> Done | Failure | Waiting | None:
        """Make the call: gives its outcome where that is there at once, else what is to be awaited for it."""
        plain = attempt.context is None and attempt.target.reads
        if not plain or (not attempt.light and attempt.step.node.cached):
            return self._outcome_of(attempt)
        try:
            return begin(attempt, self._services, self._deadlines, self._decisions.redactor)
        except GROUND:
            raise
        except Exception as error:  # noqa: BLE001  # it fails the call that it came of, and no more
            return fault_of(error, in_doubt=not attempt.target.repeatable)

    async def _outcome_of(self, attempt: Attempt) -> Done | Failure | None:
        """The outcome of the attempt; None when it was cut off and somebody else has recorded that."""
        try:
            if not attempt.light and attempt.step.node.cached and attempt.step.target == 0:
                return await self._cached.outcome_of(attempt)
            outcome = await perform(attempt, self._services, self._deadlines, self._decisions.redactor)
            if outcome is None and not attempt.target.reads:
                # A write that was cut off may have happened.
                clear_group(self._services, attempt.target.tool.group)
            return outcome
        except GROUND:
            raise
        except Exception as error:  # noqa: BLE001  # it fails the call that it came of, and no more
            return fault_of(error, in_doubt=not attempt.target.repeatable)
        finally:
            if attempt.context is not None:
                self._returned(attempt)

    def _returned(self, attempt: Attempt) -> None:
        """The tool is back: whatever it has called and does not wait for any more, its slot is its worker's again."""
        attempt.ended = True
        if not attempt.abandoned:
            attempt.awaited = ()
            self._places.wind_up(attempt)
