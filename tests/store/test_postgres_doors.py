"""What those who ask a server are told while PostgreSQL or the broker is away, and what goes on behind it."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.access.access_cases import guarded
from tests.patience import PATIENCE
from tests.server.rest_cases import Gate, add
from tests.server.serving_cases import assert_problem, serving
from tests.store.breakable import relayed
from tests.store.store_cases import emptied
from tests.workers.worker_cases import URL, queue_name, until

from toolpath import Toolpath, tool
from toolpath.queues.rabbitmq import RabbitQueue
from toolpath.server.asgi import create_app

#: Seconds for which a run waits for its store: many times as long as a request does, however busy the machine.
LASTING = 10 * PATIENCE


@pytest.fixture
async def schema(own_schema: str) -> str:
    await emptied(own_schema)
    return own_schema


async def refused_quickly(asked: Any) -> httpx.Response:
    answer: httpx.Response = await asyncio.wait_for(asked, PATIENCE)
    assert_problem(answer, 503, "store")
    assert int(answer.headers["retry-after"]) >= 1
    return answer


@pytest.mark.postgres
@pytest.mark.parametrize("silent", [False, True], ids=["refuses", "says nothing"])
async def test_requests_are_refused_quickly_while_the_database_is_away_and_runs_go_on(
    schema: str, silent: bool
) -> None:
    gate = Gate()

    @tool(effect="read", timeout="5m")
    async def hold() -> str:
        """Wait for the test."""
        return await gate.hold()

    async with relayed() as relay, guarded(relay.url(schema, patience=LASTING), tools=[hold, add]) as door:
        assert (await door.client.get("/health")).status_code == 200
        key = await door.key("*", permissions=("*",))
        plan = {"flow": "chain", "steps": [{"tool": "hold"}, {"tool": "add", "inputs": {"a": 1, "b": 2}}]}
        body = {"plan": plan, "idempotency_key": "once"}
        run_id = (await door.client.post("/api/v1/runs", json=body, headers=key)).json()["run_id"]
        await gate.entered.wait()
        where = f"/api/v1/runs/{run_id}"
        if silent:
            relay.deaf = True
        else:
            await relay.cut()
        gate.open.set()
        paths = [where, "/api/v1/runs", f"{where}/events?follow=false", "/api/v1/plans", "/ready"]
        asked = [door.client.get(path, headers=key) for path in paths]
        told = [door.client.post(f"{where}/{verb}", headers=key) for verb in ("pause", "retry", "cancel")]
        begun = door.client.post("/api/v1/runs", json={**body, "idempotency_key": "two"}, headers=key)
        await asyncio.gather(*(refused_quickly(request) for request in (*asked, *told, begun)))
        assert (await door.client.get("/health")).status_code == 200
        relay.deaf = False
        if silent:
            # As a router that comes back: what was said meanwhile is lost with its connections.
            await relay.cut()
        await relay.open()
        async with asyncio.timeout(PATIENCE):
            result = await door.tp.result(run_id)
        assert result.status == "completed"
        again = await door.client.post("/api/v1/runs", json=body, headers=key)
        assert again.json().get("run_id") == run_id, again.text
        await answered(door.client, 200)


@pytest.mark.rabbitmq
async def test_a_server_without_its_broker_is_not_ready_and_is_again_when_it_is_back() -> None:
    target = urlsplit(URL)
    async with queue_name() as name, relayed((target.hostname or "127.0.0.1", target.port or 5672)) as relay:
        address = URL.replace(target.netloc.rpartition("@")[2], f"127.0.0.1:{relay.port}")
        async with serving(create_app(Toolpath(queue=RabbitQueue(address, name=name)))) as client:
            assert (await client.get("/ready")).json()["parts"][1] == {"name": "queue", "detail": "0 waiting"}
            await relay.cut()
            refused = await answered(client, 503)
            assert_problem(refused, 503, "queue")
            assert int(refused.headers["retry-after"]) >= 1
            assert str(relay.port) not in refused.text
            assert (await client.get("/health")).status_code == 200
            await relay.open()
            assert (await answered(client, 200)).json()["status"] == "ok"


async def answered(client: httpx.AsyncClient, status: int) -> httpx.Response:
    """What `/ready` says as soon as it says this; what it found holds for a second."""
    answers: list[httpx.Response] = []

    async def said() -> bool:
        answers.append(await client.get("/ready"))
        return answers[-1].status_code == status

    await until(said)
    return answers[-1]
