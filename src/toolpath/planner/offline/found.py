"""A value found for a parameter. Pure data."""

from __future__ import annotations

import msgspec

from toolpath.planner.offline.mention import Mention
from toolpath.values import Json


class Found(msgspec.Struct, frozen=True):
    """A value for a parameter, how sure, and where in the text it comes from."""

    value: Json
    sure: float
    mention: Mention | None = None
    because: str = ""
