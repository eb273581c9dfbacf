"""Identifiers: prefix, sortable milliseconds, nine base-36 digits from the operating system."""

from __future__ import annotations

import secrets

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_SPACE = 36**9


def new_id(prefix: str, now: float) -> str:
    """A new id, e.g. `run_1704123456789_k3x9q2m1z`; `now` is Unix time in seconds."""
    rest, digits = secrets.randbelow(_SPACE), []
    for _ in range(9):
        rest, digit = divmod(rest, 36)
        digits.append(_DIGITS[digit])
    return f"{prefix}_{int(now * 1000):013d}_{''.join(digits)}"
