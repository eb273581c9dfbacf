"""A process that serves many: what may stop all of it for a while is kept short."""

from __future__ import annotations

import gc
import sys

#: Seconds after which a thread that computes lets others go on. Python's own 5 ms are waited for at every step of a
#: request while something large is read or checked beside it.
_SWITCH = 0.001


def keep_pauses_short() -> None:
    """To be called when all is loaded that stays: no search for garbage looks at that again, which takes 0.1 s each."""
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(_SWITCH)
