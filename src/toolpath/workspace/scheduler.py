"""Scheduler of one process: begins runs of schedules when they are due. Any number of them on one store do no harm."""

from __future__ import annotations

import logging
from collections.abc import Callable

from toolpath.errors import StoreError, ToolpathError
from toolpath.model.schedule import Schedule
from toolpath.ports import Clock
from toolpath.workspace.schedules import Schedules

#: Seconds after which changes that another process made are seen at the latest.
LOOK = 30.0
#: Schedules on one page of a look.
_PAGE = 500

_log = logging.getLogger("toolpath.schedules")


class Scheduler:
    """Waits for the next tick of all schedules, and no longer than `LOOK`."""

    def __init__(self, schedules: Schedules, clock: Clock, redact: Callable[[str], str]) -> None:
        self._schedules = schedules
        self._clock = clock
        self._redact = redact

    async def run(self) -> None:
        """Begin what is due, until cancelled."""
        woken = self._schedules.sooner
        while True:
            woken.clear()
            next_at: float | None = None
            try:
                next_at = await self.look()
            except StoreError as error:
                # It comes back; the ticks of meanwhile are made up for as each schedule says.
                _log.warning("schedules cannot be looked after: %s", self._redact(str(error)))
            except Exception as error:  # noqa: BLE001  # one schedule that nobody foresaw must not end all others
                _log.error("looking after schedules failed: %s", type(error).__name__, exc_info=error)
            wait = LOOK if next_at is None else min(max(next_at - self._clock.time(), 0.0), LOOK)
            timer = self._clock.call_at(self._clock.monotonic() + wait, woken.set)
            try:
                await woken.wait()
            finally:
                timer.cancel()

    async def look(self) -> float | None:
        """Fire every schedule that is due; gives the Unix time of the next tick of all, None where there is none."""
        nearest: float | None = None
        page = await self._schedules.newest(limit=_PAGE)
        while page:
            for schedule in page:
                next_at = await self._fired(schedule)
                if next_at is not None and (nearest is None or next_at < nearest):
                    nearest = next_at
            page = await self._schedules.newest(limit=_PAGE, before=page[-1].schedule_id) if len(page) == _PAGE else []
        return nearest

    async def _fired(self, schedule: Schedule) -> float | None:
        now = self._clock.time()
        # Where the clock was set back, what was dealt with lies ahead.
        if schedule.next_at is None or (schedule.next_at > now and schedule.since <= now):
            return schedule.next_at
        try:
            return (await self._schedules.fire(schedule)).next_at
        except StoreError:
            raise
        except ToolpathError as error:
            _log.warning("the schedule %s cannot be run: %s", schedule.schedule_id, self._redact(str(error)))
            return None
