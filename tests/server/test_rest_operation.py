"""Routes for those who look after the service: what goes on, search through runs, MCP servers, the audit trail."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.access.access_cases import guarded
from tests.server.rest_cases import GATED, SUM, Gate, api, begun, settled, tools, until_asked
from tests.server.serving_cases import assert_problem

from toolpath import Settings, Toolpath
from toolpath.model.run import RunInfo

OPERATION = "/api/v1/operation"
SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("clock")
@server.tool()
def now() -> str:
    "What time it is."
    return "noon"
server.run()
"""


async def test_what_goes_on_is_told_without_a_journal() -> None:
    gate = Gate()
    async with api(tools(Toolpath(), gate)) as client:
        for a in (1, 2):
            await settled(client, await begun(client, {"plan": SUM, "inputs": {"a": a}}))
        await settled(client, await begun(client, {"tool": "fail"}))
        await until_asked(client, await begun(client, {"plan": GATED}))
        held = await begun(client, {"tool": "hold"})
        await gate.entered.wait()
        found = (await client.get("operation", params={"seconds": 600})).json()
        assert found["open_runs"] == {"waiting": 1, "running": 1}
        assert found["questions"] == {"approval": 1}
        figures = found["throughput"]
        assert figures["statuses"] == {"completed": 2, "failed": 1, "waiting": 1, "running": 1}
        assert (figures["begun"], figures["ended"]) == (5, 3)
        assert 0 <= figures["median_duration"] <= figures["p95_duration"]
        assert sum(sum(period["runs"].values()) for period in figures["periods"]) == 5
        assert found["is_whole"]
        assert found["queue"] is None
        (worker,) = (await client.get("workers")).json()["workers"]
        assert worker["name"]
        assert [run["run_id"] for run in worker["runs"]] == [held]
        gate.open.set()
        await settled(client, held)


async def test_runs_are_found_by_text_tool_and_time() -> None:
    async with api() as client:
        added = await begun(client, {"plan": {**SUM, "name": "Quarterly"}, "inputs": {"a": 77123}})
        await settled(client, added)
        failed = await begun(client, {"tool": "fail", "inputs": {"why": 'no "Paper" left'}})
        await settled(client, failed)

        async def found(**wanted: object) -> list[str]:
            answer = await client.get("runs", params=wanted)
            assert answer.status_code == 200, answer.text
            assert answer.json()["next"] is None
            return [run["run_id"] for run in answer.json()["runs"]]

        assert await found(text="quarterLY") == [added]
        assert await found(text="77123") == [added]
        assert await found(text='NO "paper"') == [failed]
        assert await found(text=failed) == [failed]
        assert await found(tool="add") == [added]
        assert await found(tool="add", text="paper") == []
        assert await found(tool="fail", status="completed") == []
        assert await found(text="left", since=0, until=1) == []
        row = (await client.get(f"runs/{failed}")).json()
        assert await found(since=row["created_at"]) == [failed]
        assert await found(until=row["created_at"]) == [added]
        page = (await client.get("runs", params={"text": "run_", "limit": 1})).json()
        assert [run["run_id"] for run in page["runs"]] == [failed]
        page = (await client.get("runs", params={"text": "run_", "limit": 1, "before": page["next"]})).json()
        assert [run["run_id"] for run in page["runs"]] == [added]


async def test_a_search_goes_on_where_the_run_that_it_came_to_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolpath.server.run_search._PAGE", 1)
    tp = tools(Toolpath())
    async with api(tp) as client:
        first, second = [await begun(client, {"plan": SUM, "inputs": {"a": a}}) for a in (1, 2)]
        for run in (first, second):
            await settled(client, run)
        inside = tp.store.list_runs

        async def listed(**more: Any) -> list[RunInfo]:
            found = await inside(**more)
            if found and found[0].run_id == second:
                await tp.store.delete_runs([second])
            return found

        monkeypatch.setattr(tp.store, "list_runs", listed)
        answer = await client.get("runs", params={"tool": "add"})
        assert answer.status_code == 200, answer.text
        assert [run["run_id"] for run in answer.json()["runs"]] == [first]


async def test_an_mcp_server_says_which_tools_it_has_or_why_none(tmp_path: Path) -> None:
    script = tmp_path / "clock.py"
    async with api(tools(Toolpath(settings=Settings(mcp_commands=True)))) as client:
        words = {"name": "clock", "command": sys.executable, "args": [str(script)], "timeout": 60}
        made = await client.post("mcp-servers", json=words)
        assert made.status_code == 201, made.text
        found = (await client.get("mcp-servers/clock/tools")).json()
        assert found["tools"] == []
        assert "clock" in found["problem"]
        script.write_text(SERVER, encoding="utf-8")
        found = (await client.post("mcp-servers/clock/reload")).json()
        assert (found["problem"], [tool["key"] for tool in found["tools"]]) == ("", ["clock.now"])
        assert (await client.get("tools/clock.now")).json()["source"] == "mcp"
        assert (await client.get("tools/add")).json()["source"] == "program"
        await client.post("mcp-servers/clock/disable")
        found = (await client.get("mcp-servers/clock/tools")).json()
        assert (found["enabled"], found["tools"], found["problem"]) == (False, [], "")
        assert (await client.get("mcp-servers")).json()["commands"] is True


async def test_the_list_of_mcp_servers_says_whether_programs_may_be_added() -> None:
    async with api(tools(Toolpath())) as client:
        assert (await client.get("mcp-servers")).json()["commands"] is False
        words = {"name": "clock", "command": sys.executable, "args": []}
        assert (await client.post("mcp-servers", json=words)).status_code == 403


async def test_the_trail_is_read_from_its_end_and_verified_by_the_house() -> None:
    async with guarded() as door:
        tools(door.tp)
        client = door.client
        root = await door.key("*", user="root")
        for a in (1, 2):
            answer = await client.post("/api/v1/tools/add/call", json={"inputs": {"a": a, "b": 1}}, headers=root)
            assert answer.status_code == 200, answer.text
        everything = (await client.get("/api/v1/audit", headers=root)).json()["entries"]
        newest = (await client.get("/api/v1/audit", params={"newest": True, "limit": 1}, headers=root)).json()
        assert newest["entries"] == everything[-1:]
        more = {"newest": True, "before": newest["next"]}
        older = (await client.get("/api/v1/audit", params=more, headers=root)).json()
        assert older["entries"] == everything[-2::-1]
        verdict = (await client.post("/api/v1/audit/verify", headers=root)).json()
        assert (verdict["good"], verdict["entries"]) == (True, len(everything))
        acme = await door.key("*", tenant="acme")
        assert_problem(await client.post("/api/v1/audit/verify", headers=acme), 403, "scope")
        theirs = (await client.get("/api/v1/audit", params={"newest": True}, headers=acme)).json()
        assert theirs["entries"] == []


async def test_a_tenant_sees_its_own_runs_alone_and_no_names_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    # However many runs of others there are.
    monkeypatch.setattr("toolpath.server.rest.operation._DRIVEN", 1)
    async with guarded() as door:
        tools(door.tp, gate)
        crowd = await door.key("*", tenant="crowd")
        assert (await door.client.post("/api/v1/runs", json={"tool": "hold"}, headers=crowd)).status_code == 202
        await gate.entered.wait()
        gate.entered.clear()
        acme, other = await door.key("*", tenant="acme"), await door.key("*", tenant="other")
        answer = await door.client.post("/api/v1/runs", json={"tool": "hold"}, headers=acme)
        assert answer.status_code == 202, answer.text
        await gate.entered.wait()
        mine = (await door.client.get(OPERATION, headers=acme)).json()
        theirs = (await door.client.get(OPERATION, headers=other)).json()
        assert (mine["open_runs"], theirs["open_runs"]) == ({"running": 1}, {})
        assert theirs["throughput"]["begun"] == 0
        (worker,) = (await door.client.get("/api/v1/workers", headers=acme)).json()["workers"]
        assert (worker["name"], len(worker["runs"])) == ("", 1)
        assert (await door.client.get("/api/v1/workers", headers=other)).json()["workers"] == []
        gate.open.set()


async def test_a_schedule_says_when_it_is_due_next() -> None:
    async with api() as client:
        kept = (await client.post("plans", json={"plan": SUM})).json()["plan_id"]
        words = {"plan_id": kept, "inputs": {"a": 1}, "cron": "30 9 * * *", "time_zone": "Europe/Berlin"}
        made = await client.post("schedules", json={**words, "paused": True})
        assert made.status_code == 201, made.text
        upcoming = made.json()["upcoming"]
        assert len(upcoming) == 5
        assert all(later - earlier in (82_800, 86_400, 90_000) for earlier, later in pairwise(upcoming))
