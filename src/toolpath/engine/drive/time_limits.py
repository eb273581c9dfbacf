"""Time limits of calls where nobody says: the default, or what is known of the tool. No clock of its own."""

from __future__ import annotations

from toolpath.catalog.statistics import Statistics
from toolpath.config import Settings
from toolpath.engine.compile.nodes import CallTarget

#: Adaptive limits: for reads that succeeded this often, within these bounds, in seconds.
ENOUGH, SHORTEST, LONGEST, ROOM = 20, 5.0, 120.0, 3.0


class TimeLimits:
    """Seconds that an attempt may take where neither step nor tool says; the same for a whole drive."""

    def __init__(self, known: Statistics, settings: Settings) -> None:
        self._known = known
        self._settings = settings
        self._limits: dict[str, float] = {}

    def of(self, target: CallTarget) -> float:
        """The limit of a call of the target."""
        limit = self._limits.get(target.key)
        if limit is None:
            limit = self._limits[target.key] = self._limit(target)
        return limit

    def _limit(self, target: CallTarget) -> float:
        settings = self._settings
        known = self._known.get(target.key)
        if not settings.adaptive_timeout or known is None or not target.tool.is_read or len(known.durations) < ENOUGH:
            return settings.default_timeout
        slow = known.percentile(0.95) or 0.0
        return min(max(slow * ROOM, SHORTEST), LONGEST)
