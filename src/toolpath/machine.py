"""Time and chance, as the machine has them: its clock, as `ports.Clock` wants it, and identifiers."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable

from toolpath.ports import Timer

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_SPACE = 36**9


class SystemClock:
    """Real time."""

    # The functions themselves: each call asks for the time three times.
    monotonic = staticmethod(time.monotonic)
    """Seconds that never go back: the time of asyncio's loops."""
    time = staticmethod(time.time)
    """Unix time in seconds."""

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """Have `callback` called in the running loop when `monotonic()` reaches `when`."""
        return asyncio.get_running_loop().call_at(when, callback)


def new_id(prefix: str, now: float) -> str:
    """A new id, e.g. `run_1704123456789_k3x9q2m1z`; `now` is Unix time in seconds.

    Prefix, sortable milliseconds, nine base-36 digits from the operating system.
    """
    rest, digits = secrets.randbelow(_SPACE), []
    for _ in range(9):
        rest, digit = divmod(rest, 36)
        digits.append(_DIGITS[digit])
    return f"{prefix}_{int(now * 1000):013d}_{''.join(digits)}"
