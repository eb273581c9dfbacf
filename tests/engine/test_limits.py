"""Limits: of tools and servers, calls in a time, steps of a run; who may call what."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import after, identity, most_at_once, opened, run

from toolpath import PlanInvalid, RunContext
from toolpath.model.tool import Rate, Requires
from toolpath.notation.composite import read_composite
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(auto=True)


def fan(count: int, **fields: Any) -> dict[str, Any]:
    return {"concurrency": 50, "steps": [{"id": f"s{n}", "tool": "t"} for n in range(count)], **fields}


class Counted:
    """How many calls of a tool are under way, and how many there were at most."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.now = self.most = 0

    async def call(self, inputs: dict[str, Any]) -> dict[str, Any]:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.clock.sleep(1)
        finally:
            self.now -= 1
        return {}


async def test_a_tool_may_run_so_many_times_at_once(clock: FakeClock) -> None:
    counted = Counted(clock)
    found = await run(fan(7), scripted("t", then=counted.call, max_concurrency=2), clock=clock)
    assert counted.most == 2
    assert found.result.total_duration == pytest.approx(4)


async def test_the_journal_never_shows_more_calls_of_a_tool_at_once_than_it_may(clock: FakeClock) -> None:
    found = await run(fan(7), scripted("t", then=lambda _: after(clock, 1), max_concurrency=2), clock=clock)
    assert most_at_once(found.events) == 2


async def test_a_tool_that_is_full_does_not_hold_up_others(clock: FakeClock) -> None:
    plan = {
        "concurrency": 2,
        "steps": [
            *({"id": f"s{n}", "tool": "one"} for n in range(3)),
            *({"id": f"q{n}", "tool": "free"} for n in range(3)),
        ],
    }
    one = scripted("one", then=lambda _: after(clock, 3), max_concurrency=1)
    found = await run(plan, one, scripted("free", then=lambda _: after(clock, 3)), clock=clock)
    assert found.status == "completed"
    assert {step.path for step in found.result.results if step.started_at == clock.start} == {"s0", "q0"}


async def test_a_tool_s_limit_holds_across_runs(clock: FakeClock) -> None:
    t = scripted("t", then=lambda _: after(clock, 1), max_concurrency=1)
    async with opened(t, clock=clock) as tp:
        plan = tp.read(fan(2))
        runs = [await tp.start(plan) for _ in range(3)]
        results = [await run_.result() for run_ in runs]
    assert [result.status for result in results] == ["completed"] * 3
    assert clock.monotonic() == pytest.approx(6)


async def test_a_rate_spreads_calls_over_time(clock: FakeClock) -> None:
    found = await run(fan(5), scripted("t", then={}, rate=Rate(calls=2, seconds=10)), clock=clock)
    assert found.status == "completed"
    starts = sorted(step.started_at - clock.start for step in found.result.results if step.started_at)
    assert starts == pytest.approx([0, 0, 10, 10, 20])


async def test_a_place_is_given_back_after_failure_timeout_and_cancellation(clock: FakeClock) -> None:
    plan = {
        "failure_mode": "isolate",
        "steps": [
            {"id": "a", "tool": "t", "inputs": {"how": "fail"}},
            {"id": "b", "tool": "t", "inputs": {"how": "hang"}, "timeout": 3, "retry": {"max_retries": 0}},
            {
                "id": "p",
                "wait_for": "any",
                "parallel": [{"id": "lose", "tool": "t", "inputs": {"how": "hang"}}, {"id": "win", "tool": "u"}],
            },
            {"id": "z", "tool": "t", "inputs": {"how": "well"}, "depends_on": "p"},
        ],
    }

    def answer(inputs: dict[str, Any]) -> Any:
        match inputs["how"]:
            case "fail":
                return after(clock, 1, ValueError("no"))
            case "hang":
                return after(clock, 1000)
        return {"ok": 1}

    t = scripted("t", then=answer, max_concurrency=1)
    found = await run(plan, t, scripted("u", then=lambda _: after(clock, 8)), clock=clock)
    assert found.statuses()["z"] == "succeeded"
    assert found.statuses()["b"] == "timed_out"


async def test_a_run_that_is_cancelled_while_steps_wait_for_a_tool_ends(clock: FakeClock) -> None:
    t = scripted("t", then=lambda _: after(clock, 1000), max_concurrency=1, timeout=2000.0)
    async with opened(t, clock=clock) as tp:
        first = await tp.start(tp.read(fan(1)))
        second = await tp.start(tp.read(fan(2)))
        await second.cancel()
        assert (await second.result()).status == "cancelled"
        await first.cancel()
        assert (await first.result()).status == "cancelled"


async def test_the_limit_of_steps_ends_a_run_that_would_not_end(clock: FakeClock) -> None:
    plan = {
        "flow": "chain",
        "limits": {"steps": 20, "step_visits": 1000},
        "state": {"go": True},
        "steps": [
            {"id": "a", "tool": "t", "on_success": {"next": "b"}},
            {"id": "b", "tool": "t", "when": "state.go", "on_success": {"next": "a"}},
        ],
    }
    t = identity("t")
    found = await run(plan, t, clock=clock)
    assert found.status == "failed"
    assert len(t.calls) == 20  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("requires", "context", "missing"),
    [
        (Requires(auth=True), RunContext(), "auth"),
        (Requires(session=True), RunContext("ann"), "session"),
        (Requires(case=True), RunContext("ann", "s1"), "case"),
        (Requires(permissions=("mail.read", "mail.send")), RunContext("ann", permissions=["mail.read"]), "mail.send"),
    ],
)
async def test_who_lacks_what_a_tool_asks_for_may_not_call_it_and_it_is_not_retried(
    requires: Requires, context: RunContext, missing: str
) -> None:
    t = scripted("t", then={}, requires=requires)
    found = await run({"steps": [{"id": "a", "tool": "t", "retry": {"max_retries": 3}}]}, t, context=context)
    assert found.status == "failed"
    assert t.calls == []
    error = found.result.error
    assert error is not None
    assert error.code in ("policy", "permission")
    assert missing in error.message
    assert found.result.step("a").attempts <= 1


async def test_who_has_what_a_tool_asks_for_may_call_it() -> None:
    requires = Requires(auth=True, session=True, case=True, permissions=("p",))
    context = RunContext("ann", "s1", "c1", permissions=["p"])
    found = await run({"steps": [{"tool": "t"}]}, scripted("t", {}, requires=requires), context=context)
    assert found.status == "completed"


async def test_what_a_tool_asks_for_is_asked_inside_nested_plans_too() -> None:
    inner = {
        "name": "outer",
        "parameters": [],
        "implementation": {"type": "composite", "composite": {"steps": [{"tool": "guarded"}]}},
    }
    guarded = scripted("guarded", then={}, requires=Requires(permissions=("deep",)))
    async with opened(guarded) as tp:
        plan = tp.read(inner)
        assert (await tp.run(plan, context=RunContext("ann"))).status == "failed"
        assert (await tp.run(plan, context=RunContext("ann", permissions=["deep"]))).status == "completed"


@pytest.mark.parametrize("mode", ["direct", "through another"])
async def test_a_tool_that_calls_itself_is_refused(mode: str) -> None:
    def composite(name: str, calls: str) -> Any:
        return {
            "name": name,
            "parameters": [],
            "implementation": {"type": "composite", "composite": {"steps": [{"tool": calls}]}},
        }

    async with opened() as tp:
        if mode == "direct":
            tp.add(read_composite(composite("one", "one")))
        else:
            tp.add(read_composite(composite("one", "two")), read_composite(composite("two", "one")))
        with pytest.raises(PlanInvalid):
            await tp.run(tp.read({"steps": [{"tool": "one"}]}))


@pytest.mark.parametrize(("levels", "fits"), [(10, True), (11, False)])
async def test_plans_are_nested_ten_deep_and_no_deeper(levels: int, fits: bool) -> None:
    async with opened(leaf := identity("leaf")) as tp:
        below = "leaf"
        for level in range(levels):
            name = f"level{level}"
            tp.add(
                read_composite(
                    {
                        "name": name,
                        "parameters": [],
                        "implementation": {"type": "composite", "composite": {"steps": [{"tool": below}]}},
                    }
                )
            )
            below = name
        plan = tp.read({"steps": [{"tool": below}]})
        try:
            status = (await tp.run(plan)).status
        except PlanInvalid:
            status = "refused"
    assert (status == "completed") is fits
    assert len(leaf.calls) == fits  # type: ignore[attr-defined]
