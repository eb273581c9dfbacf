"""Agents that talk, with the clients of real providers, against a server that plays them: text comes in pieces."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agents.agent_cases import World
from tests.agents.test_agents_over_http import EACH, MODELS
from tests.patience import PATIENCE
from tests.workspace.conversation_cases import short, told

from toolpath import Toolpath
from toolpath.llm.chat import ChatLimits, ModelChat
from toolpath.llm.choice import ModelChoice
from toolpath.model.conversation import EndPart, QuestionPart, RestartPart, TextPart
from toolpath.model.model_providers import Api
from toolpath.testing.model_replies import Breaks, Calls, Says
from toolpath.testing.model_server import ModelServer

TEXT = "There are two pages on tea, and both are long."


def chat_of(server: ModelServer, api: Api) -> ModelChat:
    url = server.url if api in ("anthropic", "google") else f"{server.url}/v1"
    choice = ModelChoice(api=api, model=MODELS[api], key="sk-0123456789", base_url=url)
    return ModelChat(choice, limits=ChatLimits(timeout=PATIENCE, initial_delay=0.01))


@EACH
async def test_a_turn_is_streamed_by_every_provider_and_asks_before_it_writes(api: Api) -> None:
    world = World()
    look = Calls(calls=(("web--search", {"query": "tea"}),), text="I look.")
    write = Calls(calls=(("blog--post", {"title": "Tea"}),))
    async with ModelServer(look, write, Says(text=TEXT), Says(text="Yes.")) as server:
        chat = chat_of(server, api)
        async with Toolpath(chat=chat) as tp:
            tp.add(*world.tools())
            talk = await tp.conversations.create()
            parts: list[Any] = []
            async for part in tp.conversations.say(talk, "What is there on tea?"):
                parts.append(part)
                if isinstance(part, QuestionPart):
                    await tp.approve(part.run_id, part.step)
            assert [each for each in short(parts) if not each.startswith("text")] == [
                "call web.search",
                "result succeeded",
                "approval reply/round[2]/act[0]",
                "call blog.post",
                "result succeeded",
                "end completed",
            ]
            assert "".join(part.text for part in parts if isinstance(part, TextPart)) == f"I look.\n\n{TEXT}"
            # The provider is asked again with all that was said.
            await told(tp.conversations.say(talk.conversation_id, "Are you sure?"))
        await chat.close()
    assert world.calls == [("search", "tea"), ("post", "Tea")]
    assert TEXT[:20] in server.requests[-1].text


@pytest.mark.parametrize("api", ["openai", "anthropic"])
async def test_a_stream_that_breaks_off_is_begun_anew(api: Api) -> None:
    async with ModelServer(Breaks(text=TEXT), Says(text="All of it.")) as server:
        chat = chat_of(server, api)
        async with Toolpath(chat=chat) as tp:
            talk = await tp.conversations.create()
            text = ""
            async for part in tp.conversations.say(talk, "Tell me."):
                match part:
                    case TextPart(text=more):
                        text += more
                    case RestartPart(characters=count):
                        text = text[:-count]
                    case EndPart():
                        assert part.text == text == "All of it."
        await chat.close()
