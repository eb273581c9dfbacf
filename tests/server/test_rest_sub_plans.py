"""Plans inside a run over REST and in the plan execution service: each by an id of its own."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

from tests.engine.test_sub_plans import WHOLE, Gate, with_tools
from tests.patience import PATIENCE
from tests.server.rest_cases import api, begun, settled, stream_of
from tests.server.serving_cases import assert_problem

from toolpath import Toolpath


async def test_a_plan_inside_a_run_has_all_that_a_run_has() -> None:
    gate, tp = Gate(), Toolpath()
    with_tools(tp, gate)
    async with api(tp) as client:
        run_id = await begun(client, {"plan": WHOLE})
        await asyncio.wait_for(gate.entered.wait(), PATIENCE)
        plans = (await client.get(f"runs/{run_id}/plans")).json()["plans"]
        assert [(plan["plan_id"], plan["parent"]) for plan in plans] == [
            (f"{run_id}:sub", run_id),
            (f"{run_id}:sub:within", f"{run_id}:sub"),
        ]
        inner = quote(plans[1]["plan_id"])
        shown = (await client.get(f"runs/{inner}")).json()
        assert (shown["status"], shown["run_id"]) == ("running", plans[1]["plan_id"])
        assert shown["sub_plan"]["call"] == "sub/within"
        details = (await client.get(str(client.base_url.join(f"/api/executor/details/{inner}")))).json()
        assert (details["currentPlanId"], details["rootPlanId"]) == (plans[1]["plan_id"], run_id)
        assert (details["parentPlanId"], details["toolCallId"]) == (f"{run_id}:sub", "sub/within")
        assert details["parentActToolCall"]["name"] == "plans.inner"
        # What has begun nothing yet answers, too.
        assert (
            await client.get(str(client.base_url.join(f"/api/executor/details/{run_id}:sub:within:held")))
        ).status_code == 200
        assert (await client.post(f"runs/{inner}/cancel", json={"reason": "enough"})).status_code == 202
        whole = await settled(client, run_id)
        assert whole["status"] == "failed"
        assert gate.cut_off
        page = (await client.get(f"runs/{inner}/events", params={"follow": False})).json()
        assert {event["path"] for event in page["events"]} == {"sub/within", "sub/within/first", "sub/within/held"}
        streamed = [data async for name, _, data in stream_of(client, inner) if name == "message"]
        assert len(streamed) == len(page["events"])
        ended = (await client.get(f"runs/{inner}")).json()
        assert (ended["status"], ended["error"]["code"]) == ("failed", "cancelled")
        assert_problem(await client.post(f"runs/{inner}/cancel"), 409, "run_conflict")
        for wrong in ("sub:nothing", "%2e%2e", "sub%5B"):
            assert_problem(await client.get(f"runs/{run_id}:{wrong}"), 404, "unknown_run")
        assert_problem(await client.get("runs/run_none:sub"), 404, "unknown_run")
