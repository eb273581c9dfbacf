"""Budgets: calls, cost, tokens: of the plan and of who runs it."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import after, identity, opened, run

from toolpath import PlanInvalid, RunContext
from toolpath.model import events as ev
from toolpath.model.plan import Budget, Cache
from toolpath.model.tool import ToolResult
from toolpath.notation.composite import read_composite
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted


def items(count: int, **fields: Any) -> dict[str, Any]:
    """A plan whose number of calls is not known before it runs."""
    return {
        "inputs": {"type": "object", "properties": {"over": {"type": "array"}}},
        "steps": [{"id": "each", "loop": {"over": "{{ inputs.over }}", "steps": [{"id": "x", "tool": "t"}]}}],
        **fields,
    }


async def run_items(count: int, *tools: Any, **fields: Any) -> Any:
    options = {key: fields.pop(key) for key in ("context", "clock") if key in fields}
    return await run(items(count, **fields), *tools, inputs={"over": list(range(count))}, **options)


async def test_a_run_makes_no_more_calls_than_its_budget() -> None:
    t = identity("t")
    found = await run_items(10, t, budget={"calls": 4})
    assert (found.status, found.result.reason) == ("failed", "budget")
    assert len(t.calls) == 4  # type: ignore[attr-defined]
    (event,) = found.of(ev.BudgetExceeded)
    assert (event.budget, event.used, event.limit, event.path) == ("calls", 5, 4, "each[4]/x")
    assert found.result.error is not None
    assert found.result.error.code == "budget"
    assert found.statuses()["each[3]/x"] == "succeeded"


async def test_a_budget_that_is_just_enough_is_enough() -> None:
    found = await run_items(4, identity("t"), budget={"calls": 4})
    assert found.status == "completed"


async def test_every_attempt_counts_as_a_call() -> None:
    plan = {"budget": {"calls": 3}, "steps": [{"id": "a", "tool": "t", "retry": {"max_retries": 9, "backoff": "none"}}]}
    t = scripted("t", then=ValueError("no"))
    found = await run(plan, t)
    assert len(t.calls) == 3
    assert found.result.reason == "budget"


async def test_cached_calls_do_not_count() -> None:
    t = scripted("t", then={"n": 1}, cache=Cache())
    found = await run_items(10, t, budget={"calls": 2})
    assert found.status == "completed"
    assert len(t.calls) == 1


async def test_nested_calls_count_upwards() -> None:
    composite = read_composite(
        {
            "name": "twice",
            "parameters": [],
            "implementation": {"type": "composite", "composite": {"steps": [{"tool": "t"}, {"tool": "t"}]}},
        }
    )
    t = identity("t")
    async with opened(t, composite) as tp:
        plan = items(3, budget={"calls": 5})
        plan["steps"][0]["loop"]["steps"][0]["tool"] = "twice"
        result = await tp.run(tp.read(plan), {"over": [1, 2, 3]})
    assert result.reason == "budget"
    assert len(t.calls) == 5  # type: ignore[attr-defined]


async def test_the_cost_of_calls_is_added_up_and_bounded() -> None:
    t = scripted("t", then={}, cost=0.3)
    found = await run_items(10, t, budget={"cost": 1.0})
    assert found.result.reason == "budget"
    assert len(t.calls) == 3
    assert found.result.cost == pytest.approx(0.9)


async def test_many_calls_at_once_cannot_overspend_together() -> None:
    clock = FakeClock(auto=True)
    t = scripted("t", then=lambda _: after(clock, 1, {}), cost=0.4)
    plan = items(10, budget={"cost": 1.0}, concurrency=10)
    plan["steps"][0]["loop"]["concurrency"] = 10
    found = await run(plan, t, inputs={"over": list(range(10))}, clock=clock)
    assert len(t.calls) == 2
    assert found.result.reason == "budget"


async def test_what_runs_when_the_budget_is_reached_may_finish() -> None:
    clock = FakeClock(auto=True)
    t = scripted("t", then=lambda _: after(clock, 5, {}))
    plan = items(10, budget={"calls": 3}, concurrency=10)
    plan["steps"][0]["loop"]["concurrency"] = 10
    found = await run(plan, t, inputs={"over": list(range(10))}, clock=clock)
    assert [found.statuses()[f"each[{n}]/x"] for n in range(3)] == ["succeeded"] * 3


async def test_the_cost_that_a_tool_tells_wins_over_its_price() -> None:
    t = scripted("t", then=ToolResult(output={}, cost=0.1), cost=0.3)
    found = await run_items(2, t)
    assert found.result.cost == pytest.approx(0.2)


async def test_tokens_are_counted_where_tools_tell_them() -> None:
    t = scripted("t", then=ToolResult(output={}, tokens=60))
    found = await run_items(10, t, budget={"tokens": 100})
    assert found.result.reason == "budget"
    assert len(t.calls) == 2


async def test_who_runs_the_plan_may_have_a_budget_too() -> None:
    t = identity("t")
    found = await run_items(10, t, context=RunContext(budget=Budget(calls=2)), budget={"calls": 5})
    assert found.result.reason == "budget"
    assert len(t.calls) == 2  # type: ignore[attr-defined]


async def test_a_budget_that_cannot_hold_is_refused_before_anything_runs() -> None:
    t = identity("t")
    with pytest.raises(PlanInvalid, match="budget"):
        await run({"budget": {"calls": 1}, "steps": [{"tool": "t"}, {"tool": "t"}]}, t)
    assert t.calls == []  # type: ignore[attr-defined]
