"""An agent whose process kills itself with every event that is new, until its run has ended: what was asked and called.

Run as a program: `killed_agent.py FOLDER STORE SCENE`. Every request of a model and every call of a tool is one line of
FOLDER/calls, written before it is answered. Prints what came of it as JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from toolpath import RunResult, Tool, ToolContext, Toolpath, tool
from toolpath.errors import RunConflict
from toolpath.model import events as ev
from toolpath.model.chat import ChatReply, ChatRequest
from toolpath.model.events import AnyEvent, event_type
from toolpath.model.run import StepResult
from toolpath.notation.plan import read_plan
from toolpath.testing.scripted_model import ScriptedModel, done

FORM = {"title": "Which tea?", "inputs": [{"name": "tea"}]}
#: Ten rounds: reads at once, writes, a plan, calls that are refused, an answer without a call, a form.
TURNS: list[Any] = [
    [("look", {"n": 1}), ("look", {"n": 2})],
    [("save", {"n": 1})],
    [("nothing", {}), ("look", {"n": 3})],
    [("both", {"n": 4})],
    "I have to think.",
    [("form_input", FORM)],
    [("save", {"n": 2}), ("save", {"n": 3}), ("look", {"n": 6})],
    [("look", {"n": 7})],
    [("both", {"n": 8}), ("look", {"n": 9})],
    done("ended"),
]
PLAN: dict[str, Any] = {
    "steps": [{"id": "a", "agent": {"requirement": "Do it.", "tools": ["look", "save", "both", "form_input"]}}],
    "outputs": "{{ a }}",
}
#: Three agents side by side, each of a few rounds with reads, a write and a plan.
FAN_TURNS: list[Any] = [
    [("look", {"n": 1}), ("look", {"n": 2})],
    [("save", {"n": 3}), ("both", {"n": 4})],
    done("ended"),
]
FAN: dict[str, Any] = {
    "steps": [
        {
            "id": "fan",
            "loop": {
                "over": [0, 1, 2],
                "as": "n",
                "concurrency": 3,
                "steps": [
                    {"id": "a", "agent": {"requirement": "Do it for {{ n }}.", "tools": ["look", "save", "both"]}}
                ],
                "collect": "{{ a }}",
            },
        }
    ],
    "outputs": "{{ fan }}",
}
SCENES: dict[str, tuple[dict[str, Any], list[Any]]] = {"one": (PLAN, TURNS), "fan": (FAN, FAN_TURNS)}
BOTH = read_plan(
    {
        "name": "both",
        "inputs": {"properties": {"n": {"type": "integer"}}, "required": ["n"]},
        "steps": [
            {"id": "l", "tool": "look", "inputs": {"n": "{{ inputs.n * 10 }}"}},
            {"id": "s", "tool": "save", "inputs": {"n": "{{ l * 10 }}"}},
        ],
        "outputs": "{{ s }}",
    }
)
_NOT_NEW = (ev.RunResumed, ev.StepReady, ev.StepUnknown, ev.StepWaiting)


class Calls:
    """The lines of what was asked and called, which outlive the process."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def note(self, what: str) -> None:
        """One more line."""
        with self._file.open("a") as file:
            file.write(what + "\n")

    def lines(self) -> list[str]:
        """All of them."""
        return self._file.read_text().splitlines() if self._file.exists() else []


class Noted(ScriptedModel):
    """The scripted model, whose requests are noted."""

    def __init__(self, calls: Calls, turns: Sequence[Any]) -> None:
        super().__init__(*turns)
        self._calls = calls

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """The turn that comes next."""
        said = sum(message.role == "assistant" for message in request.messages)
        item = request.messages[0].text.removeprefix("Do it for ").removesuffix(".")
        agent = f"fan[{item}]/a" if item.isdigit() else "a"
        self._calls.note(f"{agent}/round[{said + 1}]/think")
        return await super().__call__(request)


def tools_of(calls: Calls) -> list[Any]:
    """The tools, whose calls are noted by their paths."""

    @tool(effect="read")
    async def look(context: ToolContext, n: int) -> int:
        calls.note(context.path)
        return n

    @tool(effect="write")
    async def save(context: ToolContext, n: int) -> int:
        calls.note(context.path)
        return n

    return [look, save, Tool(name="both", effect="write", input_schema=BOTH.inputs, body=BOTH)]


class Suicide:
    """Kills the process as soon as the journal has an event that no earlier process had written, or so many of them."""

    def __init__(self, calls: Calls, every: int = 1) -> None:
        self._calls = calls
        self._every = every
        self.known: set[tuple[str, str]] = set()

    def taken(self, run_id: str, events: Sequence[AnyEvent]) -> None:
        """These were written before."""
        self.known |= {_mark(event) for event in events if not isinstance(event, _NOT_NEW)}

    def committed(self, run_id: str, events: Sequence[AnyEvent], seconds: float) -> None:
        """These are written now."""
        for event in events:
            if isinstance(event, ev.StepSucceeded | ev.StepFailed):
                self._calls.note(f"ended {event.path}")
        before = len(self.known)
        self.known |= {_mark(event) for event in events if not isinstance(event, _NOT_NEW)}
        if before // self._every != len(self.known) // self._every:
            os.kill(os.getpid(), signal.SIGKILL)

    def calling(self, run_id: str, path: str, attempt: int) -> Callable[[], None]:
        """Nothing is done then."""
        return lambda: None

    def left(self, run_id: str) -> None:
        """Nothing is done then."""


def _mark(event: AnyEvent) -> tuple[str, str]:
    return event_type(event), str(getattr(event, "path", ""))


async def drive(store: str, calls: Calls, scene: str) -> dict[str, Any]:
    """Begin or go on, answer what is asked, and say what came of it."""
    plan, turns = SCENES[scene]
    async with Toolpath(store, chat=Noted(calls, turns), observer=Suicide(calls)) as tp:
        tp.add(*tools_of(calls))
        begun = [run.run_id for run in await tp.runs() if run.last_seq]
        if begun:
            with contextlib.suppress(RunConflict):
                await tp.resume(begun[0], force=True)
            result = await tp.result(begun[0])
        else:
            result = await tp.run(plan)
        while result.status in ("waiting", "running"):
            with contextlib.suppress(RunConflict):
                for question in result.questions:
                    await tp.answer(result.run_id, question.path, {"tea": "green"})
                for step in result.results:
                    if step.status == "unknown":
                        await tp.settle(result.run_id, step.path, **as_it_happened(calls, step))
            result = await (await tp.resume(result.run_id)).result()
        return came_of(result, await tp.events(result.run_id))


def came_of(result: RunResult, events: Sequence[AnyEvent]) -> dict[str, Any]:
    """What the journal says of the run that has ended."""
    return {
        "status": result.status,
        "outputs": result.outputs,
        "resumed": sum(isinstance(event, ev.RunResumed) for event in events),
        "in_doubt": [event.path for event in events if isinstance(event, ev.StepUnknown)],
        "begun_after_the_end": begun_after_the_end(events),
        "starts": [event.path for event in events if isinstance(event, ev.StepStarted)],
    }


def as_it_happened(calls: Calls, step: StepResult) -> dict[str, Any]:
    """What a person says of a write in doubt who looks whether it happened."""
    return {"output": step.inputs["n"]} if step.path in calls.lines() else {"retry": True}


def begun_after_the_end(events: Sequence[AnyEvent]) -> list[str]:
    """Paths of calls that were begun although they had ended."""
    ended: set[str] = set()
    again: list[str] = []
    for event in events:
        if isinstance(event, ev.StepStarted) and event.path in ended:
            again.append(event.path)
        elif isinstance(event, ev.StepSucceeded | ev.StepFailed):
            ended.add(event.path)
    return again


def made_after_the_end(noted: Sequence[str]) -> list[str]:
    """Paths of requests and calls that were made although the journal had what came of them."""
    ended: set[str] = set()
    again: list[str] = []
    for line in noted:
        if line.startswith("ended "):
            ended.add(line.removeprefix("ended "))
        elif line in ended:
            again.append(line)
    return again


def main() -> int:
    """Have workers go on until one comes to the end."""
    folder, store, scene = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    calls = Calls(folder / "calls")
    kills = 0
    while True:
        pid = os.fork()
        if not pid:
            code = 1
            try:
                (folder / "found").write_text(json.dumps(asyncio.run(drive(store, calls, scene))))
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        if not os.WIFSIGNALED(status):
            break
        kills += 1
    if status:
        return 1
    report(folder, calls, kills)
    return 0


def report(folder: Path, calls: Calls, kills: int) -> None:
    """Print what came of the run, with what was asked and called."""
    found = json.loads((folder / "found").read_text())
    noted = calls.lines()
    calls_alone = [line for line in noted if not line.startswith("ended ")]
    again = made_after_the_end(noted)
    print(json.dumps({**found, "kills": kills, "calls": calls_alone, "made_again": again}))  # noqa: T201  # its answer


if __name__ == "__main__":
    sys.exit(main())
