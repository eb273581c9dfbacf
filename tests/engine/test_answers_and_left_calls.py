"""Answers that come while the driver is about to leave, and calls that a tool leaves behind inside a loop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from engine_cases import identity, opened, ran, resumed_after

from toolpath import Tool, ToolContext, tool
from toolpath.model import events as ev
from toolpath.testing.clock import FakeClock

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


def _failing_write(clock: FakeClock, calls: list[str], *, retry: int = 0, keyed: bool = False) -> list[Any]:
    @tool(timeout=5)
    async def pay() -> int:
        calls.append("pay")
        await clock.sleep(60)
        return 1

    @tool(retry=retry)
    async def caller(context: ToolContext) -> str:
        key = "k" if keyed else None
        try:
            await context.call("pay", {}, key=key)
        except Exception as error:
            caught = str(error)
        answer = await context.ask(FORM)
        if len(calls) <= retry:
            raise ConnectionError("once more")
        return f"{answer['n']}: {caught}"

    return [pay, caller]


@pytest.mark.parametrize("keyed", [False, True])
async def test_a_write_in_doubt_that_its_tool_has_caught_is_not_made_again_when_a_person_answers(keyed: bool) -> None:
    clock, calls = FakeClock(auto=True), []  # type: ignore[var-annotated]
    async with opened(*_failing_write(clock, calls, keyed=keyed), clock=clock) as tp:
        result = await tp.run({"steps": [{"id": "a", "tool": "caller"}]})
        assert (result.status, calls) == ("waiting", ["pay"])
        found = await ran(tp, await (await tp.answer(result.run_id, "a", {"n": 7})).result())
    assert (found.status, calls) == ("completed", ["pay"])
    # What the tool has caught says what to do as well.
    told = "7: pay took longer than 5 s. Raise `timeout` on the step or the tool, or make the tool faster."
    assert found.result.step("a").output == told


async def test_nor_is_it_after_its_driver_died_with_every_end_of_the_journal() -> None:
    clock, calls = FakeClock(auto=True), []  # type: ignore[var-annotated]
    tools = _failing_write(clock, calls)
    async with opened(*tools, clock=clock) as tp:
        result = await tp.run({"steps": [{"id": "a", "tool": "caller"}]})
        events = await tp.events(result.run_id)
    ended = next(index for index, event in enumerate(events, 1) if isinstance(event, ev.StepTimedOut))
    for end in range(ended, len(events) + 1):
        calls.clear()
        found = await resumed_after(events[:end], *tools)
        assert (found.status, calls) == ("waiting", [])


async def test_a_retry_of_the_tool_makes_its_failed_calls_again() -> None:
    clock, calls = FakeClock(auto=True), []  # type: ignore[var-annotated]
    async with opened(*_failing_write(clock, calls, retry=1), clock=clock) as tp:
        result = await tp.run({"steps": [{"id": "a", "tool": "caller"}]})
        found = await ran(tp, await (await tp.answer(result.run_id, "a", {"n": 7})).result())
    assert (found.status, calls) == ("completed", ["pay", "pay"])
