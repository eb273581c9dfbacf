"""Runs random structures in forked workers, kills these at random points, resumes, and prints what did not hold.

The runs are in a SQLite file a case, or all in the PostgreSQL of `--store`.

A process of its own: it imports everything once, and every worker is a fork of it. It tells each violation on stderr
when it is found, and how far it is, so that one that is stopped has told what it knew. At its end it prints one line of
JSON: `{"kills", "plans", "asked", "called", "answered", "violations"}`, with calls of tools that call others, and
questions that people answered.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import faulthandler
import json
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from callbook import Suicide
from structures import INPUTS, structure
from worlds import CALLERS, ONCE, WRITES, World, answer, drawn

from toolpath.app import Toolpath
from toolpath.config import Settings
from toolpath.errors import RunConflict
from toolpath.model.events import (
    AnyEvent,
    ApprovalDecided,
    ApprovalRequested,
    InputReceived,
    StepStarted,
    StepSucceeded,
)
from toolpath.model.plan import Plan
from toolpath.model.run import RunContext
from toolpath.ports import Store
from toolpath.projections.questions import Question
from toolpath.values import JsonObject

SETTINGS = Settings(max_retries=1, retry_backoff="none")
#: A worker that is let run has to be done within this many seconds, however busy the machine is.
PATIENCE = 180.0


class Case:
    """One plan with its files: what the workers share."""

    def __init__(self, folder: Path, seed: int, store: str) -> None:
        self.seed = seed
        self.folder = folder
        self.store = store or str(folder / "runs.db")
        self.context = RunContext(tenant=folder.name)
        """Tells the case's runs from others of the same store."""
        self.calls = folder / "calls.jsonl"
        self.result = folder / "result.json"
        folder.mkdir(parents=True)

    @property
    def plan(self) -> Plan:
        return structure(self.seed).plan

    def lines(self) -> list[dict[str, Any]]:
        """Every call that any worker made, in order."""
        if not self.calls.exists():
            return []
        return [json.loads(line) for line in self.calls.read_text().splitlines()]


class RealWorld(World):
    """Tools that take a few milliseconds, and leave a line in a file for every call, in one write."""

    def __init__(self, calls: Path, suicide: Suicide) -> None:
        super().__init__()
        self._file = os.open(calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._suicide = suicide

    async def pass_time(self, *key: Any) -> None:
        # Before and after the effect, so that a kill can fall on either side of it.
        await asyncio.sleep(drawn(*key) % 4 / 1000)

    def spend_time(self, *key: Any) -> None:
        time.sleep(drawn(*key) % 4 / 1000)

    def note(self, tool: str, context: Any, inputs: JsonObject, *, effect: bool) -> None:
        self._suicide.passes("before")
        if effect or tool not in WRITES:
            line = {"tool": tool, "key": context.idempotency_key, "path": context.path, "began": time.time()}
            os.write(self._file, json.dumps({**line, "inputs": inputs}).encode() + b"\n")
        self._suicide.passes("after")


async def drive(case: Case, suicide: Suicide) -> None:
    """Start or resume the case's run, answer what is asked, and write down the result."""
    async with Toolpath(case.store, settings=SETTINGS) as toolpath:
        toolpath.add(*RealWorld(case.calls, suicide).tools())
        run_id = await _known_run(case, toolpath.store)
        if run_id is None:
            result = await toolpath.run(case.plan, inputs=INPUTS, context=case.context)
        else:
            result = await _resumed(toolpath, run_id)
        asked = 0
        while result.status == "waiting":
            for question in result.questions:
                await _answer(toolpath, result.run_id, question)
            for step in result.results:
                if step.status == "unknown":
                    asked += 1
                    await _settle(case, toolpath, result.run_id, step)
            result = await _resumed(toolpath, result.run_id)
        events = await toolpath.events(result.run_id)
        written = {
            "run_id": result.run_id,
            "status": result.status,
            "outputs": result.outputs,
            "asked": asked,
            "answered": sum(isinstance(event, ApprovalDecided | InputReceived) for event in events),
            "called": sum(isinstance(event, StepStarted) and event.tool in CALLERS for event in events),
        }
        beside = case.result.with_suffix(".new")
        beside.write_text(json.dumps(written))
        beside.replace(case.result)


async def _resumed(toolpath: Any, run_id: str) -> Any:
    run = await toolpath.resume(run_id)
    return await run.result() if hasattr(run, "result") else run


async def _answer(toolpath: Toolpath, run_id: str, question: Question) -> None:
    """What a person says; it may have been said before, by somebody whose process was killed."""
    with contextlib.suppress(RunConflict):
        if isinstance(question, ApprovalRequested):
            await (toolpath.approve if World().allows(question.path) else toolpath.deny)(run_id, question.path)
        else:
            await toolpath.answer(run_id, question.path, {"n": drawn(question.path) % 100})


async def _settle(case: Case, toolpath: Toolpath, run_id: str, step: Any) -> None:
    """Do as a person would: look whether the effect is there, and say so."""
    made = [line for line in case.lines() if line["path"] == step.path and line["tool"] in WRITES]
    with contextlib.suppress(RunConflict):
        if made:
            await toolpath.settle(run_id, step.path, output=answer(made[0]["tool"], made[0]["inputs"]))
        else:
            await toolpath.settle(run_id, step.path, retry=True)


async def _known_run(case: Case, store: Store) -> str | None:
    runs = await store.list_runs(tenant=case.context.tenant)
    # A run of which nothing was written was never begun, and nobody was told its id.
    begun = [run.run_id for run in runs if run.last_seq]
    return begun[0] if begun else None


async def events_of(case: Case, run_id: str) -> list[AnyEvent]:
    async with Toolpath(case.store) as toolpath:
        return await toolpath.store.read_events(run_id)


def fork(work: Callable[[], None], errors: Path) -> int:
    """A worker that does `work` and ends; what it raises goes to the file `errors`."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        with errors.open("a") as file:
            faulthandler.dump_traceback_later(PATIENCE - 2, file=file)
            try:
                work()
                code = 0
            except BaseException:
                traceback.print_exc(file=file)
    finally:
        os._exit(code)


def ended(pid: int, within: float) -> int | None:
    """The worker's exit status when it ends in time, else None."""
    until = time.monotonic() + within
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        left = until - time.monotonic()
        if left <= 0:
            return None
        time.sleep(min(0.001, left))


def kill(pid: int) -> None:
    """End the worker at once, as a loss of the machine would."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


class Killer:
    """Kills workers until it has killed as many as it should."""

    def __init__(self, folder: Path, kills: int, seed: int, store: str) -> None:
        self.folder = folder
        self.store = store
        self.wanted = kills
        self.chance = random.Random(seed)
        self.seed = seed
        self.kills = 0
        self.plans = 0
        self.asked = self.called = self.answered = 0
        self.violations: list[str] = []
        self.usual = 0.1
        """Seconds that an undisturbed run takes, forked and all."""

    def run(self) -> None:
        """Case after case."""
        seed = self.seed
        while self.kills < self.wanted and len(self.violations) < 10:
            if structure(seed).exact:
                self._tell(*self._case(seed))
                self.plans += 1
            seed += 1

    def _tell(self, *faults: str) -> None:
        """Say what was found, and how far it is every twenty plans."""
        self.violations += faults
        for fault in faults:
            sys.stderr.write(f"{fault}\n")
        if self.plans % 20 == 0:
            sys.stderr.write(f"{self.kills} of {self.wanted} kills, {self.plans} plans\n")
        sys.stderr.flush()

    def _case(self, seed: int) -> Iterator[str]:
        calm = Case(self.folder / f"{seed}_calm", seed, self.store)
        began = time.monotonic()
        if (fault := self._undisturbed(calm)) is not None:
            yield fault
            return
        self.usual = time.monotonic() - began
        case = Case(self.folder / f"{seed}", seed, self.store)
        for _ in range(self.chance.randint(1, 8)):
            if not self._killed(case):
                break
        if (fault := self._undisturbed(case)) is not None:
            yield fault
            return
        yield from (f"seed {seed}: {fault}" for fault in faults(calm, case))
        result = json.loads(case.result.read_text())
        self.asked += result["asked"]
        self.answered += result["answered"]
        self.called += result["called"]

    def _undisturbed(self, case: Case) -> str | None:
        """Drive the case to its end. Gives what keeps it from there."""
        if case.result.exists():
            return None
        errors = case.folder / "errors.txt"
        pid = fork(lambda: asyncio.run(drive(case, Suicide())), errors)
        status = ended(pid, PATIENCE)
        if status is None:
            kill(pid)
        if status == 0 and case.result.exists():
            return None
        return f"seed {case.seed}: the worker ended with {status}:\n{errors.read_text()[-3000:]}"

    def _killed(self, case: Case) -> bool:
        """Kill one worker of the case; false when it was done before."""
        place = self.chance.choice(["", "before", "after"])
        suicide = Suicide(place, self.chance.randint(1, 4)) if place else Suicide()
        pid = fork(lambda: asyncio.run(drive(case, suicide)), case.folder / "errors.txt")
        within = PATIENCE if place else self.chance.uniform(0, self.usual * 1.1)
        status = ended(pid, within)
        if status is None:
            kill(pid)
        elif not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL):
            return False
        self.kills += 1
        return True


def faults(calm: Case, case: Case) -> Iterator[str]:
    """What did not hold of a killed and resumed run, compared with an undisturbed one."""
    expected, actual = (json.loads(each.result.read_text()) for each in (calm, case))
    if expected["status"] != actual["status"]:
        yield f"ended as {actual['status']}, undisturbed as {expected['status']}"
    if expected["outputs"] != actual["outputs"]:
        yield f"gave {actual['outputs']}, undisturbed {expected['outputs']}"
    lines = case.lines()
    for key, count in Counter(line["key"] for line in lines if line["tool"] in ONCE).items():
        if count > 1:
            yield f"the write {key} was made {count} times"
    wanted = {line["path"] for line in calm.lines() if line["tool"] in WRITES}
    made = {line["path"] for line in lines if line["tool"] in WRITES}
    if wanted != made:
        yield f"wrote {sorted(made ^ wanted)} in one of the two runs only"
    yield from journal_faults(lines, asyncio.run(events_of(case, actual["run_id"])))


def journal_faults(lines: list[dict[str, Any]], events: list[AnyEvent]) -> Iterator[str]:
    """What a journal and the calls that were made contradict each other in."""
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        yield "the journal's numbers have gaps"
    finished = Counter(event.path for event in events if isinstance(event, StepSucceeded))
    for path, count in finished.items():
        if count > 1:
            yield f"{path} succeeded {count} times"
    ended_at = {event.path: event.at for event in events if isinstance(event, StepSucceeded)}
    for line in lines:
        if line["began"] > ended_at.get(line["path"], line["began"]):
            yield f"{line['path']} was called after its success was committed"
    started = {event.path for event in events if isinstance(event, StepStarted)}
    for line in lines:
        if (
            line["tool"].rpartition(".")[2] in ("write", "idempotent", "signed", "plain")
            and line["path"] not in started
        ):
            yield f"the write {line['path']} was made before its start was committed"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", default="", help="postgresql://…; empty: a SQLite file a case")
    arguments = parser.parse_args()
    killer = Killer(arguments.folder, arguments.kills, arguments.seed, arguments.store)
    killer.run()
    json.dump(
        {
            "kills": killer.kills,
            "plans": killer.plans,
            "asked": killer.asked,
            "called": killer.called,
            "answered": killer.answered,
            "violations": killer.violations,
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
