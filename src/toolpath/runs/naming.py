"""Names under which a run is begun once: those of callers, and the service's own, which no caller's can be. Pure."""

from __future__ import annotations

#: Stands before every name of the service's own; twice before a caller's that begins with it.
_MARK = "\x1f"


class OwnName(str):
    """Name of what the service itself begins once: never made of text that comes in through a door alone."""

    __slots__ = ()


def kept_name(given: str) -> str:
    """The idempotency key that is stored: a caller's own, as it is, or the service's, in a namespace apart."""
    if not given:
        return ""
    if isinstance(given, OwnName):
        return f"{_MARK}toolpath {given}"
    return f"{_MARK}{given}" if given.startswith(_MARK) else given
