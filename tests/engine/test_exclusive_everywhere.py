"""Exclusive steps of the whole run: in blocks, loops, plans and calls that tools make; nothing beside, never stuck."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from engine_cases import opened, ran
from tests.patience import PATIENCE
from tests.soak import scaled

from toolpath import ToolContext, ToolFailed, tool
from toolpath.engine.decide.ready_queue import ReadyQueue
from toolpath.model import events as ev
from toolpath.model.run import ENDED_RUN, RunInfo
from toolpath.model.tool import Body, Tool, ToolResult
from toolpath.notation.plan import read_plan
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock


class Watch:
    """Which calls are in their tools, and whether one was beside an exclusive step."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.flying: set[str] = set()
        self.alone: tuple[str, ...] = ()
        """Paths of exclusive steps, as they begin."""
        self.beside: list[str] = []

    async def stay(self, path: str, seconds: float) -> None:
        """Be in the tool for so long."""
        for other in self.flying:
            self._look(path, other)
            self._look(other, path)
        self.flying.add(path)
        try:
            await self.clock.sleep(seconds)
        finally:
            self.flying.discard(path)

    def _look(self, one: str, other: str) -> None:
        # `one` is in an exclusive step that `other` is neither inside of, nor around.
        for at in exclusive_around(one):
            if not is_part(other, at) and not is_part(at, other):
                self.beside.append(f"{other} beside {at}")


def exclusive_around(path: str) -> list[str]:
    """The exclusive steps, by their names, that the path is, or is inside of."""
    parts = path.split("/")
    return ["/".join(parts[: n + 1]) for n, part in enumerate(parts) if part.startswith("x")]


def is_part(path: str, of: str) -> bool:
    bare, inside = bared(of), bared(path)
    return inside == bare or inside.startswith((f"{bare}/", f"{bare}["))


def bared(path: str) -> str:
    """Without the number of a begin anew, and without the item of its own last part."""
    head, _, last = path.rpartition("/")
    return f"{head}/{last.partition('[')[0].partition('~')[0]}" if head else last.partition("[")[0].partition("~")[0]


def made(watch: Watch) -> list[Tool]:
    """Tools that stay a while, fail, are not sure, call a plan with an exclusive step in it, or several at once."""

    async def stay(inputs: dict[str, Any], context: Any) -> Any:
        await watch.stay(context.path, random.Random(context.path).randint(0, 3))
        return {"v": 1}

    async def fails(inputs: dict[str, Any], context: Any) -> Any:
        await watch.stay(context.path, 1)
        raise ToolFailed("no")

    async def unsure(inputs: dict[str, Any], context: Any) -> Any:
        await watch.stay(context.path, 1)
        return ToolResult(output={"v": 1}, confidence=0.1)

    async def calls(inputs: dict[str, Any], context: Any) -> Any:
        found = await context.call("plan", {}, key="k")
        await watch.stay(context.path, 1)
        return found

    async def calls_two(inputs: dict[str, Any], context: Any) -> Any:
        found = await asyncio.gather(context.call("plan", {}, key="k"), context.call("stay", {}, key="l"))
        await watch.stay(context.path, 1)
        return found

    found = []
    for name, invoke in {
        "stay": stay,
        "fails": fails,
        "unsure": unsure,
        "calls": calls,
        "calls_two": calls_two,
    }.items():
        body = Body(invoke=invoke, wants_context=True)
        found.append(Tool(name=name, effect="read", input_schema={"type": "object"}, body=body))
    steps = [{"id": "p", "tool": "stay"}, {"id": "x", "tool": "stay", "exclusive": True}, {"id": "q", "tool": "stay"}]
    return [*found, Tool(name="plan", effect="read", body=read_plan({"name": "plan", "steps": steps}))]


def random_steps(chance: random.Random, prefix: str, level: int) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    for number in range(chance.randint(1, 4)):
        exclusive = chance.random() < 0.3
        name = f"{'x' if exclusive else 's'}{prefix}{number}"
        step: dict[str, Any] = {"id": name, **({"exclusive": True} if exclusive else {})}
        kind = chance.choice(["call"] * 4 + ["fallback", "retry"] + ["parallel", "loop"] * (level < 2))
        match kind:
            case "parallel":
                wait = chance.choice(["all", "all", "any", "first_success"])
                branches = [
                    {
                        "id": f"b{n}",
                        "flow": flow(chance),
                        "steps": random_steps(chance, f"{prefix}{number}{n}", level + 1),
                    }
                    for n in range(chance.randint(1, 3))
                ]
                step |= {"parallel": branches, "wait_for": wait}
            case "loop":
                inner = random_steps(chance, f"{prefix}{number}", level + 1)
                step["loop"] = {"over": [1, 2, 3], "as": "i", "steps": inner, "flow": flow(chance)}
                step["loop"]["concurrency"] = chance.randint(1, 3)
            case "fallback":
                condition = chance.choice(["on_error", "on_low_confidence"])
                others = [{"tool": chance.choice(["stay", "plan", "calls"]), "condition": condition}]
                step |= {"tool": "fails" if condition == "on_error" else "unsure", "fallback": others}
            case "retry":
                step |= {"tool": "fails", "retry": {"max_retries": 2, "initial_delay": 2}}
                step["on_failure"] = {"action": "continue"}
            case _:
                step["tool"] = chance.choice(["stay", "stay", "stay", "plan", "calls", "calls_two"])
        if steps and chance.random() < 0.2:
            step["depends_on"] = [chance.choice(steps)["id"]]
        steps.append(step)
    return steps


def flow(chance: random.Random) -> str:
    return chance.choice(["graph", "chain"])


def random_plan(seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    plan = {"flow": flow(chance), "steps": random_steps(chance, "", 0), "concurrency": chance.choice([1, 2, 5, 50])}
    if plan["flow"] == "chain" or any("depends_on" in str(step) for step in plan["steps"]):
        plan["failure_mode"] = chance.choice(["stop", "isolate"])
    return plan


def without_depends(plan: Any) -> Any:
    """Steps of chains wait for nothing by name."""
    if isinstance(plan, list):
        return [without_depends(part) for part in plan]
    if not isinstance(plan, dict):
        return plan
    found = {key: without_depends(value) for key, value in plan.items()}
    if found.get("flow") == "chain":
        for step in found.get("steps", ()):
            step.pop("depends_on", None)
    return found


async def play(seed: int) -> None:
    """Play a plan, then go on with it from somewhere in its journal."""
    chance = random.Random(-seed - 1)
    clock = FakeClock(auto=True)
    watch = Watch(clock)
    plan = without_depends(random_plan(seed))
    async with opened(*made(watch), clock=clock) as tp:
        result = await asyncio.wait_for(tp.run(tp.read(plan)), PATIENCE)
        found = await ran(tp, result)
    assert found.status in ENDED_RUN
    assert watch.beside == [], seed
    clock = FakeClock(auto=True)
    watch = Watch(clock)
    store = MemoryStore(clock=clock.time)
    async with opened(*made(watch), clock=clock, store=store) as tp:
        run_id = found.result.run_id
        await store.create_run(RunInfo(run_id=run_id, status="running"))
        (await store.drive(run_id, "dead")).append(found.events[: chance.randint(1, len(found.events) - 1)])
        await clock.sleep(3600)
        result = await asyncio.wait_for((await tp.resume(run_id)).result(), PATIENCE)
    assert result.status in ENDED_RUN
    assert watch.beside == [], seed


@pytest.mark.parametrize("seed", range(80))
async def test_nothing_is_beside_an_exclusive_step_and_no_run_is_stuck(seed: int) -> None:
    await play(seed)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(80, 4080, 100))
async def test_nothing_is_beside_an_exclusive_step_in_many_plans(first: int) -> None:
    for seed in range(first, first + scaled(100)):
        await play(seed)


async def test_a_fallback_beside_an_exclusive_step_does_not_keep_both_waiting() -> None:
    watch = Watch(FakeClock(auto=True))
    plan = {
        "steps": [
            {"id": "a", "tool": "fails", "fallback": {"tool": "stay"}},
            {"id": "x", "tool": "stay", "exclusive": True},
        ]
    }
    async with opened(*made(watch), clock=watch.clock) as tp:
        result = await asyncio.wait_for(tp.run(tp.read(plan)), PATIENCE)
    assert (result.status, watch.beside) == ("completed", [])


async def test_a_run_whose_exclusive_step_waits_for_a_tool_that_asks_a_person_is_parked() -> None:
    @tool(name="asking", effect="read")
    async def asking(context: ToolContext) -> Any:
        return await context.ask({"title": "?", "inputs": [{"name": "n"}]})

    watch = Watch(FakeClock(auto=True))
    plan = {"steps": [{"id": "a", "tool": "asking"}, {"id": "x", "tool": "stay", "exclusive": True}]}
    async with opened(*made(watch), asking, clock=watch.clock) as tp:
        waiting = await asyncio.wait_for(tp.run(tp.read(plan)), PATIENCE)
        assert waiting.status == "waiting"
        result = await asyncio.wait_for((await tp.answer(waiting.run_id, "a", {"n": "1"})).result(), PATIENCE)
    assert result.status == "completed"


async def test_what_an_exclusive_step_costs_does_not_grow_with_the_plan() -> None:
    """Counted, not timed: how often a step is put among what is ready."""
    counts = []
    for size in (200, 800):
        for alone in (0, 1, 20):
            queued = 0
            steps = [{"id": f"s{n}", "tool": "stay"} for n in range(size)]
            steps += [{"id": f"x{n}", "tool": "stay", "exclusive": True} for n in range(alone)]
            watch = Watch(FakeClock(auto=True))
            async with opened(*made(watch), clock=watch.clock) as tp:
                real = ReadyQueue.entry_of

                def counted(self: Any, step: Any, real: Any = real) -> Any:
                    nonlocal queued
                    queued += 1
                    return real(self, step)

                ReadyQueue.entry_of = counted  # type: ignore[method-assign]
                try:
                    result = await tp.run(tp.read({"steps": steps, "concurrency": 10}))
                finally:
                    ReadyQueue.entry_of = real  # type: ignore[method-assign]
            assert (result.status, watch.beside) == ("completed", [])
            counts.append(queued / (size + alone))
    assert max(counts) < 3


async def test_started_exclusive_steps_of_the_journal_stand_alone() -> None:
    watch = Watch(FakeClock(auto=True))
    plan = {
        "steps": [*({"id": f"s{n}", "tool": "stay"} for n in range(5)), {"id": "x", "tool": "plan", "exclusive": True}]
    }
    async with opened(*made(watch), clock=watch.clock) as tp:
        found = await ran(tp, await tp.run(tp.read(plan)))
    first, last = found.seq("step.started", "x"), found.seq("step.succeeded", "x")
    assert {e.path for e in found.of(ev.StepStarted) if first < e.seq < last} == {"x/p", "x/x", "x/q"}
