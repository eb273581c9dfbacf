"""What is of one tenant is for another one as if it were not there, on every route that there is."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
import pytest_asyncio
from tests.access.access_cases import Guarded, guarded
from tests.patience import PATIENCE
from tests.server.serving_cases import assert_problem

from toolpath import Toolpath, tool
from toolpath.model.events import encode_event
from toolpath.server.asgi import create_app
from toolpath.values import JsonObject
from toolpath.workspace.mcp_servers.checking import ServerDraft

#: Stands in everything that tenant acme has; nobody else may ever read it.
MARK = "acme-secret-7f3a"
PLAN: JsonObject = {
    "name": MARK,
    "inputs": {"type": "object", "properties": {"note": {"type": "string"}}},
    "steps": [
        {"id": "made", "tool": "notes.keep", "inputs": {"text": "{{ inputs.note }}"}},
        {"id": "paid", "tool": "notes.keep", "inputs": {"text": MARK}, "requires_approval": True},
        {"id": "form", "ask": {"title": MARK, "inputs": [{"name": "who"}]}},
    ],
}
TEMPLATE: JsonObject = {"name": MARK, "steps": [{"tool": "notes.keep", "inputs": {"text": f"{MARK} <<what>>"}}]}
#: What is sent where a body is needed: such as would be obeyed if it came from the owner.
BODIES: dict[str, JsonObject] = {
    "/plans": {"plan": {"steps": [{"tool": "notes.keep", "inputs": {"text": "x"}}]}, "request_id": "{request_id}"},
    "/plans/{plan_id}": {"plan": {"steps": []}},
    "/plans/{plan_id}/rollback": {"revision": 1},
    "/templates/{template_id}": {"title": "theirs"},
    "/templates/{template_id}/rollback": {"version": 1},
    "/templates/{template_id}/publish": {"channels": ["http"]},
    "/templates/{template_id}/runs": {"inputs": {"what": "x"}},
    "/schedules/{schedule_id}": {"paused": True},
    "/conversations/{conversation_id}": {"title": "theirs"},
    "/conversations/{conversation_id}/messages": {"text": "what was said before?", "template": "{template_id}"},
    "/conversations/{conversation_id}/template": {"title": "theirs"},
    "/models/{model_id}": {"base_url": "https://eve.example"},
    "/mcp-servers/import": {"mcpServers": {"theirs": {"url": "https://eve.example"}}},
    "/mcp-servers/{server}": {"url": "https://eve.example"},
    "/runs": {"plan_id": "{plan_id}"},
    "/runs/{run_id}/input": {"step": "form", "values": {"who": "eve"}},
    "/runs/{run_id}/settle": {"step": "made", "outcome": "failed"},
    "/runs/{run_id}/fork": {"inputs": {"note": "eve"}, "repeat_writes": True},
}
#: Routes that give nothing of a tenant, but what is the same for all.
SHARED = ("/health", "/ready", "/metrics", "/api/v1/tools")
API = "/api/v1"
#: Who asks may ask this with any credentials; the last forgets credentials, whatever they are worth.
WHO = {("get", f"{API}/session"), ("post", f"{API}/session"), ("delete", f"{API}/session")}


@tool(group="notes", effect="write")
def keep(text: str) -> dict[str, str]:
    """Keep a note."""
    return {"kept": text, "long": text * 2000}


def routes() -> list[tuple[str, str]]:
    """Every method and path that the service describes; read from the app, so that no new one is forgotten."""
    paths = create_app(Toolpath()).openapi()["paths"]
    found = [(method, path) for path, item in paths.items() for method in item]
    assert len(found) > 20
    return sorted(found)


ROUTES = routes()


class Acme:
    """What the tenant has: a plan, a run that waits for two people, and the names of all of it."""

    def __init__(self, door: Guarded, owner: dict[str, str], stranger: dict[str, str]) -> None:
        self.door = door
        self.owner = owner
        self.stranger = stranger
        self.names: dict[str, str] = {"step": "paid", "key": "notes.keep"}

    async def fill(self) -> None:
        client = self.door.client
        made = await client.post(f"{API}/plans", json={"plan": PLAN}, headers=self.owner)
        assert made.status_code == 201, made.text
        plan = made.json()
        begun = await client.post(
            f"{API}/runs", json={"plan_id": plan["plan_id"], "inputs": {"note": MARK}}, headers=self.owner
        )
        assert begun.status_code == 202, begun.text
        kept = await client.post(f"{API}/templates", json={"document": TEMPLATE}, headers=self.owner)
        self.names["template_id"] = kept.json()["template_id"]
        scheduled = {"template_id": self.names["template_id"], "inputs": {"what": MARK}, "cron": "0 0 1 1 *"}
        made = await client.post(f"{API}/schedules", json=scheduled, headers=self.owner)
        self.names["schedule_id"] = made.json()["schedule_id"]
        said = await client.post(f"{API}/conversations", json={"title": MARK}, headers=self.owner)
        assert said.status_code == 201, said.text
        kept_model = {"name": MARK, "model": "gpt-x", "base_url": "https://acme.example", "key": MARK}
        model = await client.post(f"{API}/models", json=kept_model, headers=self.owner)
        assert model.status_code == 201, model.text
        # MCP servers are the house's: their names are read by all, and changed by no tenant.
        await self.door.tp.mcp_servers.add(ServerDraft(name="docs", url="https://docs.example", enabled=False))
        self.names["server"] = "docs"
        routed = await client.post(
            f"{API}/tools/route", json={"request": f'notes.keep of the text "{MARK}"'}, headers=self.owner
        )
        self.names["route_id"] = routed.json()["route_id"]
        planned = await client.post(f"{API}/plans", json={"request": f'Keep the text "{MARK}"'}, headers=self.owner)
        assert planned.status_code == 201, planned.text
        plannings = await client.get(f"{API}/plannings", headers=self.owner)
        self.names["planning_id"] = plannings.json()["plannings"][0]["id"]
        sent = await client.post(f"{API}/files", files={"files": ("note.txt", MARK.encode())}, headers=self.owner)
        assert sent.status_code == 201, sent.text
        put = await client.put(
            f"{API}/runs/{begun.json()['run_id']}/files/note.txt", content=MARK.encode(), headers=self.owner
        )
        assert put.status_code == 201, put.text
        self.names |= {
            "conversation_id": said.json()["conversation_id"],
            "model_id": model.json()["model_id"],
            "upload_id": sent.json()["upload_id"],
            "name": "note.txt",
            "path": "note.txt",
        }
        self.names |= {"plan_id": plan["plan_id"], "request_id": plan["request_id"], "run_id": begun.json()["run_id"]}
        self.names["other_id"] = self.names["run_id"]
        async with asyncio.timeout(PATIENCE):
            async for event in self.door.tp.watch(self.names["run_id"]):
                if found := re.search(rb'"\$blob":"(sha256:[0-9a-f]{64})"', encode_event(event)):
                    self.names["digest"] = found[1].decode()

    async def ask(self, method: str, path: str, who: dict[str, str]) -> httpx.Response:
        """The route, asked with acme's names wherever it takes one."""
        wanted = set(re.findall(r"{(\w+)(?::path)?}", path))
        unknown = wanted - self.names.keys()
        assert not unknown, f"{path} takes {unknown}: say in Acme.names which of acme's things that is"
        url = path.format(**self.names)
        body: JsonObject | None = None
        if method in ("post", "put", "patch"):
            sent = BODIES.get(path.removeprefix(API), {})
            body = {key: value.format(**self.names) if isinstance(value, str) else value for key, value in sent.items()}
        params = {"q": "keep"} if path.endswith("search") else None
        request = self.door.client.build_request(method, url, json=body, headers=who, params=params)
        answer = await self.door.client.send(request, stream=True)
        try:
            if answer.headers.get("content-type", "").startswith("text/event-stream"):
                # It goes on until the run ends: how it begins is enough.
                answer._content = await anext(answer.aiter_raw())
            else:
                await answer.aread()
        finally:
            await answer.aclose()
            # Whoever asks next is nobody until it says who it is.
            self.door.client.cookies.clear()
        return answer


@asynccontextmanager
async def filled() -> AsyncIterator[Acme]:
    async with guarded(tools=(keep,), max_result_size=10_000) as door:
        owner = await door.key("*", tenant="acme", user="ada", permissions=("*",))
        stranger = await door.key("*", tenant="evil", user="eve", permissions=("*",))
        found = Acme(door, owner, stranger)
        await found.fill()
        yield found


@pytest.fixture
async def acme() -> AsyncIterator[Acme]:
    async with filled() as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def untouched() -> AsyncIterator[Acme]:
    """One for all that only look, or are refused, as whoever is of another tenant must be."""
    async with filled() as found:
        yield found


@pytest.mark.parametrize(("method", "path"), ROUTES, ids=str)
@pytest.mark.asyncio(loop_scope="module")
async def test_nothing_of_another_tenant_can_be_read_or_changed(method: str, path: str, untouched: Acme) -> None:
    tp, names = untouched.door.tp, untouched.names
    events = await tp.events(names["run_id"])
    plan = await tp.plans.get(names["plan_id"])
    answer = await untouched.ask(method, path, untouched.stranger)
    assert MARK not in answer.text
    assert answer.status_code < 500, answer.text
    if path.startswith((f"{API}/models", f"{API}/mcp-servers")) and answer.status_code == 403:
        # Models are kept by who runs the house; whose they are is not told.
        return
    theirs = {name for name in re.findall(r"{(\w+)", path) if name not in ("step", "key", "server")}
    if theirs or (method == "post" and "{" in str(BODIES.get(path.removeprefix(API), ""))):
        assert answer.status_code == 404, answer.text
    elif not path.startswith(SHARED):
        # A list of theirs; the names that they did not give must not be in it.
        known = ("run_id", "plan_id", "request_id", "template_id", "conversation_id", "model_id", "upload_id")
        assert not [name for name in known if names[name] in answer.text]
    assert await tp.events(names["run_id"]) == events
    assert await tp.plans.get(names["plan_id"]) == plan
    assert len(await tp.store.list_runs(tenant="acme")) == 1


@pytest.mark.parametrize(("method", "path"), [r for r in ROUTES if r[0] == "get"], ids=str)
@pytest.mark.asyncio(loop_scope="module")
async def test_the_same_question_of_the_owner_is_answered(method: str, path: str, untouched: Acme) -> None:
    answer = await untouched.ask(method, path, untouched.owner)
    # A conversation in which no turn goes on has none to show.
    assert answer.status_code in (200, 204), answer.text


@pytest.mark.parametrize(("method", "path"), ROUTES, ids=str)
@pytest.mark.asyncio(loop_scope="module")
async def test_every_route_asks_for_credentials_and_for_a_scope(method: str, path: str, untouched: Acme) -> None:
    if path in ("/health", "/ready"):
        assert (await untouched.ask(method, path, {})).status_code == 200
        return
    if (method, path) in WHO:
        assert (await untouched.ask(method, path, {})).status_code == (204 if method == "delete" else 401)
        return
    assert_problem(await untouched.ask(method, path, {}), 401, "unauthorized")
    scope = "answer" if method == "get" or path.endswith(("/check", "/dry-run")) else "read"
    too_little = await untouched.door.key(scope, tenant="acme", user="ada")
    assert_problem(await untouched.ask(method, path, too_little), 403, "scope")


async def test_a_credential_of_the_whole_house_sees_every_tenant(acme: Acme) -> None:
    house = await acme.door.key("read", all_tenants=True)
    answer = await acme.ask("get", f"{API}/runs/{{run_id}}", house)
    assert answer.status_code == 200
    assert MARK in answer.text


async def test_what_somebody_of_no_tenant_ran_of_a_tenants_plan_is_not_shown_with_it(acme: Acme) -> None:
    root = await acme.door.key("*", user="root", permissions=("*",), all_tenants=True)
    client, plan_id = acme.door.client, acme.names["plan_id"]
    begun = await client.post(f"{API}/runs", json={"plan_id": plan_id, "inputs": {"note": "of root"}}, headers=root)
    assert begun.status_code == 202, begun.text
    await acme.door.tp.result(begun.json()["run_id"])
    query = {"query": "query ($id: ID!) { plan(id: $id) { executionResults } }", "variables": {"id": plan_id}}
    told = await client.post("/graphql", json=query, headers=acme.owner)
    results = told.json()["data"]["plan"]["executionResults"]
    assert MARK in results
    assert "of root" not in results


async def test_statistics_of_tools_are_those_of_the_tenant_and_of_all_for_whoever_serves_all(acme: Acme) -> None:
    async def calls(who: dict[str, str]) -> dict[str, int]:
        answer = await acme.door.client.get(f"{API}/tools/stats", headers=who)
        assert answer.status_code == 200, answer.text
        return {row["key"]: row["calls"] for row in answer.json()["stats"]}

    body = {"inputs": {"text": "x"}}
    for who, times in ((acme.owner, 2), (acme.stranger, 1)):
        for _ in range(times):
            called = await acme.door.client.post(f"{API}/tools/notes.keep/call", json=body, headers=who)
            assert called.json()["success"], called.text
    before = acme.door.tp.stats()["notes.keep"].calls - 3
    assert await calls(acme.owner) == {"notes.keep": before + 2}
    assert await calls(acme.stranger) == {"notes.keep": 1}
    assert await calls(await acme.door.key("read")) == {}
    assert await calls(await acme.door.key("read", "admin")) == {"notes.keep": before + 3}
