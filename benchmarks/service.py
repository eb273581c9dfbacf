"""The service under load: `python -m benchmarks service`, or this file by itself with a store, a queue and workers.

One real server (and workers, where there are some) in processes of their own; the client is `wire.py`. The engine alone
does the same runs in one process on the same kind of store. By `python -m benchmarks service` both are measured: SQLite
with one process and, where there is a PostgreSQL (TEST_POSTGRES_URL; TOOLPATH_TEST_RABBITMQ is the broker beside it),
the same with two workers.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks.postgres import SERVER
from benchmarks.report import publish, table
from benchmarks.wire import Connection, arrivals
from toolpath import Toolpath

TOOLS = str(Path(__file__).with_name("service_tools.py"))
API = "/api/v1"


def _step(number: int, tool: str, inputs: dict[str, Any]) -> dict[str, Any]:
    before = {"depends_on": [f"s{number - 1}"]} if number else {}
    # The engine learns how long a nap takes, and would cut off one that is much longer.
    return {"id": f"s{number}", "tool": tool, "inputs": inputs, "timeout": "120s", **before}


#: Ten steps that do nothing, one after the other.
TEN: dict[str, Any] = {"name": "ten", "steps": [_step(n, "load.nothing", {"n": n}) for n in range(10)]}
#: The same with a nap before, so that many are under way at once.
NAPPING: dict[str, Any] = {
    "name": "napping",
    "inputs": {"type": "object", "properties": {"seconds": {"type": "number"}}, "required": ["seconds"]},
    "steps": [
        _step(0, "load.nap", {"seconds": "{{ inputs.seconds }}"}),
        *(_step(n, "load.nothing", {"n": n}) for n in range(1, 11)),
    ],
}
#: Twenty steps, half a second apart: for those who look on.
SLOW: dict[str, Any] = {"name": "slow", "steps": [_step(n, "load.nap", {"seconds": 0.5}) for n in range(20)]}


@dataclass
class Options:
    store: str = ""
    queue: str = ""
    workers: int = 0
    runs: int = 1_000
    connections: int = 32
    at_once: int = 1_000
    readers: int = 1_000
    memory_runs: int = 10_000


#: Schemas of the set-up with workers: that of the service, and that of the engine alone.
SCHEMAS = ("toolpath_load", "toolpath_load_alone")


def with_workers() -> Options:
    """The second set-up, with a queue of its own. Its memory is not measured: it is spread over three processes."""
    return Options(
        store=f"{SERVER}?schema={SCHEMAS[0]}",
        queue=os.environ.get("TOOLPATH_TEST_RABBITMQ", "amqp://guest:guest@127.0.0.1:5672/"),
        workers=2,
        runs=1_000,
        at_once=1_000,
        readers=1_000,
        memory_runs=0,
    )


@dataclass
class Figures:
    engine_runs_per_second: float = 0.0
    runs_per_second: float = 0.0
    post_p50_ms: float = 0.0
    post_p99_ms: float = 0.0
    at_once_seconds: float = 0.0
    at_once_post_p99_ms: float = 0.0
    delay_one_reader_p99_ms: float = 0.0
    delay_p50_ms: float = 0.0
    delay_p99_ms: float = 0.0
    both_delay_p50_ms: float = 0.0
    both_delay_p99_ms: float = 0.0
    memory_before_mb: float = 0.0
    memory_after_mb: float = 0.0
    memory_runs: int = 0
    refused: int = 0
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """How many runs the engine alone does while the service does one."""
        return self.engine_runs_per_second / self.runs_per_second if self.runs_per_second else 0.0

    @property
    def growth(self) -> float:
        return self.memory_after_mb / self.memory_before_mb - 1 if self.memory_before_mb else 0.0


def share(values: list[float], part: float) -> float:
    """The value that this part of all does not exceed, in milliseconds."""
    ordered = sorted(values)
    return 1_000 * ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


class Service:
    """A running server."""

    def __init__(self, address: str, process: subprocess.Popen[str]) -> None:
        self.address = address
        self.process = process
        self._plans: dict[str, str] = {}
        self.refused = 0
        """Answers with 503."""

    async def plan(self, plan: dict[str, Any]) -> str:
        """The id under which the server keeps the plan."""
        if plan["name"] not in self._plans:
            connection = Connection(self.address)
            status, told = await connection.request("POST", f"{API}/plans", {"plan": plan})
            assert status == 201, told
            self._plans[plan["name"]] = told["plan_id"]
            connection.close()
        return self._plans[plan["name"]]

    def memory(self) -> float:
        """Resident megabytes of the server process."""
        text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmRSS:\s+(\d+) kB", text)
        assert found is not None
        return int(found[1]) / 1024

    async def begin(self, plan: dict[str, Any], many: int, connections: int, inputs: Any = None) -> list[float]:
        """Begin so many runs; seconds of each POST."""
        plan_id = await self.plan(plan)
        left = iter(range(many))
        took: list[float] = []

        async def client() -> None:
            connection = Connection(self.address)
            for _ in left:
                began = time.perf_counter()
                body = {"plan_id": plan_id, "inputs": inputs or {}}
                while (answer := await connection.request("POST", f"{API}/runs", body))[0] == 503:
                    # It has too much to do now, and says so: asked again, and the time counts.
                    self.refused += 1
                    await asyncio.sleep(0.2)
                took.append(time.perf_counter() - began)
                assert answer[0] == 202, answer
            connection.close()

        await asyncio.gather(*(client() for _ in range(connections)))
        return took

    async def idle(self) -> None:
        """Come back when no run is under way; the server is asked ten times a second."""
        connection = Connection(self.address)
        for status in ("pending", "running"):
            while True:
                _, page = await connection.request("GET", f"{API}/runs?status={status}&limit=1")
                if not page["runs"]:
                    break
                await asyncio.sleep(0.1)
        connection.close()


@contextlib.contextmanager
def served(options: Options, folder: Path) -> Iterator[Service]:
    """The server, and its workers, until the end."""
    store = options.store or str(folder / "runs.db")
    common = [sys.executable, "-m", "toolpath", "--store", store, "--tools", TOOLS]
    queue = {"TOOLPATH_QUEUE": options.queue, "TOOLPATH_QUEUE_NAME": "toolpath-load"} if options.queue else {}
    environment = {**os.environ, **queue}
    processes = [
        subprocess.Popen(
            [*common, "worker", "--concurrency", "250"], env=environment, stderr=subprocess.DEVNULL, text=True
        )
        for _ in range(options.workers)
    ]
    # Into a file: a pipe that nobody reads would stop the server when it is full of its log.
    log = folder / "serve.log"
    with log.open("w") as stream:
        server = subprocess.Popen([*common, "serve", "--port", "0"], env=environment, stderr=stream, text=True)
    processes.append(server)
    try:
        while not (found := re.search(r"Listening on (\S+)", log.read_text())):
            if server.poll() is not None:
                raise RuntimeError(f"The server did not start: {log.read_text()}")
            time.sleep(0.05)
        yield Service(found[1], server)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


async def engine_alone(store: str, runs: int, connections: int) -> float:
    """Runs a second of the ten steps without a server, on a store of its own."""
    async with Toolpath(store) as tp:
        tp.add_module(TOOLS)
        plan = tp.read(TEN)
        await tp.run(plan)
        left = iter(range(runs))

        async def one() -> None:
            for _ in left:
                assert (await (await tp.start(plan)).result()).success

        began = time.perf_counter()
        await asyncio.gather(*(one() for _ in range(connections)))
        return runs / (time.perf_counter() - began)


async def watched(service: Service, run_ids: list[str], readers: int) -> list[float]:
    """Delays of the events that come after all readers, shared among the runs, look on."""
    found: list[float] = []
    joined = 0
    since = float("inf")

    def one_more() -> None:
        nonlocal joined, since
        joined += 1
        if joined == readers:
            since = time.time()

    async def read(number: int) -> None:
        path = f"{API}/runs/{run_ids[number % len(run_ids)]}/events"
        async for at, arrived in arrivals(service.address, path, one_more):
            # What was there before all had joined is no news.
            if at >= since:
                found.append(arrived - at)

    await asyncio.gather(*(read(number) for number in range(readers)))
    return found


async def begun(service: Service, plan: dict[str, Any], inputs: Any = None) -> str:
    """The id of one run."""
    connection = Connection(service.address)
    body = {"plan_id": await service.plan(plan), "inputs": inputs or {}}
    status, told = await connection.request("POST", f"{API}/runs", body)
    assert status == 202, told
    connection.close()
    return str(told["run_id"])


async def looked_on(service: Service, readers: int) -> list[float]:
    """Delays while so many look on ten runs, that wait until all are there."""
    waiting = {**SLOW, "name": "looked on", "steps": [_step(0, "load.nap", {"seconds": 8.0}), *SLOW["steps"][1:]]}
    return await watched(service, [await begun(service, waiting) for _ in range(10)], readers)


async def measure(options: Options, folder: Path) -> Figures:
    """All figures."""
    figures = Figures(options=asdict(options), memory_runs=options.memory_runs)
    alone = options.store.replace(*SCHEMAS) if options.store else str(folder / "alone.db")
    figures.engine_runs_per_second = await engine_alone(alone, options.runs, options.connections)
    with served(options, folder) as service:
        await service.begin(TEN, 200, options.connections)
        await service.idle()
        began = time.perf_counter()
        took = await service.begin(TEN, options.runs, options.connections)
        await service.idle()
        figures.runs_per_second = options.runs / (time.perf_counter() - began)
        figures.post_p50_ms, figures.post_p99_ms = share(took, 0.5), share(took, 0.99)
        _say(figures)
        began = time.perf_counter()
        took = await service.begin(NAPPING, options.at_once, options.connections, {"seconds": 10.0})
        await service.idle()
        figures.at_once_seconds = time.perf_counter() - began
        figures.at_once_post_p99_ms = share(took, 0.99)
        _say(figures)
        alone = await watched(service, [await begun(service, SLOW)], 1)
        figures.delay_one_reader_p99_ms = share(alone, 0.99)
        found = await looked_on(service, options.readers)
        figures.delay_p50_ms, figures.delay_p99_ms = share(found, 0.5), share(found, 0.99)
        _say(figures)
        crowd = asyncio.create_task(service.begin(NAPPING, options.at_once, options.connections, {"seconds": 12.0}))
        both = await looked_on(service, options.readers)
        await crowd
        figures.both_delay_p50_ms, figures.both_delay_p99_ms = share(both, 0.5), share(both, 0.99)
        await service.idle()
        _say(figures)
        if options.memory_runs:
            await service.begin(TEN, 1_000, options.connections)
            await service.idle()
            figures.memory_before_mb = service.memory()
            await service.begin(TEN, options.memory_runs, options.connections)
            await service.idle()
            figures.memory_after_mb = service.memory()
        figures.refused = service.refused
    return figures


def _say(figures: Figures) -> None:
    found = {name: round(value, 2) for name, value in vars(figures).items() if isinstance(value, float) and value}
    print(found, flush=True)


def shown(found: dict[str, Figures]) -> str:
    """The figures as a table, a column for each set-up."""
    rows: list[tuple[str, Callable[[Figures], object]]] = [
        ("runs a second, the engine alone", lambda f: f.engine_runs_per_second),
        ("runs a second, over HTTP", lambda f: f.runs_per_second),
        ("engine alone / over HTTP", lambda f: f.ratio),
        ("clients that begin runs", lambda f: f.options["connections"]),
        ("POST /runs, p50 ms", lambda f: f.post_p50_ms),
        ("POST /runs, p99 ms", lambda f: f.post_p99_ms),
        ("runs at once that sleep 10 s first", lambda f: f.options["at_once"]),
        ("all of them done after s", lambda f: f.at_once_seconds),
        ("their POST /runs, p99 ms", lambda f: f.at_once_post_p99_ms),
        ("event delay, one reader, p99 ms", lambda f: f.delay_one_reader_p99_ms),
        ("readers of ten runs, each a step every 0.5 s", lambda f: f.options["readers"]),
        ("event delay, all of them, p50 ms", lambda f: f.delay_p50_ms),
        ("event delay, all of them, p99 ms", lambda f: f.delay_p99_ms),
        ("the same while the runs that sleep go on, p50 ms", lambda f: f.both_delay_p50_ms),
        ("the same while the runs that sleep go on, p99 ms", lambda f: f.both_delay_p99_ms),
        ("POST /runs that were refused with 503 at first", lambda f: f.refused),
        ("resident MB of the server after 1,000 runs more", lambda f: f.memory_before_mb or None),
        ("runs after that", lambda f: f.memory_runs or None),
        ("resident MB then", lambda f: f.memory_after_mb or None),
        ("growth in %", lambda f: 100 * f.growth if f.memory_runs else None),
    ]
    return table(["", *found], [(name, *(of(figures) for figures in found.values())) for name, of in rows])


async def emptied() -> None:
    """Drop the schemas of the set-up with workers. Raises `OSError` where there is no server."""
    connection = await asyncpg.connect(SERVER, timeout=5)
    for schema in SCHEMAS:
        await connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')
    await connection.close()


def main(given: Options | None = None) -> int:
    """Measure what is given; without anything, both set-ups, and write the page."""
    set_ups = {"as given": given} if given is not None else {"SQLite, one process": Options()}
    if given is None:
        try:
            asyncio.run(emptied())
        except OSError as error:
            print(f"Without PostgreSQL: {error}")
        else:
            set_ups["PostgreSQL, two workers"] = with_workers()
    found: dict[str, Figures] = {}
    for name, options in set_ups.items():
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            found[name] = asyncio.run(measure(options, Path(folder)))
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    if "PostgreSQL, two workers" in found:
        asyncio.run(emptied())
    text = shown(found)
    print(text)
    if given is None:
        publish("service", text, {name: asdict(figures) for name, figures in found.items()})
    return 0


def _options() -> Options:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in asdict(Options()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    return Options(**vars(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main(_options()))
