"""Schedules over REST, and a server that runs them."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from tests.patience import PATIENCE
from tests.server.rest_cases import SUM, api, settled, tools
from tests.server.serving_cases import assert_problem

from toolpath import Toolpath
from toolpath.access.caller import EVERYTHING, Caller
from toolpath.values import JsonObject

YEARLY: JsonObject = {"template_id": "Sum", "inputs": {"a": 2}, "cron": "0 0 1 1 *", "time_zone": "Europe/Berlin"}


async def test_a_schedule_is_kept_changed_run_by_hand_and_forgotten() -> None:
    async with api() as client:
        await client.post("templates", json={"document": {**SUM, "name": "Sum"}})
        made = await client.post("schedules", json=YEARLY)
        assert made.status_code == 201
        place = made.headers["location"].removeprefix("/api/v1/")
        assert (made.json()["title"], made.json()["overlap"], made.json()["missed"]) == ("Sum", "skip", "last")
        assert made.json()["next_at"] > made.json()["created_at"]
        paused = await client.put(place, json={"paused": True, "expected": made.json()["revision"]})
        assert (paused.json()["paused"], paused.json()["next_at"]) == (True, None)
        assert_problem(
            await client.put(place, json={"paused": False, "expected": made.json()["revision"]}), 409, "record_conflict"
        )
        begun = await client.post(f"{place}/run")
        assert begun.status_code == 202
        assert (await settled(client, begun.json()["run_id"]))["outputs"] == 4
        (tick,) = (await client.get(place)).json()["ticks"]
        assert (tick["run_id"], tick["by_hand"]) == (begun.json()["run_id"], True)
        assert [each["schedule_id"] for each in (await client.get("schedules")).json()["schedules"]] == [
            made.json()["schedule_id"]
        ]
        assert (await client.delete(place)).status_code == 204
        assert_problem(await client.get(place), 404, "unknown_record")


async def begun_by_itself(client: httpx.AsyncClient) -> list[JsonObject]:
    """The runs, as soon as there is one."""
    while not (found := (await client.get("runs")).json()["runs"]):  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    return list(found)


async def test_a_server_begins_what_is_due() -> None:
    tp = tools(Toolpath())
    async with api(tp) as client:
        await client.post("templates", json={"document": {**SUM, "name": "Sum"}})
        made = (await client.post("schedules", json={**YEARLY, "cron": "* * * * * *"})).json()
        async with asyncio.timeout(PATIENCE):
            found = await begun_by_itself(client)
        assert found[0]["plan_id"] == made["template_id"]
        assert (await settled(client, found[0]["run_id"]))["outputs"] == 4


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "schema"),
        ({**YEARLY, "cron": "often"}, 422, "schema"),
        ({**YEARLY, "time_zone": "Mars"}, 422, "schema"),
        ({**YEARLY, "template_id": "Some"}, 404, "unknown_record"),
        ({**YEARLY, "inputs": {}}, 422, "plan_invalid"),
        ({**YEARLY, "crno": ""}, 422, "invalid_request"),
        ({**YEARLY, "overlap": "sometimes"}, 422, "invalid_request"),
        ({**YEARLY, "once": -1}, 422, "invalid_request"),
        ({**YEARLY, "once": 1e300}, 422, "invalid_request"),
    ],
)
async def test_what_can_be_no_schedule_is_refused(body: JsonObject, status: int, code: str) -> None:
    async with api() as client:
        await client.post("templates", json={"document": {**SUM, "name": "Sum"}})
        assert_problem(await client.post("schedules", json=body), status, code)
        assert (await client.get("schedules")).json()["schedules"] == []


async def test_a_schedule_runs_with_the_permissions_of_who_saved_it_and_no_others() -> None:
    tp = tools(Toolpath())
    weak = Caller(user="eve", permissions=frozenset({"little"}), scopes=EVERYTHING)
    async with api(tp, caller=weak) as client:
        await client.post("templates", json={"document": {**SUM, "name": "Sum"}})
        made = (await client.post("schedules", json=YEARLY)).json()
        kept = await tp.schedules.get(made["schedule_id"])
        assert (kept.user, kept.permissions) == ("eve", ("little",))
