"""What a run watches the time for: nothing that has ended, and everything that goes on, however it was taken up."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import after, opened, ran, run_in

from toolpath import ToolContext, tool
from toolpath.model import events as ev
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

STEP = {"id": "w", "tool": "w"}
BLOCKS: list[dict[str, Any]] = [
    {"id": "b", "parallel": [STEP], "timeout": 1000},
    {"id": "b", "loop": {"over": [1], "as": "x", "steps": [STEP]}, "timeout": 1000},
    {"id": "b", "tool": "inner", "timeout": 1000},
]
KINDS = ["parallel", "loop", "nested plan"]


class Peek:
    """A tool that notes which timers are set while it is called."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.seen: list[float] = []

    async def __call__(self) -> Any:
        self.seen = [when for when in self.clock.pending if 900 < when < 1100]
        return 1


@pytest.mark.parametrize("block", BLOCKS, ids=KINDS)
async def test_the_timer_of_a_block_goes_with_the_block(block: dict[str, Any]) -> None:
    clock = FakeClock(auto=True)
    peek = Peek(clock)
    plan = {"flow": "chain", "steps": [block, {"id": "then", "tool": "peek"}]}
    async with opened(scripted("w", 1), scripted("peek", then=lambda _: peek()), clock=clock) as tp:
        tp.add(nested(tp))
        found = await run_in(tp, plan)
    assert (found.status, peek.seen) == ("completed", [])


async def test_the_timer_of_a_block_that_is_begun_anew_goes_with_its_first_try() -> None:
    clock = FakeClock(auto=True)
    seen: list[float] = []

    def watched(_: Any) -> Any:
        seen.extend(when for when in clock.pending if when > 900)
        return 1

    retry = {"max_retries": 1, "backoff": "fixed", "initial_delay": 10}
    block = {"id": "b", "tool": "inner", "timeout": 1000, "retry": retry}
    async with opened(scripted("w", ValueError("no"), then=watched), clock=clock) as tp:
        tp.add(nested(tp))
        found = await run_in(tp, {"steps": [block]})
    assert (found.status, seen) == ("completed", [1010.0])


async def test_the_timer_of_an_answered_question_goes_with_it() -> None:
    clock = FakeClock()
    seen: list[float] = []

    @tool(effect="read")
    async def asking(context: ToolContext) -> int:
        await context.ask({"title": "q", "inputs": [{"name": "n"}]}, timeout=1000)
        seen.extend(when for when in clock.pending if when > 900)
        return 1

    plan = {
        "concurrency": 3,
        "steps": [
            {"id": "q", "tool": "asking"},
            {"id": "ask", "ask": {"title": "t", "inputs": [{"name": "n"}]}, "timeout": 990},
            {"id": "slow", "tool": "slow"},
        ],
    }
    async with opened(asking, scripted("slow", then=lambda _: after(clock, 5, 1)), clock=clock) as tp:
        run = await tp.start(tp.read(plan))
        await clock.settle()
        await tp.answer(run.run_id, "ask", {"n": "x"})
        await tp.answer(run.run_id, "q", {"n": "x"})
        await clock.settle()
        seen.extend(when for when in clock.pending if when > 900)
        await clock.advance(5)
        found = await ran(tp, await run.result())
    assert (found.status, seen) == ("completed", [])


async def test_the_timer_of_a_retry_that_is_called_off_goes_with_it() -> None:
    clock = FakeClock(auto=True)
    peek = Peek(clock)
    retry = {"max_retries": 1, "backoff": "fixed", "initial_delay": 1000, "max_delay": 1000}
    race = {
        "id": "race",
        "wait_for": "first_success",
        "parallel": [{"id": "a", "tool": "fails", "retry": retry}, {"id": "b", "tool": "slow"}],
    }
    plan = {"flow": "chain", "steps": [race, {"id": "then", "tool": "peek"}]}
    tools = (
        scripted("fails", ValueError("no")),
        scripted("slow", then=lambda _: after(clock, 5, 1)),
        scripted("peek", then=lambda _: peek()),
    )
    async with opened(*tools, clock=clock) as tp:
        found = await run_in(tp, plan)
    assert (found.status, peek.seen) == ("completed", [])


def nested(tp: Any) -> Any:
    from toolpath import Tool  # noqa: PLC0415

    return Tool(name="inner", body=tp.read({"name": "inner", "steps": [STEP]}), input_schema={"type": "object"})


@pytest.mark.parametrize("block", BLOCKS, ids=KINDS)
async def test_a_block_that_a_retry_goes_on_with_has_its_time_limit_again(block: dict[str, Any]) -> None:
    clock = FakeClock(auto=True)
    hangs = scripted("w", ValueError("no"), then=lambda _: after(clock, 5000, 1), timeout=9000)
    async with opened(hangs, clock=clock) as tp:
        tp.add(nested(tp))
        first = await tp.run(tp.read({"steps": [block]}))
        assert first.status == "failed"
        found = await ran(tp, await (await tp.retry(first.run_id)).result())
    assert found.status == "failed"
    assert [event.path for event in found.of(ev.StepTimedOut)] == ["b"]
    assert found.events[-1].at - next(e.at for e in found.events if isinstance(e, ev.RunResumed)) == 1000


@pytest.mark.parametrize("block", BLOCKS, ids=KINDS)
async def test_a_block_that_a_resumed_run_goes_on_with_has_its_time_limit_again(block: dict[str, Any]) -> None:
    clock = FakeClock(auto=True)
    ask = {"id": "ask", "ask": {"title": "t", "inputs": [{"name": "n"}]}}
    hangs = scripted("w", then=lambda _: after(clock, 5000, 1), timeout=9000)
    steps = {"id": "inside", "flow": "chain", "steps": [ask, STEP]}
    match block:
        case {"parallel": _}:
            block = {**block, "parallel": [steps]}
        case {"loop": loop}:
            block = {**block, "loop": {**loop, "steps": [{"id": "inside", "parallel": [steps]}]}}
    from toolpath import Tool  # noqa: PLC0415

    async with opened(hangs, clock=clock) as tp:
        body = tp.read({"name": "inner", "flow": "chain", "steps": [ask, STEP]})
        tp.add(Tool(name="inner", body=body, input_schema={"type": "object"}))
        waiting = await tp.run(tp.read({"steps": [block]}))
        assert waiting.status == "waiting"
        await clock.sleep(3000)
        found = await ran(tp, await (await tp.answer(waiting.run_id, "", {"n": "x"})).result())
    assert [event.path for event in found.of(ev.StepTimedOut)] == ["b"]
    assert found.events[-1].at - next(e.at for e in found.events if isinstance(e, ev.RunResumed)) == 1000
