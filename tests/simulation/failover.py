"""Runs in a queue, workers that are killed and stopped while they drive them, and what did not hold in the end.

A process of its own that starts workers as processes of theirs. It prints one line of JSON: `{"runs", "kills",
"stalls", "asked", "again", "after_kills", "after_stalls", "seconds", "violations"}`; take-overs are in seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from callbook import Suicide, answer, tools
from killer import journal_faults

from toolpath.app import Toolpath
from toolpath.config import Settings
from toolpath.model.events import AnyEvent, RunResumed
from toolpath.model.plan import Call, Plan
from toolpath.model.run import ENDED_RUN, RunInfo, StepResult
from toolpath.projections.steps import step_results
from toolpath.queues.rabbitmq import RabbitQueue
from toolpath.server.worker import Worker

KINDS = ("read", "write", "idempotent")
#: Steps of a run that are under way at once.
LANES = 3
#: Seconds for what has to come: a stopped worker stays so until its runs have been taken from it.
LONGEST = 300.0
#: Workers are killed here so often that the same slow step may be under way each time: the run is not to blame.
SETTINGS = Settings(max_losses=1_000)


def plan_of(number: int, steps: int) -> Plan:
    """Reads and writes in three lanes; each step folds in what the one before it in its lane gave."""
    made = []
    for place in range(steps):
        before = f"{{{{ s{place - LANES}.v }}}}" if place >= LANES else number
        made.append(Call(id=f"s{place}", tool=f"sim.{KINDS[place % 7 % 3]}", inputs={"of": [before, place]}))
    ends = made[-LANES:]
    return Plan(
        name=f"lanes {number}",
        steps=tuple(made),
        outputs={step.id: f"{{{{ {step.id}.v }}}}" for step in ends},
        concurrency=LANES,
    )


def outputs_of(number: int, steps: int) -> dict[str, int]:
    """What the plan gives, computed by hand."""
    given: list[int] = []
    for place in range(steps):
        before = given[place - LANES] if place >= LANES else number
        given.append(answer(KINDS[place % 7 % 3], {"of": [before, place]})["v"])
    return {f"s{place}": given[place] for place in range(steps - LANES, steps)}


async def work(store: str, queue: RabbitQueue, calls: Path, pace: float) -> None:
    """What a worker process does."""
    async with Toolpath(store, settings=SETTINGS, queue=queue) as tp:
        tp.add(*tools(calls, Suicide(), pace))
        worker = Worker(tp, queue, concurrency=100)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await worker.run()


class Failover:
    """Kills and stops workers until it has done so as often as it should, then waits for every run."""

    def __init__(self, wanted: argparse.Namespace) -> None:
        self.wanted = wanted
        self.chance = random.Random(wanted.seed)
        self.calls = wanted.folder / "calls.jsonl"
        self.workers: list[asyncio.subprocess.Process] = []
        self.hired: list[asyncio.subprocess.Process] = []
        self.settled: set[tuple[str, str, int]] = set()
        self.asked = 0
        self.runs: list[str] = []
        """Begun so far: more are when all have ended before enough workers were disturbed."""
        self.lost: list[tuple[str, float, str, int]] = []
        """What was taken away: run, when, by what, epoch of its driver."""
        self.violations: list[str] = []

    def queue(self) -> RabbitQueue:
        return RabbitQueue(self.wanted.queue, name=self.wanted.name)

    async def run(self) -> dict[str, Any]:
        """All of it, and what was seen."""
        wanted = self.wanted
        began = time.monotonic()
        async with Toolpath(wanted.store, queue=self.queue()) as tp:
            tp.add(*tools(self.calls, Suicide(), wanted.pace))
            self.workers = list(await asyncio.gather(*(self.hire() for _ in range(wanted.workers))))
            await self.begin(tp)
            person = asyncio.create_task(self.answer_all(tp))
            await self.disturb(tp)
            await self.finish(tp)
            person.cancel()
            await asyncio.wait({person})
            taken = {run: await tp.events(run) for run in self.runs}
            for number, run in enumerate(self.runs):
                result = await tp.result(run)
                if result.status != "completed" or result.outputs != outputs_of(number, wanted.steps):
                    why = f"{result.reason} {result.error}"
                    self.violations.append(f"{run} is {result.status} with {result.outputs}: {why}")
        await self.dismiss()
        again = self.judge(taken)
        kills, stalls = self.takeovers(taken, "kill"), self.takeovers(taken, "stall")
        return {
            "runs": len(self.runs),
            "kills": wanted.kills,
            "stalls": wanted.stalls,
            "asked": self.asked,
            "again": again,
            "after_kills": spread(kills),
            "after_stalls": spread(stalls),
            "seconds": round(time.monotonic() - began, 1),
            "violations": self.violations,
        }

    async def begin(self, tp: Toolpath) -> None:
        """As many runs as are wanted at once."""
        for number in range(len(self.runs), len(self.runs) + self.wanted.runs):
            self.runs.append((await tp.start(plan_of(number, self.wanted.steps))).run_id)

    async def hire(self) -> asyncio.subprocess.Process:
        """A new worker that is ready to work."""
        wanted = self.wanted
        words = [sys.executable, __file__, "--worker", str(wanted.folder), "--store", wanted.store]
        words += ["--queue", wanted.queue, "--name", wanted.name, "--pace", str(wanted.pace)]
        errors = (wanted.folder / "errors.txt").open("ab")
        process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE, stderr=errors)
        self.hired.append(process)
        assert process.stdout is not None
        await process.stdout.readline()
        return process

    async def dismiss(self) -> None:
        """Tell all workers to stop."""
        for process in self.workers:
            process.send_signal(signal.SIGTERM)
        codes = await asyncio.gather(*(process.wait() for process in self.workers))
        if any(codes):
            self.violations.append(
                f"workers ended with {codes}: {(self.wanted.folder / 'errors.txt').read_text()[-2000:]}"
            )

    async def disturb(self, tp: Toolpath) -> None:
        """Kill and stop workers that drive something."""
        deeds = ["kill"] * self.wanted.kills + ["stall"] * self.wanted.stalls
        self.chance.shuffle(deeds)
        stalls: list[asyncio.Task[None]] = []
        for deed in deeds:
            await asyncio.sleep(self.chance.uniform(0.5, 1.5) * self.wanted.every)
            if deed == "kill":
                while not await self.kill(tp):
                    pass
            else:
                # One at a time: somebody has to be there to take over.
                await asyncio.gather(*stalls)
                while (recovery := await self.stall(tp)) is None:
                    pass
                stalls.append(recovery)
        await asyncio.gather(*stalls)

    async def kill(self, tp: Toolpath) -> bool:
        """Whether anything was taken from a worker by its end."""
        process, driven = await self.busy(tp)
        process.kill()
        self.workers.remove(process)
        await process.wait()
        open_runs = await self.lose(tp, driven, "kill")
        self.workers.append(await self.hire())
        return bool(open_runs)

    async def stall(self, tp: Toolpath) -> asyncio.Task[None] | None:
        """Stop a worker; None where its runs had just ended, and it goes on at once."""
        process, driven = await self.busy(tp)
        process.send_signal(signal.SIGSTOP)
        open_runs = await self.lose(tp, driven, "stall")
        if not open_runs:
            process.send_signal(signal.SIGCONT)
            return None
        self.workers.remove(process)
        return asyncio.create_task(self.recover(tp, process, open_runs))

    async def lose(self, tp: Toolpath, driven: list[RunInfo], deed: str) -> list[RunInfo]:
        """The runs that the worker did not bring to their end before."""
        now = time.time()
        lost = [info for info in driven if (await tp.store.get_run(info.run_id)).status not in ENDED_RUN]
        self.lost += [(info.run_id, now, deed, info.epoch) for info in lost]
        return lost

    async def busy(self, tp: Toolpath) -> tuple[asyncio.subprocess.Process, list[RunInfo]]:
        """A worker that drives something, and what."""
        async with asyncio.timeout(LONGEST):
            while True:
                self.look()
                infos = [await tp.store.get_run(run) for run in self.runs]
                if all(info.status in ENDED_RUN for info in infos):
                    await self.begin(tp)
                for process in self.chance.sample(self.workers, len(self.workers)):
                    driven = [
                        i for i in infos if i.status == "running" and i.driver.split(":")[-2:-1] == [str(process.pid)]
                    ]
                    if driven:
                        return process, driven
                await asyncio.sleep(0.05)

    def look(self) -> None:
        """Raises `RuntimeError` where a worker has ended that nobody killed: the runs would wait for nothing."""
        ended = [process.returncode for process in self.workers if process.returncode is not None]
        if ended:
            raise RuntimeError(f"workers ended by themselves, with {ended}")

    async def recover(self, tp: Toolpath, process: asyncio.subprocess.Process, driven: list[RunInfo]) -> None:
        """Let the stopped worker go on once all its runs have been taken from it."""
        until = time.monotonic() + LONGEST
        while time.monotonic() < until:
            infos = [await tp.store.get_run(info.run_id) for info in driven]
            if all(now.epoch > then.epoch for now, then in zip(infos, driven, strict=True)):
                break
            await asyncio.sleep(0.1)
        process.send_signal(signal.SIGCONT)
        self.workers.append(process)

    async def answer_all(self, tp: Toolpath) -> None:
        """Do as a person would: look whether the effect of a write in doubt is there, and say so."""
        while True:
            for info in await tp.runs(status="waiting", limit=1000):
                for step in step_results(await tp.events(info.run_id)):
                    said = (info.run_id, step.path, info.last_seq)
                    if step.status == "unknown" and said not in self.settled:
                        self.settled.add(said)
                        self.asked += 1
                        await self.settle(tp, info.run_id, step)
            await asyncio.sleep(0.2)

    async def settle(self, tp: Toolpath, run_id: str, step: StepResult) -> None:
        made = [line for line in self.lines() if line["key"].startswith(f"{run_id}/{step.path}/")]
        if made:
            await tp.settle(run_id, step.path, output=answer(made[0]["tool"], made[0]["inputs"]))
        else:
            await tp.settle(run_id, step.path, retry=True)

    async def finish(self, tp: Toolpath) -> None:
        """Wait for the end of every run."""
        try:
            async with asyncio.timeout(self.wanted.patience):
                for run in self.runs:
                    while (await tp.store.get_run(run)).status not in ENDED_RUN:
                        self.look()
                        await asyncio.sleep(0.2)
        except TimeoutError:
            left = [info.run_id for info in await tp.runs(limit=1000) if info.status not in ENDED_RUN]
            self.violations.append(f"these runs have not ended: {left}")

    def lines(self) -> list[dict[str, Any]]:
        """Every call that any worker made, in order."""
        return [json.loads(line) for line in self.calls.read_text().splitlines()] if self.calls.exists() else []

    def judge(self, journals: dict[str, list[AnyEvent]]) -> int:
        """Hold calls against journals; how many writes were made again after a person had been asked."""
        lines = self.lines()
        by_run: dict[str, list[dict[str, Any]]] = {run: [] for run in journals}
        for line in lines:
            by_run[line["key"].partition("/")[0]].append(line)
        asked = {(run, path) for run, path, _ in self.settled}
        again = 0
        for run, events in journals.items():
            self.violations += [f"{run}: {fault}" for fault in journal_faults(by_run[run], events)]
            writes = Counter(line["path"] for line in by_run[run] if line["tool"] == "write")
            for path, count in writes.items():
                if count > 1 and (run, path) in asked:
                    again += count - 1
                elif count > 1:
                    self.violations.append(f"{run}: the write {path} was made {count} times and nobody was asked")
        return again

    def takeovers(self, journals: dict[str, list[AnyEvent]], deed: str) -> Iterator[float]:
        """How long each run had to wait for its next driver."""
        for run, at, what, epoch in self.lost:
            resumed = (e.at for e in journals[run] if isinstance(e, RunResumed) and e.epoch > epoch)
            taken = next(resumed, None)
            if what == deed and taken is not None:
                yield taken - at


def spread(seconds: Iterator[float]) -> dict[str, float]:
    """Count, median and worst."""
    found = sorted(seconds)
    if not found:
        return {"count": 0, "median": 0.0, "worst": 0.0}
    return {"count": len(found), "median": round(statistics.median(found), 3), "worst": round(found[-1], 3)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--worker", action="store_true")
    parser.add_argument("--store", required=True)
    parser.add_argument("--queue", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--pace", type=float, default=300.0)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--stalls", type=int, default=1)
    parser.add_argument("--every", type=float, default=1.0)
    parser.add_argument("--patience", type=float, default=LONGEST)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    if wanted.worker:
        queue = RabbitQueue(wanted.queue, name=wanted.name)
        asyncio.run(work(wanted.store, queue, wanted.folder / "calls.jsonl", wanted.pace))
        return
    failover = Failover(wanted)
    try:
        json.dump(asyncio.run(failover.run()), sys.stdout)
    finally:
        for process in failover.hired:
            if process.returncode is None:
                process.kill()


if __name__ == "__main__":
    main()
