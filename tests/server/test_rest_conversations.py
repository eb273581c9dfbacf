"""Conversations over REST: said, streamed, asked, answered, followed by others, kept apart by users and tenants."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
from tests.access.access_cases import guarded
from tests.server.rest_cases import add, api
from tests.server.serving_cases import assert_problem
from tests.workspace.conversation_cases import talking

from toolpath.model.chat import ChatRequest


async def frames(response: httpx.Response) -> AsyncIterator[tuple[str, Any]]:
    """The events of a stream."""
    kind = ""
    async for line in response.aiter_lines():
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield kind, json.loads(line.removeprefix("data: "))


async def said(client: httpx.AsyncClient, talk: str, **body: Any) -> list[tuple[str, Any]]:
    """What is streamed of a turn, to its end."""
    async with client.stream("POST", f"conversations/{talk}/messages", json=body) as response:
        assert response.status_code == 200, await response.aread()
        return [frame async for frame in frames(response)]


async def begun(client: httpx.AsyncClient, **body: Any) -> str:
    made = await client.post("conversations", json=body)
    assert made.status_code == 201, made.text
    found: str = made.json()["conversation_id"]
    assert made.headers["location"].endswith(found)
    return found


async def test_a_conversation_over_rest() -> None:
    def answer(request: ChatRequest) -> str:
        return "And more." if request.messages[-1].text == "More?" else "Two pages on tea."

    tp, model, _ = talking([("web.search", {"query": "tea"})], answer)
    async with api(tp) as client:
        talk = await begun(client)
        told = await said(client, talk, text="What is there on tea?")
        assert [kind for kind, _ in told if kind != "text"] == ["turn", "call", "result", "end"]
        assert "".join(data["text"] for kind, data in told if kind == "text") == "Two pages on tea."
        assert told[-1][1]["status"] == "completed"
        await said(client, talk, text="More?")
        page = (await client.get(f"conversations/{talk}/messages", params={"limit": 3})).json()
        assert [message["text"] for message in page["messages"]] == ["Two pages on tea.", "More?", "And more."]
        assert page["next"] == 2
        rest = (await client.get(f"conversations/{talk}/messages", params={"before": page["next"]})).json()
        assert ([message["number"] for message in rest["messages"]], rest["next"]) == ([1], None)
        assert len((await client.get(f"conversations/{talk}/runs")).json()["runs"]) == 2
        (row,) = (await client.get("conversations")).json()["conversations"]
        assert (row["title"], row["messages"]) == ("What is there on tea?", 4)
        assert (await client.put(f"conversations/{talk}", json={"title": "Tea"})).json()["title"] == "Tea"
        found = (await client.get("conversations/search", params={"q": "TWO pages"})).json()["found"]
        assert [(each["title"], each["number"]) for each in found] == [("Tea", 2)]
        assert (await client.delete(f"conversations/{talk}")).status_code == 204
        assert_problem(await client.get(f"conversations/{talk}"), 404, "unknown_record")
    assert len(model.requests) == 3


async def test_a_write_is_asked_about_in_the_stream_and_goes_on_when_it_is_allowed() -> None:
    tp, _, world = talking([("blog.post", {"title": "Tea"})], "Posted.")
    async with api(tp) as client:
        talk = await begun(client)
        kinds = []
        async with client.stream("POST", f"conversations/{talk}/messages", json={"text": "Post."}) as response:
            async for kind, data in frames(response):
                kinds.append(kind)
                if kind == "question":
                    assert world.calls == []
                    busy = await client.post(f"conversations/{talk}/messages", json={"text": "Hurry."})
                    assert_problem(busy, 409, "run_conflict")
                    place = f"runs/{data['run_id']}/approvals/{data['step']}"
                    assert (await client.post(place, json={})).status_code == 202
        assert [kind for kind in kinds if kind != "text"] == ["turn", "question", "call", "result", "end"]
        assert world.calls == [("post", "Tea")]


async def test_a_client_that_goes_away_leaves_a_turn_that_goes_on_and_can_be_followed() -> None:
    tp, model, _ = talking("one two three four")
    model.open.clear()
    async with api(tp) as client:
        talk = await begun(client)
        async with client.stream("POST", f"conversations/{talk}/messages", json={"text": "Count."}) as response:
            async for kind, _data in frames(response):
                if kind == "text":
                    break
        async with client.stream("GET", f"conversations/{talk}/turn") as response:
            told = []
            async for kind, data in frames(response):
                told.append((kind, data))
                if kind == "text":
                    model.open.set()
        assert "".join(data["text"] for kind, data in told if kind == "text") == "one two three four"
        assert told[0][1]["is_new"] is False
        assert (await client.get(f"conversations/{talk}/turn")).status_code == 204
        messages = (await client.get(f"conversations/{talk}/messages")).json()["messages"]
        assert [message["text"] for message in messages] == ["Count.", "one two three four"]
    assert len(model.requests) == 1


async def test_a_turn_is_begun_without_following_it_and_cancelled() -> None:
    tp, model, _ = talking("never said")
    model.open.clear()
    async with api(tp) as client:
        talk = await begun(client)
        body = {"text": "Go.", "message_id": "m-1"}
        first = await client.post(f"conversations/{talk}/messages", params={"follow": False}, json=body)
        again = await client.post(f"conversations/{talk}/messages", params={"follow": False}, json=body)
        assert (first.status_code, first.json()["is_new"], again.json()["is_new"]) == (202, True, False)
        assert first.json()["run_id"] == again.json()["run_id"]
        assert (await client.delete(f"conversations/{talk}/turn")).status_code == 202
        async with client.stream("GET", f"conversations/{talk}/turn") as response:
            if response.status_code == 200:
                assert [data["status"] async for kind, data in frames(response) if kind == "end"] == ["cancelled"]
        messages = (await client.get(f"conversations/{talk}/messages")).json()["messages"]
        assert [message.get("status", "") for message in messages] == ["", "cancelled"]
        assert_problem(await client.delete(f"conversations/{talk}/turn"), 409, "run_conflict")


async def test_what_cannot_be_said_is_a_problem() -> None:
    tp, _, _ = talking(then="yes")
    async with api(tp) as client:
        talk = await begun(client, title="Mine", conversation_id="my-own")
        assert talk == "my-own"
        assert_problem(await client.post("conversations", json={"conversation_id": "my-own"}), 409, "record_conflict")
        for body, status in (({"text": ""}, 422), ({"text": "a\0"}, 422), ({"text": "x" * 200_001}, 422)):
            refused = await client.post(f"conversations/{talk}/messages", json=body)
            assert refused.status_code == status, refused.text
        half = await client.post(
            f"conversations/{talk}/messages",
            content=b'{"text": "a\\ud800"}',
            headers={"content-type": "application/json"},
        )
        assert half.status_code in (400, 422)
        unknown = await client.post(f"conversations/{talk}/messages", json={"text": "a", "template": "Nothing"})
        assert_problem(unknown, 404, "unknown_record")
        assert (await client.get("conversations/my-own")).json()["messages"] == 0


async def test_conversations_belong_to_their_users_and_tenants() -> None:
    async with guarded() as server:
        client = server.client
        ada = await server.key("read", "run", tenant="a", user="ada")
        bob = await server.key("read", "run", tenant="a", user="bob")
        eve = await server.key("read", "run", tenant="b", user="ada")
        boss = await server.key("read", "run", "admin", tenant="a", user="boss")
        made = await client.post("/api/v1/conversations", json={"title": "secret"}, headers=ada)
        talk = f"/api/v1/conversations/{made.json()['conversation_id']}"
        for other in (bob, eve):
            assert_problem(await client.get(talk, headers=other), 404, "unknown_record")
            posted = await client.post(f"{talk}/messages", json={"text": "hello"}, headers=other)
            assert_problem(posted, 404, "unknown_record")
            assert_problem(await client.delete(talk, headers=other), 404, "unknown_record")
            listed = await client.get("/api/v1/conversations", headers=other)
            assert listed.json()["conversations"] == []
            found = await client.get("/api/v1/conversations/search", params={"q": "secret"}, headers=other)
            assert found.json()["found"] == []
        for owner in (ada, boss):
            assert (await client.get(talk, headers=owner)).status_code == 200
        actions = [entry.action for entry in await server.tp.trail.entries()]
        assert "conversation.create" in actions


async def test_a_run_names_no_conversation_of_another_user() -> None:
    async with guarded(tools=(add,)) as server:
        client = server.client
        ada = await server.key("read", "run", tenant="a", user="ada")
        bob = await server.key("read", "run", tenant="a", user="bob")
        eve = await server.key("read", "run", tenant="b", user="eve")
        boss = await server.key("read", "run", "admin", tenant="a", user="boss")
        made = await client.post("/api/v1/conversations", json={"title": "secret"}, headers=ada)
        talk = made.json()["conversation_id"]
        body = {"plan": {"steps": [{"id": "s", "tool": "add", "inputs": {"a": 1, "b": 2}}]}, "conversation_id": talk}
        assert_problem(await client.post("/api/v1/runs", json=body, headers=bob), 404, "unknown_record")
        called = await client.post(
            "/api/v1/tools/add/call", json={"inputs": {"a": 1, "b": 2}, "conversation_id": talk}, headers=bob
        )
        assert_problem(called, 404, "unknown_record")
        runs = await client.get(f"/api/v1/conversations/{talk}/runs", headers=ada)
        assert runs.json()["runs"] == []
        # What is another tenant's is to them as an id that no conversation has.
        for other in (ada, boss, eve):
            assert (await client.post("/api/v1/runs", json=body, headers=other)).status_code == 202
        runs = await client.get(f"/api/v1/conversations/{talk}/runs", headers=ada)
        assert len(runs.json()["runs"]) == 2
        free = {**body, "conversation_id": "a-thread-elsewhere"}
        assert (await client.post("/api/v1/runs", json=free, headers=bob)).status_code == 202


async def test_one_turn_is_followed_by_many() -> None:
    tp, model, _ = talking("one two three")
    model.open.clear()
    async with api(tp) as client:
        talk = await begun(client)
        await client.post(f"conversations/{talk}/messages", params={"follow": False}, json={"text": "Count."})

        ready = asyncio.Barrier(6)

        async def follow() -> str:
            told = ""
            async with client.stream("GET", f"conversations/{talk}/turn") as response:
                async for kind, data in frames(response):
                    if kind == "turn":
                        await ready.wait()
                    told += data["text"] if kind == "text" else ""
            return told

        readers = [asyncio.create_task(follow()) for _ in range(5)]
        await ready.wait()
        model.open.set()
        assert await asyncio.gather(*readers) == ["one two three"] * 5
