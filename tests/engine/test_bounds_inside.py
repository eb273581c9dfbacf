"""Bounds hold whichever way a call is made: by a step, in a nested plan, as a tool that is a plan, by another tool."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from engine_cases import most_at_once, opened, ran, run
from tests.patience import PATIENCE
from tests.soak import scaled

from toolpath.model import events as ev
from toolpath.model.run import ENDED_RUN
from toolpath.model.tool import Body, Rate, Tool
from toolpath.notation.composite import read_composite
from toolpath.notation.plan import read_plan
from toolpath.testing.clock import FakeClock


class Counted:
    """How many calls of each tool are under way, and how many there were at most."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.now: dict[str, int] = {}
        self.most: dict[str, int] = {}
        self.calls: list[float] = []

    def tool(self, name: str, calls: tuple[str, ...] = (), **fields: Any) -> Tool:
        """A tool that stays a second, and calls others."""

        async def invoke(inputs: dict[str, Any], context: Any) -> Any:
            self.now[name] = now = self.now.get(name, 0) + 1
            self.most[name] = max(now, self.most.get(name, 0))
            self.calls.append(self.clock.monotonic())
            try:
                await self.clock.sleep(1)
                if calls:
                    # Who waits for calls of its own is not at work.
                    self.now[name] -= 1
                    try:
                        await asyncio.gather(*(context.call(other, {}, key=f"k{n}") for n, other in enumerate(calls)))
                    finally:
                        self.now[name] += 1
                        self.most[name] = max(self.now[name], self.most[name])
            finally:
                self.now[name] -= 1
            return {"v": 1}

        body = Body(invoke=invoke, wants_context=True)
        fields.setdefault("effect", "read")
        return Tool(name=name, input_schema={"type": "object"}, body=body, **fields)


def fan(tool_name: str, count: int, **fields: Any) -> dict[str, Any]:
    return {"name": "fan", "steps": [{"id": f"s{n}", "tool": tool_name} for n in range(count)], **fields}


def plan_tool(name: str, plan: dict[str, Any], **fields: Any) -> Tool:
    return Tool(name=name, effect="read", body=read_plan({**plan, "name": name}), **fields)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(auto=True)


@pytest.mark.parametrize("by", ["plan", "call", "plan in a call"])
async def test_a_tool_s_limit_holds_whoever_calls_it(clock: FakeClock, by: str) -> None:
    counted = Counted(clock)
    limited = counted.tool("t", max_concurrency=2)
    caller = counted.tool("caller", ("t",) * 5)
    inner = plan_tool("inner", fan("t", 5))
    through = counted.tool("through", ("inner", "t"))
    name = {"plan": "t", "call": "caller", "plan in a call": "through"}[by]
    found = await run(fan(name, 3, concurrency=50), limited, caller, inner, through, clock=clock)
    assert (found.status, counted.most["t"]) == ("completed", 2)


@pytest.mark.parametrize("by", ["step", "call"])
async def test_a_tool_that_is_a_plan_has_its_own_limits(clock: FakeClock, by: str) -> None:
    counted = Counted(clock)
    inner = plan_tool("inner", fan("t", 2), max_concurrency=1)
    caller = counted.tool("caller", ("inner",) * 2)
    found = await run(
        fan("inner" if by == "step" else "caller", 3, concurrency=50), counted.tool("t"), inner, caller, clock=clock
    )
    assert found.status == "completed"
    assert counted.most["t"] == 2


async def test_a_composite_is_called_so_often_in_a_minute(clock: FakeClock) -> None:
    counted = Counted(clock)
    document = {
        "name": "inner",
        "business_rules": {"rate_limit_per_minute": 2},
        "implementation": {"type": "composite", "composite": {"steps": [{"id": "x", "tool": "t"}]}},
    }
    found = await run(fan("inner", 6, concurrency=50), counted.tool("t"), read_composite(document), clock=clock)
    assert found.status == "completed"
    assert sorted(counted.calls) == pytest.approx([0, 0, 60, 60, 120, 120], abs=1)


async def test_a_tool_that_is_a_plan_has_its_own_time_limit(clock: FakeClock) -> None:
    counted = Counted(clock)
    inner = plan_tool("inner", {"flow": "chain", **fan("t", 9)}, timeout=5.0)
    found = await run({"steps": [{"id": "a", "tool": "inner"}]}, counted.tool("t"), inner, clock=clock)
    assert found.statuses()["a"] == "timed_out"
    assert found.result.total_duration == pytest.approx(5)


@pytest.mark.parametrize(
    ("bounds", "made"),
    [({"budget": {"calls": 2}}, 2), ({"budget": {"cost": 0.5}}, 5), ({"limits": {"steps": 3}}, 3), ({}, 7)],
)
@pytest.mark.parametrize("flow", ["graph", "chain"])
async def test_a_nested_plan_spends_no_more_than_it_may(clock: FakeClock, bounds: Any, made: int, flow: str) -> None:
    counted = Counted(clock)
    # How many there will be is not known before.
    rows = {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"]}
    loop = {"over": "{{ inputs.rows }}", "as": "row", "steps": [{"id": "x", "tool": "t"}]}
    loop["concurrency"] = 1 if flow == "chain" else 3
    body = {"inputs": rows, "flow": flow, "steps": [{"id": "l", "loop": loop}], **bounds}
    inner = plan_tool("inner", body, input_schema=rows)
    given = {"rows": "{{ inputs.rows }}"}
    steps = [{"id": "a", "tool": "inner", "inputs": given}, {"id": "b", "tool": "t"}]
    plan = {"inputs": rows, "failure_mode": "isolate", "steps": steps}
    found = await run(plan, counted.tool("t", cost=0.1), inner, clock=clock, inputs={"rows": list(range(7))})
    assert len(counted.calls) == made + 1
    assert found.statuses()["b"] == "succeeded"
    assert found.statuses()["a"] == ("failed" if bounds else "succeeded")
    if bounds:
        error = found.result.step("a").error
        assert error is not None
        assert error.code == "budget"
        assert len(found.of(ev.BudgetExceeded)) == 1
        assert all(
            step.status in ("succeeded", "cancelled") for step in found.result.results if step.path.startswith("a/")
        )


async def test_a_call_that_is_the_last_at_work_in_a_plan_beyond_its_budget_is_cut_off_by_its_own_call() -> None:
    beyond = asyncio.Event()

    async def call(inputs: dict[str, Any], context: Any) -> Any:
        if inputs["after"]:
            await beyond.wait()
        return await context.call("leaf", {}, key="k")

    async def leaf(_inputs: dict[str, Any], _context: Any) -> Any:
        return {}

    steps = [{"id": f"s{n}", "tool": "caller", "inputs": {"after": n}} for n in range(2)]
    tools = [
        Tool(name=name, input_schema={"type": "object"}, body=Body(invoke=invoke, wants_context=True))
        for name, invoke in (("caller", call), ("leaf", leaf))
    ]
    inner = plan_tool("inner", {"name": "inner", "steps": steps, "budget": {"calls": 2}})
    async with opened(*tools, inner) as tp, asyncio.timeout(PATIENCE):
        ask = {"id": "ask", "ask": {"title": "?", "inputs": [{"name": "a"}]}}
        plan = {"failure_mode": "isolate", "steps": [ask, {"id": "all", "tool": "inner"}]}
        begun = await tp.start(tp.read(plan))
        async for event in tp.watch(begun.run_id):
            if isinstance(event, ev.BudgetExceeded):
                beyond.set()
                break
        result = await begun.result()
    failed = result.step("all").error
    assert failed is not None
    assert (result.status, failed.code) == ("waiting", "budget")


@pytest.mark.parametrize("slots", [1, 2, 3])
async def test_a_nested_plan_has_no_more_calls_at_once_than_it_may(clock: FakeClock, slots: int) -> None:
    counted = Counted(clock)
    inner = plan_tool("inner", {**fan("t", 7), "concurrency": slots})
    found = await run(
        {"concurrency": 50, "steps": [{"id": "a", "tool": "inner"}]}, counted.tool("t"), inner, clock=clock
    )
    assert (found.status, counted.most["t"], most_at_once(found.events)) == ("completed", slots, slots)


@pytest.mark.parametrize("slots", [1, 2])
async def test_what_is_inside_an_exclusive_step_gets_the_slots_that_others_wait_for(
    clock: FakeClock, slots: int
) -> None:
    counted = Counted(clock)
    branches = [{"id": f"b{n}", "tool": "t"} for n in range(4)]
    steps = [*fan("t", 7)["steps"], {"id": "alone", "depends_on": ["s0"], "exclusive": True, "parallel": branches}]
    inner = plan_tool("inner", {"steps": steps, "concurrency": slots})
    found = await run(
        {"concurrency": 50, "steps": [{"id": "a", "tool": "inner"}]}, counted.tool("t"), inner, clock=clock
    )
    assert (found.status, counted.most["t"], len(found.of(ev.StepStarted))) == ("completed", slots, 13)


async def play(seed: int) -> None:
    """Plans of tools that call one another, each with limits of its own: never more at once, never stuck."""
    chance = random.Random(seed)
    clock = FakeClock(auto=True)
    counted = Counted(clock)
    limits: dict[str, int] = {}
    tools: list[Tool] = []
    names: list[str] = []
    for level in range(chance.randint(2, 5)):
        name = f"t{level}"
        limit = chance.choice([None, 1, 2, 3])
        fields: dict[str, Any] = {} if limit is None else {"max_concurrency": limit}
        if chance.random() < 0.3:
            fields["rate"] = Rate(calls=chance.randint(1, 4), seconds=5)
        if names and chance.random() < 0.5:
            inside = [{"id": f"s{n}", "tool": chance.choice(names)} for n in range(chance.randint(1, 4))]
            plan = {"steps": inside, "concurrency": chance.choice([None, 1, 2])}
            tools.append(plan_tool(name, {key: value for key, value in plan.items() if value is not None}, **fields))
        else:
            called = tuple(chance.choice(names) for _ in range(chance.randint(0, 3))) if names else ()
            tools.append(counted.tool(name, called, **fields))
            if limit is not None:
                limits[name] = limit
        names.append(name)
    steps = [{"id": f"s{n}", "tool": chance.choice(names)} for n in range(chance.randint(1, 6))]
    async with opened(*tools, clock=clock) as tp:
        plan = tp.read({"concurrency": chance.choice([1, 2, 50]), "steps": steps})
        runs = [await tp.start(plan) for _ in range(chance.randint(1, 3))]
        results = [await asyncio.wait_for(started.result(), PATIENCE) for started in runs]
        for result in results:
            await ran(tp, result)
    assert {result.status for result in results} <= {"completed"}, seed
    assert all(result.status in ENDED_RUN for result in results)
    assert all(counted.most.get(name, 0) <= limit for name, limit in limits.items()), seed


@pytest.mark.parametrize("seed", [*range(60), 218])
async def test_no_limit_is_exceeded_and_no_run_is_stuck(seed: int) -> None:
    await play(seed)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(60, 3060, 100))
async def test_no_limit_is_exceeded_in_many_plans(first: int) -> None:
    for seed in range(first, first + scaled(100)):
        await play(seed)
