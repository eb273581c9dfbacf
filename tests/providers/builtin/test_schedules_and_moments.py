"""`schedules.*`, `time.now` and `util.uuid`: whose rights a schedule has, and values that stay as they were told."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import pytest

from toolpath import Toolpath
from toolpath.config import Settings
from toolpath.errors import ConfigError, ToolFailed
from toolpath.model.run import RunContext

PLAN = {"name": "wake", "steps": [{"id": "a", "tool": "shop.open"}]}


@pytest.fixture
async def tp() -> AsyncIterator[Toolpath]:
    async with Toolpath(settings=Settings(max_retries=0)) as door:
        door.add(lambda: "open", name="open", group="shop", effect="read")
        door.sources.add_source("builtin", {"schedules": {}, "time": {}, "util": {}})
        yield door


async def as_user(tp: Toolpath, name: str, tool: str, inputs: dict[str, Any]) -> Any:
    context = RunContext(name, tenant=f"{name}s", permissions=("order",))
    return await tp.call(f"schedules.{tool}", inputs, context=context)


async def test_a_schedule_runs_for_who_made_it_with_their_rights(tp: Toolpath):
    stored = await kept(tp, "anns")
    made = await as_user(tp, "ann", "create", {"plan_id": stored, "cron": "0 9 * * *", "time_zone": "Europe/Berlin"})
    schedule = await tp.schedules.get(made["schedule_id"])
    assert (schedule.user, schedule.tenant, schedule.permissions) == ("ann", "anns", ("order",))
    assert "permissions" not in made
    assert [row["schedule_id"] for row in (await as_user(tp, "ann", "list", {}))["schedules"]] == [schedule.schedule_id]
    which = {"schedule_id": schedule.schedule_id}
    assert (await as_user(tp, "ann", "pause", which))["paused"] is True
    assert (await as_user(tp, "ann", "show", which))["paused"] is True
    assert (await as_user(tp, "ann", "resume", which)).get("paused", False) is False
    # Nobody else's is seen or changed.
    assert (await as_user(tp, "bob", "list", {}))["schedules"] == []
    for verb in ("show", "pause", "resume", "delete"):
        with pytest.raises(ToolFailed, match="no schedule"):
            await as_user(tp, "bob", verb, which)
    with pytest.raises(ToolFailed, match="no plan"):
        await as_user(tp, "bob", "create", {"plan_id": stored, "cron": "0 9 * * *"})
    assert await as_user(tp, "ann", "delete", which) == {"deleted": schedule.schedule_id}
    assert (await as_user(tp, "ann", "list", {}))["schedules"] == []


async def kept(tp: Toolpath, tenant: str) -> str:
    stored = await tp.plans.add(PLAN, tenant=tenant)
    return str(stored.plan_id)


@pytest.mark.parametrize(
    "fields",
    [
        {"cron": "never"},
        {"cron": "0 0 31 2 *"},
        {"once": 1.0},
        {"cron": "0 9 * * *", "once": 4e9},
        {"cron": "0 9 * * *", "time_zone": "Europe/Nowhere"},
        {},
    ],
)
async def test_what_can_be_no_schedule_is_said(tp: Toolpath, fields: dict[str, Any]):
    stored = await kept(tp, "anns")
    with pytest.raises(ToolFailed) as caught:
        await as_user(tp, "ann", "create", {"plan_id": stored, **fields})
    assert caught.value.message
    assert (await as_user(tp, "ann", "list", {}))["schedules"] == []


async def test_what_writes_is_known_before(tp: Toolpath):
    tools = (await tp.tools()).tools
    assert {key: found.effect for key, found in tools.items() if key.startswith("schedules.")} == {
        "schedules.create": "write",
        "schedules.list": "read",
        "schedules.show": "read",
        "schedules.pause": "write",
        "schedules.resume": "write",
        "schedules.delete": "destructive",
    }
    with pytest.raises(ConfigError, match="no option"):
        Toolpath().sources.add_source("builtin", {"schedules": {"all": True}})


async def test_the_moment_and_a_new_id_stay_as_they_were_told(tp: Toolpath):
    plan = {
        "steps": [
            {"id": "now", "tool": "time.now", "inputs": {"time_zone": "Asia/Tokyo"}},
            {"id": "made", "tool": "util.uuid"},
        ],
        "outputs": {"now": "{{ now }}", "made": "{{ made.uuid }}"},
    }
    result = await tp.run(plan)
    now = result.outputs["now"]
    told = datetime.fromisoformat(now["iso"])
    assert told.utcoffset() is not None
    assert told.utcoffset().total_seconds() == 9 * 3600
    assert abs(told.timestamp() - now["unix"]) < 1
    assert now["weekday"] == told.strftime("%A")
    assert re.fullmatch(r"[0-9a-f-]{36}", result.outputs["made"])
    # A fork has what the run was told, however late it is.
    forked = await (await tp.fork(result.run_id)).result()
    assert forked.outputs == result.outputs
    for zone in ("Nowhere/At_all", "../../etc/passwd", "/etc/passwd", "x" * 90, "\0"):
        with pytest.raises(ToolFailed, match="no time zone"):
            await tp.call("time.now", {"time_zone": zone})
