"""Names of runs and tools in a store, read quickly for completion in a shell.

Nothing is made, migrated or written; a store that is away, locked, slow or of another kind shows nothing.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: Seconds that somebody who types waits at most.
PATIENCE = 1.0
_STEPS = 20_000

_RUNS = "SELECT run_id, name, status FROM {runs} WHERE {fits}{status} ORDER BY number DESC LIMIT {limit}"
_TOOLS = "SELECT tool FROM {tools} WHERE {fits} ORDER BY tool LIMIT {limit}"

Row = tuple[str, ...]


def glance_runs(store: str, beginning: str, *, statuses: Sequence[str] = (), limit: int = 50) -> list[Row]:
    """Id, name and status of the newest runs whose id begins so, in one of the statuses where some are given."""
    if _is_postgres(store):
        where = " AND status = ANY ($2)" if statuses else ""
        text = _RUNS.format(runs="{schema}.runs", fits="starts_with(run_id, $1)", status=where, limit=limit)
        return _from_postgres(store, text, [beginning, list(statuses)] if statuses else [beginning])
    where = f" AND status IN ({', '.join('?' for _ in statuses)})" if statuses else ""
    text = _RUNS.format(runs="runs", fits="substr(run_id, 1, length(?1)) = ?1", status=where, limit=limit)
    return _from_sqlite(store, text, [beginning, *statuses])


def glance_tools(store: str, beginning: str, *, limit: int = 200) -> list[str]:
    """Keys of the tools that were called and begin so."""
    if _is_postgres(store):
        text = _TOOLS.format(tools="{schema}.tool_stats", fits="starts_with(tool, $1)", limit=limit)
        rows = _from_postgres(store, text, [beginning])
    else:
        fits = "substr(tool, 1, length(?1)) = ?1"
        rows = _from_sqlite(store, _TOOLS.format(tools="tool_stats", fits=fits, limit=limit), [beginning])
    return [row[0] for row in rows]


def _is_postgres(store: str) -> bool:
    return store.startswith(("postgresql://", "postgres://"))


def _from_sqlite(store: str, text: str, values: list[str]) -> list[Row]:
    # Opening a named pipe would wait for its other end.
    with contextlib.suppress(sqlite3.Error, OSError, ValueError):
        path = Path(store).absolute()
        if not path.is_file():
            return []
        with contextlib.closing(
            sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=PATIENCE / 4)
        ) as connection:
            until = time.monotonic() + PATIENCE
            connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
            return connection.execute(text, values).fetchall()
    return []


def _from_postgres(store: str, text: str, values: list[Any]) -> list[Row]:
    try:
        import asyncio

        import asyncpg

        from toolpath.store.postgres.address import read_address

        address = read_address(store)
        query = text.replace("{schema}", f'"{address.schema}"')

        async def ask() -> list[Row]:
            async with asyncio.timeout(PATIENCE):
                connection = await asyncpg.connect(address.dsn, timeout=PATIENCE)
                try:
                    return [tuple(row) for row in await connection.fetch(query, *values)]
                finally:
                    connection.terminate()

        return asyncio.run(ask())
    except Exception:  # noqa: BLE001  # a driver that is not there, a wrong address, a database that is away
        return []
