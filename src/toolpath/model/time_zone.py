"""Time zones by their IANA names: the one reader for schedules, requests, settings and tools."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from toolpath.errors import SchemaError, closest

#: Files beside the zones: what they say differs from machine to machine, or counts leap seconds.
_NO_ZONES = frozenset(("localtime", "posixrules", "Factory"))
_NO_FOLDERS = ("posix/", "right/")
#: The longest name of IANA's has 32 characters.
_LONGEST = 100


def zone_of(name: str) -> ZoneInfo:
    """The time zone of a name, as `Europe/Berlin`. Raises `SchemaError`, with the names that are like it."""
    try:
        if not isinstance(name, str) or len(name) > _LONGEST or name in _NO_ZONES or name.startswith(_NO_FOLDERS):
            raise ZoneInfoNotFoundError
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        told = str(name)[:_LONGEST]
        raise SchemaError(
            f"There is no time zone {told!r}.",
            hint="Write one as Europe/Berlin, or UTC.",
            suggestions=closest(told, available_timezones() - _NO_ZONES),
        ) from None
