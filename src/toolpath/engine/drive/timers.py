"""Deadlines of many calls with few timers: calls with the same time limit end in the order in which they began."""

from __future__ import annotations

from collections.abc import Callable

from toolpath.engine.drive.attempt import Attempt
from toolpath.ports import Clock, Timer

#: Seconds after which a timer that fires was kept from it: something held the loop.
LATE = 0.1
#: Seconds in which results that have come back meanwhile are taken, before calls are cut off.
MOMENT = 0.05


class Deadlines:
    """Cuts off calls whose time is up.

    Where the loop was held, a call may be back, and its result not yet have been looked at: it is given a moment.
    """

    def __init__(self, clock: Clock, expired: Callable[[Attempt], None]) -> None:
        self._clock = clock
        self._expired = expired
        # By length of the limit, in order of start: a dictionary keeps order and forgets in constant time.
        self._lines: dict[float, dict[Attempt, None]] = {}
        self._timers: dict[float, Timer] = {}

    def add(self, attempt: Attempt) -> None:
        """Watch a call that has just begun. One that waits for calls of its own is watched when it goes on."""
        if attempt.resting:
            return
        length = attempt.timeout
        line = self._lines.get(length)
        if line is None:
            line = self._lines[length] = {}
        line[attempt] = None
        if length not in self._timers:
            self._arm(length, attempt)

    def remove(self, attempt: Attempt) -> None:
        """Watch a call no more. One that is not watched is left as it is."""
        line = self._lines.get(attempt.timeout)
        if line is not None:
            line.pop(attempt, None)

    def _arm(self, length: float, first: Attempt) -> None:
        self._timers[length] = self._clock.call_at(first.started + length, lambda: self._fire(length))

    def _fire(self, length: float, *, taken: bool = False) -> None:
        self._timers.pop(length, None)
        line = self._lines[length]
        now = self._clock.monotonic()
        if not taken and line and now - next(iter(line)).started - length > LATE:
            self._timers[length] = self._clock.call_at(now + MOMENT, lambda: self._fire(length, taken=True))
            return
        # Fresh dictionaries: many removals from the front would make finding the first one slow.
        late = []
        for attempt in line:
            if attempt.started + length > now:
                break
            late.append(attempt)
        for attempt in late:
            del line[attempt]
        if line:
            self._lines[length] = line = dict(line)
            self._arm(length, next(iter(line)))
        for attempt in late:
            self._expired(attempt)

    def close(self) -> None:
        """Watch nothing any more."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._lines.clear()


class Unwatched:
    """Deadlines of calls whose time somebody else watches."""

    def add(self, attempt: Attempt) -> None:
        """Do nothing: the time of the call is watched elsewhere."""

    def remove(self, attempt: Attempt) -> None:
        """Do nothing: no call is watched here."""
