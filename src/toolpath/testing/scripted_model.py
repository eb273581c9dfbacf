"""A model that plays an agent's part from a script, without a key and without a network."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

from toolpath.catalog.names import mangle
from toolpath.errors import ChatFailed
from toolpath.model.chat import ChatDelta, ChatReply, ChatRequest, ToolCall, Usage
from toolpath.values import Json, encode

#: One round: calls as `(tool, arguments)`, a text, a whole reply, a fault to raise, or what gives one of these.
Turn = Sequence[tuple[str, Mapping[str, Json]]] | str | ChatReply | BaseException | Callable[[ChatRequest], Any]


class ScriptedModel:
    """Answers by how far the conversation is: with the first of `turns` where it has said nothing yet, and so on.

    So it says the same whenever it is asked the same, also in another process that goes on after a crash. After its
    last turn it answers with `then`, or fails. Names of tools may be keys.
    """

    def __init__(self, *turns: Turn, then: Turn | None = None, tokens: int = 0, cost: float | None = None) -> None:
        self.turns = turns
        self.then = then
        self.tokens = tokens
        """What each answer took."""
        self.cost = cost
        """USD of each answer."""
        self.requests: list[ChatRequest] = []
        """What was asked, in order."""

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """The turn that comes next in this conversation. Raises `ChatFailed` where the script has none."""
        self.requests.append(request)
        said = sum(message.role == "assistant" for message in request.messages)
        turn = self.turns[said] if said < len(self.turns) else self.then
        if turn is None:
            raise ChatFailed(f"The script has {len(self.turns)} turns, and turn {said + 1} was asked for.")
        return self._reply(turn, request, said)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        """The same in one piece."""
        reply = await self(request)
        if reply.text:
            yield ChatDelta(text=reply.text)
        yield ChatDelta(reply=reply)

    def _reply(self, turn: Any, request: ChatRequest, said: int) -> ChatReply:
        if isinstance(turn, BaseException):
            raise turn
        if isinstance(turn, ChatReply):
            return turn
        if callable(turn):
            return self._reply(turn(request), request, said)
        text, calls = (turn, ()) if isinstance(turn, str) else ("", tuple(turn))
        return ChatReply(
            text=text,
            tool_calls=tuple(
                ToolCall(name=mangle(name), arguments=dict(arguments), id=f"call_{said}_{number}")
                for number, (name, arguments) in enumerate(calls)
            ),
            usage=Usage(output_tokens=self.tokens or len(encode([text, list(calls)])) // 4),
            cost=self.cost,
            model=request.model or "scripted",
            finish_reason="tool_calls" if calls else "stop",
        )


def done(message: Json) -> list[tuple[str, dict[str, Json]]]:
    """The turn that ends an agent's work with its result: a text, or rows."""
    return [("terminate", {"message": message})]
