"""`/mcp` on a real server, with the official client: both generations, side by side with other doors."""

from __future__ import annotations

import asyncio

import pytest
from mcp import Client
from mcp.types import ElicitResult
from mcp_cases import MODES, answering, shop
from tests.server.serving_cases import serving

from toolpath import Tool, Toolpath, tool
from toolpath.access.caller import Caller
from toolpath.access.credentials import Credentials
from toolpath.access.keys import Keys
from toolpath.server.asgi import create_app


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_tools_are_listed_and_called(mode):
    tp = shop(Toolpath())
    async with serving(create_app(tp)) as http, Client(f"{http.base_url}/mcp", mode=mode) as client:
        names = [found.name for found in (await client.list_tools()).tools]
        assert "math--add" in names
        answers = await asyncio.gather(*[client.call_tool("math--add", {"a": n, "b": 1}) for n in range(10)])
        assert [answer.structured_content["result"] for answer in answers] == list(range(1, 11))
        assert (await client.call_tool("math--add", {"a": "x"})).is_error


async def test_questions_and_progress_come_over_http_too(mode):
    tp = shop(Toolpath())
    heard = []

    async def progress(done, total, message):
        heard.append(done)

    person = answering(ElicitResult(action="accept", content={"approve": True}))
    async with (
        serving(create_app(tp)) as http,
        Client(f"{http.base_url}/mcp", mode=mode, elicitation_callback=person) as client,
    ):
        assert not (await client.call_tool("site--deploy", {"site": "blog"})).is_error
        await client.call_tool("steps", {"count": 3}, progress_callback=progress)
        assert heard == [1, 2, 3]


async def test_the_caller_of_the_request_is_whose_the_run_is_and_others_do_not_see_it(mode):
    tp = shop(Toolpath())
    alice = Caller(tenant="a", user="alice", scopes=frozenset({"*"}))
    bob = Caller(tenant="b", user="bob", scopes=frozenset({"*"}))
    async with serving(create_app(tp, caller=alice)) as http, Client(f"{http.base_url}/mcp", mode=mode) as client:
        called = await client.call_tool("site--deploy", {"site": "blog"})
        run = (await tp.runs())[0]
        assert (run.tenant, run.user) == ("a", "alice")
        assert called.meta["toolpath/run"] == run.run_id
        async with (
            serving(create_app(tp, caller=bob, is_open=True)) as other,
            Client(f"{other.base_url}/mcp", mode=mode) as stranger,
        ):
            for name, arguments in (("get_run", {}), ("answer", {"approve": True})):
                refused = await stranger.call_tool(name, {"run_id": run.run_id, **arguments})
                assert refused.is_error
                assert refused.meta["toolpath/error"]["code"] == "unknown_run"
        assert (await client.call_tool("answer", {"run_id": run.run_id, "approve": True})).structured_content[
            "status"
        ] == "completed"


async def test_credentials_without_the_scope_are_refused(mode):
    tp = shop(Toolpath())
    reader = Caller(user="r", scopes=frozenset({"read"}))
    async with serving(create_app(tp, caller=reader)) as http, Client(f"{http.base_url}/mcp", mode=mode) as client:
        assert not (await client.call_tool("search_tools", {"query": "add"})).is_error
        for name, arguments in (("math--add", {"a": 1, "b": 1}), ("run_plan", {"plan": {"steps": []}})):
            refused = await client.call_tool(name, arguments)
            assert refused.meta["toolpath/error"]["code"] == "scope"
        assert not await tp.runs()


async def test_whoever_may_run_but_not_decide_is_not_asked(mode):
    tp = shop(Toolpath())
    runner = Caller(user="r", scopes=frozenset({"read", "run"}))
    person = answering(ElicitResult(action="accept", content={"approve": True}))
    async with (
        serving(create_app(tp, caller=runner)) as http,
        Client(f"{http.base_url}/mcp", mode=mode, elicitation_callback=person) as client,
    ):
        waiting = await client.call_tool("site--deploy", {"site": "blog"})
        assert waiting.meta["toolpath/error"]["code"] == "waiting"
        refused = await client.call_tool("answer", {"run_id": waiting.meta["toolpath/run"], "approve": True})
        assert refused.meta["toolpath/error"]["code"] == "scope"


async def test_a_change_of_the_tools_is_announced(mode):
    tp = shop(Toolpath())
    changed = asyncio.Event()

    async def heard(message):
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            changed.set()

    @tool(effect="read")
    async def new() -> str:
        """A new tool."""
        return "new"

    async with (
        serving(create_app(tp)) as http,
        Client(f"{http.base_url}/mcp", mode=mode, message_handler=heard) as client,
    ):
        assert client.server_capabilities.tools.list_changed
        await client.list_tools()
        if mode == "legacy":
            tp.add(new)
            await changed.wait()
        else:
            async with client.listen(tools_list_changed=True) as subscription:
                tp.add(new)
                await anext(aiter(subscription))
        assert "new" in [found.name for found in (await client.list_tools()).tools]


async def test_clients_are_told_that_a_tool_is_published_no_longer(mode):
    tp = Toolpath()
    tp.add(Tool(name="there", effect="read", body=lambda: 1))
    hidden = Tool(name="there", effect="read", metadata={"published": False}, body=lambda: 1)
    changed = asyncio.Event()

    async def heard(message):
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            changed.set()

    async with (
        serving(create_app(tp)) as http,
        Client(f"{http.base_url}/mcp", mode=mode, message_handler=heard) as client,
    ):
        assert "there" in [found.name for found in (await client.list_tools()).tools]
        if mode == "legacy":
            tp.replace([hidden])
            await changed.wait()
        else:
            async with client.listen(tools_list_changed=True) as subscription:
                tp.replace([hidden])
                await anext(aiter(subscription))
        assert "there" not in [found.name for found in (await client.list_tools()).tools]


async def test_cancelling_over_http_cancels_the_run_and_the_server_goes_on(mode):
    tp = shop(Toolpath())
    async with serving(create_app(tp)) as http, Client(f"{http.base_url}/mcp", mode=mode) as client:
        call = asyncio.create_task(client.call_tool("slow"))
        await tp.gate.wait()
        call.cancel()
        await asyncio.wait({call})
        run_id = (await tp.runs())[0].run_id
        assert (await tp.result(run_id)).status == "cancelled"
        assert (await client.call_tool("math--add", {"a": 1, "b": 1})).structured_content == {"result": 2}


async def test_what_is_no_message_is_refused_and_the_server_goes_on(mode):
    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    if mode == "auto":
        headers["mcp-protocol-version"] = "2026-07-28"
    async with serving(create_app(shop(Toolpath()))) as http:
        for body in (b"", b"{", b"[]", b"null", b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', b"[" * 100_000):
            answer = await http.post("/mcp", content=body, headers=headers)
            assert 400 <= answer.status_code < 500, (body[:20], answer.status_code)
        huge = await http.post("/mcp", content=b'"' + b"x" * 5_000_000 + b'"', headers=headers)
        assert huge.status_code == 413
        async with Client(f"{http.base_url}/mcp", mode=mode) as client:
            assert not (await client.call_tool("math--add", {"a": 1, "b": 1})).is_error


async def test_a_session_is_for_whoever_opened_it(tmp_path):
    tp = Toolpath(tmp_path / "runs.db")
    keys = Keys(tp.store, tp.clock)
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    async with serving(create_app(tp, credentials=Credentials(keys=keys))) as http:
        await http.get("/health")
        alice, mallory = [
            {"accept": "application/json, text/event-stream", "authorization": f"Bearer {key}"}
            for user in ("alice", "mallory")
            for _, key in (await keys.create(name=user, user=user, scopes=["run", "read"]),)
        ]
        assert (await http.post("/mcp", json=hello)).status_code == 401
        opened = await http.post("/mcp", json=hello, headers=alice)
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        assert (await http.post("/mcp", json=listing, headers={**mallory, **session})).status_code == 404
        assert (await http.post("/mcp", json=listing, headers={**alice, **session})).status_code == 200


async def test_a_server_that_ends_leaves_its_runs_to_be_taken_up_again(mode, tmp_path):
    app = create_app(shop(tp := Toolpath(tmp_path / "runs.db")))
    # What holds the server up is cut off when its grace is over.
    async with serving(app, timeout_graceful_shutdown=1) as http:
        talk = Client(f"{http.base_url}/mcp", mode=mode)

        async def call():
            async with talk as client:
                await client.call_tool("slow")

        calling = asyncio.create_task(call())
        await tp.gate.wait()
    await asyncio.wait({calling})
    assert calling.exception() is not None
    async with Toolpath(tmp_path / "runs.db") as again:
        assert [run.status for run in await again.runs()] == ["running"]
