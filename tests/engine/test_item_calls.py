"""A loop whose items are one call each comes to the same as one whose items are blocks, whatever happens to it."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from engine_cases import Ran, after, opened, ran, resumed_after, run, run_in

from toolpath import Settings, Tool, Toolpath
from toolpath.model import events as ev
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

KINDS = pytest.mark.parametrize("block", [False, True], ids=["call", "block"])


def loop(*, block: bool, tool: str = "t", call: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A loop over 0 to 5; with a condition its items are blocks."""
    step = {"id": "c", "tool": tool, "inputs": {"x": "{{ n }}"}, **(call or {})}
    if block:
        step["when"] = "{{ true }}"
    over = fields.pop("over", list(range(6)))
    outer = {key: fields.pop(key) for key in ("timeout", "retry", "critical") if key in fields}
    return {"id": "each", "loop": {"over": over, "as": "n", "steps": [step], **fields}, **outer}


def bad(clock: FakeClock, *wrong: int) -> Any:
    async def answer(inputs: dict[str, Any]) -> Any:
        await clock.sleep(1 + inputs["x"])
        if inputs["x"] in wrong:
            raise ValueError(f"no {inputs['x']}")
        return {"v": inputs["x"] * 10}

    return answer


def shape(found: Ran) -> Any:
    """What must not depend on how the items are called."""
    error = found.result.error
    return found.status, found.outputs, found.statuses(), error and error.message


CASES: dict[str, Any] = {
    "all succeed": ({"concurrency": 3, "collect": "{{ c.v }}"}, (), {}),
    "no collect": ({"concurrency": 3}, (), {}),
    "last": ({"concurrency": 2, "collect": "{{ last }}"}, (), {}),
    "the step's record": ({"collect": "{{ steps.c.status ~ steps.c.output.v }}"}, (), {}),
    "a chain": ({"concurrency": 2, "flow": "chain"}, (), {}),
    "one fails": ({"concurrency": 3, "collect": "{{ c.v }}"}, (2,), {}),
    "one fails and the plan goes on": ({"concurrency": 3, "collect": "{{ c.v }}"}, (2, 4), {"failure_mode": "isolate"}),
    "failures are continued": ({"concurrency": 3}, (0, 5), {"failure_mode": "continue"}),
    "collect fails": ({"concurrency": 2, "collect": "{{ c.w }}"}, (), {}),
    "collect reads what may be missing": ({"collect": "{{ c.w | default(n) }}"}, (), {}),
    "few slots": ({"concurrency": 6, "collect": "{{ c.v }}"}, (), {"concurrency": 2}),
    "a retry": ({"call": {"retry": {"max_retries": 1, "backoff": "none"}}, "concurrency": 2}, (1,), {}),
    "a fallback": ({"call": {"fallback": {"tool": "u"}}, "concurrency": 2}, (1,), {}),
    "not critical": ({"call": {"critical": False}, "concurrency": 2}, (1,), {}),
    "continued": ({"call": {"on_failure": {"action": "continue"}}, "concurrency": 2}, (1,), {}),
    "inputs fail for one": ({"call": {"inputs": {"x": "{{ n.y }}"}}, "over": [{"y": 1}, {}, {"y": 2}]}, (), {}),
    "inputs are fitted": ({"over": ["1", "2"]}, (), {}),
    "empty": ({"over": []}, (), {}),
    "the loop's time is up": ({"concurrency": 2, "timeout": 5}, (), {}),
    "an item's time is up": ({"concurrency": 2, "call": {"timeout": 3.5, "retry": {"max_retries": 0}}}, (), {}),
    "the loop is retried": ({"concurrency": 2, "retry": {"max_retries": 1, "backoff": "none"}}, (3,), {}),
}


async def came_of(block: bool, fields: dict[str, Any], wrong: tuple[int, ...], plan: dict[str, Any]) -> Ran:
    clock = FakeClock(auto=True)
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    tools = (
        scripted("t", then=bad(clock, *wrong), input_schema=schema),
        scripted("u", then=lambda _: {"v": "other"}, input_schema=schema),
    )
    return await run({"concurrency": 6, **plan, "steps": [loop(block=block, **fields)]}, *tools, clock=clock)


@pytest.mark.parametrize("name", CASES)
async def test_calls_come_to_what_blocks_come_to(name: str) -> None:
    fields, wrong, plan = CASES[name]
    calls, blocks = [await came_of(block, dict(fields), wrong, plan) for block in (False, True)]
    assert shape(calls) == shape(blocks)
    assert calls.result.total_duration == blocks.result.total_duration


@KINDS
@pytest.mark.parametrize("slots", [2, 3, 4])
async def test_a_failure_beside_the_loop_stops_it(block: bool, slots: int) -> None:
    clock = FakeClock(auto=True)
    steps = [{"id": "bad", "tool": "bad"}, loop(block=block, concurrency=3)]
    tools = (scripted("t", then=bad(clock)), scripted("bad", then=lambda _: after(clock, 2.5, ValueError("no"))))
    found = await run({"concurrency": slots, "steps": steps}, *tools, clock=clock)
    assert found.status == "failed"
    assert found.statuses()["each"] in ("cancelled", "skipped")
    assert "running" not in found.statuses().values()


@KINDS
async def test_a_failure_around_the_loop_stops_it(block: bool) -> None:
    clock = FakeClock(auto=True)
    outer = {"id": "o", "loop": {"over": [1, 2], "as": "m", "concurrency": 2, "steps": [loop(block=block)]}}
    steps = [{"id": "bad", "tool": "bad"}, outer]
    tools = (scripted("t", then=bad(clock)), scripted("bad", then=lambda _: after(clock, 2.5, ValueError("no"))))
    found = await run({"concurrency": 9, "steps": steps}, *tools, clock=clock)
    assert (found.status, found.statuses()["o"]) == ("failed", "cancelled")


@KINDS
async def test_a_cancelled_loop_cuts_its_calls_off_and_is_done_by_a_retry(block: bool) -> None:
    clock = FakeClock()
    tool = scripted("t", then=bad(clock))
    async with opened(tool, clock=clock) as tp:
        started = await tp.start(tp.read({"concurrency": 6, "steps": [loop(block=block, concurrency=3)]}))
        await clock.advance(2)
        await tp.cancel(started.run_id)
        await clock.settle()
        cancelled = await ran(tp, await started.result())
        assert cancelled.status == "cancelled"
        assert sum(event.path.endswith("/c") for event in cancelled.of(ev.StepCancelled)) >= 2
        again = await tp.retry(started.run_id)
        await clock.advance(60)
        found = await ran(tp, await again.result())
    assert (found.status, len(found.outputs["each"])) == ("completed", 6)
    assert Counter(call["x"] for call in tool.calls)[0] == 1


@KINDS
async def test_a_paused_loop_begins_nothing_and_goes_on_when_it_is_resumed(block: bool) -> None:
    clock = FakeClock()
    tool = scripted("t", then=bad(clock))
    async with opened(tool, clock=clock) as tp:
        started = await tp.start(tp.read({"concurrency": 6, "steps": [loop(block=block, concurrency=2)]}))
        await clock.advance(1.5)
        await tp.pause(started.run_id)
        await clock.advance(60)
        assert (await started.result()).status == "paused"
        called = len(tool.calls)
        assert called < 6
        again = await tp.resume(started.run_id)
        await clock.advance(60)
        found = await ran(tp, await again.result())
    assert (found.status, len(tool.calls)) == ("completed", 6)
    assert found.outputs == {"each": [{"c": {"v": n * 10}} for n in range(6)]}


@pytest.mark.parametrize("effect", ["read", "write"])
async def test_a_loop_goes_on_from_every_point_of_its_journal(effect: Any) -> None:
    clock = FakeClock(auto=True)
    plan = {"concurrency": 6, "steps": [loop(block=False, concurrency=3, collect="{{ c.v }}")]}
    found = await run(plan, scripted("t", then=bad(clock), effect=effect), clock=clock)
    for end in range(1, len(found.events)):
        kept = found.events[:end]
        finished = {e.path for e in kept if isinstance(e, ev.StepSucceeded)}
        flying = {e.path for e in kept if isinstance(e, ev.StepStarted) and e.key} - finished
        again = scripted("t", then=lambda inputs: {"v": inputs["x"] * 10}, effect=effect)
        resumed = await resumed_after(kept, again)
        called = [f"each[{call['x']}]/c" for call in again.calls]
        assert not finished & set(called)
        assert len(set(called)) == len(called)
        if effect == "read" or not flying:
            assert (resumed.status, resumed.outputs) == ("completed", {"each": [n * 10 for n in range(6)]})
        else:
            assert resumed.status == "waiting"
            assert {event.path for event in resumed.of(ev.StepUnknown)} == flying
            assert not flying & set(called)


async def test_a_large_result_of_an_item_is_kept_aside() -> None:
    tool = scripted("t", then=lambda inputs: {"v": "x" * (5000 if inputs["x"] == 2 else 5)})
    plan = {"steps": [loop(block=False, concurrency=3, collect="{{ c.v | length }}")]}
    found = await run(plan, tool, settings=Settings(max_result_size=1000))
    assert found.outputs == {"each": [5, 5, 5000, 5, 5, 5]}
    assert [event.path for event in found.of(ev.StepSucceeded) if event.large] == ["each[2]/c"]


async def test_a_nested_loop_reads_both_items_and_what_is_around_it() -> None:
    call = {"inputs": {"x": "{{ n }}", "y": "{{ m }}", "z": "{{ first.v }}", "i": "{{ inputs.i }}"}}
    inner = loop(block=False, call=call, over=[1, 2], collect="{{ [m, c.x, c.z, first.v] }}")
    outer = {"id": "o", "loop": {"over": ["a", "b"], "as": "m", "steps": [inner], "collect": "{{ each }}"}}
    plan = {
        "inputs": {"properties": {"i": {"type": "integer"}}},
        "steps": [{"id": "first", "tool": "first"}, outer],
        "outputs": "{{ o }}",
    }
    tools = (scripted("first", {"v": 7}), scripted("t", then=lambda inputs: inputs))
    found = await run(plan, *tools, inputs={"i": 1})
    assert found.outputs == [[["a", 1, 7, 7], ["a", 2, 7, 7]], [["b", 1, 7, 7], ["b", 2, 7, 7]]]


async def test_the_steps_of_a_run_count_the_calls_of_items() -> None:
    given = {"properties": {"l": {}}}
    plan = {"limits": {"steps": 4}, "inputs": given, "steps": [loop(block=False, over="{{ inputs.l }}")]}
    found = await run(plan, tool := scripted("t", then=lambda inputs: inputs), inputs={"l": list(range(9))})
    assert (found.status, found.result.reason, len(tool.calls)) == ("failed", "budget", 4)


async def test_a_tool_that_heeds_no_end_of_its_time_is_left_behind() -> None:
    clock = FakeClock(auto=True)

    async def deaf(inputs: dict[str, Any]) -> Any:
        for _ in range(40):
            try:
                await clock.sleep(1)
            except asyncio.CancelledError:
                continue
        return inputs

    call = {"timeout": 2, "retry": {"max_retries": 0}}
    found = await run({"steps": [loop(block=False, over=[1], call=call)]}, scripted("t", then=deaf), clock=clock)
    assert (found.status, found.statuses()["each[0]/c"]) == ("failed", "timed_out")


async def test_a_loop_of_a_tool_with_a_limit_keeps_to_it() -> None:
    clock = FakeClock(auto=True)
    tool: Tool = scripted("t", then=lambda _: after(clock, 1, {}), max_concurrency=2)
    async with opened(tool, clock=clock) as tp:
        found = await run_in(tp, {"concurrency": 6, "steps": [loop(block=False, concurrency=6)]})
    assert found.result.total_duration == pytest.approx(3)


async def test_calls_that_wait_all_begin_at_once() -> None:
    clock = FakeClock(auto=True)
    steps = [{"id": f"s{n}", "tool": "t", "inputs": {"x": n}} for n in range(300)]
    tool = scripted("t", then=lambda _: after(clock, 1, {}))
    found = await run({"concurrency": 300, "steps": steps}, tool, clock=clock)
    assert (found.status, found.result.total_duration) == ("completed", 1.0)


async def test_what_waits_for_a_slot_is_ready_and_what_gets_one_at_once_need_not_be() -> None:
    clock = FakeClock(auto=True)
    steps = [{"id": f"s{n}", "tool": "t", "inputs": {"x": n}} for n in range(4)]
    tool = scripted("t", then=lambda _: after(clock, 1, {}))
    found = await run({"concurrency": 2, "steps": steps}, tool, clock=clock)
    assert [event.path for event in found.of(ev.StepReady)] == ["s2", "s3"]


@pytest.mark.parametrize("block", [False, True], ids=["call", "block"])
async def test_defaults_that_are_written_out_change_nothing_of_an_item(block: bool) -> None:
    seen: list[dict[str, Any]] = []

    def note(**inputs: Any) -> dict[str, Any]:
        seen.append(inputs)
        return inputs

    properties = {"x": {"type": "integer"}, "note": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "required": ["x"]}
    step = {
        "id": "c",
        "tool": "note",
        "inputs": {"x": "{{ n }}", "note": None},
        "when": "{{ true }}" if block else True,
        "cache": None,
        "fallback": [],
    }
    plan = {"name": "notes", "steps": [{"id": "each", "loop": {"over": [1, 2, 3], "as": "n", "steps": [step]}}]}
    async with Toolpath() as toolpath:
        toolpath.add(Tool(name="note", effect="read", input_schema=schema, body=note))
        result = await toolpath.run(plan)
        events = await toolpath.events(result.run_id)
    assert result.success
    assert seen == [{"x": 1}, {"x": 2}, {"x": 3}]
    starts = [event.inputs for event in events if isinstance(event, ev.StepStarted) and event.path.endswith("/c")]
    assert starts == seen
    assert result.outputs == {"each": [{"c": one} for one in seen]}
