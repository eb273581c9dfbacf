"""W5 on PostgreSQL: the engine with its journal there against a floor that keeps each result in one table.

`python -m benchmarks postgres`; the server is that of TEST_POSTGRES_URL, or one at 127.0.0.1. Makes the schemas
`benchmark_floor` and `benchmark_store` and drops them.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import asyncpg
import msgspec

from benchmarks import engine, floor, workloads
from benchmarks.report import publish
from benchmarks.workloads import Graph, Value
from toolpath.app import Toolpath

SERVER = os.environ.get("TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
TURNS = 9


class Journal:
    """Results as rows: all that come while a statement runs are in the next one. No fence, no events."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._rows: list[tuple[int, str]] = []
        self._kept: asyncio.Future[None] | None = None
        self._writing = asyncio.Lock()
        self.run = 0

    async def keep(self, step: int, value: Value) -> None:
        """Return when the result is committed."""
        self._rows.append((step, json.dumps(value)))
        if self._kept is None:
            self._kept = asyncio.ensure_future(self._commit())
        await asyncio.shield(self._kept)

    async def _commit(self) -> None:
        async with self._writing:
            rows, self._rows, self._kept = self._rows, [], None
            await self._connection.execute(
                "INSERT INTO benchmark_floor.results SELECT $1, * FROM unnest($2::int[], $3::text[])",
                self.run,
                [step for step, _ in rows],
                [value for _, value in rows],
            )


async def time_graph(graph: Graph, connection: Any) -> engine.Timing:
    """Time the graph with both journals in PostgreSQL, as the server syncs."""
    tools = [graph.tool(step) for step in range(graph.size)]
    journal = Journal(connection)

    async def bare() -> int:
        journal.run += 1
        return await floor.run_graph(graph, tools, journal.keep)

    async with Toolpath(f"{SERVER}?schema=benchmark_store") as toolpath:
        toolpath.add(*engine.tools_of(graph))
        plan = engine.plan_of(graph)

        async def ours() -> int:
            result = await toolpath.run(plan)
            if not result.success:
                raise RuntimeError(f"The benchmark's run ended as {result.status}: {result.error}")
            return int(result.outputs)

        timing = await engine.compare(bare, ours, graph.expected, turns=TURNS, floor_runs=1)
    timing.steps = graph.size
    timing.us_per_step = timing.ours_ms / graph.size * 1e3
    return timing


async def measure() -> list[engine.Timing]:
    """Chain and fan."""
    connection = await asyncpg.connect(SERVER)
    drop = "DROP SCHEMA IF EXISTS benchmark_floor CASCADE; DROP SCHEMA IF EXISTS benchmark_store CASCADE"
    timings = []
    for graph, name in ((workloads.chain(), "W5c chain, PostgreSQL"), (workloads.fan(), "W5d fan, PostgreSQL")):
        await connection.execute(drop)
        await connection.execute(
            "CREATE SCHEMA benchmark_floor;"
            "CREATE TABLE benchmark_floor.results (run INTEGER, step INTEGER, value TEXT, PRIMARY KEY (run, step))"
        )
        timing = await time_graph(graph, connection)
        timing.workload = name
        timings.append(timing)
    await connection.execute(drop)
    await connection.close()
    return timings


def main() -> int:
    """Measure, print and publish."""
    timings = asyncio.run(measure())
    text = engine.show(timings)
    print(text)
    publish("postgres", text, {"timings": msgspec.to_builtins(timings)})
    return 0
