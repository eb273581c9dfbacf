"""Lives of agents in a service that dies again and again, made up by clients over REST; and what did not hold of them.

A program: `service_lives.py FOLDER --seed N`. Clients begin templates with agents, talk, schedule, upload, cancel,
retry, fork and answer, two at once; in the end a person answers whatever waits, until every run has ended. Prints JSON:
`{"runs", "deaths", "answers", "calls", "violations"}`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from toolpath import Toolpath
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.run import ENDED_RUN
from toolpath.projections.plan_records import plan_record
from toolpath.projections.steps import step_results

BUDGET = 40
ONCE = ("save", "signed")
#: Seconds for what has to come.
LONGEST = 600.0
TOOLS = ["look", "save", "signed", "flaky", "broken", "both", "deep", "form_input"]
TEMPLATE: dict[str, Any] = {
    "name": "Work",
    "budget": {"calls": BUDGET},
    "steps": [
        {"id": "form", "ask": {"title": "Who?", "inputs": [{"name": "who"}]}},
        {
            "id": "all",
            "depends_on": ["form"],
            "loop": {
                "over": [0, 1],
                "as": "n",
                "concurrency": 2,
                "collect": "{{ a }}",
                "steps": [
                    {"id": "a", "agent": {"requirement": "Do <<what>> {{ n }}", "tools": TOOLS, "max_rounds": 6}}
                ],
            },
        },
        {"id": "alone", "agent": {"requirement": "Do <<what>> alone", "tools": TOOLS, "max_rounds": 5}},
        {"id": "closing", "tool": "both", "inputs": {"n": 7}, "depends_on": ["all", "alone"]},
    ],
    "outputs": "{{ closing }}",
}


class Lives:
    """The clients of one service, and what they found."""

    def __init__(self, folder: Path, store: str, seed: int, deaths: int, moves: int) -> None:
        self._folder = folder
        self._store = store
        self._seed = seed
        self._deaths = deaths
        self._moves = moves
        self._chance = random.Random(seed)
        self._template = ""
        self.answers = 0
        self.violations: list[str] = []

    async def run(self) -> dict[str, Any]:
        """All of it."""
        program = str(Path(__file__).with_name("mortal_service.py"))
        words = [sys.executable, program, str(self._folder), self._store, str(self._seed), str(self._deaths)]
        process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        port = int(await process.stdout.readline())
        try:
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=300) as client:
                self._client = client
                await self._begin()
                await self._live()
                told = await self._finish()
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            await process.wait()
        runs = await self._judge(told)
        lines = self._lines()
        return {
            "runs": runs,
            "deaths": len((self._folder / "deaths").read_text().splitlines()) if self._deaths else 0,
            "answers": self.answers,
            "calls": sum(line[0] == "call" for line in lines),
            "violations": self.violations,
        }

    async def _ask(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """The answer; asked again for as long as nobody answers."""
        until = time.monotonic() + LONGEST
        while True:
            try:
                answer = await self._client.request(method, path, json=body, **more)
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code not in (429, 503):
                if answer.status_code >= 500 and "Sync" not in path:
                    self.violations.append(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
                return answer
            if time.monotonic() > until:
                raise TimeoutError(f"{method} {path}: nobody answers")
            await asyncio.sleep(0.05)

    async def _begin(self) -> None:
        kept = await self._ask("POST", "/api/v1/templates", {"document": TEMPLATE, "title": "Work"})
        if kept.status_code == 409:
            # It died between the deed and the answer.
            kept = (await self._ask("GET", "/api/v1/templates")).json()["templates"][0]
            self._template = kept["template_id"]
        else:
            self._template = kept.json()["template_id"]
        channels = {"channels": ["http", "conversation", "tool"]}
        await self._ask("POST", f"/api/v1/templates/{self._template}/publish", channels)

    async def _live(self) -> None:
        """Two clients and a person, at once."""
        moves = (
            self._start, self._start, self._execute, self._talk, self._schedule, self._cancel, self._cancel_inside,
            self._retry, self._fork, self._pause, self._answer, self._answer, self._answer, self._answer,
        )  # fmt: skip
        for number in range(self._moves):
            first, second = (self._chance.choice(moves) for _ in range(2))
            if number == 0:
                first = self._start
            await asyncio.gather(first(number), second(number))

    async def _start(self, number: int) -> None:
        key = f"{self._seed}-{number}-{self._chance.random()}"
        upload = await self._client_upload()
        body = {"inputs": {"what": key}, "idempotency_key": key, "uploads": [upload] if upload else []}
        answers = [await self._ask("POST", f"/api/v1/templates/{self._template}/runs", body) for _ in range(2)]
        ids = {answer.json().get("run_id") for answer in answers if answer.status_code < 300}
        if len(ids) > 1:
            self.violations.append(f"one key began {ids}")

    async def _client_upload(self) -> str:
        if self._chance.random() < 0.7:
            return ""
        answer = await self._ask("POST", "/api/v1/files", files={"files": ("a.txt", b"x")})
        return str(answer.json().get("upload_id", ""))

    async def _execute(self, number: int) -> None:
        words = {"what": f"{self._seed} executed {number}"}
        await self._ask(
            "POST", "/api/executor/executeByToolNameAsync", {"toolName": "Work", "replacementParams": words}
        )

    async def _talk(self, number: int) -> None:
        name = f"talk-{self._seed}-{self._chance.randrange(2)}"
        await self._ask("POST", "/api/v1/conversations", {"conversation_id": name})
        body = {"text": f"Talk {number}", "message_id": f"m{number}", "tools": TOOLS[:4]}
        try:
            async with asyncio.timeout(2):
                await self._client.post(f"/api/v1/conversations/{name}/messages", json=body)
        except (TimeoutError, httpx.TransportError):
            # It goes on without anybody who reads it.
            return

    async def _schedule(self, number: int) -> None:
        body = {"template_id": self._template, "inputs": {"what": f"{self._seed} s{number}"}, "cron": "0 0 1 1 *"}
        made = await self._ask("POST", "/api/v1/schedules", body)
        if made.status_code == 201:
            await self._ask("POST", f"/api/v1/schedules/{made.json()['schedule_id']}/run")

    async def _some_run(self) -> str:
        rows = (await self._ask("GET", "/api/v1/runs", params={"limit": 50})).json().get("runs", [])
        return str(self._chance.choice(rows)["run_id"]) if rows else "none"

    async def _cancel(self, number: int) -> None:
        if self._chance.random() < 0.3:
            await self._ask("POST", f"/api/v1/runs/{await self._some_run()}/cancel", {"reason": f"{number}"})

    async def _cancel_inside(self, number: int) -> None:
        inside = self._chance.choice(("alone", "all", "closing"))
        if self._chance.random() < 0.3:
            await self._ask("POST", f"/api/v1/runs/{await self._some_run()}:{inside}/cancel", {})

    async def _retry(self, number: int) -> None:
        await self._ask("POST", f"/api/v1/runs/{await self._some_run()}/retry")

    async def _fork(self, number: int) -> None:
        step = self._chance.choice(("alone", "closing", "form"))
        await self._ask(
            "POST", f"/api/v1/runs/{await self._some_run()}/fork", {"from_step": step, "repeat_writes": True}
        )

    async def _pause(self, number: int) -> None:
        run_id = await self._some_run()
        await self._ask("POST", f"/api/v1/runs/{run_id}/pause", {})
        await self._ask("POST", f"/api/v1/runs/{run_id}/resume", {})

    async def _answer(self, number: int = 0) -> int:
        """Answer what waits, two people at once; how much waited."""
        found = (await self._ask("GET", "/api/v1/questions")).json().get("questions", [])
        for question in found[:6]:
            method, path, body = self._said(question)
            twice = await asyncio.gather(*(self._ask(method, path, body) for _ in range(2)))
            self.answers += sum(answer.status_code < 300 for answer in twice)
        return len(found)

    def _said(self, question: Any) -> tuple[str, str, Any]:
        """As a person would who looks whether what is in doubt has happened."""
        place, step = f"/api/v1/runs/{question['run_id']}", question["step"]
        match question["kind"]:
            case "approval":
                approved = self._chance.random() < 0.8
                return "POST", f"{place}/approvals/{quote(step, safe='')}", {"approved": approved}
            case "input":
                names = [field["name"] for field in question["form"]["inputs"]]
                return "POST", f"{place}/input", {"step": step, "values": dict.fromkeys(names, "ann")}
            case _:
                happened = any(line[:3] == ["call", question["run_id"], step] for line in self._lines())
                if happened:
                    inputs = question["inputs"] or {}
                    return "POST", f"{place}/settle", {"step": step, "outcome": "done", "output": inputs.get("n", 0)}
                return "POST", f"{place}/settle", {"step": step, "outcome": "retry"}

    async def _finish(self) -> dict[str, Any]:
        """Answer until nothing waits and nothing goes on; the records of all runs."""
        until = time.monotonic() + LONGEST
        while True:
            waiting = await self._answer()
            rows = await self._rows()
            going = [row for row in rows if row["status"] not in ENDED_RUN]
            for row in going:
                if row["status"] == "paused":
                    await self._ask("POST", f"/api/v1/runs/{row['run_id']}/resume", {})
            if not going and not waiting:
                break
            if time.monotonic() > until:
                states = [(row["run_id"], row["status"]) for row in going]
                self.violations.append(f"these have not ended, and {waiting} questions wait: {states}")
                break
            await asyncio.sleep(0.1)
        paths = {row["run_id"]: f"/api/executor/details/{row['run_id']}" for row in rows}
        return {run_id: (await self._ask("GET", path)).json() for run_id, path in paths.items()}

    async def _rows(self) -> list[Any]:
        return list((await self._ask("GET", "/api/v1/runs", params={"limit": 500})).json()["runs"])

    def _lines(self) -> list[list[str]]:
        file = self._folder / "calls"
        return [line.split("\t") for line in file.read_text().splitlines()] if file.exists() else []

    async def _judge(self, told: dict[str, Any]) -> int:
        """Hold journals, records and calls against one another; how many runs there were."""
        lines = self._lines()
        self.violations += called_after_the_end(lines)
        async with Toolpath(self._store) as tp:
            infos = await tp.runs(limit=1_000)
            for info in infos:
                events = await tp.events(info.run_id)
                made = [line for line in lines if line[0] == "call" and line[1] == info.run_id]
                self.violations += [f"{info.run_id}: {fault}" for fault in faults_of(events, made)]
                result = await tp.info(info.run_id)
                record = plan_record(result, events, step_results(events))
                self.violations += [f"{info.run_id}: {fault}" for fault in differing(record, told.get(info.run_id))]
        return len(infos)


def called_after_the_end(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Calls that were made although the journal had what came of them."""
    ended: set[tuple[str, str]] = set()
    for kind, run_id, path, *_ in lines:
        if kind == "ended":
            ended.add((run_id, path))
        elif (run_id, path) in ended:
            yield f"{run_id}: {path} was called after its end"


def faults_of(events: Sequence[AnyEvent], made: Sequence[Sequence[str]]) -> Iterator[str]:
    """What does not hold of one run."""
    begun = Counter(event.path for event in events if isinstance(event, ev.StepStarted))
    allowed = {event.path for event in events if isinstance(event, ev.ApprovalDecided) and event.approved}
    kinds = {line[2]: line[3] for line in made}
    lives = sum(isinstance(event, ev.RunResumed) for event in events)
    for path, times in Counter(line[2] for line in made).items():
        # A read may be called before its start is written; then it was in flight when the process died.
        if times > begun[path] + (lives if kinds[path] not in ONCE else 0):
            yield f"{path} was called {times} times, and begun {begun[path]} times"
    for path, times in Counter(line[2] for line in made if line[3] in ONCE).items():
        if times > 1:
            yield f"the write {path} was made {times} times"
    yield from (
        f"{line[2]} was called without approval" for line in made if line[3] == "signed" and line[2] not in allowed
    )
    ended: set[str] = set()
    for event in events:
        if isinstance(event, ev.StepStarted) and event.path in ended:
            yield f"{event.path} was begun after its end"
        elif isinstance(event, ev.StepSucceeded):
            ended.add(event.path)
    started = events[0]
    if isinstance(started, ev.RunStarted) and "budget" in str(started.plan):
        calls = sum(isinstance(event, ev.StepStarted) and bool(event.key) for event in events)
        if calls > BUDGET:
            yield f"{calls} calls were begun, and {BUDGET} may be"


def differing(record: Any, told: Any) -> Iterator[str]:
    """Where the record that was told over REST is not that of the journal."""
    if record is None or told is None:
        yield "there is no record"
        return
    rounds = {step.step_id: len(step.think_act_steps) for step in record.agent_execution_sequence}
    shown = {step["stepId"]: len(step["thinkActSteps"]) for step in told["agentExecutionSequence"]}
    if (record.completed, record.status, rounds) != (told["completed"], told["status"], shown):
        yield f"the record is told as {told['status']} with {shown}, and is {record.status} with {rounds}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--store", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--deaths", type=int, default=8)
    parser.add_argument("--moves", type=int, default=15)
    wanted = parser.parse_args()
    store = wanted.store or str(wanted.folder / "runs.db")
    found = asyncio.run(Lives(wanted.folder, store, wanted.seed, wanted.deaths, wanted.moves).run())
    sys.stdout.write(f"{json.dumps(found)}\n")


if __name__ == "__main__":
    main()
