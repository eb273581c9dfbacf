"""Time limits: of an attempt, a block, a run; calls that do not heed them; limits learnt from the past."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from engine_cases import after, identity, opened, ran, run, run_in
from tests.patience import PATIENCE

from toolpath import RunContext, Settings, tool
from toolpath.machine import SystemClock
from toolpath.model import events as ev
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(auto=True)


def step(**fields: Any) -> dict[str, Any]:
    return {"steps": [{"id": "a", "tool": "t", **fields}]}


def slow(clock: FakeClock, seconds: float, **fields: Any) -> Any:
    return scripted("t", then=lambda _: after(clock, seconds, {"ok": 1}), **fields)


NO_RETRY = {"max_retries": 0}


@pytest.mark.parametrize(
    ("of_step", "of_tool", "settings", "limit"),
    [
        (None, None, {}, 30),
        (None, None, {"default_timeout": 7.0}, 7),
        (None, 5.0, {"default_timeout": 7.0}, 5),
        (2, 5.0, {}, 2),
        ("1m", 5.0, {}, 60),
        (1.5, None, {}, 1.5),
    ],
)
async def test_the_step_s_limit_wins_over_the_tool_s_and_that_over_the_default(
    clock: FakeClock, of_step: Any, of_tool: float | None, settings: dict[str, Any], limit: float
) -> None:
    fields = {} if of_step is None else {"timeout": of_step}
    found = await run(
        step(retry=NO_RETRY, **fields), slow(clock, 1000, timeout=of_tool), clock=clock, settings=Settings(**settings)
    )
    assert found.statuses() == {"a": "timed_out"}
    assert found.status == "failed"
    assert found.result.total_duration == pytest.approx(limit)
    assert found.of(ev.StepStarted)[0].timeout == limit
    error = found.result.error
    assert error is not None
    assert (error.code, error.retryable) == ("timeout", True)


async def test_a_call_that_ends_in_time_is_not_cut_off(clock: FakeClock) -> None:
    found = await run(step(timeout=5), slow(clock, 4.9), clock=clock)
    assert found.status == "completed"


async def test_a_call_that_never_waits_sets_no_timer_and_one_that_waits_does(clock: FakeClock) -> None:
    armed, begin = list[bool](), clock.monotonic()

    async def t(kind: str) -> str:
        if kind == "waits":
            await clock.sleep(1)
        armed.append(begin + 77 in clock.pending)
        return kind

    plan = {
        "flow": "chain",
        "steps": [{"id": kind, "tool": "t", "inputs": {"kind": kind}, "timeout": 77} for kind in ("a", "b", "waits")],
    }
    found = await run(plan, tool(t), clock=clock)
    assert found.status == "completed"
    assert armed == [False, False, True]


async def test_a_call_that_holds_the_loop_past_its_limit_and_then_waits_is_cut_off_where_it_waits() -> None:
    ended: list[str] = []

    async def t() -> str:
        time.sleep(0.3)  # noqa: ASYNC251  # that it blocks is what is tried
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cut off")
        return "never"

    found = await asyncio.wait_for(run(step(timeout=0.1, retry=NO_RETRY), tool(t)), PATIENCE)
    assert found.statuses() == {"a": "timed_out"}
    assert ended == ["cut off"]


async def test_the_limit_is_per_attempt(clock: FakeClock) -> None:
    t = scripted("t", lambda _: after(clock, 50), lambda _: after(clock, 2, {"ok": 1}))
    found = await run(step(timeout=3, retry={"max_retries": 1, "initial_delay": 1}), t, clock=clock)
    assert found.status == "completed"
    assert found.result.total_duration == pytest.approx(3 + 1 + 2)
    assert found.of(ev.StepRetrying)[0].error.code == "timeout"


async def test_the_limit_counts_from_the_moment_the_call_holds_its_slot(clock: FakeClock) -> None:
    plan = {"concurrency": 1, "steps": [{"id": f"s{n}", "tool": "t", "timeout": 3} for n in range(4)]}
    found = await run(plan, slow(clock, 2), clock=clock)
    assert found.status == "completed"
    assert found.result.total_duration == pytest.approx(8)


async def test_a_call_that_timed_out_is_cancelled_and_its_siblings_are_not_affected(clock: FakeClock) -> None:
    seen: list[str] = []

    async def wait(inputs: dict[str, Any]) -> Any:
        try:
            await clock.sleep(100)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    plan = {
        "failure_mode": "isolate",
        "steps": [
            {"id": "a", "tool": "wait", "timeout": 2, "retry": NO_RETRY},
            {"id": "b", "tool": "t"},
            {"id": "c", "tool": "see", "inputs": {"s": "{{ steps.a.status }}", "code": "{{ steps.a.error.code }}"}},
        ],
    }
    found = await run(plan, scripted("wait", then=wait), slow(clock, 10), see := identity("see"), clock=clock)
    assert seen == ["cancelled"]
    assert found.statuses() == {"a": "timed_out", "b": "succeeded", "c": "succeeded"}
    assert see.calls == [{"s": "timed_out", "code": "timeout"}]  # type: ignore[attr-defined]
    assert found.result.failed_steps == ("a",)


async def test_a_write_that_times_out_has_failed_in_doubt_and_is_not_repeated(clock: FakeClock) -> None:
    t = slow(clock, 100, effect="write")
    found = await run(step(timeout=2), t, clock=clock)
    error = found.result.error
    assert error is not None
    assert error.in_doubt
    assert len(t.calls) == 1
    assert found.status == "failed"


@pytest.mark.parametrize(
    "fields",
    [
        {"retry": {"max_retries": 1, "backoff": "none"}},
        {"fallback": {"tool": "other"}},
        {"on_failure": {"action": "continue"}},
    ],
)
async def test_an_explicit_retry_fallback_or_on_failure_is_consent_for_a_write_in_doubt(
    clock: FakeClock, fields: dict[str, Any]
) -> None:
    t = scripted("t", lambda _: after(clock, 100), {"ok": 2}, effect="write")
    found = await run(step(timeout=2, **fields), t, scripted("other", {"ok": 3}), clock=clock)
    assert found.result.success


async def test_a_read_that_times_out_is_in_no_doubt(clock: FakeClock) -> None:
    found = await run(step(timeout=2, retry=NO_RETRY), slow(clock, 100), clock=clock)
    assert found.result.error is not None
    assert not found.result.error.in_doubt


async def test_an_async_tool_that_swallows_being_cancelled_loses_its_slot_and_its_late_result(clock: FakeClock) -> None:
    async def stubborn(inputs: dict[str, Any]) -> Any:
        while True:
            try:
                await clock.sleep(50)
                return {"overdue": True}
            except asyncio.CancelledError:
                continue

    plan = {
        "concurrency": 1,
        "failure_mode": "isolate",
        "steps": [{"id": "a", "tool": "t", "timeout": 2, "retry": NO_RETRY}, {"id": "b", "tool": "quick"}],
    }
    found = await run(plan, scripted("t", then=stubborn), scripted("quick", {"ok": 1}), clock=clock)
    assert found.statuses() == {"a": "timed_out", "b": "succeeded"}
    assert found.result.total_duration < 10
    assert "overdue" not in str(found.events)


async def test_a_tool_that_answers_when_it_is_cut_off_is_still_timed_out(clock: FakeClock) -> None:
    async def sly(inputs: dict[str, Any]) -> Any:
        try:
            await clock.sleep(50)
        except asyncio.CancelledError:
            return {"late": True}

    found = await run(step(timeout=2, retry=NO_RETRY), scripted("t", then=sly), clock=clock)
    assert found.statuses() == {"a": "timed_out"}


async def test_a_tool_that_fails_when_it_is_cut_off_is_still_timed_out(clock: FakeClock) -> None:
    async def clumsy(inputs: dict[str, Any]) -> Any:
        try:
            await clock.sleep(50)
        finally:
            raise ValueError("while cleaning up")

    found = await run(step(timeout=2, retry=NO_RETRY), scripted("t", then=clumsy), clock=clock)
    assert found.statuses() == {"a": "timed_out"}


async def test_what_a_def_tool_gives_to_wait_for_is_cut_off_as_any_call_is() -> None:
    """The rest of such a call goes on in the loop, with the time limit that began in the thread."""
    cleaned = []

    async def endless() -> dict[str, int]:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append(1)
        return {"late": 1}

    @tool(effect="read")
    def handed_on() -> Any:
        return endless()

    plan = {"steps": [{"id": "a", "tool": "handed_on", "timeout": 0.05, "retry": NO_RETRY}]}
    found = await run(plan, handed_on)
    assert found.statuses() == {"a": "timed_out"}
    assert cleaned == [1]


async def test_a_def_tool_that_outlives_its_time_frees_its_slot_and_its_late_result_is_thrown_away() -> None:
    release = threading.Event()

    @tool(effect="read")
    def stuck() -> dict[str, int]:
        release.wait(PATIENCE)
        return {"late": 1}

    plan = {
        "concurrency": 1,
        "failure_mode": "isolate",
        "steps": [{"id": "a", "tool": "stuck", "timeout": 0.05, "retry": NO_RETRY}, {"id": "b", "tool": "quick"}],
    }
    async with opened(stuck, scripted("quick", {"ok": 1}), clock=SystemClock()) as tp:
        found = await run_in(tp, plan)
        events = len(found.events)
        release.set()
        await asyncio.sleep(0)
        assert len(await tp.events(found.result.run_id)) == events
    assert found.statuses() == {"a": "timed_out", "b": "succeeded"}


async def test_threads_that_are_lost_are_capped_and_further_calls_say_so() -> None:
    release, loop = threading.Event(), asyncio.get_running_loop()
    entered = [asyncio.Event() for _ in range(3)]

    @tool(effect="write")
    def stuck(n: int) -> int:
        loop.call_soon_threadsafe(entered[n].set)
        release.wait(PATIENCE)
        return n

    plan = {
        "flow": "chain",
        "failure_mode": "continue",
        "steps": [{"id": f"s{n}", "tool": "stuck", "inputs": {"n": n}, "timeout": 5} for n in range(3)],
    }
    clock = FakeClock()
    async with opened(stuck, clock=clock, settings=Settings(max_threads=2)) as tp:
        run_ = await tp.start(tp.read(plan))
        for n in range(2):
            await entered[n].wait()
            await clock.advance(5)
        found = await ran(tp, await run_.result())
        release.set()
    assert found.statuses() == {"s0": "timed_out", "s1": "timed_out", "s2": "failed"}
    assert "threads" in found.result.step("s2").error.message  # type: ignore[union-attr]
    assert not found.result.step("s2").error.in_doubt  # type: ignore[union-attr]


async def test_a_plan_has_a_time_limit_of_its_own(clock: FakeClock) -> None:
    plan = {"flow": "chain", "timeout": 5, "steps": [{"id": f"s{n}", "tool": "t"} for n in range(4)]}
    found = await run(plan, slow(clock, 2), clock=clock)
    assert (found.status, found.result.reason) == ("failed", "timeout")
    assert found.result.total_duration == pytest.approx(5)
    assert found.statuses()["s0"] == "succeeded"
    assert found.statuses()["s2"] == "cancelled"


async def test_the_caller_s_deadline_ends_the_run(clock: FakeClock) -> None:
    context = RunContext(deadline=clock.time() + 3)
    found = await run(step(), slow(clock, 20), clock=clock, context=context)
    assert (found.status, found.result.reason) == ("failed", "timeout")
    assert found.result.total_duration == pytest.approx(3)


async def test_a_deadline_that_is_over_already_lets_nothing_start(clock: FakeClock) -> None:
    t = slow(clock, 20)
    found = await run(step(), t, clock=clock, context=RunContext(deadline=clock.time() - 1))
    assert (found.status, found.result.reason) == ("failed", "timeout")


async def test_time_parked_for_people_does_not_count_for_the_plan_s_limit() -> None:
    clock = FakeClock()
    plan = {
        "flow": "chain",
        "timeout": 10,
        "steps": [{"id": "form", "ask": {"title": "?", "inputs": [{"name": "n"}]}}, {"id": "a", "tool": "t"}],
    }
    async with opened(identity("t"), clock=clock) as tp:
        waiting = await tp.run(tp.read(plan))
        assert waiting.status == "waiting"
        await clock.advance(1000)
        result = await (await tp.answer(waiting.run_id, "form", {"n": "x"})).result()
    assert result.status == "completed"


async def test_after_twenty_reads_the_limit_follows_what_is_known_and_is_in_the_journal(clock: FakeClock) -> None:
    t = slow(clock, 4)
    async with opened(t, clock=clock) as tp:
        plan = {"flow": "chain", "steps": [{"id": f"s{n}", "tool": "t"} for n in range(20)]}
        first = await run_in(tp, plan)
        assert {event.timeout for event in first.of(ev.StepStarted)} == {30}
        second = await run_in(tp, step())
    assert [event.timeout for event in second.of(ev.StepStarted)] == [pytest.approx(12)]


@pytest.mark.parametrize(("seconds", "limit"), [(0.1, 5), (50, 120)])
async def test_an_adaptive_limit_lies_between_five_seconds_and_two_minutes(
    clock: FakeClock, seconds: float, limit: float
) -> None:
    async with opened(slow(clock, seconds), clock=clock) as tp:
        plan = {"flow": "chain", "steps": [{"id": f"s{n}", "tool": "t", "timeout": 100} for n in range(20)]}
        await run_in(tp, plan)
        second = await run_in(tp, step())
    assert [event.timeout for event in second.of(ev.StepStarted)] == [limit]


async def test_writes_have_no_adaptive_limit(clock: FakeClock) -> None:
    async with opened(slow(clock, 1, effect="write"), clock=clock) as tp:
        await run_in(tp, {"flow": "chain", "steps": [{"id": f"s{n}", "tool": "t"} for n in range(20)]})
        second = await run_in(tp, step())
    assert [event.timeout for event in second.of(ev.StepStarted)] == [30]
