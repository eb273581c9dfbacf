"""Zones of time that a request's days are meant in: `tomorrow` is another day in Tokyo."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo

from toolpath.errors import ConfigError, SchemaError
from toolpath.model import time_zone


def zone_of(name: str) -> tzinfo:
    """The zone that days are meant in: of a request, else of the settings; UTC for none. Raises `ConfigError`."""
    if not name or name == "utc":
        return UTC
    try:
        return time_zone.zone_of(name)
    except SchemaError as error:
        raise ConfigError(error.message, hint=error.hint, suggestions=error.suggestions) from None


def checked_zone(name: str) -> str:
    """The name of a zone that a request came with; empty for none. Raises `SchemaError`."""
    if name not in ("", "utc"):
        time_zone.zone_of(name)
    return name


def day_of(moment: float, zone: str) -> date:
    """The day that it is there at a moment, in seconds since 1970."""
    return datetime.fromtimestamp(moment, zone_of(zone)).date()
