"""A server, or a worker, whose model and tools note each request and call; its model stands still in its second round.

Run as a program: `talking.py FOLDER` is a server and prints its port; `talking.py FOLDER STORE QUEUE-URL QUEUE-NAME` is
a worker and prints `ready`. What was asked and called is a line of FOLDER/calls; the model goes on where FOLDER/go is.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn

from toolpath import Toolpath, tool
from toolpath.model.chat import ChatReply, ChatRequest
from toolpath.queues.rabbitmq import RabbitQueue
from toolpath.server.asgi import create_app
from toolpath.server.worker import Worker
from toolpath.testing.scripted_model import ScriptedModel

FOLDER = Path(sys.argv[1])


def note(what: str) -> None:
    """One more line."""
    with (FOLDER / "calls").open("a") as file:
        file.write(what + "\n")


class Noted(ScriptedModel):
    """The scripted model, whose requests are noted."""

    def __init__(self) -> None:
        super().__init__(first_call, "It is done.", then="Yes.")

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """The turn that comes next, when it may."""
        said = sum(message.role == "assistant" for message in request.messages)
        note(f"think {said + 1}")
        if said == 1 and not (FOLDER / "go").exists():
            await asyncio.Event().wait()
        return await super().__call__(request)


def first_call(request: ChatRequest) -> Any:
    """A post where one is asked for, else a search."""
    if any("Post it." in message.text for message in request.messages):
        return [("blog.post", {"title": "Tea"})]
    return [("web.search", {"query": "tea"})]


@tool(group="blog", effect="write")
async def post(title: str) -> str:
    """Write a post."""
    note(f"post {title}")
    return f"post {title}"


@tool(group="web", effect="read")
async def search(query: str) -> str:
    """Find a page."""
    note(f"search {query}")
    return f"{query}: a page"


def serve() -> None:
    """Serve until it is killed."""
    tp = Toolpath(FOLDER / "runs.db", chat=Noted())
    tp.add(post, search)
    listener = socket.create_server(("127.0.0.1", 0))
    say(listener.getsockname()[1])
    uvicorn.Server(uvicorn.Config(create_app(tp), log_config=None)).run([listener])


async def work(store: str, url: str, name: str) -> None:
    """Work until it is killed."""
    queue = RabbitQueue(url, name=name)
    async with Toolpath(store, chat=Noted(), queue=queue) as tp:
        tp.add(post, search)
        worker = Worker(tp, queue)
        say("ready")
        await worker.run()


def say(what: object) -> None:
    """Its answer to who has started it."""
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        asyncio.run(work(*sys.argv[2:]))
    else:
        serve()
