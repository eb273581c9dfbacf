"""MCP servers over REST: our own routes, and those of the plan execution service."""

from __future__ import annotations

import json

import pytest
from tests.mcp_servers.server_cases import ARGS, COMMAND, NEAR, SECRET, over_http
from tests.server.rest_cases import api, settled
from tests.server.serving_cases import assert_problem, serving

from toolpath import Settings, Toolpath
from toolpath.access.caller import EVERYTHING, OPEN, Caller
from toolpath.server.asgi import create_app
from toolpath.values import JsonObject

pytestmark = pytest.mark.mcp
ADD: JsonObject = {"steps": [{"id": "sum", "tool": "probe.add", "inputs": {"a": 1, "b": 2}}], "outputs": "{{ sum }}"}
PROGRAM: JsonObject = {"name": "probe", "command": COMMAND, "args": ARGS, "env": {"PROBE_WORDS": SECRET}}


async def test_a_server_is_kept_used_by_a_run_changed_switched_off_and_forgotten() -> None:
    with over_http() as url:
        async with api(Toolpath(settings=NEAR)) as client:
            kept = {"name": "probe", "url": url, "headers": {"X-Token": SECRET}}
            made = await client.post("mcp-servers", json=kept)
            assert (made.status_code, made.json()["headers"]) == (201, {"X-Token": "********"}), made.text
            place = made.headers["location"].removeprefix("/api/v1/")
            assert_problem(await client.post("mcp-servers", json=kept), 409, "record_conflict")
            begun = await client.post("runs", json={"plan": ADD})
            assert (await settled(client, begun.json()["run_id"]))["outputs"] == {"sum": 3}
            changed = await client.put(place, json={"headers": {"X-Token": "********"}, "timeout": 7})
            assert (changed.json()["timeout"], changed.json()["revision"]) == (7, 2)
            assert_problem(await client.put(place, json={"timeout": 8, "expected": 1}), 409, "record_conflict")
            assert_problem(await client.put(place, json={"tiemout": 8}), 422, "invalid_request")
            assert_problem(await client.put(place, json={"url": "http://127.0.0.1:1/"}), 422, "schema")
            assert not (await client.post("mcp-servers/probe/disable")).json()["enabled"]
            assert_problem(await client.post("runs", json={"plan": ADD}), 422, "plan_invalid")
            assert (await client.post(f"{place}/enable")).json()["enabled"]
            for answer in (made, changed, await client.get("mcp-servers"), await client.get("audit")):
                assert SECRET not in answer.text
            assert (await client.delete(place)).status_code == 204
            assert_problem(await client.get(place), 404, "unknown_record")


async def test_a_program_is_kept_only_where_that_is_switched_on() -> None:
    many = {"mcpServers": {"probe": {key: PROGRAM[key] for key in ("command", "args", "env")}}}
    async with api(Toolpath()) as client:
        for path, body in (("mcp-servers", PROGRAM), ("mcp-servers/import", many)):
            refused = await client.post(path, json=body)
            assert "mcp_commands" in assert_problem(refused, 403, "policy")["hint"]
        assert (await client.get("mcp-servers")).json()["servers"] == []
    async with api(Toolpath(settings=Settings(mcp_commands=True))) as client:
        assert (await client.post("mcp-servers/import", json=many)).status_code == 201
        begun = await client.post("runs", json={"plan": ADD})
        assert (await settled(client, begun.json()["run_id"]))["outputs"] == {"sum": 3}


async def test_a_tenant_reads_names_and_changes_nothing() -> None:
    async with Toolpath() as tp:
        await tp.mcp_servers.import_all({"mcpServers": {"docs": {"url": "https://docs.example/mcp", "disabled": True}}})
        tenant = Caller(tenant="acme", user="ada", scopes=EVERYTHING)
        async with api(tp, caller=tenant) as client:
            (row,) = (await client.get("mcp-servers")).json()["servers"]
            assert row["name"] == "docs"
            assert "docs.example" not in json.dumps(row)
            for method, path in (
                ("PUT", "mcp-servers/docs"),
                ("DELETE", "mcp-servers/docs"),
                ("POST", "mcp-servers/docs/enable"),
                ("POST", "mcp-servers"),
            ):
                body = {"name": "new", "url": "https://a.example"} if method != "DELETE" else None
                assert_problem(await client.request(method, path, json=body), 403, "scope")
            assert [server.name for server in await tp.mcp_servers.list()] == ["docs"]


@pytest.mark.parametrize(
    "body",
    [
        {"name": "a", "url": "https://a.example", "headers": {"A": 1}},
        {"name": "a", "command": "x", "args": "y"},
        {"name": "a", "command": "x", "args": ["y"] * 1_001},
        {"name": "a" * 100_000, "command": "x"},
        {"name": "a", "command": "x\u0000"},
        {"name": "a", "timeout": 1e999, "url": "https://a.example"},
        {"name": None},
        {},
    ],
    ids=lambda body: str(body)[:40],
)
async def test_a_hostile_body_is_refused_and_nothing_is_kept(body: JsonObject) -> None:
    async with api(Toolpath(settings=Settings(mcp_commands=True))) as client:
        text = json.dumps(body)
        answer = await client.post("mcp-servers", content=text, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422), answer.text
        assert (await client.get("mcp-servers")).json()["servers"] == []


async def test_clients_of_the_plan_execution_service_keep_their_servers() -> None:
    on = Settings(http_allow=NEAR.http_allow, mcp_commands=True)
    with over_http() as url:
        async with serving(create_app(Toolpath(settings=on), caller=OPEN)) as client:
            said = {"mcpServerName": "web", "connectionType": "STREAMING", "url": url, "headers": {"X-Token": SECRET}}
            added = await client.post("/api/mcp/server", json={**said, "status": "ENABLE", "whatever": 1})
            assert (added.status_code, added.text) == (200, "MCP server added successfully")
            again = await client.post("/api/mcp/server", json=said)
            assert (again.status_code, again.json()["error"]) == (409, "MCP server with name 'web' already exists")
            config = {"mcpServers": {"probe": {key: PROGRAM[key] for key in ("command", "args", "env")}}}
            sent = await client.post("/api/mcp/batch-import", json={"configJson": json.dumps(config)})
            assert (sent.status_code, sent.text) == (200, "Successfully imported 1 MCP servers")
            listed = await client.get("/api/mcp/list")
            assert SECRET not in listed.text
            rows = {row["mcpServerName"]: row for row in listed.json()}
            assert {name: row["connectionType"] for name, row in rows.items()} == {
                "probe": "STUDIO",
                "web": "STREAMING",
            }
            tools = {row["key"] for row in (await client.get("/api/tools")).json()}
            assert {"probe.add", "web.add"} <= tools
            off = await client.post(f"/api/mcp/disable/{rows['probe']['id']}")
            assert (off.status_code, off.text) == (200, "MCP server disabled successfully")
            assert "probe.add" not in (await client.get("/api/tools")).text
            on_again = await client.post(f"/api/mcp/enable/{rows['probe']['id']}")
            assert on_again.text == "MCP server enabled successfully"
            update = {"id": rows["web"]["id"], "mcpServerName": "web", "url": url, "status": "DISABLE"}
            assert (await client.post("/api/mcp/server", json=update)).text == "MCP server updated successfully"
            assert (await client.post("/api/mcp/remove/web")).text == "MCP server removed successfully"
            gone = await client.get("/api/mcp/remove", params={"id": rows["probe"]["id"]})
            assert gone.text == "MCP server removed successfully"
            assert (await client.get("/api/mcp/list")).json() == []
            assert (await client.post("/api/mcp/remove/web")).status_code == 404


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"mcpServerName": "a", "command": "npx -y x"}, "only the executable name, not arguments"),
        ({"mcpServerName": "a", "connectionType": "SSE", "url": "https://a.example/sse"}, "SSE"),
        ({"mcpServerName": "a", "connectionType": "CARRIER", "url": "https://a.example"}, "no kind"),
        ({"mcpServerName": "a", "url": "https://a.example", "status": "maybe"}, "ENABLE or DISABLE"),
        ({"mcpServerName": "a", "url": "http://127.0.0.1/"}, "may not be reached"),
        ({"mcpServerName": {}, "command": "x"}, "cannot be read"),
        ({}, "cannot be called"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_is_wrong_is_said_in_that_services_form(body: JsonObject, why: str) -> None:
    async with serving(create_app(Toolpath(settings=Settings(mcp_commands=True)), caller=OPEN)) as client:
        answer = await client.post("/api/mcp/server", json=body)
        assert answer.status_code == 400
        assert why in answer.json()["error"]
        assert (await client.get("/api/mcp/list")).json() == []
