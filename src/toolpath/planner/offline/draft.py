"""Draft of one tool's calls: the part of the request that is its own, its calls, its links. Pure data."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from toolpath.planner.offline.fill import Filling
from toolpath.planner.offline.rank import Fit, RankedTool
from toolpath.values import Json


class Draft(msgspec.Struct, frozen=True):
    """One tool and its calls."""

    candidate: RankedTool
    text: str
    fit: Fit
    filling: Filling
    ids: tuple[str, ...] = ()
    """A step's id for each call."""
    ties: tuple[float, ...] = ()
    """How well each of its links fits, 0 to 2."""
    is_unasked: bool = False
    """Brought in for what it gives."""
    links: tuple[Mapping[str, Json], ...] = ()
    """For each call: parameters that an earlier step gives, as templates."""
