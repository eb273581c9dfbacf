"""Cancelling and pausing: from a handle, by the run's id, from outside the task; what is left behind."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from engine_cases import after, identity, opened, ran
from tests.patience import PATIENCE

from toolpath import Tool
from toolpath.errors import RunConflict, RunNotFound
from toolpath.model import events as ev
from toolpath.notation.plan import read_plan
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def slow(clock: FakeClock, seconds: float = 10, **fields: Any) -> Any:
    return scripted("t", then=lambda _: after(clock, seconds, {"ok": 1}), **fields)


CHAIN = {"flow": "chain", "steps": [{"id": name, "tool": "t"} for name in "abc"]}


async def test_cancel_cuts_off_what_runs_and_starts_no_more(clock: FakeClock) -> None:
    async with opened(t := slow(clock), clock=clock) as tp:
        run_ = await tp.start(tp.read(CHAIN))
        await clock.advance(15)
        await run_.cancel("enough")
        found = await ran(tp, await run_.result())
    assert (found.status, found.result.reason) == ("cancelled", "enough")
    assert not found.result.success
    assert found.statuses() == {"a": "succeeded", "b": "cancelled"}
    assert len(t.calls) == 2
    assert found.result.step("a").output == {"ok": 1}


async def test_cancel_by_id_from_elsewhere(clock: FakeClock) -> None:
    async with opened(slow(clock), clock=clock) as tp:
        run_ = await tp.start(tp.read(CHAIN))
        await clock.advance(1)
        await tp.cancel(run_.id)
        assert (await tp.result(run_.id)).status == "cancelled"
        assert (await tp.store.get_run(run_.id)).status == "cancelled"


@pytest.mark.parametrize(("fields", "doubt"), [({"effect": "write"}, True), ({"effect": "read"}, False)])
async def test_a_cancelled_write_ends_in_doubt_and_a_read_does_not(
    clock: FakeClock, fields: dict[str, Any], doubt: bool
) -> None:
    async with opened(slow(clock, **fields), clock=clock) as tp:
        run_ = await tp.start(tp.read(CHAIN))
        await clock.advance(1)
        await run_.cancel()
        found = await ran(tp, await run_.result())
    (event,) = found.of(ev.StepCancelled)
    assert (event.path, event.in_doubt) == ("a", doubt)


async def test_cancel_reaches_blocks_loops_and_nested_plans_and_everything_ends_cancelled(clock: FakeClock) -> None:
    inner = Tool(name="inner", effect="read", body=read_plan({"steps": [{"id": "deep", "tool": "t"}]}))
    plan = {
        "concurrency": 9,
        "steps": [
            {
                "id": "p",
                "parallel": [
                    {"id": "one", "tool": "t"},
                    {"id": "two", "flow": "chain", "steps": [{"id": "x", "tool": "t"}]},
                ],
            },
            {"id": "each", "loop": {"over": [1, 2], "concurrency": 2, "steps": [{"id": "y", "tool": "t"}]}},
            {"id": "n", "tool": "inner"},
            {"id": "last_one", "tool": "t", "depends_on": "n"},
        ],
    }
    async with opened(slow(clock), inner, clock=clock) as tp:
        run_ = await tp.start(tp.read(plan))
        await clock.advance(1)
        await run_.cancel()
        found = await ran(tp, await run_.result())
    started = {event.path for event in found.of(ev.StepStarted)}
    assert {path for path in started if found.statuses()[path] != "cancelled"} == set()
    assert len(started) == 8


async def test_a_tool_may_clean_up_when_it_is_cancelled(clock: FakeClock) -> None:
    seen: list[str] = []

    async def careful(inputs: dict[str, Any]) -> None:
        try:
            await clock.sleep(100)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            seen.append("clean")
            raise

    async with opened(scripted("t", then=careful), clock=clock) as tp:
        run_ = await tp.start(tp.read(CHAIN))
        await clock.advance(1)
        await run_.cancel()
        assert (await run_.result()).status == "cancelled"
    assert seen == ["clean"]


async def test_a_tool_that_does_not_heed_it_cannot_hold_the_run(clock: FakeClock) -> None:
    over = False

    async def stubborn(inputs: dict[str, Any]) -> Any:
        while not over:
            try:
                await clock.sleep(1000)
            except asyncio.CancelledError:
                continue

    async with opened(scripted("t", then=stubborn), clock=clock) as tp:
        run_ = await tp.start(tp.read(CHAIN))
        await clock.advance(1)
        await run_.cancel()
        await clock.advance(10)
        found = await ran(tp, await asyncio.wait_for(run_.result(), PATIENCE))
        over = True
    assert found.status == "cancelled"


async def test_cancelling_twice_or_what_has_ended_is_refused(clock: FakeClock) -> None:
    async with opened(slow(clock, 0), clock=clock) as tp:
        result = await tp.run(tp.read(CHAIN))
        for refused in (tp.cancel, tp.pause):
            with pytest.raises(RunConflict, match="ended"):
                await refused(result.run_id)
        with pytest.raises(RunNotFound):
            await tp.cancel("run_1700000000000_nothing00")


async def test_cancelling_the_task_that_awaits_run_leaves_a_run_that_can_be_resumed(clock: FakeClock) -> None:
    async with opened(t := slow(clock), clock=clock) as tp:
        task = asyncio.create_task(tp.run(tp.read(CHAIN)))
        await clock.advance(15)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (info,) = await tp.runs()
        assert info.status == "running"
        run_ = await tp.resume(info.run_id)
        await clock.advance(30)
        found = await ran(tp, await run_.result())
    assert found.status == "completed"
    assert len(t.calls) == 4


async def test_pause_starts_nothing_new_and_lets_what_runs_finish(clock: FakeClock) -> None:
    async with opened(t := slow(clock), clock=clock) as tp:
        run_ = await tp.start(tp.read(CHAIN))
        await clock.advance(1)
        await run_.pause()
        await clock.advance(100)
        paused = await run_.result()
        assert (paused.status, len(t.calls)) == ("paused", 1)
        assert paused.step("a").status == "succeeded"
        assert (await tp.store.get_run(run_.id)).status == "paused"
        again = await tp.resume(run_.id)
        await clock.advance(100)
        found = await ran(tp, await again.result())
    assert (found.status, len(t.calls)) == ("completed", 3)


async def test_a_pause_that_is_taken_back_at_once_changes_nothing(clock: FakeClock) -> None:
    async with opened(t := slow(clock), clock=clock) as tp:
        run_ = await tp.start(tp.read(CHAIN))
        await clock.advance(1)
        await run_.pause()
        await clock.settle()
        await tp.resume(run_.id)
        await clock.advance(100)
        found = await ran(tp, await run_.result())
    assert (found.status, len(t.calls)) == ("completed", 3)


async def test_a_paused_run_may_be_cancelled(clock: FakeClock) -> None:
    async with opened(slow(clock), clock=clock) as tp:
        run_ = await tp.start(tp.read(CHAIN))
        await run_.pause()
        await clock.advance(100)
        await run_.result()
        found = await ran(tp, await (await tp.cancel(run_.id)).result())
    assert found.status == "cancelled"


async def test_a_retry_that_is_due_during_a_pause_waits_for_the_end_of_it(clock: FakeClock) -> None:
    t = scripted("t", ValueError("1"), {"ok": 1})
    plan = {"steps": [{"id": "a", "tool": "t", "retry": {"max_retries": 1, "initial_delay": 5}}]}
    async with opened(t, clock=clock) as tp:
        run_ = await tp.start(tp.read(plan))
        await clock.advance(1)
        await run_.pause()
        await clock.advance(50)
        assert len(t.calls) == 1
        again = await tp.resume(run_.id)
        await clock.advance(50)
        found = await ran(tp, await again.result())
    assert (found.status, len(t.calls)) == ("completed", 2)


async def test_a_form_answered_during_a_pause_goes_on_after_it(clock: FakeClock) -> None:
    plan = {
        "flow": "chain",
        "steps": [{"id": "f", "ask": {"title": "?", "inputs": [{"name": "n"}]}}, {"id": "a", "tool": "t"}],
    }
    async with opened(t := identity("t"), clock=clock) as tp:
        waiting = await tp.run(tp.read(plan))
        paused = await (await tp.pause(waiting.run_id)).result()
        assert paused.status == "paused"
        await (await tp.answer(waiting.run_id, "f", {"n": "x"})).result()
        assert t.calls == []  # type: ignore[attr-defined]
        found = await ran(tp, await (await tp.resume(waiting.run_id)).result())
    assert found.status == "completed"


async def test_leaving_the_toolpath_leaves_its_runs_where_they_stand(clock: FakeClock) -> None:
    store = MemoryStore(clock=clock.time)
    async with opened(slow(clock), clock=clock, store=store) as tp:
        run_ = await tp.start(tp.read(CHAIN))
        await clock.advance(15)
    info = await store.get_run(run_.id)
    assert info.status == "running"
    async with opened(t := slow(clock), clock=clock, store=store) as tp:
        again = await tp.resume(run_.id)
        await clock.advance(100)
        found = await ran(tp, await again.result())
    assert (found.status, len(t.calls)) == ("completed", 2)


async def test_a_cancel_between_two_steps_is_heard_before_the_next_one_starts(clock: FakeClock) -> None:
    async with opened(clock=clock) as tp:
        runs: list[Any] = []

        async def cancels(inputs: dict[str, Any]) -> dict[str, Any]:
            await tp.cancel(runs[0].id)
            return {}

        tp.add(scripted("t", then=cancels))
        runs.append(await tp.start(tp.read(CHAIN)))
        found = await ran(tp, await runs[0].result())
    assert found.status == "cancelled"
    assert "b" not in found.statuses() or found.statuses()["b"] == "cancelled"


async def test_a_run_of_many_quick_calls_lets_others_have_their_turn(clock: FakeClock) -> None:
    turns = 0
    done = False

    async def other() -> None:
        nonlocal turns
        while not done:
            turns += 1
            await asyncio.sleep(0)

    plan = {"steps": [{"id": "each", "loop": {"over": list(range(2000)), "steps": [{"id": "x", "tool": "t"}]}}]}
    async with opened(identity("t"), clock=clock) as tp:
        task = asyncio.create_task(other())
        await asyncio.sleep(0)
        before = turns
        await tp.run(tp.read(plan))
        during = turns - before
        done = True
        await task
    assert during >= 20


async def test_a_run_that_was_just_started_and_left_can_be_taken_up(clock: FakeClock) -> None:
    store = MemoryStore(clock=clock.time)
    async with opened(identity("t"), clock=clock, store=store) as tp:
        run_ = await tp.start(tp.read(CHAIN))
    async with opened(identity("t"), clock=clock, store=store) as tp:
        found = await ran(tp, await (await tp.resume(run_.id)).result())
    assert found.status == "completed"
