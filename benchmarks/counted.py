"""Calls of functions that each step costs, ours and the floor's: `python -m benchmarks counted` records them.

A busy machine adds nothing to a count on a clock that stands, so a test can hold the code to it
(`tests/benchmarks/test_counted.py`).
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from fastapi import FastAPI

from benchmarks import engine, floor, mixed, service, users, workloads
from benchmarks.report import RESULTS
from toolpath.app import Toolpath
from toolpath.engine.compile.program import Program
from toolpath.machine import SystemClock
from toolpath.model.events import AnyEvent
from toolpath.server.asgi import create_app
from toolpath.telemetry.metrics import Metrics
from toolpath.telemetry.watch import Watch

RECORD = RESULTS / "counted.json"
ROUNDS = 5


class StillClock(SystemClock):
    """Does not go on: a turn of the loop is over when enough was done in it, however slow counting makes that."""

    def __init__(self) -> None:
        self._now = time.monotonic()

    def monotonic(self) -> float:  # type: ignore[override]
        """When it was made."""
        return self._now


def _toolpath() -> Toolpath:
    return Toolpath(clock=StillClock())


class Calls:
    """Counts calls of functions, Python's and built-in ones, in this thread."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> Calls:
        sys.setprofile(self._saw)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _saw(self, _frame: Any, event: str, _argument: Any) -> None:
        if event in ("call", "c_call"):
            self.count += 1


async def _ratio(ours: Callable[[], Awaitable[Any]], bare: Callable[[], Awaitable[Any]]) -> float:
    for _ in range(users.WARM):
        await ours()
    await bare()
    return await _least(ours) / await _least(bare)


async def _least(run: Callable[[], Awaitable[Any]]) -> int:
    """Calls of a run that nothing held up."""
    counts: list[int] = []
    for _ in range(ROUNDS):
        with Calls() as calls:
            await run()
        counts.append(calls.count)
    return min(counts)


async def measure() -> dict[str, float]:
    """What is recorded: calls of ours over the floor's, and of fresh plans calls a step."""
    found: dict[str, float] = {}
    for graph in (workloads.chain(100), workloads.fan(100), workloads.layered(200)):
        simple = [graph.tool(step) for step in range(graph.size)]
        rich = [mixed.floor_tool(step) for step in range(graph.size)]
        async with _toolpath() as toolpath:
            toolpath.add(*mixed.tools(), *engine.tools_of(graph))
            plans = {"simple": (engine.plan_of(graph), simple), "mixed": (toolpath.read(mixed.plan_of(graph)), rich)}
            for kind, (plan, tools) in plans.items():
                found[f"{graph.name}, {kind}"] = await _ratio(
                    partial(users.ran, toolpath, plan), partial(floor.run_graph, graph, tools)
                )
    found["W7 map, mixed"] = await _map()
    found |= await _fresh(200)
    found |= await _small(10)
    found |= await _durable(workloads.chain(100), workloads.fan(100), workloads.layered(200))
    found["a run of 10 steps over REST, calls"] = await _over_rest()
    return found


async def _map() -> float:
    items = mixed.MixedMap(500, limit=20)
    async with _toolpath() as toolpath:
        toolpath.add(mixed.map_tool())
        plan, inputs = toolpath.read(mixed.map_plan(items)), mixed.map_inputs(items)
        return await _ratio(lambda: users.ran(toolpath, plan, inputs), lambda: floor.run_map(items))


async def _fresh(size: int) -> dict[str, float]:
    graph = workloads.layered(size)
    found: dict[str, float] = {}
    async with _toolpath() as toolpath:
        toolpath.add(*mixed.tools())
        catalog, preparation = toolpath.registry.snapshot(), toolpath._preparation
        for salt in (1, 2):
            # The second plan finds what is of the tools ready.
            document = mixed.plan_of(graph, salt=salt)
            with Calls() as read:
                plan = toolpath.read(document)
            with Calls() as checked:
                preparation.checked(plan, catalog)
            with Calls() as compiled:
                Program(plan, catalog, toolpath.settings, memory=preparation._memory)
            counts = {"read": read, "check": checked, "compile": compiled}
            found = {f"W8 {part}, calls a step": calls.count / size for part, calls in counts.items()}
    return found


async def _small(size: int) -> dict[str, float]:
    """Small plans, whose cost is mostly that of any run: calls of a run of a known plan, and of a fresh one."""
    graph = workloads.layered(size)
    async with _toolpath() as toolpath:
        toolpath.add(*mixed.tools())
        plan = toolpath.read(mixed.plan_of(graph))
        for _ in range(users.WARM):
            await users.ran(toolpath, plan)
        known = await _least(partial(users.ran, toolpath, plan))
        salts = itertools.count(1)
        fresh = await _least(lambda: users.ran(toolpath, mixed.plan_of(graph, salt=next(salts))))
    return {f"a run of {size} steps, calls": known, f"a fresh plan of {size} steps, calls": fresh}


async def _durable(*graphs: workloads.Graph) -> dict[str, float]:
    """Calls a step where each result is on SQLite before what depends on it begins."""
    found: dict[str, float] = {}
    for graph in graphs:
        with tempfile.TemporaryDirectory() as folder:
            async with Toolpath(f"{folder}/runs.db", clock=StillClock()) as toolpath:
                toolpath.add(*mixed.tools())
                plan = toolpath.read(mixed.plan_of(graph))
                for _ in range(users.WARM):
                    await users.ran(toolpath, plan)
                calls = await _least(partial(users.ran, toolpath, plan))
        found[f"{graph.name}, durable, calls a step"] = calls / graph.size
    return found


class Gone:
    """An observer that tells when a run is not driven any more."""

    def __init__(self) -> None:
        self.left_one = asyncio.Event()

    def left(self, run_id: str) -> None:
        """One has gone."""
        self.left_one.set()

    def taken(self, run_id: str, events: Sequence[AnyEvent]) -> None:
        """Nothing is noted."""

    def committed(self, run_id: str, events: Sequence[AnyEvent], seconds: float) -> None:
        """Nothing is noted."""

    def calling(self, run_id: str, path: str, attempt: int) -> Callable[[], None]:
        """Nothing is noted."""
        return lambda: None


async def _over_rest() -> int:
    """Calls of `POST /runs` with a stored plan and of the run, on SQLite with metrics: as a server does it."""
    gone, metrics = Gone(), Metrics()
    with tempfile.TemporaryDirectory() as folder:
        async with Toolpath(f"{folder}/runs.db", clock=StillClock(), observer=Watch(metrics, gone)) as toolpath:
            toolpath.add_module(service.TOOLS)
            app = create_app(toolpath, is_open=True)
            async with app.router.lifespan_context(app):
                status, kept = await rest(app, "POST", f"{service.API}/plans", {"plan": service.TEN})
                assert status == 201, kept

                async def run() -> None:
                    gone.left_one.clear()
                    status, told = await rest(app, "POST", f"{service.API}/runs", {"plan_id": kept["plan_id"]})
                    assert status == 202, told
                    await gone.left_one.wait()

                for _ in range(users.WARM):
                    await run()
                return await _least(run)


async def rest(app: FastAPI, method: str, path: str, body: Any) -> tuple[int, Any]:
    """Ask the app as a server of ASGI does; gives status and JSON of the answer."""
    data, said = json.dumps(body).encode(), list[Any]()
    heads = {"host": "127.0.0.1", "content-type": "application/json", "content-length": str(len(data))}
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "state": {},
        "headers": [(name.encode(), value.encode()) for name, value in heads.items()],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    requests = [{"type": "http.request", "body": data, "more_body": False}]

    async def receive() -> Any:
        return requests.pop() if requests else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        said.append(message)

    await app(scope, receive, send)
    return said[0]["status"], json.loads(b"".join(part.get("body", b"") for part in said[1:]))


def main() -> int:
    """Count, print and record."""
    found = {name: round(value, 2) for name, value in asyncio.run(measure()).items()}
    RECORD.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
