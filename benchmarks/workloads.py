"""The graphs and maps that engines are timed on: plain data, tools as coroutines, and the right result of each."""

from __future__ import annotations

import asyncio
import heapq
import random
from collections.abc import Awaitable, Callable
from typing import Any

MODULUS = 1_000_003

Value = dict[str, int]
StepTool = Callable[[list[Value]], Awaitable[Value]]


class Graph:
    """Steps 0 to n-1, each after those in `deps`, the last one after all; `naps` are their seconds of sleep."""

    def __init__(
        self, name: str, deps: list[list[int]], naps: list[float] | None = None, limit: int | None = None
    ) -> None:
        self.name = name
        self.deps = deps
        self.naps = naps
        self.limit = limit
        """Steps that may run at once."""
        self.size = len(deps)
        self.followers: list[list[int]] = [[] for _ in deps]
        values: list[int] = []
        for step, before in enumerate(deps):
            for dependency in before:
                self.followers[dependency].append(step)
            values.append(combined(step, [values[dependency] for dependency in before]))
        self.expected = values[-1]
        """What the last step has to give."""

    def tool(self, step: int) -> StepTool:
        """The step's tool: a list of what its dependencies gave → `{"id", "v"}`."""
        # What combined() does, written out: a call more would be counted as the floor's own cost.
        if self.naps is None:

            async def run(inputs: list[Value]) -> Value:
                return {"id": step, "v": (sum([value["v"] for value in inputs]) + step + 1) % MODULUS}

        else:
            nap = self.naps[step]

            async def run(inputs: list[Value]) -> Value:
                await asyncio.sleep(nap)
                return {"id": step, "v": (sum([value["v"] for value in inputs]) + step + 1) % MODULUS}

        return run


def combined(step: int, values: list[int]) -> int:
    """What a step makes of the values before it; wrong order or a missing input shows in the result."""
    return (sum(values) + step + 1) % MODULUS


def chain(size: int = 200, name: str = "W1 chain") -> Graph:
    """One step after the other."""
    return Graph(name, [[step - 1] if step else [] for step in range(size)])


def fan(size: int = 200, name: str = "W2 fan") -> Graph:
    """Steps that need nothing, and one that needs them all."""
    return Graph(name, [*([] for _ in range(size)), list(range(size))])


def layered(size: int = 1000, width: int = 50, seed: int = 7, name: str = "W3 layered") -> Graph:
    """Layers of steps, each after one of the layer before and up to two of any layer; a last step joins the ends."""
    chance = random.Random(seed)
    deps: list[list[int]] = []
    last_layer: list[int] = []
    while len(deps) < size - 1:
        layer: list[int] = []
        so_far = len(deps)
        for _ in range(min(width, size - 1 - so_far)):
            before: set[int] = set()
            if last_layer:
                before.add(chance.choice(last_layer))
                before.update(chance.randrange(so_far) for _ in range(chance.randint(0, 2)))
            layer.append(len(deps))
            deps.append(sorted(before))
        last_layer = layer
    used = {dependency for before in deps for dependency in before}
    return Graph(name, [*deps, [step for step in range(len(deps)) if step not in used]])


def napping(limit: int | None = None, size: int = 60, seed: int = 11) -> Graph:
    """Uneven sleeps of 10 to 100 ms in a layered graph: how close the whole comes to its longest path."""
    chance = random.Random(seed)
    naps = [chance.choice([chance.uniform(0.01, 0.03), chance.uniform(0.01, 0.1), chance.uniform(0.07, 0.1)])
            for _ in range(size)]  # fmt: skip
    name = "W4 makespan" if limit is None else f"W4L makespan, limit {limit}"
    return Graph(name, layered(size, width=8, seed=seed).deps, naps, limit)


def longest_path(graph: Graph) -> float:
    """Seconds that the graph takes at least, however much runs at once."""
    ends: list[float] = []
    for step, before in enumerate(graph.deps):
        ends.append(_nap(graph, step) + max((ends[dependency] for dependency in before), default=0.0))
    return max(ends)


def best_schedule(graph: Graph, slots: int, tries: int = 2000) -> float:
    """The shortest of many list schedules in so many slots, in seconds: longest rest first, and random variations."""
    rest = [0.0] * graph.size
    for step in reversed(range(graph.size)):
        rest[step] = _nap(graph, step) + max((rest[follower] for follower in graph.followers[step]), default=0.0)
    chance = random.Random(3)
    best = _list_schedule(graph, slots, rest)
    for _ in range(tries):
        best = min(best, _list_schedule(graph, slots, [value * chance.uniform(0.7, 1.3) for value in rest]))
    return best


def _nap(graph: Graph, step: int) -> float:
    return graph.naps[step] if graph.naps is not None else 0.0


def _list_schedule(graph: Graph, slots: int, priority: list[float]) -> float:
    missing = [len(before) for before in graph.deps]
    ready = [(-priority[step], step) for step in range(graph.size) if not missing[step]]
    heapq.heapify(ready)
    running: list[tuple[float, int]] = []
    now = 0.0
    while ready or running:
        while ready and len(running) < slots:
            step = heapq.heappop(ready)[1]
            heapq.heappush(running, (now + _nap(graph, step), step))
        now, step = heapq.heappop(running)
        for follower in graph.followers[step]:
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(ready, (-priority[follower], follower))
    return now


class Map:
    """One tool for each of many items, at most `limit` at once."""

    def __init__(self, size: int = 10_000, limit: int = 100) -> None:
        self.name = f"W7 map of {size:,}"
        self.size = size
        self.limit = limit
        self.expected = sum(item + 1 for item in range(size)) % MODULUS

    async def tool(self, item: int) -> Value:
        """One turn of the loop, so that the limit means something."""
        await asyncio.sleep(0)
        return {"id": item, "v": (item + 1) % MODULUS}

    @staticmethod
    def total(values: list[Any]) -> int:
        """The result of all items together, from their `v`."""
        return int(sum(values)) % MODULUS
