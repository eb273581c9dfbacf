"""What a tenant publishes as tools is there for all that it runs, and nowhere else, whatever door is asked."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.access.access_cases import Guarded, guarded
from tests.patience import PATIENCE
from tests.store.store_cases import dropped, postgres_url
from tests.workers.worker_cases import Ground, queue_name

from toolpath import Tool, Toolpath, tool
from toolpath.errors import PlanInvalid, SchemaError, ToolNotFound
from toolpath.model.record import Record
from toolpath.model.run import RunContext
from toolpath.model.template import PlanTemplate
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.scripted_model import ScriptedModel, done
from toolpath.values import JsonObject
from toolpath.workspace.templates import TemplateDraft

API = "/api/v1"
#: Stands in all that acme publishes; nobody else may ever read it.
MARK = "Zanzibar"
KEY = f"desk.{MARK}"


@tool(group="talk", effect="read")
async def say(text: str) -> str:
    """Say a text."""
    return text


def says(text: str) -> JsonObject:
    return {
        "description": f"{text}: answer the letters of clients.",
        "steps": [{"id": "said", "tool": "talk.say", "inputs": {"text": f"{text} <<who>>"}}],
        "outputs": "{{ said }}",
    }


def calls(name: str, **inputs: Any) -> JsonObject:
    return {"steps": [{"id": "c", "tool": name, "inputs": inputs or {"who": "Bo"}}], "outputs": "{{ c }}"}


async def published(
    tp: Toolpath, text: str, title: str, tenant: str, *channels: str, template: PlanTemplate | None = None
) -> PlanTemplate:
    kept = await tp.templates.save(
        says(text), TemplateDraft(title=title, group="desk"), tenant=tenant, user="ada", template=template
    )
    return await tp.templates.publish(kept, channels or ("tool",))


class Desk:
    """A server with two tenants that have published, one that has not, and the house's own key."""

    def __init__(self, door: Guarded, model: ScriptedModel, keys: dict[str, dict[str, str]]) -> None:
        self.tp = door.tp
        self.http = door.client
        self.model = model
        self.keys = keys

    async def post(self, who: str, path: str, body: JsonObject) -> httpx.Response:
        return await self.http.post(path, json=body, headers=self.keys[who])

    async def get(self, who: str, path: str, **params: Any) -> httpx.Response:
        return await self.http.get(path, params=params, headers=self.keys[who])

    @asynccontextmanager
    async def mcp(self, who: str) -> AsyncIterator[Any]:
        async with (
            httpx.AsyncClient(headers=self.keys[who], timeout=PATIENCE) as http,
            Client(streamable_http_client(f"{self.http.base_url}/mcp", http_client=http)) as client,
        ):
            yield client

    async def graphql(self, who: str, query: str, **values: Any) -> Any:
        return (await self.post(who, "/graphql", {"query": query, "variables": values})).json()

    async def told(self, who: str) -> dict[str, str]:
        """What every door tells this caller when it is asked for tools, in all ways there are."""
        found: dict[str, str] = {}
        near = f"desk.{MARK[:-1]}"
        for name, path, params in (
            ("list", f"{API}/tools", {}),
            ("group", f"{API}/tools", {"group": "desk"}),
            ("search", f"{API}/tools/search", {"q": "answer the letters of clients", "limit": 100}),
            ("stats", f"{API}/tools/stats", {}),
            ("show", f"{API}/tools/{KEY.replace(MARK, MARK[1:])}", {}),
            ("templates", f"{API}/templates", {}),
            ("lynxe", "/api/tools", {}),
            ("models", "/v1/models", {}),
        ):
            found[name] = (await self.get(who, path, **params)).text
        for name, path, body in (
            ("check", f"{API}/plans/check", {"plan": calls(near)}),
            ("call", f"{API}/tools/{near}/call", {"inputs": {"who": "Bo"}}),
            ("run", f"{API}/runs", {"tool": near, "inputs": {"who": "Bo"}}),
            ("plan run", f"{API}/runs", {"plan": calls(near)}),
            ("planned", f"{API}/plans", {"request": "answer the letters of clients", "planner": "offline"}),
            ("agent", f"{API}/runs", {"plan": {"steps": [{"agent": {"requirement": "x", "tools": [near]}}]}}),
        ):
            found[name] = (await self.post(who, path, body)).text
        available = "{ getAvailableTools { name description } }"
        found["graphql"] = json.dumps(await self.graphql(who, available))
        async with self.mcp(who) as client:
            found["mcp"] = (await client.list_tools()).model_dump_json()
            for name, given in (
                ("search_tools", {"query": "answer the letters of clients"}),
                ("check_plan", {"plan": calls(near)}),
                ("plan", {"request": "answer the letters of clients", "planner": "offline"}),
            ):
                found[f"mcp {name}"] = (await client.call_tool(name, given)).model_dump_json()
        # An agent with no tools named is offered all that there are; so is whoever talks.
        before = len(self.model.requests)
        body = {"model": "toolpath", "messages": [{"role": "user", "content": "Who is there?"}]}
        found["openai"] = (await self.post(who, "/v1/chat/completions", body)).text
        thread = (await self.post(who, f"{API}/conversations", {})).json()["conversation_id"]
        turn = await self.post(who, f"{API}/conversations/{thread}/messages", {"text": "Who is there?"})
        found["chat"] = turn.text
        found["offered"] = repr(self.model.requests[before:])
        assert len(self.model.requests) == before + 2
        return found


@asynccontextmanager
async def desk(store: Any = None, **more: Any) -> AsyncIterator[Desk]:
    model = ScriptedModel(then="Nobody.")
    async with guarded(store, tools=[say], chat=model, **more) as door:
        # The store is open as soon as the server answers.
        await door.client.get("/health")
        keys = {who: await door.key(tenant=who, user="ada", permissions=("*",)) for who in ("acme", "beta", "none", "")}
        yield Desk(door, model, keys)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "desk.db")
        return
    schema = f"tenant_tools_{os.getpid()}"
    await dropped(schema)
    yield postgres_url(schema)
    await dropped(schema)


async def test_every_door_has_them_for_their_tenant_and_none_for_another(store: str) -> None:
    async with desk(store) as there:
        before = {who: await there.told(who) for who in ("beta", "none", "")}
        await published(there.tp, f"{MARK} acme", MARK, "acme", "tool", "mcp")
        theirs = await there.told("acme")
        for name in theirs.keys() - {"models", "openai", "chat", "stats"}:
            assert MARK in theirs[name], name
        assert (await there.get("acme", f"{API}/tools/{KEY}")).json()["source"] == "templates"
        for who, told in before.items():
            again = await there.told(who)
            assert MARK not in json.dumps(again), [name for name in again if MARK in again[name]]
            # Not a count, not a suggestion, not a problem more than before.
            for name in ("list", "group", "search", "lynxe", "graphql", "mcp", "mcp search_tools"):
                assert again[name] == told[name], (who, name)
            assert (await there.post(who, f"{API}/tools/{KEY}/call", {"inputs": {"who": "Bo"}})).status_code == 404
            refused = await there.post(who, f"{API}/runs", {"plan": calls(KEY)})
            assert refused.status_code == 422, refused.text
            async with there.mcp(who) as client:
                given = await client.call_tool("run_plan", {"plan": calls(KEY)})
                assert given.is_error
                assert "unknown_tool" in given.model_dump_json()
        # Two tenants have tools of the same name, which do not know of each other; the house none.
        await published(there.tp, "beta", MARK, "beta")
        for who, said in (("acme", f"{MARK} acme Bo"), ("beta", "beta Bo")):
            called = (await there.post(who, f"{API}/tools/{KEY}/call", {"inputs": {"who": "Bo"}})).json()
            assert called["output"] == said
            # By its bare name, from one document whose plan is kept as it was compiled, too.
            ran = await there.post(who, f"{API}/runs?wait=60", {"tool": MARK, "inputs": {"who": "Bo"}})
            result = await there.tp.result(ran.json()["run_id"])
            assert (result.status, result.outputs) == ("completed", said)
        statistics = (await there.get("", f"{API}/tools/stats")).text
        assert MARK not in statistics


class Slow(MemoryStore):
    """A store whose lists of templates are read when the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.goes_on = asyncio.Event(), asyncio.Event()
        self.goes_on.set()

    async def list_records(self, kind: str, **more: Any) -> list[Record]:
        if kind == "template":
            self.asked.set()
            await self.goes_on.wait()
        return await super().list_records(kind, **more)


async def test_a_tenant_s_tools_are_known_while_they_are_listed_again() -> None:
    store = Slow()
    async with Toolpath(store) as tp:
        tp.add(say)
        await published(tp, "one", "one", "acme")
        assert "desk.one" in await tp.tools(tenant="acme")
        await published(tp, "two", "two", "acme")
        store.asked.clear()
        store.goes_on.clear()
        listing = asyncio.create_task(tp.tools(tenant="acme"))
        await store.asked.wait()
        assert "desk.one" in tp.known_tools(tenant="acme")
        store.goes_on.set()
        assert {"desk.one", "desk.two"} <= set(await listing)


async def test_one_plan_means_each_tenant_s_own_tool(store: str) -> None:
    async with Toolpath(store) as tp:
        tp.add(say)
        for who in ("acme", "beta"):
            await published(tp, who, "Greet", who)
        plan = tp.read(calls("desk.Greet"))
        for _ in range(2):
            for who in ("acme", "beta"):
                assert (await tp.run(plan, context=RunContext(tenant=who))).outputs == f"{who} Bo"
            with pytest.raises(PlanInvalid, match="unknown_tool"):
                await tp.run(plan)
        assert (await tp.tools()).keys() == {"talk.say"}
        assert (await tp.tools(tenant="acme")).keys() == {"talk.say", "desk.Greet"}
        # What is planned, routed and found for a tenant.
        planned = await tp.planning.plan("Greet who Bo", tools=["desk.Greet"], planner="offline", tenant="acme")
        assert [step.tool for step in planned.plan.steps] == ["desk.Greet"]  # type: ignore[union-attr]
        with pytest.raises(ToolNotFound) as caught:
            await tp.planning.plan("Greet who Bo", tools=["desk.Gree"], planner="offline", tenant="none")
        assert caught.value.suggestions == ()
        # A template calls another one of its tenant; none reaches that of another tenant.
        around = await tp.templates.save(
            calls("desk.Greet"), TemplateDraft(title="Around", group="desk"), tenant="acme"
        )
        await tp.templates.publish(around, ["tool"])
        assert (await tp.run(calls("desk.Around", who="x"), context=RunContext(tenant="acme"))).status == "completed"
        for tenant in ("", "none"):
            stolen = await tp.templates.save(
                calls("desk.Greet"), TemplateDraft(title="Stolen", group="desk"), tenant=tenant
            )
            with pytest.raises(PlanInvalid, match="unknown_tool"):
                await tp.templates.publish(stolen, ["tool"])
        # A circle is found within the tenant.
        greet = await tp.templates.get("desk.Greet", tenant="acme")
        round_ = await tp.templates.save(calls("desk.Around"), template=greet)
        with pytest.raises(PlanInvalid, match="calls itself"):
            await tp.templates.publish(round_, ["tool"])


async def test_a_tenant_s_tool_takes_no_name_of_the_house(tmp_path: Path) -> None:
    composite = Tool(
        name="wrapped",
        group="house",
        body=Toolpath().read(calls("lost", text="a secret of the house")),
        input_schema={"type": "object"},
    )
    async with Toolpath(tmp_path / "t.db") as tp:
        tp.add(say, composite)
        tp.add_mcp("git", command="no-such-command")
        for title, group in (("say", "talk"), ("clone", "git"), ("list", "toolpath-templates")):
            kept = await tp.templates.save(says("x"), TemplateDraft(title=title, group=group), tenant="acme")
            with pytest.raises(SchemaError, match="There is already a tool"):
                await tp.templates.publish(kept, ["tool"])
        # A bare name that means a tool of the house goes on meaning it, and one that a tool of the house has in vain
        # is nobody's to give it.
        for title in ("say", "lost"):
            await published(tp, "stolen", title, "acme")
        context = RunContext(tenant="acme")
        assert (await tp.run(calls("say", text="mine"), context=context)).outputs == "mine"
        assert (await tp.run(calls("desk.say"), context=context)).outputs == "stolen Bo"
        with pytest.raises(PlanInvalid, match="lost"):
            await tp.run(calls("house.wrapped"), context=context)
        # What the house adds later wins, and the tenant is told why its own is gone; the house hears of no tenant.
        house = await published(tp, "house", "Later", "")
        assert (await tp.run(calls("desk.Later"), context=context)).outputs == "house Bo"
        await tp.templates.withdraw(house)
        await published(tp, "theirs", "Later", "acme")
        assert (await tp.run(calls("desk.Later"), context=context)).outputs == "theirs Bo"
        await published(tp, "house", "Later", "", template=await tp.templates.get("desk.Later", tenant=""))
        assert (await tp.run(calls("desk.Later"), context=context)).outputs == "house Bo"
        assert "desk.Later" in (await tp.tools(tenant="acme")).problems
        assert "desk.Later" not in (await tp.tools()).problems
        assert "desk.Later" not in (await tp.tools(tenant="beta")).problems


async def test_what_a_run_began_with_stays_its_own_in_any_process(store: str) -> None:
    waiting = {
        "steps": [
            {"id": "form", "ask": {"title": "Whom?", "inputs": [{"name": "who"}]}},
            {"id": "c", "tool": "desk.Greet", "inputs": {"who": "{{ form.who }}"}},
        ],
        "outputs": "{{ c }}",
    }
    acme = RunContext(tenant="acme")
    async with Toolpath(store) as tp:
        tp.add(say)
        first = await published(tp, "first", "Greet", "acme")
        await published(tp, "beta", "Greet", "beta")
        runs = [(await tp.run(waiting, context=acme)).run_id for _ in range(3)]
        await tp.answer(runs[0], "form", {"who": "Bo"})
        assert (await tp.result(runs[0])).outputs == "first Bo"
        second = await published(tp, "second", "Greet", "acme", template=first)
    async with Toolpath(store) as other:
        other.add(say)
        await other.answer(runs[1], "form", {"who": "Bo"})
        assert (await other.result(runs[1])).outputs == "first Bo"
        assert (await other.run(calls("desk.Greet"), context=acme)).outputs == "second Bo"
        await other.templates.withdraw(second)
        with pytest.raises(PlanInvalid, match="unknown_tool"):
            await other.run(calls("desk.Greet"), context=acme)
    async with Toolpath(store) as third:
        third.add(say)
        await third.answer(runs[2], "form", {"who": "Bo"})
        assert (await third.result(runs[2])).outputs == "first Bo"
        fork = await third.fork(runs[2], from_step="c", repeat_writes=True)
        assert (await fork.result()).outputs == "first Bo"


@pytest.mark.postgres
async def test_a_worker_drives_them_for_each_tenant(tmp_path: Path) -> None:
    schema = f"tenant_tools_worker_{os.getpid()}"
    await dropped(schema)
    agent = {"steps": [{"id": "a", "agent": {"requirement": "Greet Bo.", "tools": []}}], "outputs": "{{ a }}"}
    async with queue_name() as name:
        model = ScriptedModel([("desk.Greet", {"who": "Bo"})], lambda request: done(request.messages[-1].text))
        ground = Ground(postgres_url(schema), name, (say,))
        async with ground.door() as tp, ground.worker(chat=model):
            for who in ("acme", "beta"):
                await published(tp, who, "Greet", who)
            for who in ("acme", "beta"):
                run = await tp.start(calls("desk.Greet"), context=RunContext(tenant=who))
                assert (await run.result()).outputs == f"{who} Bo"
                acts = await tp.start(agent, context=RunContext(tenant=who))
                ended = await acts.result()
                assert f"{who} Bo" in str(ended.outputs), ended.error
    await dropped(schema)
