"""Results that are kept for the cache, and statistics of tools, in the SQLite file."""

from __future__ import annotations

import sqlite3

import msgspec

from toolpath.model.tool import ToolStats
from toolpath.ports import CacheEntry
from toolpath.store.rows import merged
from toolpath.store.sqlite.file import SqliteFile, encoded
from toolpath.store.sqlite.writer import HEAVY
from toolpath.values import decode, encode

_stats_decoder = msgspec.json.Decoder(ToolStats)


class SqliteResults(SqliteFile):
    """Kept results and statistics of tools."""

    async def cache_get(self, key: str, now: float) -> CacheEntry | None:
        """The kept result that has not expired."""

        def work(connection: sqlite3.Connection) -> CacheEntry | None:
            row = connection.execute(self._sql.select_cached, {"key": key, "now": now}).fetchone()
            return None if row is None else CacheEntry(decode(row["value"]), row["expires_at"])

        return await self._read(work)

    async def cache_put(self, key: str, group: str, entry: CacheEntry, *, mark: str = "") -> None:
        """Keep a result for a group of tools; with a `mark`, in the place of what it marks, if that is still there."""
        data = encode(entry.value)
        values = {"key": key, "owner": group, "value": data, "expires_at": entry.expires_at}
        now = self._clock()

        def work(connection: sqlite3.Connection) -> None:
            if mark and not connection.execute(self._sql.delete_mark, {"mark": mark}).rowcount:
                return
            connection.execute(self._sql.upsert_cached, values)
            connection.execute(self._sql.delete_expired, {"now": now})

        await self._write(work, heavy=len(data) > HEAVY)

    async def cache_clear(self, group: str) -> None:
        """Forget all kept results of the group."""
        await self._write(lambda connection: connection.execute(self._sql.delete_cached, {"owner": group}) and None)

    async def load_stats(self) -> dict[str, ToolStats]:
        """Statistics by tool key."""

        def work(connection: sqlite3.Connection) -> dict[str, ToolStats]:
            rows = connection.execute(self._sql.select_stats).fetchall()
            return {row["tool"]: _stats_decoder.decode(row["data"]) for row in rows}

        return await self._read(work)

    async def add_stats(self, changes: dict[str, ToolStats]) -> None:
        """Add these calls to the statistics."""
        more = dict(changes)

        def work(connection: sqlite3.Connection) -> None:
            for tool, stats in more.items():
                row = connection.execute(self._sql.select_stats_of, {"tool": tool}).fetchone()
                known = ToolStats() if row is None else _stats_decoder.decode(row["data"])
                data = encoded(merged(known, stats), f"The statistics of {tool!r}")
                connection.execute(self._sql.upsert_stats, {"tool": tool, "data": data})

        if more:
            await self._write(work)
