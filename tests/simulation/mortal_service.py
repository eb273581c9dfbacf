"""A service of agents that is killed now and then and begun anew at the same address; every call leaves a line.

Run as a program: `mortal_service.py FOLDER STORE SEED DEATHS`. Prints its port; ends with SIGTERM. It dies so often
at most, by chance, when events have just been written, or in the middle of a call. FOLDER/calls has the calls and what
ended, FOLDER/deaths a line for each death.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import uvicorn
from worlds import drawn

from toolpath import Settings, Tool, ToolContext, ToolFailed, Toolpath, ToolRetry, tool
from toolpath.errors import ChatFailed
from toolpath.model import events as ev
from toolpath.model.chat import ChatReply, ChatRequest
from toolpath.model.events import AnyEvent
from toolpath.model.tool import Requires
from toolpath.notation.plan import read_plan
from toolpath.server.asgi import create_app
from toolpath.testing.scripted_model import ScriptedModel, done

#: Of so many chances to die one is taken.
_SELDOM = 25
_FORM = {"title": "Which?", "inputs": [{"name": "which"}]}
_NUMBER = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
BOTH = read_plan(
    {
        "name": "both",
        "inputs": _NUMBER,
        "steps": [
            {"id": "l", "tool": "look", "inputs": {"n": "{{ inputs.n }}"}},
            {"id": "s", "tool": "save", "inputs": {"n": "{{ l }}"}},
        ],
        "outputs": "{{ s }}",
    }
)
DEEP = read_plan(
    {
        "name": "deep",
        "inputs": _NUMBER,
        "steps": [
            {
                "id": "d",
                "agent": {"requirement": "Deep {{ inputs.n }}", "tools": ["look", "save", "signed"], "max_rounds": 4},
            }
        ],
        "outputs": "{{ d }}",
    }
)


class Fate:
    """Lines of what happened, and the end of the process."""

    def __init__(self, folder: Path, seed: str, deaths: int) -> None:
        self._calls = os.open(folder / "calls", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._deaths = folder / "deaths"
        died = len(self._deaths.read_text().splitlines()) if self._deaths.exists() else 0
        self._chance = random.Random(f"{seed} {died}") if died < deaths else None

    def note(self, *what: str) -> None:
        """One more line."""
        os.write(self._calls, "\t".join(what).encode() + b"\n")

    def comes(self) -> None:
        """Die here, or not."""
        if self._chance is not None and self._chance.randrange(_SELDOM) == 0:
            with self._deaths.open("a") as file:
                file.write("x\n")
            os.kill(os.getpid(), signal.SIGKILL)

    def taken(self, run_id: str, events: Sequence[AnyEvent]) -> None:
        """Nothing is done then."""

    def committed(self, run_id: str, events: Sequence[AnyEvent], seconds: float) -> None:
        """These are written now."""
        for event in events:
            if isinstance(event, ev.StepSucceeded):
                self.note("ended", run_id, event.path)
        self.comes()

    def calling(self, run_id: str, path: str, attempt: int) -> Callable[[], None]:
        """Nothing is done then."""
        return lambda: None

    def left(self, run_id: str) -> None:
        """Nothing is done then."""


def tools_of(fate: Fate) -> list[Any]:
    """Reads, writes, one that wants approval, and such that fail."""

    def called(name: str, context: ToolContext) -> None:
        fate.comes()
        fate.note("call", context.run_id, context.path, name)
        fate.comes()

    @tool(effect="read")
    async def look(context: ToolContext, n: int) -> int:
        called("look", context)
        return n

    @tool(effect="write")
    async def save(context: ToolContext, n: int) -> int:
        called("save", context)
        return n

    @tool(effect="write", requires=Requires(approval=True))
    async def signed(context: ToolContext, n: int) -> int:
        called("signed", context)
        return n

    @tool(effect="read")
    async def flaky(context: ToolContext, n: int) -> int:
        called("flaky", context)
        if context.attempt == 1:
            raise ToolRetry("the first attempt fails")
        return n

    @tool(effect="read")
    async def broken(n: int) -> int:
        raise ToolFailed(f"{n} never works")

    bodies = [Tool(name=plan.name, effect="write", input_schema=plan.inputs, body=plan) for plan in (BOTH, DEEP)]
    return [look, save, signed, flaky, broken, *bodies]


def turn(request: ChatRequest) -> Any:
    """What a model says, good and bad: it follows from what it is to do, and from how often it has spoken."""
    said = sum(message.role == "assistant" for message in request.messages)
    goal = request.messages[0].text
    offered = {spec.name for spec in request.tools}
    if said >= drawn("rounds", goal) % 4 + 1:
        return done(goal[:40]) if "terminate" in offered else goal[:40]
    n = {"n": drawn(goal, said) % 1_000}
    turns: tuple[Any, ...] = (
        [("look", n), ("look", {"n": 1})],
        [("save", n), ("look", n)],
        [("save", n), ("save", {"n": 2})],
        [("signed", n)],
        [("signed", n), ("save", n), ("look", n)],
        [("flaky", n)],
        [("both", n)],
        [("deep", n)],
        [("form_input", _FORM)],
        [("form_input", _FORM), ("look", n), ("save", n)],
        [("nothing", n), ("look", {}), ("save", {"n": "many"}), ("broken", n)],
        [("look", {"n": number}) for number in range(30)],
        [("form_input", {"title": "Wrong", "inputs": "which"})],
        [("look", {"n": 1, "x" * 1_000: "y" * 100_000})],
        "",
        "I have to think.",
        ChatFailed("The model is not there."),
        [("terminate", {}), ("save", n)],
    )
    return turns[drawn("turn", goal, said) % len(turns)]


class Mind(ScriptedModel):
    """The model, which may be the last that its process asks."""

    def __init__(self, fate: Fate) -> None:
        super().__init__(then=turn)
        self._fate = fate

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """The turn that comes next."""
        self._fate.comes()
        return await super().__call__(request)


def serve(listener: socket.socket, folder: Path, store: str, seed: str, deaths: int) -> None:
    """Serve until it dies."""
    fate = Fate(folder, seed, deaths)
    settings = Settings(max_losses=10_000, files_dir=str(folder / "files"))
    tp = Toolpath(store, settings=settings, chat=Mind(fate), observer=fate)
    tp.add(*tools_of(fate))
    config = uvicorn.Config(create_app(tp), log_config=None, timeout_graceful_shutdown=1)
    uvicorn.Server(config).run([listener])


def main() -> None:
    """Begin it anew for as long as it dies."""
    folder, store, seed, deaths = Path(sys.argv[1]), *sys.argv[2:]
    listener = socket.create_server(("127.0.0.1", 0), backlog=200)
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while True:
        pid = os.fork()
        if not pid:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            serve(listener, folder, store, seed, int(deaths))
            os._exit(0)
        try:
            _, status = os.waitpid(pid, 0)
        except SystemExit:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
        if not os.WIFSIGNALED(status):
            sys.exit(status)


if __name__ == "__main__":
    main()
