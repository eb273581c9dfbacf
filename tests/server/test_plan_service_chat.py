"""Chats and memories of the plan execution service's clients."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from tests.server.serving_cases import serving
from tests.workspace.conversation_cases import Talker, talking

from toolpath.errors import ChatFailed
from toolpath.server.asgi import create_app


@asynccontextmanager
async def service(*turns: Any, then: Any = None) -> AsyncIterator[tuple[httpx.AsyncClient, Talker]]:
    tp, model, _ = talking(*turns, then=then)
    async with serving(create_app(tp)) as client:
        client.base_url = client.base_url.join("/api/")
        yield client, model


async def chatted(client: httpx.AsyncClient, **body: Any) -> list[dict[str, Any]]:
    async with client.stream("POST", "executor/chat", json=body) as response:
        assert response.status_code == 200, await response.aread()
        return [json.loads(line[6:]) async for line in response.aiter_lines() if line.startswith("data: ")]


async def test_a_chat_is_streamed_and_remembered() -> None:
    async with service("Hello dear Ada.", "You are Ada.") as (client, model):
        first = await chatted(client, input="I am Ada.", requestSource="VUE_DIALOG")
        assert [each["type"] for each in first if each["type"] != "chunk"] == ["start", "done"]
        assert "".join(each["content"] for each in first if each["type"] == "chunk") == "Hello dear Ada."
        talk = first[0]["conversationId"]
        await chatted(client, input="Who am I?", conversationId=talk)
        assert next(message.text for message in model.requests[-1].messages) == "I am Ada."
        # It has no tools.
        assert model.requests[-1].tools == ()
        memory = (await client.get("memories/single", params={"conversationId": talk})).json()["data"]
        assert [(each["messageType"], each["text"]) for each in memory["messages"]][-1] == ("ASSISTANT", "You are Ada.")
        history = (await client.get(f"memories/{talk}/history")).json()
        assert [record["currentPlanId"] for record in history] == memory["rootPlanIds"]
        assert len(history) == 2


async def test_memories_are_begun_renamed_and_deleted() -> None:
    async with service(then="yes") as (client, _model):
        made = (await client.post("memories", json={"conversationId": "conversation-1", "memoryName": "Tea"})).json()
        assert (made["success"], made["data"]["memoryName"]) == (True, "Tea")
        assert (await chatted(client, input="Hello", conversationId="conversation-1"))[-1] == {"type": "done"}
        renamed = await client.put("memories", json={"conversationId": "conversation-1", "memoryName": "Coffee"})
        assert renamed.json()["data"]["memoryName"] == "Coffee"
        (listed,) = (await client.get("memories")).json()["memories"]
        assert (listed["conversationId"], len(listed["rootPlanIds"])) == ("conversation-1", 1)
        assert (await client.delete("memories/conversation-1")).json()["success"] is True
        for gone in (
            await client.delete("memories/conversation-1"),
            await client.get("memories/single", params={"conversationId": "conversation-1"}),
            await client.put("memories", json={"conversationId": "conversation-1", "memoryName": "x"}),
        ):
            assert (gone.status_code, gone.json()["success"]) == (200, False)


async def test_what_goes_wrong_in_a_chat_is_told_in_the_stream_or_before_it() -> None:
    async with service(ChatFailed("The model is away.", kind="rejected")) as (client, _model):
        assert (await client.post("executor/chat", json={"input": " "})).status_code == 400
        told = await chatted(client, input="Hello")
        assert [each["type"] for each in told] == ["start", "error"]
        assert "away" in told[-1]["message"]
