"""What the runs of one tenant hold together is bounded: the large ones fail when they ask for more, no others."""

from __future__ import annotations

import asyncio
from typing import Any

from toolpath import Plan, RunContext, RunResult, Settings, Toolpath
from toolpath.catalog.snapshot import Catalog
from toolpath.engine.compile.program import Program
from toolpath.engine.drive.tenant_bytes import RunBeside, TenantBytes
from toolpath.engine.state.state import State

PLAN = {
    "flow": "chain",
    "inputs": {"properties": {"x": {"type": "string"}}},
    "steps": [
        {"tool": "stand", "inputs": {"x": "{{ inputs.x }}"}},
        {"tool": "echo", "inputs": {"x": "end"}},
    ],
}


async def together(sizes: list[tuple[str, int]], **settings: Any) -> list[RunResult]:
    """What comes of runs of these tenants with inputs of these sizes, all of which are under way before one goes on."""
    begun, all_begun = 0, asyncio.Event()

    async def stand(x: str) -> str:
        """Wait for the others."""
        nonlocal begun
        begun += 1
        if begun == len(sizes):
            all_begun.set()
        await all_begun.wait()
        return "stood"

    def echo(x: Any = None) -> Any:
        """Give it back."""
        return x

    async with Toolpath(settings=Settings(**settings)) as tp:
        tp.add(stand, echo, effect="read")
        runs = [tp.run(PLAN, {"x": "x" * size}, context=RunContext(tenant=tenant)) for tenant, size in sizes]
        return list(await asyncio.gather(*runs))


async def test_the_large_runs_of_a_tenant_fail_and_not_its_small_ones_nor_those_of_others() -> None:
    large, small, other = ("a", 400_000), ("a", 1_000), ("b", 400_000)
    # A run holds its inputs, and the argument with them in it.
    found = await together([large, large, small, small, other], max_tenant_bytes=1_000_000)
    assert [result.success for result in found[2:]] == [True] * 3
    failed = [result for result in found[:2] if not result.success]
    assert failed
    assert failed[0].reason == "budget"
    assert failed[0].error is not None
    assert "tenant_bytes" in failed[0].error.message
    assert "max_tenant_bytes" in failed[0].error.hint


async def test_no_run_fails_where_all_hold_no_more_than_they_may() -> None:
    assert all(result.success for result in await together([("a", 40_000)] * 10, max_tenant_bytes=1_000_000))


async def test_runs_one_after_another_hold_nothing_together() -> None:
    for _ in range(5):
        assert (await together([("a", 400_000)], max_tenant_bytes=1_000_000))[0].success


async def test_without_a_limit_nothing_is_counted() -> None:
    assert all(result.success for result in await together([("a", 400_000)] * 4, max_tenant_bytes=0))


def test_many_that_are_alike_cannot_hide_behind_a_larger_one() -> None:
    held = TenantBytes(1_000)
    state = State(Program(Plan(), Catalog({}), Settings()))
    large, *alike = [RunBeside(held, state) for _ in range(10)]
    assert not large.is_too_much(900)
    found = [run.is_too_much(100) for run in alike]
    # The large one asks for nothing: from the tenth on, a tenth is as much as each may hold.
    assert found == [False] * 8 + [True]
    for run in [*alike, large, large]:
        run.let_go()
    assert held.held("") == 0
    assert not RunBeside(held, state).is_too_much(900)
