"""Calls cut off together with what had made them: who called around them goes on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from engine_cases import opened, ran, run_in
from tests.patience import PATIENCE

from toolpath import Tool, ToolContext, ToolFailed, tool
from toolpath.model import events as ev
from toolpath.testing.clock import FakeClock

FORM = {"title": "How many?", "inputs": [{"name": "n", "type": "integer"}]}


def _cut_off_deep(clock: FakeClock, *, failures: int = 1) -> list[Tool]:
    """`middle` calls `inner`, which waits for `slow`, beside `unlucky`: its failure ends `middle` and all inside it."""
    fails = [True] * failures

    @tool(effect="read")
    async def slow() -> str:
        await clock.sleep(20)
        return "slow"

    @tool(effect="read")
    async def unlucky() -> str:
        await clock.sleep(1)
        if fails:
            fails.pop()
            raise ToolFailed("not now")
        return "lucky"

    @tool(effect="read")
    async def inner(context: ToolContext) -> str:
        return str(await context.call("slow", key="s"))

    @tool(effect="read")
    async def middle(context: ToolContext) -> list[Any]:
        return list(await asyncio.gather(context.call("inner", key="i"), context.call("unlucky", key="u")))

    return [slow, unlucky, inner, middle]


async def test_who_called_around_what_was_cut_off_goes_on() -> None:
    """It was left behind with nothing that would wake it, as if it waited for a person."""
    clock = FakeClock(auto=True)

    @tool(effect="read")
    async def around(context: ToolContext) -> Any:
        return await context.call("middle", key="m")

    @tool(effect="read")
    async def outermost(context: ToolContext) -> Any:
        try:
            await context.call("around", key="a")
        except ToolFailed:
            return "gone on"

    async with opened(*_cut_off_deep(clock), around, outermost, clock=clock) as tp:
        found = await asyncio.wait_for(run_in(tp, {"steps": [{"id": "o", "tool": "outermost"}]}), PATIENCE)
    assert (found.status, found.outputs) == ("completed", {"o": "gone on"})


async def test_what_was_cut_off_is_made_again_where_it_is_called_again() -> None:
    """Whoever had waited for it inside kept it from being begun."""
    clock = FakeClock(auto=True)

    @tool(effect="read")
    async def again(context: ToolContext) -> Any:
        try:
            return await context.call("middle", key="m")
        except ToolFailed:
            return await context.call("middle", key="m")

    async with opened(*_cut_off_deep(clock), again, clock=clock) as tp:
        result = await asyncio.wait_for(tp.run({"steps": [{"id": "o", "tool": "again"}]}), PATIENCE)
    assert (result.status, result.outputs) == ("completed", {"o": ["slow", "lucky"]})


async def test_a_task_that_a_cut_off_tool_leaves_behind_is_told_how_its_call_ended() -> None:
    clock, told = FakeClock(auto=True), []  # type: ignore[var-annotated]
    left: list[asyncio.Task[Any]] = []

    @tool(effect="read")
    async def leaver(context: ToolContext) -> str:
        async def wait() -> None:
            try:
                await context.call("slow", key="s")
            except ToolFailed as error:
                told.append(error.message)

        left.append(asyncio.ensure_future(wait()))
        await clock.sleep(60)
        return "never"

    @tool(effect="read")
    async def both(context: ToolContext) -> list[Any]:
        return list(await asyncio.gather(context.call("leaver", key="l"), context.call("unlucky", key="u")))

    plan = {"steps": [{"id": "o", "tool": "both"}]}
    async with opened(*_cut_off_deep(clock), leaver, both, clock=clock) as tp:
        found = await run_in(tp, plan)
        await asyncio.wait_for(asyncio.gather(*left), PATIENCE)
    assert (found.status, told) == ("failed", ["o has ended"])


@pytest.mark.parametrize("how", ["call", "answer"])
async def test_an_exclusive_step_waits_for_a_call_that_is_about_to_go_on(how: str) -> None:
    """What it waited for is there: it is at work, though it has not had its turn yet."""
    clock, at_work, beside = FakeClock(auto=True), set(), []  # type: ignore[var-annotated]

    async def work(name: str) -> None:
        beside.extend(f"{name} beside {other}" for other in at_work)
        at_work.add(name)
        await clock.sleep(5)
        at_work.discard(name)

    @tool(effect="read")
    async def short(seconds: int) -> int:
        await clock.sleep(seconds)
        return seconds

    @tool(effect="read")
    async def caller(context: ToolContext) -> str:
        if how == "call":
            await context.call("short", {"seconds": 3})
        else:
            await context.ask(FORM)
        await work("caller")
        return "done"

    @tool(effect="read")
    async def alone() -> str:
        await work("alone")
        return "done"

    plan = {
        "steps": [
            {"id": "w", "tool": "caller"},
            {"id": "s", "tool": "short", "inputs": {"seconds": 1}},
            {"id": "x", "tool": "alone", "exclusive": True, "depends_on": "s"},
        ]
    }
    async with opened(short, caller, alone, clock=clock) as tp:
        result = await asyncio.wait_for(tp.run(plan), PATIENCE)
        if how == "answer":
            assert result.status == "waiting"
            result = await asyncio.wait_for((await tp.answer(result.run_id, "w", {"n": 1})).result(), PATIENCE)
        found = await ran(tp, result)
    assert (found.status, beside) == ("completed", [])
    assert found.of(ev.RunCompleted)


async def test_a_run_is_parked_when_the_call_beside_a_question_has_ended() -> None:
    clock = FakeClock(auto=True)

    @tool(effect="read")
    async def slow() -> int:
        await clock.sleep(5)
        return 1

    @tool(effect="read")
    async def both(context: ToolContext) -> list[Any]:
        return list(await asyncio.gather(context.call("slow", key="s"), context.ask(FORM)))

    async with opened(slow, both, clock=clock) as tp:
        result = await asyncio.wait_for(tp.run({"steps": [{"id": "o", "tool": "both"}]}), PATIENCE)
        assert result.status == "waiting"
        result = await asyncio.wait_for((await tp.answer(result.run_id, "o", {"n": 2})).result(), PATIENCE)
    assert (result.status, result.outputs) == ("completed", {"o": [1, {"n": 2}]})
