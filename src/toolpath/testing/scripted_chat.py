"""A chat that answers from a script and remembers what it was asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from toolpath.errors import ChatFailed
from toolpath.model.chat import ChatDelta, ChatReply, ChatRequest, Usage
from toolpath.values import Json, decode, encode

Script = str | ChatReply | BaseException | Json | Callable[[ChatRequest], Any]


class ScriptedChat:
    """Answers its requests with `replies`, one after the other, and with `then` after the last.

    A reply is a text, a JSON value (sent as text), a `ChatReply`, an exception (raised), or a function of the request
    that gives one of these. Without `then` a request too many fails. A stream comes in pieces of `piece` characters.
    """

    def __init__(self, *replies: Script, then: Script | None = None, piece: int = 16) -> None:
        self.replies = list(replies)
        """What is still to be answered."""
        self.then = then
        self.piece = piece
        self.requests: list[ChatRequest] = []
        """What was asked, in order."""

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """The next reply."""
        self.requests.append(request)
        if self.replies:
            return _reply(self.replies.pop(0), request)
        if self.then is not None:
            return _reply(self.then, request)
        raise ChatFailed(f"Request {len(self.requests)} is not in the script.", kind="rejected")

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        """The next reply in pieces."""
        reply = await self(request)
        for at in range(0, len(reply.text), self.piece):
            yield ChatDelta(text=reply.text[at : at + self.piece])
        yield ChatDelta(reply=reply)

    def assert_complete(self) -> None:
        """Raise `AssertionError` unless every reply was asked for."""
        if self.replies:
            raise AssertionError(f"{len(self.replies)} replies were never asked for.")


def _reply(script: Script, request: ChatRequest) -> ChatReply:
    if isinstance(script, BaseException):
        raise script
    if isinstance(script, ChatReply):
        return script
    if callable(script):
        return _reply(script(request), request)
    text = script if isinstance(script, str) else encode(script).decode()
    return ChatReply(
        text=text,
        structured=_value(text) if request.output_schema is not None else None,
        usage=Usage(input_tokens=len(request.system) // 4, output_tokens=len(text) // 4),
        model=request.model or "scripted",
        finish_reason="stop",
    )


def _value(text: str) -> Json:
    try:
        return decode(text)
    except (ValueError, RecursionError):
        return None
