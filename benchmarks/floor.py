"""The least that any engine has to do, on bare asyncio: what ours is compared with.

No validation, no retries, no time limits, no events. `durable` floors also keep each result in SQLite before what
depends on it may start.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.workloads import Graph, Map, StepTool, Value

Keep = Callable[[int, Value], Awaitable[None]]


async def run_graph(graph: Graph, tools: list[StepTool], keep: Keep | None = None) -> int:
    """Run each step in a task of its own as soon as the steps before it have ended; gives the last step's value."""
    missing = [len(before) for before in graph.deps]
    results: list[Any] = [None] * graph.size
    ready = deque(step for step in range(graph.size) if not missing[step])
    free = graph.limit or graph.size
    running: set[asyncio.Task[None]] = set()
    loop = asyncio.get_running_loop()
    end = loop.create_future()

    async def run(step: int) -> None:
        nonlocal free
        result = await tools[step]([results[dependency] for dependency in graph.deps[step]])
        if keep is not None:
            await keep(step, result)
        results[step] = result
        free += 1
        if step == graph.size - 1:
            end.set_result(None)
        for follower in graph.followers[step]:
            missing[follower] -= 1
            if not missing[follower]:
                ready.append(follower)
        start()

    def start() -> None:
        nonlocal free
        while ready and free:
            free -= 1
            task = loop.create_task(run(ready.popleft()))
            running.add(task)
            task.add_done_callback(running.discard)

    start()
    await end
    return int(results[-1]["v"])


async def run_map(items: Map) -> int:
    """As many workers as may run at once take items from one iterator."""
    results: list[int] = [0] * items.size
    left = iter(range(items.size))

    async def work() -> None:
        for item in left:
            results[item] = (await items.tool(item))["v"]

    await asyncio.gather(*(work() for _ in range(items.limit)))
    return Map.total(results)


class Journal:
    """Results as rows, those of one turn of the loop in one commit that is synced to the disk."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute(
            "CREATE TABLE results (run INTEGER, step INTEGER, value TEXT, PRIMARY KEY (run, step))"
        )
        self._rows: list[tuple[int, int, str]] = []
        self._kept: asyncio.Future[None] | None = None
        self.run = 0

    async def keep(self, step: int, value: Value) -> None:
        """Return when the result is on the disk."""
        self._rows.append((self.run, step, json.dumps(value)))
        if self._kept is None:
            loop = asyncio.get_running_loop()
            self._kept = loop.create_future()
            loop.call_soon(self._commit, self._kept)
        await self._kept

    def count(self) -> int:
        """Results on the disk."""
        return int(self._connection.execute("SELECT count(*) FROM results").fetchone()[0])

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _commit(self, kept: asyncio.Future[None]) -> None:
        rows, self._rows, self._kept = self._rows, [], None
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO results VALUES (?, ?, ?)", rows)
        self._connection.execute("COMMIT")
        kept.set_result(None)
