"""Nothing that needs a person's word is done without it, whichever way a call is made and wherever its driver dies."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from engine_cases import Ran, identity, opened, ran, run
from tests.soak import scaled

from toolpath import RunContext, ToolContext, tool
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.run import ENDED_RUN, RunInfo
from toolpath.model.tool import Requires, ToolResult
from toolpath.notation.composite import read_composite
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

ASKS = Requires(approval=True)
GUARDED = ("wipe", "purge", "guarded")


def composite(name: str, steps: list[dict[str, Any]], **fields: Any) -> Any:
    return read_composite({"name": name, "implementation": {"type": "composite", "composite": {"steps": steps}}})


def made() -> list[Any]:
    """Tools: plain ones, ones that fail or are not sure, guarded ones, a guarded plan, and callers of them."""

    @tool(name="calls_wipe", effect="read")
    async def calls_wipe(context: ToolContext) -> Any:
        return await context.call("wipe", {"n": 1}, key="k")

    @tool(name="calls_plan", effect="read")
    async def calls_plan(context: ToolContext) -> Any:
        return await context.call("unsure_then_purge", {}, key="k")

    low = {"condition": "on_low_confidence"}
    guarded = composite("guarded", [{"id": "inner", "tool": "note"}])
    return [
        scripted("fails", then=ValueError("no")),
        scripted("unsure", then=ToolResult(output={"v": 1}, confidence=0.1)),
        identity("note", effect="write"),
        identity("look"),
        identity("wipe", effect="destructive", requires=ASKS),
        identity("purge", effect="write", requires=ASKS),
        type(guarded)(**{**{f: getattr(guarded, f) for f in guarded.__struct_fields__}, "requires": ASKS}),
        composite("fails_then_wipe", [{"id": "x", "tool": "fails", "fallback": {"tool": "wipe"}}]),
        composite("unsure_then_purge", [{"id": "x", "tool": "unsure", "fallback": {"tool": "purge", **low}}]),
        calls_wipe,
        calls_plan,
    ]


PLAIN = ("note", "look", "wipe", "purge", "guarded", "fails_then_wipe", "unsure_then_purge", "calls_wipe", "calls_plan")


def random_step(chance: random.Random, name: str, level: int) -> dict[str, Any]:
    kind = chance.choice(["call", "call", "fallback", "parallel", "loop"] if level < 2 else ["call", "fallback"])
    match kind:
        case "parallel":
            branches = [
                {"id": f"{name}b{n}", "steps": [random_step(chance, f"{name}b{n}s", level + 1)]} for n in (1, 2)
            ]
            return {"id": name, "parallel": branches}
        case "loop":
            inner = [random_step(chance, f"{name}i", level + 1)]
            return {
                "id": name,
                "loop": {"over": [1, 2], "as": "q", "steps": inner, "concurrency": chance.randint(1, 2)},
            }
        case "fallback":
            others: list[dict[str, Any]] = []
            for _ in range(chance.randint(1, 3)):
                condition = chance.choice(["on_error", "on_low_confidence"])
                others.append({"tool": chance.choice([*PLAIN, "fails"]), "condition": condition})
            return {"id": name, "tool": chance.choice(["fails", "unsure", "wipe"]), "fallback": others}
    step: dict[str, Any] = {"id": name, "tool": chance.choice(PLAIN)}
    if chance.random() < 0.2:
        step["requires_approval"] = chance.choice([True, "1 == 1"])
    return step


def random_plan(seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    steps = [random_step(chance, f"s{n}", 0) for n in range(chance.randint(1, 4))]
    return {"failure_mode": chance.choice(["isolate", "continue", "stop"]), "steps": steps}


def assert_allowed(events: Sequence[AnyEvent]) -> None:
    """Every begin of a guarded tool has the word of a person for this path and this tool, and none older."""
    asked: dict[str, str] = {}
    allowed: dict[str, str] = {}
    for event in events:
        match event:
            case ev.ApprovalRequested():
                asked[event.path] = event.tool
                allowed.pop(event.path, None)
            case ev.ApprovalDecided() if event.approved:
                allowed[event.path] = asked[event.path]
            case ev.FallbackStarted():
                allowed.pop(event.path, None)
            case ev.StepStarted() if event.tool in GUARDED:
                assert allowed.get(event.path) == event.tool, f"{event.path} called {event.tool} unasked"


async def decided(tp: Any, result: Any, chance: random.Random) -> Any:
    """The run's end, after somebody has decided every approval that it asks for, one way or the other."""
    for _ in range(60):
        if result.status in ENDED_RUN:
            return result
        events = await tp.events(result.run_id)
        doubts = [step.path for step in result.results if step.status == "unknown"]
        if doubts:
            steering = tp.settle(result.run_id, chance.choice(doubts), retry=True)
        else:
            waiting = [step.path for step in result.results if step.status == "waiting"]
            assert waiting, (result.status, [step for step in result.results if step.status not in ("succeeded",)])
            asked = {e.path for e in events if isinstance(e, ev.ApprovalRequested)}
            path = chance.choice([path for path in waiting if path in asked])
            steering = (tp.approve if chance.random() < 0.8 else tp.deny)(result.run_id, path)
        result = await (await steering).result()
    raise AssertionError("it asks for ever")


async def play(seed: int) -> None:
    chance = random.Random(-seed - 1)
    plan = random_plan(seed)
    async with opened(*made()) as tp:
        found = await ran(tp, await decided(tp, await tp.run(tp.read(plan)), chance))
    assert_allowed(found.events)
    clock = FakeClock(auto=True)
    store = MemoryStore(clock=clock.time)
    async with opened(*made(), clock=clock, store=store) as tp:
        run_id = found.result.run_id
        await store.create_run(RunInfo(run_id=run_id, status="running"))
        (await store.drive(run_id, "dead")).append(found.events[: chance.randint(1, len(found.events) - 1)])
        await clock.sleep(3600)
        result = await decided(tp, await (await tp.resume(run_id)).result(), chance)
        assert_allowed(await tp.events(result.run_id))


@pytest.mark.parametrize("seed", range(60))
async def test_nothing_guarded_is_called_without_a_word_for_it(seed: int) -> None:
    await play(seed)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(60, 3060, 100))
async def test_nothing_guarded_is_called_without_a_word_for_it_in_many_plans(first: int) -> None:
    for seed in range(first, first + scaled(100)):
        await play(seed)


@pytest.mark.parametrize(
    ("first", "condition"), [("fails", "on_error"), ("unsure", "on_low_confidence")], ids=["error", "low confidence"]
)
@pytest.mark.parametrize("allowed", [True, False])
async def test_a_fallback_that_needs_approval_asks_for_its_own(first: str, condition: str, allowed: bool) -> None:
    plan = {"steps": [{"id": "a", "tool": first, "fallback": {"tool": "wipe", "condition": condition}}]}
    tools = made()
    wipe = next(tool_ for tool_ in tools if tool_.name == "wipe")
    async with opened(*tools) as tp:
        waiting = await tp.run(tp.read(plan))
        assert (waiting.status, wipe.calls) == ("waiting", [])
        (question,) = waiting.questions
        assert (question.path, question.tool) == ("a", "wipe")
        found = await ran(tp, await (await (tp.approve if allowed else tp.deny)(waiting.run_id, "a")).result())
    assert len(wipe.calls) == allowed
    # An answer that was not sure enough is better than none.
    assert found.status == ("completed" if allowed or first == "unsure" else "failed")


async def test_a_fallback_that_needs_no_approval_is_not_asked_about() -> None:
    plan = {"steps": [{"id": "a", "tool": "wipe", "fallback": {"tool": "look"}}]}
    wipe = scripted("wipe", ValueError("no"), effect="destructive", requires=ASKS)
    async with opened(wipe, look := identity("look")) as tp:
        waiting = await tp.run(tp.read(plan))
        result = await (await tp.approve(waiting.run_id, "a")).result()
    assert (result.status, len(look.calls)) == ("completed", 1)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["wipe", "guarded", "calls"])
async def test_nobody_is_asked_about_what_the_caller_may_not_do_anyway(name: str) -> None:
    requires = Requires(approval=True, permissions=("danger",))
    guarded = composite("guarded", [{"id": "inner", "tool": "look"}])
    guarded = type(guarded)(**{**{f: getattr(guarded, f) for f in guarded.__struct_fields__}, "requires": requires})

    @tool(name="calls", effect="read")
    async def calls(context: ToolContext) -> Any:
        return await context.call("guarded", {}, key="k")

    wipe = identity("wipe", effect="destructive", requires=requires)
    found: Ran = await run(
        {"steps": [{"id": "a", "tool": name}]}, wipe, guarded, calls, identity("look"), context=RunContext("ann")
    )
    assert (found.status, found.of(ev.ApprovalRequested)) == ("failed", [])
    assert found.result.error is not None
    assert "danger" in found.result.error.message


@pytest.mark.parametrize("by", ["step", "plan", "call", "fallback"])
async def test_nobody_is_asked_about_inputs_that_do_not_fit(by: str) -> None:
    called: list[Any] = []

    @tool(name="pay", effect="write", requires=ASKS)
    async def pay(amount: int) -> Any:
        called.append(amount)
        return {}

    @tool(name="caller", effect="write")
    async def caller(context: ToolContext) -> Any:
        return await context.call("pay", {"amount": "much"}, key="k")

    some = scripted("some", then={"amount": "much"})
    fails = scripted("fails", then=ValueError("no"))
    wrong: dict[str, Any] = {"tool": "pay", "inputs": {"amount": "{{ some.amount }}"}}
    steps = {
        "step": {**wrong},
        "plan": {"loop": {"over": [1], "steps": [{"id": "x", **wrong}]}},
        "call": {"tool": "caller", "depends_on": "some"},
        "fallback": {"tool": "fails", "depends_on": "some", "fallback": wrong},
    }
    found = await run({"steps": [{"id": "some", "tool": "some"}, {"id": "a", **steps[by]}]}, pay, caller, some, fails)
    assert (found.status, found.of(ev.ApprovalRequested), called) == ("failed", [], [])
    assert found.result.error is not None
    assert "amount" in found.result.error.message
