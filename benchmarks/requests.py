"""What planning a request without a model takes: milliseconds by number of tools, and how long the event loop waits."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import sys
import time
from collections.abc import Sequence
from statistics import quantiles

import msgspec

from benchmarks.report import publish, table
from toolpath import Settings, Toolpath
from toolpath.catalog.search import ToolSearch
from toolpath.catalog.snapshot import Catalog
from toolpath.errors import ToolpathError
from toolpath.model.tool import Body, Tool
from toolpath.planner.offline.planner import looked_up, plan_offline
from toolpath.planner.scoring.gold import Task, catalog_of, read_task, read_tool_set
from toolpath.planner.scoring.people.shipped import DEVELOPMENT, FOLDER, TOOL_SETS

HEAD = (
    "tools",
    "found by",
    "requests",
    "p50 ms",
    "p95 ms",
    "processor p50 ms",
    "processor p95 ms",
    "loop waits p95 ms",
)
COUNTS = (100, 1_000)


def tasks() -> list[Task]:
    """The requests of the development half that name one tool set."""
    read = map(read_task, (FOLDER / DEVELOPMENT).read_bytes().splitlines())
    return [task for task in read if task.toolset]


def tool_sets() -> dict[str, Catalog]:
    """The tools that are shipped, by set."""
    read = map(read_tool_set, (FOLDER / TOOL_SETS).read_bytes().splitlines())
    return {one.toolset: catalog_of(one.tools) for one in read}


def padded(own: Catalog, others: Sequence[Tool], count: int) -> Catalog:
    """The tools of a request beside so many others that there are `count`: of other sets, then the same in groups."""
    tools = dict(own.tools)
    number = 0
    while len(tools) < count:
        for tool in others:
            found = tool if not number else msgspec.structs.replace(tool, group=f"group{number}")
            tools.setdefault(found.key, found)
            if len(tools) >= count:
                break
        number += 1
    return Catalog(tools)


def measure(count: int) -> list[object]:
    """A row: each request of the development half, planned once with so many tools."""
    sets = tool_sets()
    others = list({tool.key: tool for one in sets.values() for tool in one.tools.values()}.values())
    catalogs = {name: padded(own, others, count) for name, own in sets.items()}
    indexes = {name: ToolSearch(catalog.tools.values()) for name, catalog in catalogs.items()}
    wall, processor = [], []
    for task in tasks():
        assert task.toolset is not None
        catalog = catalogs[task.toolset]
        began, used = time.perf_counter(), time.process_time()
        try:
            found = looked_up(task.query, catalog, indexes[task.toolset])
            plan_offline(task.query, catalog, search=found, today=task.today)
        except ToolpathError:
            pass
        wall.append((time.perf_counter() - began) * 1000)
        processor.append((time.process_time() - used) * 1000)
    waits = asyncio.run(waits_of(catalogs["calendar"] if "calendar" in catalogs else next(iter(catalogs.values()))))
    return [count, "words", len(wall), *_both(wall), *_both(processor), _both(waits)[1]]


async def measure_meaning(count: int) -> list[object]:
    """A row: the same through the door, where tools are found by their meaning as well (the extra `embed`)."""
    sets = tool_sets()
    others = list({tool.key: tool for one in sets.values() for tool in one.tools.values()}.values())
    wall, processor = [], []
    for name, own in sets.items():
        async with Toolpath(settings=Settings(search="meaning")) as tp:
            tp.add(*callable_tools(padded(own, others, count)))
            await tp.tools()
            # The first request brings the model and the vectors of all tools with it.
            await _planned(tp, "hello")
            for task in tasks():
                if task.toolset == name:
                    began, used = time.perf_counter(), time.process_time()
                    await _planned(tp, task.query)
                    wall.append((time.perf_counter() - began) * 1000)
                    processor.append((time.process_time() - used) * 1000)
    waits = await waits_of(padded(next(iter(sets.values())), others, count), Settings(search="meaning"))
    return [count, "words and meaning", len(wall), *_both(wall), *_both(processor), _both(waits)[1]]


def callable_tools(catalog: Catalog) -> list[Tool]:
    """The tools of a catalog with something to call, so that a Toolpath takes them."""
    return [msgspec.structs.replace(tool, body=Body(invoke=lambda **_: None)) for tool in catalog.tools.values()]


async def waits_of(catalog: Catalog, settings: Settings | None = None) -> list[float]:
    """Milliseconds that a turn of the event loop came late while requests were planned through the door."""
    late: list[float] = []
    is_over = False

    async def tick() -> None:
        while not is_over:
            began = time.perf_counter()
            await asyncio.sleep(0.001)
            late.append((time.perf_counter() - began - 0.001) * 1000)

    async with Toolpath(settings=settings or Settings()) as tp:
        tp.add(*callable_tools(catalog))
        await tp.tools()
        # The first request brings the index with it.
        await _planned(tp, "hello")
        late.clear()
        ticking = asyncio.create_task(tick())
        for task in tasks()[:100]:
            await _planned(tp, task.query)
        is_over = True
        await ticking
    return late


async def _planned(tp: Toolpath, request: str) -> None:
    with contextlib.suppress(ToolpathError):
        await tp.plan(request, planner="offline")


def _both(values: Sequence[float]) -> tuple[float, float]:
    parts = quantiles(values, n=100)
    return round(parts[49], 1), round(parts[94], 1)


def main() -> int:
    """Measure and publish."""
    lines = [measure(count) for count in COUNTS]
    if importlib.util.find_spec("onnxruntime") is not None:
        lines += [asyncio.run(measure_meaning(count)) for count in COUNTS]
    text = table(HEAD, lines)
    publish("requests", text, [dict(zip(HEAD, line, strict=True)) for line in lines])
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
