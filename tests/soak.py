"""The scale of the long tests: one number says how much of its whole size each of them tries.

`TOOLPATH_SOAK_SCALE=0.05 make soak` plays every long test, with a twentieth of what it tries at length.
"""

from __future__ import annotations

import math
import os

VARIABLE = "TOOLPATH_SOAK_SCALE"


def scaled(count: int, *, least: int = 1) -> int:
    """So much of the count as the scale asks for, at least `least` of it."""
    return max(least, math.ceil(count * scale()))


def scale() -> float:
    """The share of each long test that is tried: all of it where nothing is said."""
    return float(os.environ.get(VARIABLE, "1"))
