"""The engine's speed on plans as users write them (`mixed.py`), fresh ones too: `python -m benchmarks users`.

All times are processor time, since what is compared is work; each row compares with the bare floor in the same process.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import floor, mixed, needed, workloads
from benchmarks.engine import engine
from benchmarks.report import publish, table
from benchmarks.workloads import MODULUS, Graph
from toolpath.app import Toolpath
from toolpath.engine.compile.program import Program

#: Runs before the first that is measured: what is evaluated often has code of its own by then.
WARM = 5
TURNS = 9
FLOOR_RUNS = 5


class Row(msgspec.Struct, kw_only=True):
    """One workload: medians of processor time in milliseconds."""

    workload: str
    steps: int
    floor_ms: float
    ours_ms: float
    ratio: float
    ratio_of_minima: float
    us_per_step: float
    needed: float | None = None
    """What the contract asks of each call by itself, over the floor: no engine could have a lower ratio."""


class Fresh(msgspec.Struct, kw_only=True):
    """One size of fresh plans: the least processor times of several, of the parts in microseconds a step."""

    steps: int
    floor_ms: float
    ours_ms: float
    ratio: float
    read_us: float
    check_us: float
    compile_us: float
    run_us: float
    first_of_process_ms: float


async def used(run: Callable[[], Awaitable[int]], expected: int) -> float:
    """Processor time of a run, in milliseconds, its result checked."""
    before = time.process_time()
    result = await run()
    taken = (time.process_time() - before) * 1e3
    if result != expected:
        raise RuntimeError(f"A wrong result: {result} instead of {expected}.")
    return taken


async def compared(
    name: str, steps: int, bare: Callable[[], Awaitable[int]], ours: Callable[[], Awaitable[int]], expected: int,
    *, least: Callable[[], Awaitable[int]] | None = None, turns: int = TURNS, floor_runs: int = FLOOR_RUNS,
) -> Row:  # fmt: skip
    """Both in turn; `least`: what is needed of each call, measured in the same turns."""
    for _ in range(WARM if turns >= TURNS else 1):
        await used(ours, expected)
    await used(bare, expected)
    floors: list[float] = []
    engines: list[float] = []
    needs: list[float] = []
    gc.collect()
    for _ in range(turns):
        floors.append(statistics.median([await used(bare, expected) for _ in range(floor_runs)]))
        engines.append(await used(ours, expected))
        if least is not None:
            needs.append(await used(least, expected))
    mine, lowest = statistics.median(engines), statistics.median(floors)
    return Row(
        workload=name, steps=steps, floor_ms=lowest, ours_ms=mine, ratio=mine / lowest,
        ratio_of_minima=min(engines) / min(floors), us_per_step=mine / steps * 1e3,
        needed=statistics.median(needs) / lowest if needs else None,
    )  # fmt: skip


async def ran(toolpath: Toolpath, plan: Any, inputs: dict[str, Any] | None = None) -> Any:
    """The outputs of a run of the plan."""
    result = await toolpath.run(plan, inputs or {})
    if not result.success:
        raise RuntimeError(f"The benchmark's run ended as {result.status}: {result.error}")
    return result.outputs


async def time_graph(name: str, graph: Graph, folder: Path | None = None, *, turns: int = TURNS) -> Row:
    """Time the graph; with a folder, both keep their results in SQLite there."""
    tools = [mixed.floor_tool(step) for step in range(graph.size)]
    journal = floor.Journal(folder / f"{name}-floor.db") if folder else None

    async def bare() -> int:
        if journal is not None:
            journal.run += 1
        return await floor.run_graph(graph, tools, journal.keep if journal is not None else None)

    contracts = [needed.Contract(tool, mixed.settle) for tool in mixed.tools()]
    checked = [needed.step_tool(step, contracts[step % mixed.TOOLS]) for step in range(graph.size)]

    async def least() -> int:
        for contract in contracts:
            contract.events.clear()
        return await floor.run_graph(graph, checked)

    async with engine(str(folder / f"{name}.db") if folder else ":memory:") as toolpath:
        toolpath.add(*mixed.tools())
        plan = toolpath.read(mixed.plan_of(graph))

        async def ours() -> int:
            return int((await ran(toolpath, plan))["v"])

        floor_runs = FLOOR_RUNS if folder is None else 1
        row = await compared(
            name, graph.size, bare, ours, graph.expected,
            least=None if folder else least, turns=turns, floor_runs=floor_runs,
        )  # fmt: skip
    if journal is not None:
        journal.close()
    return row


async def time_map(size: int, *, turns: int = TURNS) -> Row:
    """Time the map."""
    items = mixed.MixedMap(size)
    async with engine() as toolpath:
        toolpath.add(mixed.map_tool())
        plan, inputs = toolpath.read(mixed.map_plan(items)), mixed.map_inputs(items)

        async def ours() -> int:
            found = await ran(toolpath, plan, inputs)
            return int(sum(one["v"] for one in found["prices"])) % MODULUS

        async def bare() -> int:
            return await floor.run_map(items)

        async def least() -> int:
            checked.contract.events.clear()
            return await floor.run_map(checked)

        checked = needed.ContractMap(size)
        return await compared(
            f"W7 map of {size:,}", size, bare, ours, items.expected, least=least, turns=turns, floor_runs=3
        )


async def time_fresh(size: int, *, turns: int = 7) -> Fresh:
    """Plans that nobody has seen before, each read, checked, compiled and run; then each part by itself."""
    graph = workloads.layered(size)
    tools = [mixed.floor_tool(step) for step in range(size)]
    parts: list[tuple[float, float, float, float, float, float]] = []
    async with engine() as toolpath:
        toolpath.add(*mixed.tools())

        async def bare() -> int:
            return await floor.run_graph(graph, tools)

        for turn in range(turns + 1):
            document = mixed.plan_of(graph, salt=2 * turn)

            async def ours(document: dict[str, Any] = document) -> int:
                return int((await ran(toolpath, document))["v"])

            gc.collect()
            whole = await used(ours, graph.expected)
            least = statistics.median([await used(bare, graph.expected) for _ in range(FLOOR_RUNS)])
            parts.append((whole, least, *await _parts(toolpath, mixed.plan_of(graph, salt=2 * turn + 1))))
    # The first one also makes ready what is of the tools and not of the plan.
    whole, least, *rest = (min(column) for column in zip(*parts[1:], strict=True))
    read, check, compiled, run = (part / size * 1e3 for part in rest)
    return Fresh(
        steps=size, floor_ms=least, ours_ms=whole, ratio=whole / least, read_us=read, check_us=check,
        compile_us=compiled, run_us=run, first_of_process_ms=first_of_process(size),
    )  # fmt: skip


async def _parts(toolpath: Toolpath, document: dict[str, Any]) -> tuple[float, float, float, float]:
    """Milliseconds to read, check, compile and run the plan."""
    catalog, clock = toolpath.registry.snapshot(), time.process_time
    times = [clock()]
    plan = toolpath.read(document)
    times.append(clock())
    toolpath._preparation.checked(plan, catalog)
    times.append(clock())
    Program(plan, catalog, toolpath.settings, memory=toolpath._preparation._memory)
    times.append(clock())
    await ran(toolpath, plan)
    prepared = clock()
    await ran(toolpath, plan)
    read, check, compiled = (1e3 * (later - sooner) for sooner, later in itertools.pairwise(times))
    return read, check, compiled, 1e3 * (clock() - prepared)


_FIRST = """
import asyncio, sys, time
from benchmarks import mixed, users, workloads
async def main():
    graph = workloads.layered(int(sys.argv[1]))
    document = mixed.plan_of(graph)
    async with users.engine() as toolpath:
        toolpath.add(*mixed.tools())
        before = time.process_time()
        assert (await users.ran(toolpath, document))["v"] == graph.expected
        print(1e3 * (time.process_time() - before))
asyncio.run(main())
"""


def first_of_process(size: int, runs: int = 3) -> float:
    """Milliseconds of the first run of a process, its imports and tools done."""
    command = [sys.executable, "-c", _FIRST, str(size)]
    return statistics.median(
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(runs)
    )


async def measure(folder: Path) -> tuple[list[Row], list[Fresh]]:
    """Every workload. `folder` is for the files of the durable ones."""
    rows = [
        await time_graph("W1 chain", workloads.chain()),
        await time_graph("W2 fan", workloads.fan()),
        await time_graph("W3 layered", workloads.layered()),
        await time_graph("W5a durable chain", workloads.chain(), folder),
        await time_graph("W5b durable fan", workloads.fan(), folder),
    ]
    for size in (300, 1_000, 3_000):
        rows.append(await time_graph(f"W5c durable layered, {size:,}", workloads.layered(size), folder, turns=3))
    rows.append(await time_map(10_000, turns=3))
    return rows, [await time_fresh(size) for size in (10, 100, 1_000)]


def show(rows: list[Row], fresh: list[Fresh]) -> str:
    """Both tables."""
    head = ["workload", "steps", "floor ms", "ours ms", "ratio", "of minima", "needed / floor", "µs a step"]
    first = table(
        head,
        [
            (r.workload, r.steps, r.floor_ms, r.ours_ms, r.ratio, r.ratio_of_minima, r.needed, r.us_per_step)
            for r in rows
        ],
    )
    head = [
        "W8, steps",
        "floor ms",
        "ours ms",
        "ratio",
        "read µs a step",
        "check",
        "compile",
        "run",
        "first of a process ms",
    ]
    second = table(
        head,
        [
            (
                f.steps,
                f.floor_ms,
                f.ours_ms,
                f.ratio,
                f.read_us,
                f.check_us,
                f.compile_us,
                f.run_us,
                f.first_of_process_ms,
            )
            for f in fresh
        ],
    )  # fmt: skip
    return f"{first}\n\n{second}"


def main() -> int:
    """Measure, print and publish."""
    with tempfile.TemporaryDirectory() as folder:
        rows, fresh = asyncio.run(measure(Path(folder)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    text = f"{show(rows, fresh)}\n\n- peak of memory of all above: {peak:.0f} MB"
    print(text)
    publish("users", text, {"rows": msgspec.to_builtins(rows), "fresh": msgspec.to_builtins(fresh), "peak_mb": peak})
    return 0


if __name__ == "__main__":
    sys.exit(main())
