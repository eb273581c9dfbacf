"""Zones of time that a request's days are meant in: `tomorrow` is another day in Tokyo."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from toolpath.errors import ConfigError


def zone_of(name: str) -> tzinfo:
    """The time zone of an IANA name, as `Europe/Berlin`; UTC for none. Raises `ConfigError`."""
    if not name or name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigError(f"{name!r} is no time zone.", hint="Name one as IANA does: Europe/Berlin.") from None


def day_of(moment: float, zone: str) -> date:
    """The day that it is there at a moment, in seconds since 1970."""
    return datetime.fromtimestamp(moment, zone_of(zone)).date()
