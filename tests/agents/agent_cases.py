"""What the tests of agents share: the plan of one agent, its tools, and what its model was told."""

from __future__ import annotations

from typing import Any

from toolpath import Tool, tool
from toolpath.model.chat import ChatRequest
from toolpath.testing.scripted_model import ScriptedModel


def agent(requirement: str = "Do it.", **fields: Any) -> dict[str, Any]:
    """A plan of one agent."""
    return {"steps": [{"id": "a", "agent": {"requirement": requirement, **fields}}], "outputs": "{{ a }}"}


class World:
    """A few tools that remember how often they were called."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def tools(self) -> list[Tool]:
        """`web.search` and `web.read`, which read, and `blog.post`, which writes."""
        calls = self.calls

        @tool(group="web", effect="read")
        async def search(query: str) -> list[str]:
            """Find pages."""
            calls.append(("search", query))
            return [f"{query} one", f"{query} two"]

        @tool(group="web", effect="read")
        async def read(page: str, lines: int = 10) -> str:
            """The text of a page."""
            calls.append(("read", page))
            return f"text of {page}"

        @tool(group="blog", effect="write")
        async def post(title: str, text: str = "") -> dict[str, str]:
            """Write a post."""
            calls.append(("post", title))
            return {"id": f"post-{title}"}

        return [search, read, post]  # type: ignore[list-item]


def told(chat: ScriptedModel, request: int = -1) -> list[str]:
    """The texts of the messages that the model was told after its last turn, in one request."""
    messages = chat.requests[request].messages
    last = max((n for n, message in enumerate(messages) if message.role == "assistant"), default=-1)
    return [message.text for message in messages[last + 1 :]]


def offered(request: ChatRequest) -> list[str]:
    """The names of the tools in a request."""
    return [spec.name for spec in request.tools]
