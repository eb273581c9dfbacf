"""Kept results: only where declared, what the key is, what empties them, equal calls in flight."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from engine_cases import after, opened, ran, run, run_in

from toolpath import RunContext, Settings
from toolpath.model import events as ev
from toolpath.model.plan import Cache
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import ScriptedTool, scripted


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(auto=True)


def call(tool: str = "t", inputs: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {"steps": [{"id": "a", "tool": tool, "inputs": inputs or {}, **fields}], "outputs": "{{ a }}"}


def counter(name: str = "t", **fields: Any) -> ScriptedTool:
    """A tool that says how many times it was called."""
    count = iter(range(1, 1000))
    return scripted(name, then=lambda _: {"n": next(count)}, **fields)


async def test_a_key_of_its_own_is_none_of_inputs_that_look_like_it() -> None:
    async with opened(tool := counter(cache=Cache())) as tp:
        first = await run_in(tp, call(inputs={"x": 1}, cache={"key": "same"}))
        second = await run_in(tp, call(inputs={"key": "same"}, cache={}))
        third = await run_in(tp, call(inputs={"x": 2}, cache={"key": "same"}))
    assert [found.result.step("a").cached for found in (first, second, third)] == [False, False, True]
    assert len(tool.calls) == 2


async def test_nothing_is_kept_where_nothing_says_so() -> None:
    async with opened(counter()) as tp:
        assert [(await run_in(tp, call())).outputs["n"] for _ in range(2)] == [1, 2]


@pytest.mark.parametrize("where", ["tool", "step"])
async def test_a_kept_result_answers_an_equal_call_and_says_so(where: str) -> None:
    tool = counter(cache=Cache() if where == "tool" else None)
    plan = call(inputs={"x": 1, "y": [2]}, **({"cache": {"ttl": "5m"}} if where == "step" else {}))
    async with opened(tool) as tp:
        first, second = await run_in(tp, plan), await run_in(tp, plan)
    assert first.outputs == second.outputs == {"n": 1}
    assert [found.result.step("a").cached for found in (first, second)] == [False, True]
    assert len(tool.calls) == 1


async def test_a_step_may_say_no_where_the_tool_says_yes() -> None:
    async with opened(counter(cache=Cache())) as tp:
        assert [(await run_in(tp, call(cache=False))).outputs["n"] for _ in range(2)] == [1, 2]


async def test_the_settings_may_turn_it_off() -> None:
    async with opened(counter(cache=Cache()), settings=Settings(cache_enabled=False)) as tp:
        assert [(await run_in(tp, call())).outputs["n"] for _ in range(2)] == [1, 2]


async def test_other_inputs_another_tenant_and_another_tool_are_other_calls() -> None:
    async with opened(counter(cache=Cache())) as tp:
        outputs = [
            (await run_in(tp, call(inputs={"x": 1}))).outputs["n"],
            (await run_in(tp, call(inputs={"x": 2}))).outputs["n"],
            (await run_in(tp, call(inputs={"x": 1}), context=RunContext(tenant="other"))).outputs["n"],
            (await run_in(tp, call(inputs={"x": 1}))).outputs["n"],
        ]
        tp.add(counter(cache=Cache(), description="another one now"))
        outputs.append((await run_in(tp, call(inputs={"x": 1}))).outputs["n"])
    assert outputs == [1, 2, 3, 1, 1]
    assert len({str(output) for output in outputs[:3]}) == 3


async def test_inputs_that_differ_only_in_form_are_equal() -> None:
    async with opened(tool := counter(cache=Cache())) as tp:
        await run_in(tp, call(inputs={"x": 1, "y": 2}))
        await run_in(tp, call(inputs={"y": 2.0, "x": 1}))
    assert len(tool.calls) == 1


@pytest.mark.parametrize(("cache", "kept"), [({"ttl": 60}, 60), (True, 300), ({}, 300)])
async def test_a_result_is_kept_for_its_time_five_minutes_by_default(cache: Any, kept: float) -> None:
    clock = FakeClock()
    async with opened(tool := counter(), clock=clock) as tp:
        for wait, calls in ((0, 1), (kept - 1, 1), (2, 2)):
            await clock.advance(wait)
            await run_in(tp, call(cache=cache))
            assert len(tool.calls) == calls


async def test_the_settings_say_how_long_where_nothing_else_does() -> None:
    clock = FakeClock()
    async with opened(tool := counter(), clock=clock, settings=Settings(cache_ttl=10.0)) as tp:
        await run_in(tp, call(cache=True))
        await clock.advance(11)
        await run_in(tp, call(cache=True))
    assert len(tool.calls) == 2


async def test_a_key_of_its_own_replaces_the_inputs() -> None:
    async with opened(tool := counter()) as tp:
        for x in (1, 2):
            plan = call(inputs={"x": x, "page": "p"}, cache={"key": "{{ inputs.page }}"})
            plan["inputs"] = {"type": "object", "properties": {"page": {}}}
            await run_in(tp, plan, {"page": "p"})
    assert len(tool.calls) == 1


async def test_a_write_by_a_tool_of_the_group_empties_the_group_and_no_other() -> None:
    read, other = counter("blog.list", cache=Cache()), counter("shop.list", cache=Cache())
    write = scripted("blog.post", then={}, effect="write")
    async with opened(read, other, write) as tp:
        for tool in ("blog.list", "shop.list", "blog.post", "blog.list", "shop.list"):
            await run_in(tp, call(tool))
    assert (len(read.calls), len(other.calls)) == (2, 1)


async def test_a_write_that_failed_empties_the_group_too() -> None:
    read = counter("blog.list", cache=Cache())
    async with opened(read, scripted("blog.post", then=ValueError("half done"), effect="write")) as tp:
        for tool in ("blog.list", "blog.post", "blog.list"):
            await run_in(tp, call(tool))
    assert len(read.calls) == 2


async def test_a_write_in_the_same_run_is_seen_by_the_read_after_it() -> None:
    read = counter("blog.list", cache=Cache())
    plan = {
        "flow": "chain",
        "steps": [{"id": "a", "tool": "blog.list"}, {"id": "b", "tool": "blog.post"}, {"id": "c", "tool": "blog.list"}],
    }
    found = await run(plan, read, scripted("blog.post", then={}, effect="write"))
    assert found.outputs == {"n": 2}


async def test_failures_are_not_kept() -> None:
    t = scripted("t", ValueError("once"), {"n": 2}, cache=Cache())
    async with opened(t) as tp:
        assert (await run_in(tp, call(retry={"max_retries": 0}))).status == "failed"
        assert (await run_in(tp, call())).outputs == {"n": 2}


async def test_equal_calls_in_flight_are_made_once(clock: FakeClock) -> None:
    t = scripted("t", then=lambda _: after(clock, 3, {"n": 1}), cache=Cache())
    plan = {"steps": [{"id": f"s{n}", "tool": "t", "inputs": {"x": 1}} for n in range(4)]}
    found = await run(plan, t, clock=clock)
    assert len(t.calls) == 1
    assert set(found.statuses().values()) == {"succeeded"}
    assert sorted(step.cached for step in found.result.results) == [False, True, True, True]
    assert found.result.total_duration == pytest.approx(3)


async def test_equal_calls_of_other_runs_in_flight_are_joined_too(clock: FakeClock) -> None:
    t = scripted("t", then=lambda _: after(clock, 3, {"n": 1}), cache=Cache())
    async with opened(t, clock=clock) as tp:
        runs = [await tp.start(tp.read(call())) for _ in range(3)]
        assert [(await run_.result()).outputs for run_ in runs] == [{"n": 1}] * 3
    assert len(t.calls) == 1


@pytest.mark.parametrize("who", ["first", "second"])
async def test_cancelling_one_who_waits_never_cancels_the_call_of_another(who: str) -> None:
    clock = FakeClock()
    t = scripted("t", then=lambda _: after(clock, 5, {"n": 1}), cache=Cache())
    async with opened(t, clock=clock) as tp:
        first = await tp.start(tp.read(call()))
        await clock.settle()
        second = await tp.start(tp.read(call()))
        await clock.advance(1)
        await (first if who == "first" else second).cancel()
        await clock.advance(10)
        results = {"first": await ran(tp, await first.result()), "second": await ran(tp, await second.result())}
    assert results.pop(who).status == "cancelled"
    (other,) = results.values()
    assert (other.status, other.outputs) == ("completed", {"n": 1})
    assert len(t.calls) == 1


async def test_a_shared_call_that_fails_fails_for_all_and_each_may_retry(clock: FakeClock) -> None:
    t = scripted("t", lambda _: after(clock, 3, ValueError("no")), then={"n": 2}, cache=Cache())
    plan = {"steps": [{"id": f"s{n}", "tool": "t", "retry": {"max_retries": 1, "backoff": "none"}} for n in range(3)]}
    found = await run(plan, t, clock=clock)
    assert found.status == "completed"
    assert len(t.calls) == 2


async def test_a_shared_call_times_out_for_each_by_its_own_limit(clock: FakeClock) -> None:
    t = scripted("t", then=lambda _: after(clock, 10, {"n": 1}), cache=Cache())
    plan = {
        "failure_mode": "isolate",
        "steps": [
            {"id": "patient", "tool": "t", "timeout": 20},
            {"id": "hasty", "tool": "t", "timeout": 2, "retry": {"max_retries": 0}},
        ],
    }
    found = await run(plan, t, clock=clock)
    assert found.statuses() == {"patient": "succeeded", "hasty": "timed_out"}


async def test_the_one_who_made_the_shared_call_may_time_out_while_another_still_waits(clock: FakeClock) -> None:
    t = scripted("t", then=lambda _: after(clock, 10, {"n": 1}), cache=Cache())
    plan = {
        "failure_mode": "isolate",
        "concurrency": 2,
        "steps": [
            {"id": "hasty", "tool": "t", "timeout": 2, "retry": {"max_retries": 0}},
            {"id": "patient", "tool": "t", "timeout": 20},
        ],
    }
    found = await run(plan, t, clock=clock)
    assert found.statuses() == {"hasty": "timed_out", "patient": "succeeded"}


async def test_a_call_that_goes_on_for_others_keeps_the_place_of_whoever_made_it_and_gave_up(clock: FakeClock) -> None:
    """It is still one of the calls of which the tool allows so many at once."""
    flying, most = 0, 0

    async def counted(inputs: Any) -> Any:
        nonlocal flying, most
        flying += 1
        most = max(most, flying)
        try:
            return await after(clock, 10, {"n": 1})
        finally:
            flying -= 1

    t = scripted("t", then=counted, cache=Cache(), max_concurrency=2)
    hasty = {"id": "hasty", "tool": "t", "timeout": 2, "retry": {"max_retries": 0}}
    others = [{"id": f"o{n}", "tool": "t", "inputs": {"x": n}, "timeout": 100} for n in range(3)]
    plan = {
        "failure_mode": "isolate",
        "steps": [hasty, {"id": "patient", "tool": "t", "timeout": 50}, *others],
    }
    found = await run(plan, t, clock=clock)
    assert found.statuses() == {"hasty": "timed_out"} | dict.fromkeys(("patient", "o0", "o1", "o2"), "succeeded")
    assert most == 2


async def test_who_waits_for_an_equal_call_of_another_run_gives_up_in_its_own_time(clock: FakeClock) -> None:
    t = scripted("t", then=lambda _: after(clock, 10, {"n": 1}), cache=Cache(), max_concurrency=2)
    async with opened(t, clock=clock) as tp:
        patient = await tp.start(tp.read(call(timeout=50)))
        hasty = await tp.start(tp.read(call(timeout=3, retry={"max_retries": 0})))
        results = [await run_.result() for run_ in (hasty, patient)]
    assert [result.status for result in results] == ["failed", "completed"]
    assert results[0].total_duration == pytest.approx(3)
    assert len(t.calls) == 1


async def test_the_journal_of_a_cached_step_is_whole() -> None:
    async with opened(counter(cache=Cache())) as tp:
        await run_in(tp, call())
        found = await run_in(tp, call())
    (done,) = found.of(ev.StepSucceeded)
    assert (done.cached, done.output, done.duration) == (True, {"n": 1}, 0.0)


async def test_what_one_run_does_to_a_kept_result_no_other_sees() -> None:
    plan = {
        "flow": "chain",
        "steps": [{"id": "a", "tool": "t"}, {"id": "b", "tool": "spoil", "inputs": {"v": "{{ a }}"}}],
    }

    def spoil(inputs: dict[str, Any]) -> dict[str, Any]:
        inputs["v"]["n"] = "spoilt"
        return {}

    async with opened(counter(cache=Cache()), scripted("spoil", then=spoil)) as tp:
        await run_in(tp, plan)
        assert (await run_in(tp, call())).outputs == {"n": 1}


async def test_a_run_that_is_taken_up_reads_its_journal_and_never_the_cache() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    plan = {
        "flow": "chain",
        "steps": [
            {"id": "a", "tool": "t", "cache": True},
            {"id": "w", "tool": "wait"},
            {"id": "b", "tool": "see", "inputs": {"n": "{{ a.n }}"}},
        ],
    }
    wait, see = scripted("wait", lambda _: after(clock, 1000), then={}), scripted("see", then=lambda inputs: inputs)
    async with opened(counter(), wait, see, clock=clock, store=store) as tp:
        run_ = await tp.start(tp.read(plan))
        await clock.settle()
    await store.cache_clear("")
    async with opened(again := counter(), wait, see, clock=clock, store=store) as tp:
        found = await ran(tp, await (await tp.resume(run_.id)).result())
    assert (found.status, found.outputs, again.calls) == ("completed", {"n": 1}, [])


async def test_a_call_that_is_being_cancelled_is_joined_by_nobody(clock: FakeClock) -> None:
    begun, cleaned = asyncio.Event(), asyncio.Event()
    calls = 0

    async def look(_: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 1:
            return {"n": calls}
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await cleaned.wait()

    async with opened(scripted("t", then=look, cache=Cache()), clock=clock) as tp:
        first = await tp.start(tp.read(call()))
        await begun.wait()
        await first.cancel()
        async for event in first.events():
            if isinstance(event, ev.StepCancelled):
                break
        second = await tp.start(tp.read(call()))
        async for event in second.events():
            if isinstance(event, ev.StepStarted):
                break
        cleaned.set()
        assert (await second.result()).outputs == {"n": 2}


READ = {"id": "r", "tool": "kv.read", "cache": {}}
WRITE = {"id": "w", "tool": "kv.write"}


@pytest.mark.parametrize("under_way", [False, True])
async def test_a_write_empties_what_another_process_caches(under_way: bool) -> None:
    numbers, looking, let_go = [0], asyncio.Event(), asyncio.Event()

    async def read(_: Any) -> dict[str, int]:
        found = numbers[-1]
        if under_way and not found:
            looking.set()
            await let_go.wait()
        return {"n": found}

    def write(_: Any) -> dict[str, int]:
        numbers.append(len(numbers))
        return {}

    tools = (scripted("kv.read", then=read), scripted("kv.write", then=write, effect="write"))
    store = MemoryStore()
    async with opened(*tools, store=store) as one, opened(*tools, store=store) as other:
        first = await one.start(one.read({"steps": [READ]}))
        if under_way:
            await looking.wait()
            await run_in(other, {"steps": [WRITE]})
            let_go.set()
        await first.result()
        reading = READ if under_way else {**READ, "depends_on": ["w"]}
        found = await run_in(other, {"steps": [reading] if under_way else [WRITE, reading]})
        assert found.outputs == {"r": {"n": 1}}
