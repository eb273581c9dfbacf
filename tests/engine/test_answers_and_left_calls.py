"""Answers that come while the driver is about to leave, and calls that a tool leaves behind inside a loop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from engine_cases import identity, opened, ran

from toolpath import Tool, ToolContext, tool
from toolpath.testing.clock import FakeClock

pytestmark = pytest.mark.timeout(20)
FORM = {"title": "How many?", "inputs": [{"name": "n", "type": "integer"}]}


@tool(effect="read")
async def asker(context: ToolContext) -> int:
    return (await context.ask(FORM))["n"]


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8, 13, 21])
@pytest.mark.parametrize("count", [2, 3])
async def test_answers_given_one_after_the_other_are_all_heard(turns: int, count: int) -> None:
    """Whenever an answer comes: also while the driver that has heard the one before is about to leave."""
    ids = [f"s{number}" for number in range(count)]
    async with opened(asker) as tp:
        result = await tp.run({"steps": [{"id": name, "tool": "asker"} for name in ids]})
        assert [question.path for question in result.questions] == ids
        for number, name in enumerate(ids):
            run = await tp.answer(result.run_id, name, {"n": number})
            for _ in range(turns):
                await asyncio.sleep(0)
        found = await ran(tp, await run.result())
    assert (found.status, found.outputs) == ("completed", {name: number for number, name in enumerate(ids)})


@pytest.mark.parametrize("flow", ["chain", "graph"])
@pytest.mark.parametrize("child", ["slow", "inner"])
async def test_a_call_that_a_tool_in_a_loop_leaves_behind_ends_with_the_item(flow: str, child: str) -> None:
    clock = FakeClock(auto=True)
    left: list[asyncio.Task[Any]] = []

    @tool(effect="read")
    async def slow() -> int:
        await clock.sleep(60)
        return 1

    @tool
    async def leaver(context: ToolContext) -> str:
        left.append(asyncio.ensure_future(context.call(child, key="k")))
        await clock.sleep(1)
        return "done"

    inner = {"name": "inner", "steps": [{"id": "x", "tool": "slow"}]}
    plan = {
        "flow": "chain",
        "steps": [
            {
                "id": "each",
                "loop": {"over": [1, 2], "as": "item", "flow": flow, "steps": [{"id": "a", "tool": "leaver"}]},
            },
            {"id": "next", "tool": "t", "inputs": {"v": "{{ each }}"}},
        ],
    }
    async with opened(slow, leaver, identity("t"), clock=clock) as tp:
        tp.add(Tool(name="inner", body=tp.read(inner)))
        found = await ran(tp, await tp.run(plan))
        await asyncio.gather(*left, return_exceptions=True)
    statuses = found.statuses()
    assert found.status == "completed"
    assert statuses["each[0]/a/k"] == statuses["each[1]/a/k"] == "cancelled"
    assert set(statuses.values()) == {"succeeded", "cancelled"}
