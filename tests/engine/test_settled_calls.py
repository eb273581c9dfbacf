"""Writes in doubt that a running tool has made: what they are called with again, and that a run never stands still."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from engine_cases import identity, opened, run
from tests.patience import PATIENCE

from toolpath import Settings, ToolContext, tool
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.run import ENDED_RUN, RunInfo
from toolpath.notation.composite import read_composite
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock

ONE = {"steps": [{"id": "a", "tool": "caller"}], "outputs": "{{ a }}"}
GIVEN = {"to": "Ada", "amount": 500}
SEEN = {"n": 1}
PAYROLL = {
    "name": "payroll",
    "implementation": {
        "type": "composite",
        "composite": {"steps": [{"id": "x", "tool": "pay", "inputs": {"to": "{{ to }}", "amount": "{{ amount }}"}}]},
    },
    "parameters": [{"name": "to", "type": "string"}, {"name": "amount", "type": "integer"}],
}


async def one_write(context: ToolContext) -> Any:
    return await context.call("pay", GIVEN, key="w")


async def beside_a_read(context: ToolContext) -> Any:
    return await asyncio.gather(context.call("pay", GIVEN, key="w"), context.call("look", SEEN, key="r"))


async def one_after_the_other(context: ToolContext) -> Any:
    return [await context.call("look", SEEN, key="r"), await context.call("pay", GIVEN, key="w")]


async def in_a_plan(context: ToolContext) -> Any:
    return await asyncio.gather(context.call("payroll", GIVEN, key="p"), context.call("look", SEEN, key="r"))


async def in_a_call(context: ToolContext) -> Any:
    return await asyncio.gather(context.call("caller_of_pay", {}, key="c"), context.call("look", SEEN, key="r"))


SHAPES = [one_write, beside_a_read, one_after_the_other, in_a_plan, in_a_call]


class Ground:
    """The tools, and what they were called with."""

    def __init__(self, shape: Any, effect: Any) -> None:
        self.pay, self.look = identity("pay", effect="write"), identity("look")
        payroll = read_composite(PAYROLL)
        caller_of_pay = tool(name="caller_of_pay", effect=effect)(one_write)
        self.tools = [tool(name="caller", effect=effect)(shape), caller_of_pay, self.pay, self.look, payroll]

    @property
    def wrong(self) -> list[Any]:
        """What they were called with that nobody gave."""
        return [given for given in self.pay.calls if given != GIVEN] + [
            given for given in self.look.calls if given != SEEN
        ]


async def settled(ground: Ground, events: Sequence[AnyEvent], how: Sequence[dict[str, Any]]) -> tuple[str, Any]:
    """What becomes of a run of which these events are left, once a person has settled every write in doubt."""
    clock = FakeClock(auto=True)
    store = MemoryStore(clock=clock.time)
    started = events[0]
    assert isinstance(started, ev.RunStarted)
    run_id, answers = started.run_id, iter(how)
    async with opened(*ground.tools, clock=clock, store=store) as tp:
        await store.create_run(RunInfo(run_id=run_id, status="running"))
        (await store.drive(run_id, "dead")).append(events)
        await clock.sleep(3600)
        result = await asyncio.wait_for(await_result(tp.resume(run_id)), PATIENCE)
        while result.status not in ENDED_RUN:
            assert result.status == "waiting", result
            doubts = in_doubt(await tp.events(run_id))
            assert doubts, "it waits for nobody"
            result = await asyncio.wait_for(await_result(tp.settle(run_id, doubts[-1], **next(answers))), PATIENCE)
        return result.status, result


async def await_result(steering: Any) -> Any:
    return await (await steering).result()


def in_doubt(events: Sequence[AnyEvent]) -> list[str]:
    """Paths of the writes that somebody has to settle."""
    open_: dict[str, None] = {}
    for event in events:
        match event:
            case ev.StepUnknown():
                open_[event.path] = None
            case ev.StepStarted() | ev.StepSucceeded() | ev.StepFailed() | ev.StepCancelled():
                open_.pop(event.path, None)
    return list(open_)


RETRY, FAILED, OUTPUT = {"retry": True}, {"failed": True}, {"output": {"settled": 1}}


@pytest.mark.parametrize("effect", ["read", "write"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
async def test_wherever_its_driver_dies_a_run_ends_once_its_doubts_are_settled(shape: Any, effect: str) -> None:
    whole = await run(ONE, *Ground(shape, effect).tools)
    assert whole.status == "completed"
    for end, how in itertools.product(range(1, len(whole.events)), [RETRY, FAILED, OUTPUT]):
        ground = Ground(shape, effect)
        status, _ = await settled(ground, whole.events[:end], [how] * 9)
        assert status in ENDED_RUN
        assert ground.wrong == [], f"after {end} events, settled by {how}"
        assert len(ground.pay.calls) <= 1
        if how is RETRY:
            assert status == "completed"


async def test_a_write_that_a_tool_made_is_made_again_with_what_it_was_given() -> None:
    whole = await run(ONE, *Ground(one_write, "write").tools)
    begun = next(n for n, e in enumerate(whole.events, 1) if isinstance(e, ev.StepStarted) and e.path == "a/w")
    ground = Ground(one_write, "write")
    status, result = await settled(ground, whole.events[:begun], [RETRY, OUTPUT])
    assert (status, ground.pay.calls) == ("completed", [GIVEN])
    assert result.outputs == {"settled": 1}


async def test_what_was_given_to_a_write_is_not_guessed_where_it_held_a_secret() -> None:
    async def secretly(context: ToolContext, token: str) -> Any:
        return await context.call("pay", {"token": token}, key="w")

    plan = {**ONE, "steps": [{"id": "a", "tool": "caller", "inputs": {"token": "{{ secrets.TOKEN }}"}}]}
    options: Any = {"settings": Settings(), "secrets": {"TOKEN": "not-for-everybody"}}

    def tools() -> list[Any]:
        return [tool(name="caller", effect="read")(secretly), identity("pay", effect="write")]

    whole = await run(plan, *tools(), **options)
    begun = next(n for n, e in enumerate(whole.events, 1) if isinstance(e, ev.StepStarted) and e.path == "a/w")
    clock = FakeClock(auto=True)
    store = MemoryStore(clock=clock.time)
    made = tools()
    async with opened(*made, clock=clock, store=store, **options) as tp:
        run_id = whole.result.run_id
        await store.create_run(RunInfo(run_id=run_id, status="running"))
        (await store.drive(run_id, "dead")).append(whole.events[:begun])
        await clock.sleep(3600)
        assert (await await_result(tp.resume(run_id))).status == "waiting"
        assert (await await_result(tp.settle(run_id, "a/w", retry=True))).status == "completed"
    assert made[1].calls == [{"token": "not-for-everybody"}]


@pytest.mark.parametrize("failing", [False, True])
async def test_calls_that_a_tool_has_not_waited_for_end_with_it(failing: bool) -> None:
    clock = FakeClock(auto=True)
    tasks = []

    @tool(name="caller")
    async def hasty(context: ToolContext) -> int:
        tasks.append(asyncio.create_task(context.call("slow", {}, key="s")))
        await clock.sleep(1)
        if failing:
            raise ValueError("no")
        return 1

    @tool(name="slow", effect="write")
    async def slow() -> int:
        await clock.sleep(1000)
        return 2

    found = await run({**ONE, "failure_mode": "isolate"}, hasty, slow, clock=clock)
    assert found.statuses() == {"a": "failed" if failing else "succeeded", "a/s": "cancelled"}
    assert found.result.total_duration < 10
    await asyncio.wait(tasks)
    assert tasks[0].exception() is not None
