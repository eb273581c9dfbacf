"""One request to a language model and its answer, as frozen records. Data only; who sends it is behind `ports.Chat`."""

from __future__ import annotations

from typing import Literal

import msgspec

from toolpath.values import Json, JsonObject

FinishReason = Literal["stop", "length", "tool_calls", "unknown"]
ToolChoice = Literal["auto", "required", "none"]


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call that a model asks for."""

    name: str
    """As the model was told it, so mangled where the key was."""
    arguments: JsonObject | str = {}
    """The text as the model wrote it where it is no JSON object."""
    id: str = ""


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn of a conversation."""

    role: Literal["user", "assistant", "tool"] = "user"
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    """Of the assistant."""
    tool_call_id: str = ""
    """The call that this text of a tool answers."""
    name: str = ""
    """The tool that answers."""


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool as a model is told of it."""

    name: str
    """At most 64 of `[A-Za-z0-9_-]`; see `catalog.names.mangle`."""
    description: str = ""
    input_schema: JsonObject = {}


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Request to a model, made once."""

    system: str = ""
    messages: tuple[Message, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = "auto"
    output_schema: JsonObject | None = None
    """JSON Schema of an object that the answer has to be; None: text."""
    temperature: float | None = None
    """None: as the chat is set up."""
    max_tokens: int | None = None
    """Of the answer."""
    timeout: float | None = None
    """Seconds for the request with all its attempts; None: as the chat is set up."""
    model: str = ""
    """Empty: as the chat is set up."""


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens that requests took."""

    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


class ChatReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Answer of a model."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    structured: Json = None
    """The answer as a value, where an `output_schema` was asked for and the text is JSON. Not checked against it."""
    usage: Usage = Usage()
    cost: float | None = None
    """USD; None: the price is not known."""
    model: str = ""
    """As the provider names it."""
    finish_reason: FinishReason = "unknown"
    attempts: int = 1


class ChatDelta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A piece of an answer that is still being written; the last one carries the whole reply."""

    text: str = ""
    reply: ChatReply | None = None
