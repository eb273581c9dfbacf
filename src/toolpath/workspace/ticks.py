"""Times at which a cron line is due, in its time zone. Pure.

Around the change of clocks as in cron: what falls into the hour that is left out comes when it is over, what falls into
the hour that comes twice comes once; a line that is due in every hour is due in both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime

from cronsim import CronSim, CronSimError

from toolpath.errors import SchemaError
from toolpath.model.schedule import Schedule
from toolpath.model.time_zone import zone_of

_LONGEST = 200


def check_times(cron: str, time_zone: str, now: float) -> None:
    """Raise `SchemaError` for a line that cannot be read or never comes, or a time zone that there is none of."""
    if next(ticks_after(cron, time_zone, now), None) is None:
        raise SchemaError(f"The cron line {cron!r} never comes.", hint="Look at its day and month.")


def ticks_after(cron: str, time_zone: str, after: float) -> Iterator[float]:
    """The Unix times, later than `after`, at which the line is due, earliest first. Raises `SchemaError`."""
    return _ticks(cron, time_zone, after, backwards=False)


def times_of(schedule: Schedule, after: float) -> Iterator[float]:
    """The Unix times, later than `after`, at which the schedule is due or would be if it were not paused."""
    if schedule.cron:
        return ticks_after(schedule.cron, schedule.time_zone, after)
    return (once for once in (schedule.once,) if once is not None and once > after)


def ticks_until(cron: str, time_zone: str, until: float) -> Iterator[float]:
    """The Unix times up to `until` at which the line is due, latest first. Raises `SchemaError`."""
    # Ticks are whole seconds, and those before the time it starts from are given.
    return _ticks(cron, time_zone, math.floor(until) + 1, backwards=True)


def _ticks(cron: str, time_zone: str, start: float, *, backwards: bool) -> Iterator[float]:
    zone = zone_of(time_zone)
    if len(cron) > _LONGEST:
        raise SchemaError(f"A cron line has at most {_LONGEST} characters.")
    try:
        # `?` stands for any day where others write it.
        begin = datetime.fromtimestamp(start, UTC).astimezone(zone)
        found = CronSim(cron.replace("?", "*").upper(), begin, reverse=backwards)
    except (CronSimError, ValueError, OverflowError) as error:
        raise SchemaError(
            f"The cron line {cron!r} cannot be read: {str(error) or 'it is out of range'}.",
            hint="Write minute, hour, day, month and weekday, as in '30 9 * * MON-FRI'; seconds may stand before.",
        ) from None
    return (tick.timestamp() for tick in found)
