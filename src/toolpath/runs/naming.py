"""Names under which a run is begun once: those of callers, and the service's own, which no caller's can be. Pure."""

from __future__ import annotations

from typing import Final

from toolpath.errors import SchemaError

#: Characters that a caller's idempotency key may have: at every door, since two that are cut could become one.
LONGEST_KEY: Final = 200

#: Stands before every name of the service's own; twice before a caller's that begins with it.
_MARK = "\x1f"


class OwnName(str):
    """Name of what the service itself begins once: never made of text that comes in through a door alone."""

    __slots__ = ()


def kept_name(given: str) -> str:
    """The idempotency key that is stored: a caller's own, as it is, or the service's, in a namespace apart.

    Raises `SchemaError` for a caller's that has more than `LONGEST_KEY` characters.
    """
    if not given:
        return ""
    if isinstance(given, OwnName):
        return f"{_MARK}toolpath {given}"
    if len(given) > LONGEST_KEY:
        raise SchemaError(
            f"The idempotency key has {len(given)} characters; {LONGEST_KEY} are the most.",
            hint="Take a digest of it as the key.",
        )
    return f"{_MARK}{given}" if given.startswith(_MARK) else given
