"""All that may be done to the runs of a store from this process."""

from __future__ import annotations

from toolpath.runs.driving import Driving
from toolpath.runs.starting import Starting


class Drives(Starting, Driving):
    """The runs that this process drives, and what may be done to any run of the store."""
