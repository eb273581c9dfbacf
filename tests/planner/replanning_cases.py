"""A blog whose own posting fails, another way to post, and the requests and answers for them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.planner.planning_cases import ALICE, AUTHOR, HELLO, REQUEST, answer, schema

from toolpath import Settings, Toolpath
from toolpath.errors import ToolFailed
from toolpath.llm.chat import ChatLimits, ModelChat
from toolpath.llm.choice import ModelChoice
from toolpath.testing.model_server import ModelServer
from toolpath.testing.scripted import ScriptedTool, scripted
from toolpath.values import encode

__all__ = ["ALICE", "HELLO", "REQUEST", "Blog", "answer", "modelled", "said"]

ELSEWHERE = {
    "id": "post2",
    "tool": "other.writePost",
    "inputs": {"authorId": "{{ author._id }}", "text": "Hello about world"},
}


class Blog:
    """Tools that count their calls."""

    def __init__(self, *, fails: Any = None, other_effect: str = "write") -> None:
        self.author = scripted(
            "blog.createAuthor",
            then={"_id": "a1", "name": "Alice"},
            effect="write",
            description="Create an author.",
            input_schema=schema("name", "email"),
            output_schema=AUTHOR,
        )
        self.post = scripted(
            "blog.createBlog",
            then=fails or ToolFailed("The blog is full."),
            effect="write",
            description="Create a blog of an author.",
            input_schema=schema("authorId", "title", "content"),
            output_schema={"type": "object", "properties": {"_id": {"type": "string"}}},
        )
        self.other = scripted(
            "other.writePost",
            then={"_id": "p1"},
            effect=other_effect,
            description="Write a blog post of an author.",
            input_schema=schema("authorId", "text"),
        )

    @property
    def tools(self) -> tuple[ScriptedTool, ...]:
        return self.author, self.post, self.other


def said(*steps: dict[str, Any], **more: Any) -> str:
    return encode({**answer(*steps), **more}).decode()


@asynccontextmanager
async def modelled(*answers: str, store: Any = None, tools: Any = (), **settings: Any) -> AsyncIterator[Any]:
    """A Toolpath whose planner is the real client of a provider, against a server that answers from a script."""
    async with ModelServer(*answers) as server:
        choice = ModelChoice(api="openai", model="some-model", key="k" * 12, base_url=f"{server.url}/v1")
        async with (
            ModelChat(choice, limits=ChatLimits(initial_delay=0.001)) as chat,
            Toolpath(store, chat=chat, settings=Settings(**settings)) as tp,
        ):
            tp.add(*tools)
            yield tp, server
