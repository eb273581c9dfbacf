"""Results and statistics of tools, in PostgreSQL."""

from __future__ import annotations

from typing import Any

import msgspec

from toolpath.model.tool import ToolStats
from toolpath.ports import CacheEntry
from toolpath.store.postgres.ground import PostgresGround, encoded
from toolpath.store.postgres.sql import bound
from toolpath.store.rows import merged
from toolpath.values import decode, encode

_stats_decoder = msgspec.json.Decoder(ToolStats)


class PostgresResults(PostgresGround):
    """Kept results and statistics of tools."""

    async def cache_get(self, key: str, now: float) -> CacheEntry | None:
        """The kept result that has not expired."""
        row = await self._row(self._sql.select_cached, {"key": key, "now": now}, patient=True)
        return None if row is None else CacheEntry(decode(row["value"]), row["expires_at"])

    async def cache_put(self, key: str, group: str, entry: CacheEntry, *, mark: str = "") -> None:
        """Keep a result for a group of tools; with a `mark`, in the place of what it marks, if that is still there."""
        values = {"key": key, "owner": group, "value": encode(entry.value), "expires_at": entry.expires_at}
        if mark:
            await self._value(self._sql.replace_mark, {**values, "mark": mark}, patient=True)
        else:
            await self._value(self._sql.upsert_cached, values, patient=True)
        await self._value(self._sql.delete_expired, {"now": self._clock()}, patient=True)

    async def cache_clear(self, group: str) -> None:
        """Forget all kept results of the group."""
        # What was just being put in the place of a mark is seen by the next statement.
        while await self._value(self._sql.delete_cached, {"owner": group}, patient=True):
            pass

    async def load_stats(self) -> dict[str, ToolStats]:
        """Statistics by tool key."""
        rows = await self._rows(self._sql.select_stats, {})
        return {row["tool"]: _stats_decoder.decode(row["data"]) for row in rows}

    async def add_stats(self, changes: dict[str, ToolStats]) -> None:
        """Add these calls to the statistics."""
        if not changes:
            return
        more = dict(changes)
        sql, tools = self._sql, sorted(more)

        async def work(connection: Any) -> None:
            async with connection.transaction():
                empty = encoded(ToolStats(), "An empty record")
                await connection.execute(*bound(sql.insert_stats, {"tools": tools, "data": empty}))
                rows = await connection.fetch(*bound(sql.select_stats_of, {"tools": tools}))
                known = {row["tool"]: _stats_decoder.decode(row["data"]) for row in rows}
                datas = [encoded(merged(known[tool], more[tool]), f"The statistics of {tool!r}") for tool in tools]
                await connection.execute(*bound(sql.update_stats, {"tools": tools, "datas": datas}))

        await self._run(work, patient=True)
