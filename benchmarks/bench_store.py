"""Times the stores against the least that the same durability can cost: one table, one connection, no thread.

`python benchmarks/bench_store.py [rounds]` interleaves all candidates and prints ratios of medians; absolute times mean
little on a shared machine. The floor commits each step on its own (chain), or all that are due at once (fan).
"""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from toolpath.model.events import StepReady, StepStarted, StepSucceeded, encode_event
from toolpath.model.run import RunInfo
from toolpath.store.memory.store import MemoryStore
from toolpath.store.sqlite.database import Synchronous
from toolpath.store.sqlite.store import SqliteStore

STEPS = 200


def step_events(seq: int) -> list[StepReady | StepStarted | StepSucceeded]:
    """What the engine appends when one step of a chain ends and the next begins."""
    return [
        StepSucceeded(seq, 1.0, f"step_{seq}", output={"id": seq, "v": 12345}, duration=0.01),
        StepReady(seq + 1, 1.0, f"step_{seq}"),
        StepStarted(seq + 2, 1.0, f"step_{seq}", tool="bench.step", inputs={"v": 12345}, key=f"run/step_{seq}/0"),
    ]


class Floor:
    """The least that keeps a step: one row in one table."""

    def __init__(self, path: Path, synchronous: Synchronous) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute(f"PRAGMA synchronous = {synchronous}")
        self.connection.execute(
            "CREATE TABLE IF NOT EXISTS steps (run, seq, data, PRIMARY KEY (run, seq)) WITHOUT ROWID"
        )
        self.run = 0

    def chain(self) -> None:
        self.run += 1
        for seq in range(STEPS):
            data = b"\n".join(encode_event(event) for event in step_events(3 * seq + 1))
            self.connection.execute("INSERT INTO steps VALUES (?, ?, ?)", (self.run, seq, data))

    def fan(self) -> None:
        self.run += 1
        self.connection.execute("BEGIN")
        for seq in range(STEPS):
            data = b"\n".join(encode_event(event) for event in step_events(3 * seq + 1))
            self.connection.execute("INSERT INTO steps VALUES (?, ?, ?)", (self.run, seq, data))
        self.connection.execute("COMMIT")


class Ours:
    """The same work through a store."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.run = 0
        self.commits: list[int] = []

    async def chain(self) -> None:
        journal = await self._journal()
        for seq in range(STEPS):
            await journal.append(step_events(3 * seq + 1))

    async def fan(self) -> None:
        journal = await self._journal()
        before = self.store.commits
        await asyncio.gather(*[journal.append(step_events(3 * seq + 1)) for seq in range(STEPS)])
        self.commits.append(self.store.commits - before)

    async def _journal(self):  # type: ignore[no-untyped-def]
        self.run += 1
        await self.store.create_run(RunInfo(run_id=f"run_{self.run}"))
        return await self.store.drive(f"run_{self.run}", "bench")


async def timed(work: Callable[[], Awaitable[None] | None]) -> float:
    started = time.perf_counter()
    outcome = work()
    if outcome is not None:
        await outcome
    return time.perf_counter() - started


async def compare(folder: Path, synchronous: Synchronous, rounds: int) -> None:
    floor = Floor(folder / f"floor-{synchronous}.db", synchronous)
    store = SqliteStore(folder / f"ours-{synchronous}.db", synchronous=synchronous)
    await store.open()
    ours = Ours(store)
    candidates = {"chain": (floor.chain, ours.chain), "fan": (floor.fan, ours.fan)}
    times: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        for name, (least, own) in candidates.items():
            times.setdefault((name, "floor"), []).append(await timed(least))
            times.setdefault((name, "ours"), []).append(await timed(own))
    for name in candidates:
        least, own = (statistics.median(times[name, whose]) for whose in ("floor", "ours"))
        note = f", {statistics.median(ours.commits):.0f} commits" if name == "fan" else ""
        print(
            f"{synchronous:6} {name:5} of {STEPS}: floor {least / STEPS * 1e6:8.1f} µs a step, "
            f"ours {own / STEPS * 1e6:8.1f}, x{own / least:.2f}{note}"
        )
    await store.close()
    floor.connection.close()


async def memory(rounds: int) -> None:
    store = MemoryStore()
    await store.open()
    appended, extended = [], []
    groups = [step_events(3 * seq + 1) for seq in range(2_000)]
    for number in range(max(rounds, 5)):
        await store.create_run(RunInfo(run_id=f"run_{number}"))
        journal = await store.drive(f"run_{number}", "bench")
        started = time.perf_counter()
        for group in groups:
            journal.append(group)
        appended.append((time.perf_counter() - started) / len(groups))
        plain: list[object] = []
        started = time.perf_counter()
        for group in groups:
            plain.extend(group)
        extended.append((time.perf_counter() - started) / len(groups))
    print(f"memory append: {min(appended) * 1e6:.2f} µs, of which list.extend {min(extended) * 1e6:.2f}")


async def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory(dir=".") as folder:
        await memory(rounds)
        for synchronous in ("NORMAL", "FULL"):
            await compare(Path(folder), synchronous, rounds)  # type: ignore[arg-type]


asyncio.run(main())
