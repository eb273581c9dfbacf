"""A server whose model and tools note each request and call; its model stands still in its second round at first.

Run as a program: `talking_server.py FOLDER`. Prints its port. What was asked and called is a line of FOLDER/calls; the
model goes on where FOLDER/go is there.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path

import uvicorn

from toolpath import Toolpath, tool
from toolpath.model.chat import ChatReply, ChatRequest
from toolpath.server.asgi import create_app
from toolpath.testing.scripted_model import ScriptedModel

FOLDER = Path(sys.argv[1])


def note(what: str) -> None:
    """One more line."""
    with (FOLDER / "calls").open("a") as file:
        file.write(what + "\n")


class Noted(ScriptedModel):
    """The scripted model, whose requests are noted."""

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """The turn that comes next, when it may."""
        said = sum(message.role == "assistant" for message in request.messages)
        note(f"think {said + 1}")
        if said == 1 and not (FOLDER / "go").exists():
            await asyncio.Event().wait()
        return await super().__call__(request)


@tool(group="blog", effect="write")
async def post(title: str) -> str:
    """Write a post."""
    note(f"post {title}")
    return f"post {title}"


def main() -> None:
    """Serve until it is killed."""
    tp = Toolpath(FOLDER / "runs.db", chat=Noted([("blog.post", {"title": "Tea"})], "It is out.", then="Yes."))
    tp.add(post)
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)  # noqa: T201  # its answer
    uvicorn.Server(uvicorn.Config(create_app(tp), log_config=None)).run([listener])


if __name__ == "__main__":
    main()
