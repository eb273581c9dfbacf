"""Long requests are planned beside what else a process does."""

from __future__ import annotations

import asyncio

import pytest
from tests.checks.commanded import SETS

from toolpath import Settings, Toolpath
from toolpath.planner.offline.planner import plan_offline
from toolpath.testing.scripted import scripted

TOOLS = [one for tools in SETS.values() for one in tools]
LONG = "Cancel " + ", ".join(f"B-{number}" for number in range(300)) + " and the rest"


@pytest.mark.parametrize("spare", [0, 60])
async def test_whoever_else_is_served_does_not_wait_for_a_long_request(spare: int) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with Toolpath(settings=Settings()) as tp:
        for one in TOOLS:
            tp.add(scripted(one.key, effect=one.effect, description=one.description, input_schema=one.input_schema))
        for number in range(spare):
            tp.add(scripted(f"spare.tool_{number}", effect="read", description=f"Read the gauge {number}."))
        catalog = await tp.tools()
        await tp.plan("Cancel booking BR-7", planner="offline")
        serving = asyncio.create_task(others())
        plan = await tp.plan(LONG, planner="offline")
        serving.cancel()
    assert turns > 50
    expected = plan_offline(LONG, catalog)
    assert plan.steps == expected.steps
    assert plan.questions == expected.questions
