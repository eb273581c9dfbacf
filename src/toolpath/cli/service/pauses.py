"""Pauses of the garbage collector in a process that serves many, kept short."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable

#: Seconds after which a thread that computes lets others go on. Python's own 5 ms are waited for at every step of a
#: request while something large is read or checked beside it.
_SWITCH = 0.001
#: The last of the generations that a search for garbage tells apart: such a search looks at all there is.
_ALL = 2
#: Seconds between two searches that look at everything again, and the parts beyond those of the start that they are
#: for: garbage in circles among what was put out of sight is found by them alone.
_AGAIN = 600.0
_MANY = 200_000


class Searches:
    """Keeps each search for garbage short: what one has found in use, the next ones do not look at.

    A large plan has half a million parts, and looking at them takes a quarter of a second for as long as it runs.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._looked = now()
        """When everything was looked at last."""
        self._at_start = gc.get_freeze_count()

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        """Heard by Python before each search and after it, in the thread that does it."""
        if info["generation"] != _ALL:
            return
        if phase == "stop":
            gc.freeze()
        elif self._now() >= self._looked + _AGAIN and gc.get_freeze_count() > self._at_start + _MANY:
            self._looked = self._now()
            gc.unfreeze()


def keep_pauses_short() -> None:
    """To be called when all is loaded that stays: no search for garbage looks at that again, which takes 0.1 s each."""
    gc.collect()
    gc.freeze()
    gc.callbacks.append(Searches())
    sys.setswitchinterval(_SWITCH)
