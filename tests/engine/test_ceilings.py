"""What no plan can raise: how much a run does, how much of it at once, and how long it keeps others waiting."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.engine.hostile_plans import MANY, hostile_plan
from tests.patience import PATIENCE
from tests.soak import scaled

from toolpath import PlanInvalid, RunResult, Settings, Toolpath
from toolpath.errors import ToolpathError
from toolpath.model import events as ev

#: Events of a run in these tests.
MOST = 3_000


def echo(x: Any = None) -> Any:
    """Give it back."""
    return x


def fail(x: Any = None) -> Any:
    """Fail."""
    raise ValueError("no")


#: Seconds between two looks at a loop that has nothing to do.
_MOMENT = 0.0005


def door(store: Path | None = None, **settings: Any) -> Toolpath:
    tp = Toolpath(store, settings=Settings(**{"max_run_events": MOST, "max_step_visits": 400, **settings}))
    tp.add(echo, fail, effect="read")
    return tp


async def counted(tp: Toolpath, plan: Any, inputs: Any = None) -> tuple[RunResult, int, float]:
    """What came of the run, how many turns the loop took for it, and the longest in processor time."""
    task = asyncio.ensure_future(tp.run(plan, inputs or {}))
    turns, longest = 0, 0.0
    ready = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    while not task.done():
        began = time.thread_time()
        # Where all wait for a thread, it is not to wait for who counts: a busy machine would hand over once in a while.
        await asyncio.sleep(0 if ready else _MOMENT)
        longest = max(longest, time.thread_time() - began)
        turns += 1
    return await task, turns, longest


CIRCLE = {
    "flow": "chain",
    "inputs": {"properties": {"go": {}}},
    "limits": {"step_visits": 1_000_000_000},
    "steps": [
        {"id": "p", "parallel": []},
        {
            "id": "l",
            "when": "inputs.go",
            "loop": {"over": [], "steps": [{"tool": "echo"}]},
            "on_success": {"next": "p"},
        },
    ],
}


async def test_a_circle_of_nothing_ends_and_lets_others_in() -> None:
    async with door(max_step_visits=4_000, max_run_events=100_000) as tp:
        result, turns, _ = await counted(tp, CIRCLE, {"go": True})
    assert result.status == "failed"
    assert result.error is not None
    assert "step_visits" in result.error.message
    assert turns > 4


async def test_a_run_ends_when_its_journal_is_as_long_as_it_may_be() -> None:
    inner = {"over": MANY, "concurrency": 1_000, "steps": [{"id": "e", "tool": "echo"}]}
    middle = {"over": MANY, "concurrency": 1_000, "steps": [{"id": "i", "loop": inner}]}
    async with door() as tp:
        result, _, _ = await counted(tp, {"steps": [{"id": "o", "loop": middle}]})
        events = await tp.events(result.run_id)
    assert (result.status, result.reason) == ("failed", "budget")
    assert any(isinstance(event, ev.BudgetExceeded) and event.budget == "events" for event in events)
    assert len(events) < 4 * MOST


async def test_tries_without_end_end() -> None:
    step = {"id": "f", "tool": "fail", "retry": {"max_retries": 10**9, "initial_delay": 0, "backoff": "none"}}
    async with door() as tp:
        result, _, _ = await counted(tp, {"steps": [step]})
    assert (result.status, result.reason) == ("failed", "budget")


async def test_no_more_is_done_at_once_than_may_be() -> None:
    under_way = most = 0

    async def count(x: Any = None) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1

    async with door(max_concurrency=3) as tp:
        tp.add(count, effect="read")
        loop = {"over": list(range(50)), "concurrency": 100_000, "steps": [{"tool": "count"}]}
        assert (await tp.run({"concurrency": 1_000, "steps": [{"id": "l", "loop": loop}]})).success
    assert most == 3


async def test_a_plan_that_is_too_large_is_refused_whole() -> None:
    async with door(max_plan_steps=10) as tp:
        steps = [{"id": f"s{number}", "tool": "echo"} for number in range(11)]
        with pytest.raises(PlanInvalid) as caught:
            await tp.run({"steps": steps})
        assert [finding.code for finding in caught.value.findings] == ["too_many_steps"]
        with pytest.raises(PlanInvalid):
            await tp.plans.add({"steps": [{"id": "p", "parallel": [{"id": "b", "steps": steps}]}]})
        assert (await tp.run({"steps": steps[:10]})).success


async def test_the_expressions_of_a_run_share_one_budget() -> None:
    when = "(inputs.x | map(lambda a: a + 1) | sum) < 0"
    steps = [{"id": f"s{number}", "tool": "echo", "when": when} for number in range(60)]
    plan = {"inputs": {"properties": {"x": {}}}, "steps": steps, "failure_mode": "continue"}
    async with door(max_run_work=50_000) as tp:
        result = await tp.run(plan, {"x": list(range(1_000))})
    messages = [record.error.message for record in result.results if record.error is not None]
    assert sum("max_run_work" in message for message in messages) > 20
    assert any(record.status == "skipped" for record in result.results)


@pytest.mark.parametrize(
    ("first", "count"),
    [(0, 4), *(pytest.param(n, scaled(500), marks=pytest.mark.soak) for n in (4, *range(10_000, 15_000, 500)))],
)
async def test_hostile_plans_end_at_the_ceilings_and_let_others_in(first: int, count: int) -> None:
    async with door() as tp:
        ran = 0
        for seed in range(first, first + count):
            plan = hostile_plan(Random(seed))
            try:
                async with asyncio.timeout(PATIENCE):
                    result, _, longest = await counted(tp, plan, {"go": True})
            except ToolpathError:
                continue
            ran += 1
            assert result.status in ("completed", "completed_with_errors", "failed"), f"seed {seed}"
            assert len(await tp.events(result.run_id)) < 4 * MOST, f"seed {seed}"
            assert longest < 1.5, f"seed {seed}"
    assert ran > count // 4


@pytest.mark.parametrize("size", [300, 5_000, 2_000_000])
async def test_a_run_ends_when_its_values_weigh_as_much_as_they_may(tmp_path: Path, size: int) -> None:
    """Arguments and results, in the journal and aside, made anew in each step; also when it is gone on with."""
    steps = [
        {"id": f"s{number}", "tool": "echo", "inputs": {"x": f"{{{{ inputs.x ~ '{number}' }}}}"}}
        for number in range(100)
    ]
    plan = {"flow": "chain", "inputs": {"properties": {"x": {"type": "string"}}}, "steps": steps}
    most = 20 * size
    async with door(tmp_path / "runs.db", max_run_bytes=most) as tp:
        result = await tp.run(plan, {"x": "x" * size})
        events = await tp.events(result.run_id)
        done = [event for event in events if isinstance(event, ev.StepSucceeded)]
        assert (result.status, result.reason) == ("failed", "budget")
        assert result.error is not None
        assert "max_run_bytes" in result.error.hint
        # What is large is kept once, as argument and as result.
        assert 8 <= len(done) <= 11 if size < 1_000_000 else 17 <= len(done) <= 20
        begun = sum(isinstance(event, ev.StepStarted) for event in events)
        again = await (await tp.retry(result.run_id)).result()
        assert (again.status, again.reason) == ("failed", "budget")
        events = await tp.events(result.run_id)
        assert sum(isinstance(event, ev.StepStarted) for event in events) <= begun + 1


async def test_lists_of_little_things_weigh_what_they_take_in_memory() -> None:
    steps = [{"id": f"s{number}", "tool": "echo", "inputs": {"x": "{{ inputs.x }}"}} for number in range(100)]
    plan = {"flow": "chain", "inputs": {"properties": {"x": {}}}, "steps": steps}
    async with door(max_run_bytes=1_000_000) as tp:
        texts = await tp.run(plan, {"x": "x" * 4_000})
        lists = await tp.run(plan, {"x": [{}] * 1_300})
    assert texts.success
    assert lists.status == "failed"


@pytest.mark.parametrize("notation", ["yaml", "json", "values", "planner"])
async def test_a_plan_that_is_too_large_is_read_no_further(notation: str) -> None:
    steps = [{"id": f"s{number}", "tool": "echo"} for number in range(12)]
    nested = {"steps": [{"id": "p", "parallel": [{"id": "b", "steps": steps}]}]}
    source: Any = nested
    if notation == "yaml":
        source = "steps:\n" + "- tool: echo\n" * 12 + "- this: [is not read\n"
    elif notation == "json":
        source = json.dumps(nested)[:-3] + " this is not read"
    elif notation == "planner":
        source = {"tools": [{"name": "echo", "arguments": {}}] * 12, "executionOrder": list(range(12))}
    async with door(max_plan_steps=10) as tp:
        for what in (tp.run, tp.plans.add):
            with pytest.raises(PlanInvalid) as caught:
                await what(source)
            assert [finding.code for finding in caught.value.findings] == ["too_many_steps"]
