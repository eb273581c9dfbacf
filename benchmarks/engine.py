"""The engine's speed against the floor, in one process, turn by turn: `python -m benchmarks engine`.

Every run of ours is checked, validated, retried where it fails, limited in time, journaled and counted in the
statistics; the floor does nothing of this. Absolute times mean little on a shared machine: read the ratios.
"""

from __future__ import annotations

import asyncio
import gc
import operator
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import floor, peers, startup, workloads
from benchmarks.report import publish, table
from benchmarks.workloads import Graph, Map, StepTool
from toolpath.app import Toolpath
from toolpath.config import Settings
from toolpath.model.plan import Block, Call, Loop, Plan, Retry
from toolpath.model.tool import Tool
from toolpath.providers.functions import tool_from_function

Run = Callable[[], Awaitable[int]]

#: Turns of each workload, and the processor seconds after which no further turn starts.
TURNS = 15
BUDGET = 6.0
#: Runs of the floor a turn: they are so short that their median is taken.
FLOOR_RUNS = 5


class Timing(msgspec.Struct, kw_only=True):
    """One workload: medians in milliseconds, and ours over the floor."""

    workload: str
    steps: int
    turns: int
    floor_ms: float
    ours_ms: float
    ratio: float
    """Of the medians."""
    ratio_of_minima: float
    cpu_ratio: float
    """Median ratio of processor time, user and system, all threads."""
    us_per_step: float
    """Ours."""
    first_ms: float
    """Our first run: it also checks and compiles the plan, which later runs of it need not."""
    ideal_ms: float | None = None
    """The critical path, or the best schedule found."""
    ours_over_ideal: float | None = None
    floor_over_ideal: float | None = None


def plan_of(graph: Graph) -> Plan:
    """The graph as a plan: each step's tool gets a list of the outputs before it."""
    steps = tuple(
        Call(
            id=f"s{step}",
            tool=f"bench.t{step}",
            inputs={"inputs": [f"{{{{ s{dependency} }}}}" for dependency in before]},
            timeout=60.0,
            retry=Retry(max_retries=3),
        )
        for step, before in enumerate(graph.deps)
    )
    return Plan(
        name="bench", steps=steps, outputs=f"{{{{ s{graph.size - 1}.v }}}}", concurrency=graph.limit or graph.size
    )


def tools_of(graph: Graph) -> list[Tool]:
    """A Python tool for each step, its result validated against its return type."""
    return [_tool_of(graph.tool(step), step) for step in range(graph.size)]


def _tool_of(run: StepTool, step: int) -> Tool:
    async def call(inputs: list[dict[str, int]]) -> dict[str, int]:
        return await run(inputs)

    return tool_from_function(call, name=f"t{step}", group="bench", effect="read")


def map_plan(items: Map) -> Plan:
    """The map as a loop over the plan's input."""
    call = Call(id="item", tool="bench.item", inputs={"item": "{{ n }}"}, timeout=60.0, retry=Retry(max_retries=3))
    loop = Loop(
        id="each",
        over="{{ inputs.items }}",
        item="n",
        concurrency=items.limit,
        body=Block(steps=(call,)),
        collect="{{ item.v }}",
    )
    inputs = {"type": "object", "properties": {"items": {"type": "array", "items": {"type": "integer"}}}}
    return Plan(name="bench_map", inputs=inputs, steps=(loop,), outputs="{{ each }}", concurrency=items.limit)


def map_tool(items: Map) -> Tool:
    """The tool of the map."""

    async def call(item: int) -> dict[str, int]:
        return await items.tool(item)

    return tool_from_function(call, name="item", group="bench", effect="read")


async def _run(toolpath: Toolpath, plan: Plan, inputs: dict[str, Any] | None = None) -> Any:
    result = await toolpath.run(plan, inputs=inputs or {})
    if not result.success:
        raise RuntimeError(f"The benchmark's run ended as {result.status}: {result.error}")
    return result.outputs


async def time_graph(graph: Graph, *, durable: Path | None = None, turns: int = TURNS) -> Timing:
    """Time the graph; with a folder, both keep their results in SQLite there, synced at each commit."""
    tools = [graph.tool(step) for step in range(graph.size)]
    journal = floor.Journal(durable / "floor.db") if durable else None
    store = str(durable / "runs.db") if durable else ":memory:"
    peer = peers.load() if isinstance(graph, peers.PeerGraph) else None

    async def bare() -> int:
        keep = None
        if journal is not None:
            journal.run += 1
            keep = journal.keep
        if peer is not None:
            return int(await peer.bare_sched(graph.dag, tools, keep))  # type: ignore[attr-defined]
        return await floor.run_graph(graph, tools, keep)

    async with engine(store) as toolpath:
        toolpath.add(*tools_of(graph))
        plan = plan_of(graph)

        async def ours() -> int:
            return int(await _run(toolpath, plan))

        single = graph.naps is not None or durable is not None
        timing = await compare(bare, ours, graph.expected, turns=turns, floor_runs=1 if single else FLOOR_RUNS)
    if journal is not None:
        journal.close()
    timing.workload, timing.steps = graph.name, graph.size
    timing.us_per_step = timing.ours_ms / graph.size * 1e3
    return timing


def engine(store: str = ":memory:") -> Toolpath:
    """Toolpath as it is measured: on a file it syncs at each commit, as the floor does; 100,000 items are one run's."""
    settings = Settings(synchronous="FULL", max_run_events=1_000_000)
    return Toolpath(settings=settings) if store == ":memory:" else Toolpath(store, settings=settings)


async def time_map(items: Map, *, turns: int = TURNS) -> Timing:
    """Time the map."""
    peer = peers.load() if isinstance(items, peers.PeerMap) else None

    async def bare() -> int:
        if peer is not None:
            return int(await peer.bare_map(items.spec))  # type: ignore[attr-defined]
        return await floor.run_map(items)

    async with engine() as toolpath:
        toolpath.add(map_tool(items))
        plan = map_plan(items)
        inputs = {"items": list(range(items.size))}

        async def ours() -> int:
            return Map.total(await _run(toolpath, plan, inputs))

        timing = await compare(bare, ours, items.expected, turns=turns, floor_runs=1)
    timing.workload, timing.steps = items.name, items.size
    timing.us_per_step = timing.ours_ms / items.size * 1e3
    return timing


async def compare(bare: Run, ours: Run, expected: int, *, turns: int, floor_runs: int) -> Timing:
    """Run both in turn, each result checked. Times in milliseconds."""
    floors: list[float] = []
    engines: list[float] = []
    floor_cpu: list[float] = []
    engine_cpu: list[float] = []
    await _timed(bare, expected)
    first, _ = await _timed(ours, expected)
    began = time.process_time()
    gc.collect()
    while len(engines) < turns and (len(engines) < 2 or time.process_time() - began < BUDGET):
        several = [await _timed(bare, expected) for _ in range(floor_runs)]
        floors.append(statistics.median(wall for wall, _ in several))
        floor_cpu.append(statistics.median(cpu for _, cpu in several))
        wall, cpu = await _timed(ours, expected)
        engines.append(wall)
        engine_cpu.append(cpu)
    return Timing(
        workload="",
        steps=0,
        turns=len(engines),
        floor_ms=statistics.median(floors),
        ours_ms=statistics.median(engines),
        ratio=statistics.median(engines) / statistics.median(floors),
        ratio_of_minima=min(engines) / min(floors),
        cpu_ratio=statistics.median(map(operator.truediv, engine_cpu, floor_cpu)),
        us_per_step=0.0,
        first_ms=first,
    )


async def _timed(run: Run, expected: int) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = await run()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    if result != expected:
        raise RuntimeError(f"A wrong result: {result} instead of {expected}.")
    return wall * 1e3, cpu * 1e3


def _with_ideal(timing: Timing, ideal: float) -> Timing:
    timing.ideal_ms = ideal * 1e3
    timing.ours_over_ideal = timing.ours_ms / timing.ideal_ms
    timing.floor_over_ideal = timing.floor_ms / timing.ideal_ms
    return timing


async def measure(folder: Path) -> list[Timing]:
    """Every workload. `folder` is for the files of the durable ones."""
    found = peers.load()
    chain, fan, layered, napping, limited, items = graphs(found)
    timings = [await time_graph(graph) for graph in (chain, fan, layered)]
    timings.append(_with_ideal(await time_graph(napping, turns=7), workloads.longest_path(napping)))
    timings.append(
        _with_ideal(await time_graph(limited, turns=7), workloads.best_schedule(limited, limited.limit or 1))
    )
    for number, (graph, name) in enumerate([(chain, "W5a durable chain"), (fan, "W5b durable fan")]):
        place = folder / str(number)
        place.mkdir()
        timing = await time_graph(graph, durable=place, turns=9)
        timing.workload = name
        timings.append(timing)
    timings.append(await time_map(items))
    timings.append(await time_map(workloads.Map(100_000), turns=2))
    for size in (100, 1_000, 10_000):
        growth = workloads.layered(size, name=f"growth, {size:,} steps")
        timings.append(await time_graph(growth, turns=3 if size > 1_000 else 9))
    return timings


def graphs(found: Any) -> tuple[Graph, Graph, Graph, Graph, Graph, Map]:
    """The workloads, from the outside comparison where it is there."""
    if found is None:
        return (
            workloads.chain(), workloads.fan(), workloads.layered(), workloads.napping(), workloads.napping(5),
            workloads.Map(),
        )  # fmt: skip
    return (
        peers.PeerGraph("W1 chain", found.chain()),
        peers.PeerGraph("W2 fan", found.fan()),
        peers.PeerGraph("W3 layered", found.layered()),
        peers.PeerGraph("W4 makespan", found.sleepy()),
        peers.PeerGraph("W4L makespan, limit 5", found.sleepy(5)),
        peers.PeerMap(found.MapSpec()),
    )


def show(timings: list[Timing]) -> str:
    """The timings as a table."""
    head = ["workload", "steps", "floor ms", "ours ms", "ratio", "of minima", "of CPU", "µs a step", "first ms",
            "ideal ms", "ours / ideal", "floor / ideal"]  # fmt: skip
    return table(
        head,
        [
            (
                timing.workload, timing.steps, timing.floor_ms, timing.ours_ms, timing.ratio, timing.ratio_of_minima,
                timing.cpu_ratio, timing.us_per_step, timing.first_ms, timing.ideal_ms, timing.ours_over_ideal,
                timing.floor_over_ideal,
            )
            for timing in timings
        ],
    )  # fmt: skip


def main() -> int:
    """Measure, print and publish."""
    starts, memory = startup.measure(), startup.map_memory()
    with tempfile.TemporaryDirectory() as folder:
        timings = asyncio.run(measure(Path(folder)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines = [f"- {name}: {cpu:.0f} ms of processor time" for name, cpu in starts.items()]
    lines.append(
        f"- memory that a map of 10,000 items adds to a process: {memory:.0f} MB (peak of all above: {peak:.0f} MB)"
    )
    text = f"{show(timings)}\n\n" + "\n".join(lines)
    print(text)
    data = {"timings": msgspec.to_builtins(timings), "startup_cpu_ms": starts, "map_memory_mb": memory}
    publish("engine", text, data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
