"""Agents with the clients of real providers, against a server that plays them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agents.agent_cases import World, agent
from tests.engine.engine_cases import ran
from tests.patience import PATIENCE

from toolpath import Settings, Toolpath
from toolpath.llm.chat import ChatLimits, ModelChat
from toolpath.llm.choice import ModelChoice
from toolpath.model import events as ev
from toolpath.model.model_providers import Api
from toolpath.testing.model_replies import Calls, Fails, Says
from toolpath.testing.model_server import ModelServer

MODELS: dict[Api, str] = {
    "openai": "local-model",
    "openai-responses": "gpt-6.1-terra",
    "anthropic": "claude-sonnet-5-5",
    "google": "gemini-3.8-flash",
    "ollama": "qwen3",
}
EACH = pytest.mark.parametrize("api", list(MODELS))
DONE = Calls(calls=(("terminate", {"message": "ended"}),))


async def worked(server: ModelServer, api: Api, plan: dict[str, Any], world: World) -> Any:
    url = server.url if api in ("anthropic", "google") else f"{server.url}/v1"
    choice = ModelChoice(api=api, model=MODELS[api], key="sk-0123456789", base_url=url)
    chat = ModelChat(choice, limits=ChatLimits(timeout=PATIENCE, initial_delay=0.01))
    async with Toolpath(settings=Settings(), chat=chat) as tp:
        tp.add(*world.tools())
        found = await ran(tp, await tp.run(plan))
    await chat.close()
    return found


@EACH
async def test_an_agent_works_with_every_provider(api: Api) -> None:
    world = World()
    both = Calls(calls=(("web--search", {"query": "tea"}), ("web--read", {"page": "p"})), text="I look.")
    wrong = Calls(calls=(("web--serch", {"query": "tea"}), ("blog--post", {"title": "Tea"})))
    async with ModelServer(both, Says(text="Let me think."), wrong, DONE) as server:
        found = await worked(server, api, agent(), world)
    assert (found.status, found.outputs) == ("completed", "ended"), found.result.error
    assert world.calls == [("search", "tea"), ("read", "p"), ("post", "Tea")]
    assert len(server.requests) == 4
    last = str(server.requests[-1].body)
    for words in ("tea one", "text of p", "post-Tea", "You have no tool", "Call at least one tool", "Let me think."):
        assert words in last


@EACH
async def test_a_provider_that_refuses_is_told_in_the_failure(api: Api) -> None:
    async with ModelServer(then=Fails(status=401, message="bad key")) as server:
        found = await worked(server, api, agent(), World())
    assert found.status == "failed"
    assert found.result.error is not None
    assert "0123456789" not in str(found.events)


@EACH
async def test_a_provider_that_is_busy_is_asked_again_by_its_client_and_once_by_the_journal(api: Api) -> None:
    async with ModelServer(Fails(status=503, message="busy"), DONE) as server:
        found = await worked(server, api, agent(), World())
    assert found.outputs == "ended"
    thoughts = [event for event in found.of(ev.StepSucceeded) if event.path.endswith("think")]
    assert [event.output["attempts"] for event in thoughts] == [2]


async def test_a_server_without_tool_calls_of_its_own_is_talked_to_in_text() -> None:
    world = World()
    first = '{"tool_calls": [{"name": "web--search", "arguments": {"query": "tea"}}]}'
    last = '{"tool_calls": [{"name": "terminate", "arguments": {"message": "ended"}}]}'
    async with ModelServer(first, last) as server:
        found = await worked(server, "ollama", agent(), world)
    assert (found.outputs, world.calls) == ("ended", [("search", "tea")])
    assert "tools" not in server.requests[1].body


@pytest.mark.parametrize("words", ["llama2 does not support tools", "tools are not supported by this model"])
async def test_a_server_that_takes_no_tools_is_told_of_them_in_words(words: str) -> None:
    world = World()
    first = '{"tool_calls": [{"name": "web--search", "arguments": {"query": "tea"}}]}'
    last = '{"tool_calls": [{"name": "terminate", "arguments": {"message": "ended"}}]}'
    async with ModelServer(Fails(status=400, message=words), first, last) as server:
        found = await worked(server, "ollama", agent(), world)
    assert (found.outputs, world.calls) == ("ended", [("search", "tea")]), found.result.error
    assert "tools" in server.requests[0].body
    assert "tools" not in server.requests[1].body
    assert "web--search" in str(server.requests[1].body)


async def test_arguments_that_are_cut_off_are_told_to_the_model() -> None:
    world = World()
    broken = Calls(calls=(("web--search", {}),), arguments='{"query": "te')
    async with ModelServer(broken, DONE) as server:
        found = await worked(server, "openai", agent(), world)
    assert (found.outputs, world.calls) == ("ended", [])
    assert "no JSON object" in str(server.requests[1].body)
