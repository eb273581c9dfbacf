"""Zones of time that a request's days are meant in: `tomorrow` is another day in Tokyo."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from toolpath.errors import ConfigError, SchemaError


def zone_of(name: str) -> tzinfo:
    """The time zone of an IANA name, as `Europe/Berlin`; UTC for none. Raises `ConfigError`."""
    if not name or name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigError(f"{name!r} is no time zone.", hint="Name one as IANA does: Europe/Berlin.") from None


def checked_zone(name: str) -> str:
    """The name of a zone that a request came with; empty for none. Raises `SchemaError`."""
    try:
        zone_of(name)
    except ConfigError as error:
        raise SchemaError(error.message, hint=error.hint) from None
    return name


def day_of(moment: float, zone: str) -> date:
    """The day that it is there at a moment, in seconds since 1970."""
    return datetime.fromtimestamp(moment, zone_of(zone)).date()
