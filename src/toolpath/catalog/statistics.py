"""Statistics of tools from their calls: counted as they end, told as frozen records. Pure."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from toolpath.model.tool import ToolStats

#: Latest durations of successes that are kept of each tool.
KEPT = 200


class _Count:
    __slots__ = (
        "calls",
        "confidence",
        "confidences",
        "cost",
        "durations",
        "failures",
        "frozen",
        "timeouts",
        "total",
        "updated",
    )

    def __init__(self) -> None:
        self.calls = self.failures = self.timeouts = self.confidences = 0
        self.total = self.confidence = self.cost = self.updated = 0.0
        self.durations: deque[float] = deque(maxlen=KEPT)
        self.frozen: ToolStats | None = None

    def succeeded(self, duration: float, at: float, confidence: float | None, cost: float | None) -> None:
        self.frozen = None
        self.calls += 1
        self.total += duration
        self.updated = at
        self.durations.append(duration)
        if confidence is not None:
            self.confidences += 1
            self.confidence += confidence
        if cost:
            self.cost += cost

    def add(self, change: ToolStats) -> None:
        self.calls += change.calls
        self.failures += change.failures
        self.timeouts += change.timeouts
        self.total += change.total_duration
        self.durations.extend(change.durations)
        self.confidence += change.confidence_total
        self.confidences += change.confidences
        self.cost += change.cost
        self.updated = max(self.updated, change.updated_at)
        self.frozen = None

    def freeze(self) -> ToolStats:
        if self.frozen is None:
            self.frozen = ToolStats(
                calls=self.calls,
                failures=self.failures,
                timeouts=self.timeouts,
                total_duration=self.total,
                durations=tuple(self.durations),
                confidence_total=self.confidence,
                confidences=self.confidences,
                cost=self.cost,
                updated_at=self.updated,
            )
        return self.frozen


class Statistics(Mapping[str, ToolStats]):
    """Tool key → what is known of it now. A record that was given out never changes."""

    def __init__(self) -> None:
        self._counts: defaultdict[str, _Count] = defaultdict(_Count)
        self._unsaved: defaultdict[str, _Count] | None = None
        self._frozen: Mapping[str, ToolStats] | None = None
        """All records, where nothing was counted since they were made."""

    @property
    def frozen(self) -> Mapping[str, ToolStats]:
        """All records as they are now, which never change: the same object until something is counted."""
        if self._frozen is None:
            self._frozen = MappingProxyType({key: count.freeze() for key, count in self._counts.items()})
        return self._frozen

    def keep_changes(self) -> None:
        """From now on remember what is new, for `take_changes`."""
        self._unsaved = defaultdict(_Count)

    @property
    def has_changes(self) -> bool:
        """Something is new since `take_changes` was last asked."""
        return bool(self._unsaved)

    def take_changes(self) -> dict[str, ToolStats]:
        """The statistics that were counted since this was last asked."""
        if not self._unsaved:
            return {}
        unsaved, self._unsaved = self._unsaved, defaultdict(_Count)
        return {key: count.freeze() for key, count in unsaved.items()}

    def succeeded(
        self, key: str, duration: float, at: float, confidence: float | None = None, cost: float | None = None
    ) -> None:
        """A call took so many seconds and ended well at this Unix time."""
        self._frozen = None
        self._counts[key].succeeded(duration, at, confidence, cost)
        if self._unsaved is not None:
            self._unsaved[key].succeeded(duration, at, confidence, cost)

    def failed(self, key: str, duration: float, at: float, *, timed_out: bool = False) -> None:
        """A call took so many seconds and failed."""
        self.add(
            key,
            ToolStats(
                calls=1,
                failures=0 if timed_out else 1,
                timeouts=1 if timed_out else 0,
                total_duration=duration,
                updated_at=at,
            ),
        )

    def add(self, key: str, change: ToolStats, *, saved: bool = False) -> ToolStats:
        """Add calls that were counted elsewhere; `saved`: the store has them already. Gives the sum."""
        if self._unsaved is not None and not saved:
            self._unsaved[key].add(change)
        self._frozen = None
        count = self._counts[key]
        count.add(change)
        return count.freeze()

    def __getitem__(self, key: str) -> ToolStats:
        if key not in self._counts:
            raise KeyError(key)
        return self._counts[key].freeze()

    def average(self, key: str) -> float | None:
        """Mean seconds of the tool's calls, or None before the first."""
        count = self._counts.get(key)
        return count.total / count.calls if count is not None and count.calls else None

    def __iter__(self) -> Iterator[str]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)
