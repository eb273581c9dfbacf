"""A worker whose model and tool note each request and call; its model stands still in its second round at first.

Run as a program: `talking_worker.py FOLDER STORE QUEUE-URL QUEUE-NAME`. Prints `ready`. What was asked and called is a
line of FOLDER/calls; the model goes on where FOLDER/go is there.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from toolpath import Toolpath, tool
from toolpath.model.chat import ChatReply, ChatRequest
from toolpath.queues.rabbitmq import RabbitQueue
from toolpath.server.worker import Worker
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


@tool(group="web", effect="read")
async def search(query: str) -> str:
    """Find a page."""
    note(f"search {query}")
    return f"{query}: a page"


async def main() -> None:
    """Work until it is killed."""
    queue = RabbitQueue(sys.argv[3], name=sys.argv[4])
    model = Noted([("web.search", {"query": "tea"})], "There is a page.", then="Yes.")
    async with Toolpath(sys.argv[2], chat=model, queue=queue) as tp:
        tp.add(search)
        worker = Worker(tp, queue)
        print("ready", flush=True)  # noqa: T201  # its answer
        await worker.run()


if __name__ == "__main__":
    asyncio.run(main())
