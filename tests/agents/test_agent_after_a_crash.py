"""An agent goes on after a crash: no model is asked and no tool called again, wherever the journal ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from tests.agents.agent_cases import agent
from tests.engine.engine_cases import Ran, opened, ran, resumed_after, run
from toolpath import Tool, tool
from toolpath.errors import ChatFailed
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, encode_event
from toolpath.model.run import RunInfo
from toolpath.notation.plan import read_plan
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted_model import ScriptedModel, done

FORM = {"title": "Which tea?", "inputs": [{"name": "tea", "type": "text"}]}
#: Ten rounds: reads, writes, calls that are refused and that fail, a plan inside, a form.
TURNS: list[Any] = [
    [("look", {"n": 1}), ("look", {"n": 2})],
    [("save", {"n": 1})],
    [("nothing", {}), ("look", {"m": 3})],
    [("both", {"n": 4})],
    "I have to think.",
    [("broken", {}), ("look", {"n": 5})],
    [("form_input", FORM)],
    [("save", {"n": 2}), ("save", {"n": 3}), ("look", {"n": 6})],
    [("both", {"n": 7}), ("look", {"n": 8})],
    done("ended"),
]
PLAN = agent(tools=["look", "save", "both", "broken", "form_input"])


class Counted:
    """Tools that count each of their calls by name and number."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    def tools(self) -> list[Tool]:
        calls = self.calls

        @tool(effect="read")
        async def look(n: int) -> int:
            calls[f"look {n}"] += 1
            return n

        @tool(effect="write")
        async def save(n: int) -> int:
            calls[f"save {n}"] += 1
            return n

        @tool(effect="write")
        async def broken() -> int:
            calls["broken"] += 1
            raise ValueError("broken")

        body = read_plan(
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
        both = Tool(name="both", description="Look and save.", effect="write", input_schema=body.inputs, body=body)
        return [look, save, broken, both]  # type: ignore[list-item]


def model() -> ScriptedModel:
    return ScriptedModel(*TURNS)


async def whole() -> tuple[Ran, Counted]:
    """The run as it goes without a crash."""
    world, clock = Counted(), FakeClock(auto=True)
    async with opened(*world.tools(), clock=clock, chat=model()) as tp:
        waiting = await tp.run(tp.read(PLAN))
        assert waiting.status == "waiting"
        result = await answered(tp, waiting.run_id)
        return await ran(tp, result), world


async def answered(tp: Any, run_id: str) -> Any:
    """The result once the form is answered."""
    (question,) = await tp.questions(run_id)
    await tp.answer(run_id, {"tea": "green"}, path=question.path)
    return await (await tp.resume(run_id)).result()


async def test_ten_rounds_are_played_without_a_crash() -> None:
    found, world = await whole()
    assert (found.status, found.outputs) == ("completed", "ended")
    assert set(world.calls.values()) == {1}
    thoughts = [event.path for event in found.of(ev.StepSucceeded) if event.path.endswith("/think")]
    assert thoughts == [f"a/round[{n}]/think" for n in range(1, 11)]


def in_flight(events: Sequence[AnyEvent]) -> set[str]:
    """Paths of the calls that had begun and not ended."""
    open_calls: set[str] = set()
    for event in events:
        if isinstance(event, ev.StepStarted) and event.key:
            open_calls.add(event.path)
        elif isinstance(event, ev.StepSucceeded | ev.StepFailed):
            open_calls.discard(event.path)
    return open_calls
