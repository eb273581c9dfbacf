"""What an agent costs beside Pydantic AI's with the same model and tool: `python -m benchmarks agents`.

The model answers at once from a script, so that what is left is our own work and theirs; all times are processor time.
Ours keeps a journal, in memory or in a SQLite file; theirs keeps none.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from benchmarks.report import publish, table
from toolpath import Settings, Toolpath, tool
from toolpath.model.events import encode_event
from toolpath.testing.scripted_model import ScriptedModel, done

ROUNDS = 30
#: Characters of what each call gives.
SIZES = (20, 20_000)
TURNS = 15
PLAN: dict[str, Any] = {"steps": [{"id": "a", "agent": {"requirement": "Look.", "tools": ["look"]}}]}


class Row(msgspec.Struct, kw_only=True):
    """One size of results; microseconds of a round, the least of several runs."""

    result: int
    theirs_us: float
    memory_us: float
    sqlite_us: float
    journal_bytes: int


class Scripted(Model):
    """Pydantic AI's side of the script."""

    model_name = "scripted"
    system = "scripted"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        said = sum(message.kind == "response" for message in messages)
        last = said == ROUNDS - 1
        return ModelResponse(parts=[TextPart("ended") if last else ToolCallPart("look", {"n": said})])


async def least(run: Callable[[], Awaitable[Any]], expected: Any) -> float:
    """Microseconds of processor time that a round takes."""
    found = []
    for _ in range(TURNS):
        before = time.process_time()
        result = await run()
        found.append(time.process_time() - before)
        if result != expected:
            raise RuntimeError(f"A wrong result: {result!r}.")
    return min(found) / ROUNDS * 1e6


def theirs(size: int) -> Callable[[], Awaitable[Any]]:
    """A run of Pydantic AI's agent."""
    agent = Agent(Scripted())

    @agent.tool_plain
    async def look(n: int) -> str:
        return "x" * size

    async def run() -> Any:
        return (await agent.run("Look.")).output

    return run


async def ours(size: int, store: str | None) -> tuple[float, int]:
    """The time of a round of our agent, and the bytes of its journal."""

    @tool(effect="read")
    async def look(n: int) -> str:
        return "x" * size

    script = ScriptedModel(*([("look", {"n": n})] for n in range(ROUNDS - 1)), done("ended"))
    async with Toolpath(store, settings=Settings(), chat=script) as tp:
        tp.add(look)
        plan = tp.read(PLAN)

        async def run() -> Any:
            script.requests.clear()
            return (await tp.run(plan)).outputs["a"]

        taken = await least(run, "ended")
        (newest,) = await tp.runs(limit=1)
        return taken, sum(len(encode_event(event)) for event in await tp.events(newest.run_id))


async def measured(size: int, folder: Path) -> Row:
    """Both, with results of this size."""
    memory, written = await ours(size, None)
    sqlite, _ = await ours(size, str(folder / f"{size}.db"))
    return Row(
        result=size,
        theirs_us=await least(theirs(size), "ended"),
        memory_us=memory,
        sqlite_us=sqlite,
        journal_bytes=written,
    )


def main() -> int:
    """Measure, print, write."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [asyncio.run(measured(size, Path(folder))) for size in SIZES]
    head = ["characters of a result", "Pydantic AI µs", "ours µs", "ratio", "ours, SQLite µs", "ratio, SQLite",
            "bytes of the journal"]  # fmt: skip
    text = table(
        head,
        [
            [r.result, r.theirs_us, r.memory_us, r.memory_us / r.theirs_us, r.sqlite_us, r.sqlite_us / r.theirs_us,
             r.journal_bytes]
            for r in rows
        ],
    )  # fmt: skip
    publish("agents", text, [msgspec.to_builtins(row) for row in rows])
    print(text)
    return 0
