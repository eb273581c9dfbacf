"""One tenant's thousand runs that wait delay another's single one by a few runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.workers.worker_cases import Ground, until

from toolpath.config import load_settings
from toolpath.model.run import RunContext
from toolpath.providers.functions import tool

pytestmark = [pytest.mark.rabbitmq, pytest.mark.soak]
MANY = 1_200


def calling(who: str) -> dict[str, Any]:
    return {"name": who, "steps": [{"id": "one", "tool": "work.do", "inputs": {"who": who}}]}


@pytest.mark.parametrize("tenant_calls", [0, 2])
async def test_a_single_run_waits_for_a_few_of_the_many(ground: Ground, tenant_calls: int) -> None:
    ended: list[str] = []

    @tool(group="work", effect="read")
    async def do(who: str) -> str:
        """Take a moment.

        Args:
            who: For whom.
        """
        await asyncio.sleep(0.01)
        ended.append(who)
        return who

    ground.tools = (do,)
    ground.settings = load_settings(env={}, tenant_calls=tenant_calls)
    async with ground.door() as tp:
        for _ in range(MANY):
            await tp.start(calling("a"), context=RunContext(tenant="a"))
        async with ground.worker(concurrency=3), ground.worker(concurrency=3):
            await until(lambda: len(ended) > 20)
            before = len(ended)
            single = await tp.start(calling("b"), context=RunContext(tenant="b"))
            assert (await single.result()).success
            behind = ended.index("b") - before
            assert behind < 24, "it waited for the other tenant's runs"
            await until(lambda: len(ended) == MANY + 1, within=300)
