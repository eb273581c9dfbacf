"""What waits holds no place: tools that call one another with few places always end, and work within their limits."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import Counter
from typing import Any

import pytest
from engine_cases import after, opened, ran, run
from tests.patience import PATIENCE
from tests.soak import scaled

from toolpath import RunContext, Settings, ToolContext, tool
from toolpath.model import events as ev
from toolpath.model.run import RunInfo
from toolpath.model.tool import Body, Rate, Tool
from toolpath.notation.plan import read_plan
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
TENANT = RunContext(tenant="acme")


class Work:
    """What is at work: a call that waits for none of its own. Paths tell what it is inside of."""

    def __init__(self, clock: FakeClock, plans: set[str]) -> None:
        self.clock = clock
        self.plans = plans
        self.now: dict[object, tuple[str, str]] = {}
        self.most: Counter[str] = Counter()

    def begin(self, call: object, name: str, context: Any) -> None:
        self.now[call] = (name, f"{context.run_id}/{context.path}")
        for tool_name, count in Counter(name for name, _ in self.now.values()).items():
            self.most[tool_name] = max(self.most[tool_name], count)
        runs = Counter(path.split("/")[0] for _, path in self.now.values())
        self.most["run"] = max(self.most["run"], *runs.values())
        self.most["tenant"] = max(self.most["tenant"], len(self.now))
        for plan in self.plans:
            around = {instance for _, path in self.now.values() if (instance := outermost(path, plan))}
            self.most[plan] = max(self.most[plan], len(around))

    def end(self, call: object) -> None:
        del self.now[call]

    def tool(self, name: str, calls: list[str], chance: random.Random, **fields: Any) -> Tool:
        seed = chance.random()
        together = chance.random() < 0.5

        async def invoke(inputs: dict[str, Any], context: Any) -> Any:
            call, local = object(), random.Random(seed + inputs["n"])
            self.begin(call, name, context)
            try:
                await self.clock.sleep(local.randint(0, 3))
                if inputs["n"] > 0 and calls:
                    self.end(call)
                    made = [
                        context.call(other, {"n": inputs["n"] - 1}, key=f"{other}-{count}")
                        for count, other in enumerate(calls)
                    ]
                    try:
                        if together:
                            await asyncio.gather(*made)
                        else:
                            for one in made:
                                await one
                    finally:
                        self.begin(call, name, context)
                    await self.clock.sleep(local.randint(0, 3))
            finally:
                self.end(call)
            return {"n": inputs["n"]}

        return Tool(name=name, input_schema=NUMBER, body=Body(invoke=invoke, wants_context=True), **fields)


def outermost(path: str, plan: str) -> str:
    """The first part of the path that is a call of the plan; empty where there is none."""
    parts = path.split("/")
    for count, part in enumerate(parts):
        if part.split("-")[0] == plan:
            return "/".join(parts[: count + 1])
    return ""


def plan_of(name: str, calls: list[str], chance: random.Random) -> dict[str, Any]:
    steps = [
        {"id": f"{other}-{count}", "tool": other, "inputs": {"n": "{{ inputs.n - 1 }}"}, "when": "{{ inputs.n > 0 }}"}
        for count, other in enumerate(calls)
    ]
    plan: dict[str, Any] = {"name": name, "inputs": NUMBER, "steps": steps}
    if chance.random() < 0.3:
        plan["concurrency"] = chance.choice([1, 2])
    if chance.random() < 0.3:
        plan["flow"] = "chain"
    return plan


async def play(seed: int) -> None:
    chance = random.Random(seed)
    clock = FakeClock(auto=True)
    names = [f"t{n}" for n in range(chance.randint(1, 5))]
    plans = {name for name in names[1:] if chance.random() < 0.4}
    work, limits = Work(clock, plans), dict[str, int]()
    tools = []
    for index, name in enumerate(names):
        # Who waits for an equal call has a clock of its own, which runs.
        fields: dict[str, Any] = {"effect": chance.choice(["read", "write"]), "timeout": 3000.0}
        if chance.random() < 0.7:
            fields["max_concurrency"] = limits[name] = chance.choice([1, 1, 2, 3])
        # A function calls any tool, itself too; a plan only those that are not made of it.
        known = names[:index] if name in plans else names
        calls = [chance.choice(known) for _ in range(chance.randint(1, 3))]
        if name in plans:
            # What a plan does is said by its own tools; one it calls may call it in turn.
            fields["effect"] = "write"
            tools.append(Tool(name=name, input_schema=NUMBER, body=read_plan(plan_of(name, calls, chance)), **fields))
        else:
            tools.append(work.tool(name, calls, chance, **fields))
    tenant = chance.choice([0, 1, 2])
    slots = chance.choice([1, 2, 50])
    async with opened(*tools, clock=clock, settings=Settings(tenant_calls=tenant)) as tp:
        steps = []
        for number in range(chance.randint(1, 3)):
            name = chance.choice(names)
            steps.append({"id": f"{name}-{number}", "tool": name, "inputs": {"n": chance.randint(1, 3)}})
            if name not in plans and chance.random() < 0.3:
                steps[-1]["cache"] = {"ttl": 60}
        plan = tp.read({"concurrency": slots, "steps": steps})
        runs = [await tp.start(plan, context=TENANT) for _ in range(chance.randint(1, 3))]
        results = [await asyncio.wait_for(started.result(), PATIENCE) for started in runs]
        for result in results:
            await ran(tp, result)
    assert {result.status for result in results} == {"completed"}, seed
    limits["run"] = slots
    if tenant:
        limits["tenant"] = tenant
    exceeded = {name: work.most[name] for name, limit in limits.items() if work.most[name] > limit}
    assert not exceeded, (seed, exceeded, limits)


@pytest.mark.parametrize("first", range(0, 100, 10))
async def test_calls_of_calls_end_and_keep_to_their_limits(first: int) -> None:
    for seed in range(first, first + 10):
        await play(seed)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(100, 4100, 100))
async def test_calls_of_calls_end_and_keep_to_their_limits_in_many_graphs(first: int) -> None:
    for seed in range(first, first + scaled(100)):
        await play(seed)


async def test_a_tool_with_one_place_may_call_itself() -> None:
    @tool(name="again", effect="read", max_concurrency=1)
    async def again(context: ToolContext, n: int) -> Any:
        return n if n == 0 else 1 + (await context.call("again", {"n": n - 1}))

    found = await run({"steps": [{"id": "a", "tool": "again", "inputs": {"n": 4}}]}, again)
    assert (found.status, found.result.step("a").output) == ("completed", 4)


async def test_a_tool_that_calls_itself_for_ever_is_told_how_deep_it_is() -> None:
    @tool(name="again", effect="read", max_concurrency=1)
    async def again(context: ToolContext) -> Any:
        return await context.call("again", {}, key="k")

    found = await run({"steps": [{"id": "a", "tool": "again"}]}, again)
    assert found.status == "failed"
    assert found.result.error is not None
    assert "limits.depth" in found.result.error.message


async def test_who_waits_for_a_person_holds_no_place() -> None:
    @tool(name="asks", effect="read", max_concurrency=1)
    async def asks(context: ToolContext) -> Any:
        return (await context.ask({"type": "object", "properties": {"x": {"type": "integer"}}}))["x"]

    body = read_plan({"name": "inner", "steps": [{"id": "who", "ask": {"title": "Who?"}}]})
    inner = Tool(name="inner", effect="read", body=body, max_concurrency=1)
    settings = Settings(tenant_calls=1)
    async with opened(asks, inner, settings=settings) as tp:
        for name in ("asks", "inner"):
            plan = tp.read({"steps": [{"id": "a", "tool": name}]})
            runs = [await tp.start(plan, context=TENANT) for _ in range(3)]
            for started in runs:
                await started.result()
            asked = [[type(event) for event in await tp.events(started.run_id)] for started in runs]
            assert [kinds.count(ev.InputRequested) for kinds in asked] == [1, 1, 1], name


async def test_a_plan_that_another_driver_takes_up_holds_its_place_again() -> None:
    """Of a run cut off after each of its events: nobody else comes in between before its plan has ended."""
    clock = FakeClock(auto=True)
    made: list[str] = []

    async def note(_: dict[str, Any], context: Any) -> Any:
        made.append(context.run_id)
        await clock.sleep(1)
        return {}

    t = Tool(name="t", effect="read", input_schema={"type": "object"}, body=Body(invoke=note, wants_context=True))
    steps = [{"id": f"s{n}", "tool": "t"} for n in range(3)]
    body = read_plan({"name": "inner", "flow": "chain", "steps": steps})
    inner = Tool(name="inner", effect="read", body=body, max_concurrency=1)
    source = {"steps": [{"id": "a", "tool": "inner"}]}
    whole = (await run(source, t, inner, clock=clock)).events
    begun = next(event.seq for event in whole if isinstance(event, ev.StepStarted) and event.path == "a")
    for cut in range(begun, len(whole)):
        made.clear()
        store = MemoryStore(clock=clock.time)
        await store.create_run(RunInfo(run_id=whole[0].run_id, status="running"))
        (await store.drive(whole[0].run_id, "dead")).append(whole[:cut])
        await clock.sleep(3600)
        async with opened(t, inner, clock=clock, store=store) as tp:
            resumed = await tp.resume(whole[0].run_id)
            others = [await tp.start(tp.read(source)) for _ in range(2)]
            for one in (resumed, *others):
                assert (await one.result()).status == "completed"
        changes = sum(one != two for one, two in itertools.pairwise(made))
        assert changes == len(set(made)) - 1, (cut, made)


async def test_a_plan_that_begins_as_its_run_is_resumed_makes_its_calls() -> None:
    clock = FakeClock()
    slow = scripted("slow", then=lambda _: after(clock, 20, {}))
    body = read_plan({"steps": [{"id": "s", "tool": "slow"}]})
    inner = Tool(name="inner", effect="read", body=body, rate=Rate(calls=1, seconds=10))
    async with opened(slow, inner, clock=clock) as tp:
        begun = await tp.start(tp.read({"steps": [{"id": name, "tool": "inner"} for name in "ab"]}))
        await clock.advance(1)
        await begun.pause()
        await clock.advance(1)
        # The rate lets the second one begin, of which the timer has not told yet.
        clock._now = 10.0
        await tp.resume(begun.run_id)
        await clock.settle()
        assert len(slow.calls) == 2
        await clock.advance(50)
        assert (await begun.result()).status == "completed"
