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
#: Parts that a search may find in use without more ado, a tenth of a second's work. What is put out of sight while
#: runs are short is soon garbage that no search sees: with 500 runs a second that was 1 to 7 MB a second.
_MANY = 200_000
#: Seconds between two searches that look at everything again, where many parts more are out of sight than at the start.
_AGAIN = 600.0


class Searches:
    """Keeps each search for garbage short: what one has found in use, the next ones do not look at, where it is much.

    A large plan has half a million parts, and looking at them takes a quarter of a second for as long as it runs.
    Garbage in circles among what is out of sight is found by a search that looks at everything again: after a while,
    or as soon as twice as much is out of sight as the last such search found in use.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._looked = now()
        """When everything was looked at last."""
        self._at_start = self._kept = gc.get_freeze_count()
        """Parts out of sight: at the start, and after the last search that looked at everything."""
        self._whole = False
        """The search that is under way looks at everything."""

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        """Heard by Python before each search and after it, in the thread that does it."""
        if info["generation"] != _ALL:
            return
        if phase == "start":
            self._whole = self._is_due()
            if self._whole:
                gc.unfreeze()
        elif self._whole:
            gc.freeze()
            self._kept, self._looked, self._whole = gc.get_freeze_count(), self._now(), False
        elif len(gc.get_objects(_ALL)) >= _MANY:
            gc.freeze()

    def _is_due(self) -> bool:
        hidden = gc.get_freeze_count()
        if hidden < self._at_start + _MANY:
            return False
        return hidden >= 2 * self._kept + _MANY or self._now() >= self._looked + _AGAIN


def keep_pauses_short() -> None:
    """To be called when all is loaded that stays: no search for garbage looks at that again, which takes 0.1 s each."""
    gc.collect()
    gc.freeze()
    gc.callbacks.append(Searches())
    sys.setswitchinterval(_SWITCH)
