"""What the tests of conversations share: a model that talks piece by piece, tools that remember, parts in short."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from tests.agents.agent_cases import World

from toolpath import Toolpath
from toolpath.model.chat import ChatDelta, ChatReply, ChatRequest
from toolpath.model.conversation import CallPart, EndPart, Part, QuestionPart, ResultPart, TextPart
from toolpath.testing.scripted_model import ScriptedModel


class Talker(ScriptedModel):
    """A scripted model that writes a word at a time, and stands still before the last one where it is told to.

    Its turns are counted from the last message of a person on: what was said before does not matter.
    """

    def __init__(self, *turns: Any, then: Any = None) -> None:
        super().__init__(*turns, then=then)
        self.open = asyncio.Event()
        self.open.set()
        self.stands = asyncio.Event()

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """The turn that comes next."""
        return await super().__call__(request)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        """The same, word by word."""
        reply = await self(request)
        words = reply.text.split(" ")
        for number, word in enumerate(words):
            if number == len(words) - 1:
                self.stands.set()
                await self.open.wait()
            if word:
                yield ChatDelta(text=word if number == 0 else f" {word}")
            await asyncio.sleep(0)
        yield ChatDelta(reply=reply)


def talking(*turns: Any, then: Any = None, store: Any = None, **more: Any) -> tuple[Toolpath, Talker, World]:
    """A Toolpath with the usual tools, its model, and what its tools remember."""
    model, world = Talker(*turns, then=then), World()
    tp = Toolpath(store, chat=model, **more)
    tp.add(*world.tools())
    return tp, model, world


async def told(parts: AsyncIterator[Part]) -> list[Part]:
    """All of them."""
    return [part async for part in parts]


def short(parts: list[Part]) -> list[str]:
    """Each part in a word or two, texts together."""
    found: list[str] = []
    for part in parts:
        match part:
            case TextPart(text=text):
                if found and found[-1].startswith("text "):
                    found[-1] += text
                else:
                    found.append(f"text {text}")
            case CallPart(tool=tool):
                found.append(f"call {tool}")
            case ResultPart(status=status):
                found.append(f"result {status}")
            case QuestionPart(kind=kind, step=step):
                found.append(f"{kind} {step}")
            case EndPart(status=status):
                found.append(f"end {status}")
            case _:
                found.append(type(part).__name__)
    return found
