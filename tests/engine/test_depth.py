"""How deep calls stand in one another: a plan in a plan counts, and so does a call that a tool makes."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import identity, run

from toolpath import ToolContext, tool
from toolpath.model.tool import Tool
from toolpath.notation.plan import read_plan

ONE = {"steps": [{"id": "a", "tool": "again", "inputs": {"n": 0}}], "outputs": "{{ a }}"}


def descending(to: int, through: str) -> Any:
    """A tool that calls itself so many times, in a plan or directly."""

    @tool(name="again", effect="read")
    async def again(context: ToolContext, n: int) -> int:
        assert context.plan_depth == n
        return n if n >= to else await context.call(through, {"n": n + 1}, key="k")

    return again


PLAN = Tool(
    name="plan",
    effect="read",
    input_schema={"type": "object", "properties": {"n": {"type": "integer"}}},
    body=read_plan({"name": "plan", "steps": [{"id": "s", "tool": "again", "inputs": {"n": "{{ inputs.n }}"}}],
                    "inputs": {"properties": {"n": {"type": "integer"}}}, "outputs": "{{ s }}"}),
)  # fmt: skip


@pytest.mark.parametrize("through", ["again", "plan"])
@pytest.mark.parametrize(("limit", "to", "fits"), [(None, 10, True), (None, 11, False), (3, 3, True), (3, 4, False)])
async def test_a_tool_may_call_itself_so_deep_and_no_deeper(through: str, limit: Any, to: int, fits: bool) -> None:
    plan = ONE if limit is None else {**ONE, "limits": {"depth": limit}}
    found = await run(plan, descending(to, through), PLAN)
    assert found.status == ("completed" if fits else "failed")
    if not fits:
        assert found.result.error is not None
        assert "limits.depth" in found.result.error.message


@pytest.mark.parametrize("limit", [10, 1_000_000])
async def test_a_tool_that_calls_itself_without_end_ends(limit: int) -> None:
    found = await run({**ONE, "limits": {"depth": limit}}, descending(10**9, "again"))
    assert found.status == "failed"
    assert len(found.events) < 1000


async def test_a_nested_plan_s_own_limit_of_depth_holds_inside_it() -> None:
    inner = read_plan(
        {"name": "inner", "limits": {"depth": 2}, "steps": [{"id": "s", "tool": "again", "inputs": {"n": 1}}]}
    )
    calls: list[int] = []

    @tool(name="again", effect="read")
    async def again(context: ToolContext, n: int) -> Any:
        calls.append(n)
        return await context.call("again", {"n": n + 1}, key="k")

    plan = {"limits": {"depth": 50}, "steps": [{"id": "a", "tool": "inner"}]}
    found = await run(plan, again, Tool(name="inner", effect="read", body=inner), identity("t"))
    assert (found.status, calls) == ("failed", [1, 2, 3])
