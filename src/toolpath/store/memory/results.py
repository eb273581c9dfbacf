"""Results and statistics of tools, in memory."""

from __future__ import annotations

from toolpath.model.tool import ToolStats
from toolpath.ports import CacheEntry
from toolpath.store.rows import merged
from toolpath.values import decode, encode

#: Kept results beyond this push out the oldest.
CACHE_ENTRIES = 10_000


class MemoryResults:
    """Kept results and statistics of tools in dictionaries."""

    def __init__(self) -> None:
        self._cache: dict[str, tuple[str, bytes, float]] = {}
        self._stats: dict[str, ToolStats] = {}

    async def cache_get(self, key: str, now: float) -> CacheEntry | None:
        """The kept result that has not expired, as a copy of its own."""
        kept = self._cache.get(key)
        if kept is None:
            return None
        _, data, expires_at = kept
        if expires_at <= now:
            del self._cache[key]
            return None
        return CacheEntry(decode(data), expires_at)

    async def cache_put(self, key: str, group: str, entry: CacheEntry, *, mark: str = "") -> None:
        """Keep a result for a group of tools; with a `mark`, in the place of what it marks, if that is still there."""
        if mark and self._cache.pop(mark, None) is None:
            return
        self._cache.pop(key, None)
        self._cache[key] = (group, encode(entry.value), entry.expires_at)
        if len(self._cache) > CACHE_ENTRIES:
            del self._cache[next(iter(self._cache))]

    async def cache_clear(self, group: str) -> None:
        """Forget all kept results of the group."""
        for key in [key for key, (owner, _, _) in self._cache.items() if owner == group]:
            del self._cache[key]

    async def load_stats(self) -> dict[str, ToolStats]:
        """Statistics by tool key."""
        return dict(self._stats)

    async def add_stats(self, changes: dict[str, ToolStats]) -> None:
        """Add these calls to the statistics."""
        for key, more in changes.items():
            self._stats[key] = merged(self._stats.get(key, ToolStats()), more)
