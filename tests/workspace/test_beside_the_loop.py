"""Large plans are read, checked and compiled beside the event loop: while one is, the loop goes on turning."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from typing import Any

import pytest

from toolpath import PlanInvalid, Toolpath
from toolpath.model.plan import Call, Plan
from toolpath.model.tool import Tool
from toolpath.runs.beside_the_loop import LIGHT, BesideTheLoop, weight_of

SIZE = 1_500


async def double(n: int) -> int:
    """Twice the number."""
    return 2 * n


def long_plan(size: int = SIZE, **last: Any) -> dict[str, Any]:
    """Steps of which the first is skipped, and each reads the one before by a template of its own."""
    steps: list[dict[str, Any]] = [{"id": "s0", "tool": "double", "inputs": {"n": 1}, "when": False}]
    for number in range(1, size):
        steps.append({"id": f"s{number}", "tool": "double", "inputs": {"n": f"{{{{ s{number - 1} | default(0) }}}}"}})
    steps[-1] |= last
    return {"name": "long", "steps": steps, "outputs": "done"}


async def turns_during(work: Awaitable[Any]) -> tuple[Any, int]:
    """What comes of the work, and how often the loop turned meanwhile."""
    task = asyncio.ensure_future(work)
    turns = 0
    while not task.done():
        # What only waits for its next turn counts once in a while: a thread is not done sooner for being asked often.
        await asyncio.sleep(0.001)
        turns += 1
    return task.result(), turns


@pytest.fixture
async def tp() -> Any:
    async with Toolpath() as found:
        found.add(double)
        yield found


async def test_a_large_plan_starts_while_the_loop_turns(tp: Toolpath) -> None:
    run, turns = await turns_during(tp.start(long_plan()))
    assert turns > 20
    assert (await run.result()).status == "completed"


async def test_all_that_is_wrong_with_a_large_plan_is_told_while_the_loop_turns(tp: Toolpath) -> None:
    with pytest.raises(PlanInvalid) as refused:
        await tp.run(long_plan(inputs={"n": "{{ nobody }}"}))
    assert [finding.code for finding in refused.value.findings] == ["unknown_reference"]
    plan = tp.read(long_plan(inputs={"n": "{{ nobody }}"}))
    review, turns = await turns_during(tp.plans.review(plan))
    assert turns > 20
    assert [finding.code for finding in review.findings] == ["unknown_reference"]


async def test_a_large_plan_is_kept_and_approved_while_the_loop_turns(tp: Toolpath) -> None:
    stored, turns = await turns_during(tp.plans.add(long_plan()))
    assert turns > 2
    approved, turns = await turns_during(tp.plans.approve(stored.plan_id))
    assert turns > 20
    assert approved.approval is not None


async def test_many_small_plans_at_once_are_made_in_several_turns(tp: Toolpath) -> None:
    plans = [Plan(steps=(Call(id="a", tool="double", inputs={"n": number}),)) for number in range(1_000)]
    results, turns = await turns_during(asyncio.gather(*(tp.run(plan) for plan in plans)))
    assert [result.outputs["a"] for result in results] == [2 * number for number in range(1_000)]
    assert turns > 2


async def test_what_fails_beside_the_loop_fails_where_it_is_awaited() -> None:
    aside = BesideTheLoop()

    def fail() -> None:
        raise KeyError("here")

    for weight in (1, LIGHT + 1):
        with pytest.raises(KeyError):
            await aside.do(fail, weight)
    aside.close()


async def test_who_is_cancelled_does_not_keep_others_from_their_work() -> None:
    aside = BesideTheLoop()
    tasks = [asyncio.ensure_future(aside.do(lambda: sum(range(300_000)), LIGHT + 1)) for _ in range(8)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    assert await aside.do(lambda: 5, LIGHT + 1) == 5
    aside.close()


def test_weighing_stops_where_it_is_heavy() -> None:
    assert weight_of([{"a": [1, "x"]}]) == 4
    assert weight_of([Plan(steps=(Call(id="a", tool="t"),))]) < 20
    for heavy in (["x" * 10**6], [[0] * 10**6], [{str(n): n for n in range(10**5)}], [[[0] * 500] * 500]):
        assert LIGHT < weight_of(heavy) < 10**6


async def test_a_closed_toolpath_checks_no_more_but_its_loop_ends(tp: Toolpath) -> None:
    task = asyncio.ensure_future(tp.start(long_plan()))
    await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_small_plan_of_tools_that_were_checked_before_takes_no_thread(tp: Toolpath) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "enum": list(range(4 * LIGHT))}}}
    tp.add(Tool(name="wide", input_schema=schema, body=double, effect="read"))
    others = helpers()

    await tp.plans.review(Plan(name="first", steps=(Call(id="a", tool="wide", inputs={"n": 1}),)))
    first = helpers() - others
    tp.aside.close()
    for thread in first:
        thread.join()
    await tp.plans.review(Plan(name="second", steps=(Call(id="a", tool="wide", inputs={"n": 2}),)))

    assert first
    assert not helpers() - others


def helpers() -> set[threading.Thread]:
    """The threads for heavy work that there are now."""
    return {thread for thread in threading.enumerate() if thread.name.startswith("toolpath-aside")}
