"""The clock of the machine, as `ports.Clock` wants it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from toolpath.ports import Timer


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
