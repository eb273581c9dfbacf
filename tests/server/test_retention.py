"""A server that runs for long lets go of what is old enough, by its clock."""

from __future__ import annotations

import asyncio

from tests.patience import PATIENCE
from tests.server.rest_cases import ASKING, SUM, begun, settled, tools
from tests.server.serving_cases import serving

from toolpath import Settings, Toolpath
from toolpath.runs.retention import EVERY
from toolpath.server.asgi import create_app
from toolpath.testing.clock import FakeClock

DAY = 86_400.0


async def test_a_server_deletes_what_ended_long_ago_while_it_runs_and_writes_that_down() -> None:
    clock = FakeClock(patience=0)
    tp = tools(Toolpath(settings=Settings(retention_days=1), clock=clock))
    async with serving(create_app(tp)) as client:
        client.base_url = client.base_url.join("/api/v1/")
        old = await begun(client, {"plan": SUM, "inputs": {"a": 1}})
        await settled(client, old)
        waiting = await begun(client, {"plan": ASKING})
        for _ in range(int(DAY / EVERY)):
            await clock.advance(EVERY)
        young = await begun(client, {"plan": SUM, "inputs": {"a": 2}})
        await settled(client, young)
        await clock.advance(EVERY)
        async with asyncio.timeout(PATIENCE):
            while (await client.get(f"runs/{old}")).status_code != 404:  # noqa: ASYNC110  # nobody is told of it
                await asyncio.sleep(0)
        left = [run["run_id"] for run in (await client.get("runs")).json()["runs"]]
        assert left == [young, waiting]
        told = [entry for entry in await tp.trail.entries() if entry.action == "run.delete"]
        assert [(entry.subject, entry.data["because"]) for entry in told] == [(old, "retention")]
