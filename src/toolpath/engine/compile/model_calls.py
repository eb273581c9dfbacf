"""Asking a model as a call like any other: the tool that `ToolContext.chat` calls as a child step."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from toolpath.errors import ToolFailed
from toolpath.model.chat import ChatReply, ChatRequest, Message
from toolpath.model.plan import Retry
from toolpath.model.tool import Body, Tool, ToolResult
from toolpath.values import JsonObject, made_ready, plain

#: The tool's name in the journal.
CHAT = "toolpath.chat"
#: Seconds. A model has a time limit of its own for a request; this one is for those that have none.
LONGEST = 600.0


class ModelCalls(Protocol):
    """The side of its context that the tool needs."""

    async def send(self, request: ChatRequest) -> ChatReply:
        """Send it to the model."""
        ...


async def _invoke(inputs: JsonObject, context: Any) -> ToolResult:
    asking: ModelCalls = context
    return answered(await asking.send(msgspec.convert(inputs, ChatRequest)))


def answered(reply: ChatReply) -> ToolResult:
    """The reply as the step's result, its tokens and its cost counted."""
    return ToolResult(output=msgspec.to_builtins(reply), cost=reply.cost, tokens=reply.usage.total)


def chat_tool() -> Tool:
    """The tool: a request as JSON in, the reply as JSON out, its tokens and its cost counted."""
    return Tool(
        name="chat",
        group="toolpath",
        description="Ask a language model.",
        input_schema={"type": "object"},
        effect="read",
        timeout=LONGEST,
        # The model's client makes its own attempts.
        retry=Retry(max_retries=0),
        body=Body(invoke=_invoke, runs="loop", wants_context=True),
    )


def asked(request: Any) -> JsonObject:
    """The request as JSON: a `ChatRequest`, its fields, or the text of one message.

    Raises `ToolFailed` for what is none, `OutputInvalid` for what JSON has no words for.
    """
    match request:
        case ChatRequest():
            read = request
        case str():
            read = ChatRequest(messages=(Message(text=request),))
        case _:
            try:
                read = msgspec.convert(request, ChatRequest)
            except msgspec.ValidationError as error:
                raise ToolFailed(f"The request to the model is none: {error}.", hint="Give a ChatRequest.") from None
    fields: JsonObject = plain(read)[0]
    return fields


def reply_of(output: JsonObject) -> ChatReply:
    """The reply that the journal has."""
    return msgspec.convert(output, ChatReply)


made_ready(ChatReply, ChatRequest)
