"""All that may be done to the runs of a store from this process."""

from __future__ import annotations

from toolpath.drives.starting import Starting
from toolpath.drives.telling import Telling


class Drives(Starting, Telling):
    """The runs that this process drives, and what may be done to any run of the store."""
