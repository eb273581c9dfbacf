"""Translates requests into pydantic-ai's records and its responses into replies.

Loads pydantic-ai, so it is imported only when a model is asked.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic_ai import messages as wire
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from toolpath.model.chat import ChatReply, ChatRequest, FinishReason, Message, ToolCall, Usage
from toolpath.values import Json, JsonObject, decode, encode

#: How a value is asked for: by the provider's own means, as the arguments of a tool, or in words.
OutputMode = Literal["native", "tool", "prompted"]
#: The tool through which a value is handed over.
ANSWER: Final = "answer"
_REASONS: Final[dict[str, FinishReason]] = {"stop": "stop", "length": "length", "tool_call": "tool_calls"}


def wire_messages(request: ChatRequest, mode: OutputMode) -> list[wire.ModelMessage]:
    """The conversation as pydantic-ai wants it; the system's text goes with the last turn, as its instructions."""
    found: list[wire.ModelMessage] = []
    turn = wire.ModelRequest(parts=[])
    for message in request.messages:
        if message.role == "assistant":
            found += (
                [turn, wire.ModelResponse(parts=_said(message))] if turn.parts else [wire.ModelResponse(_said(message))]
            )
            turn = wire.ModelRequest(parts=[])
        else:
            turn.parts = [*turn.parts, _told(message)]
    turn.instructions = _instructions(request, mode) or None
    return [*found, turn]


def _said(message: Message) -> list[wire.ModelResponsePart]:
    parts: list[wire.ModelResponsePart] = [wire.TextPart(content=message.text)] if message.text else []
    for call in message.tool_calls:
        parts.append(wire.ToolCallPart(tool_name=call.name, args=call.arguments, tool_call_id=call.id))
    return parts


def _told(message: Message) -> wire.ModelRequestPart:
    if message.role == "tool":
        return wire.ToolReturnPart(tool_name=message.name, content=message.text, tool_call_id=message.tool_call_id)
    return wire.UserPromptPart(content=message.text)


def _instructions(request: ChatRequest, mode: OutputMode) -> str:
    if request.output_schema is None or mode != "prompted":
        return request.system
    schema = encode(request.output_schema).decode()
    return (
        f"{request.system}\n\nAnswer with one JSON object and nothing else. It has to fit this JSON Schema:\n{schema}"
    )


def wire_parameters(request: ChatRequest, mode: OutputMode) -> ModelRequestParameters:
    """The tools and the form of the answer as pydantic-ai wants them."""
    # Tools and plans take objects of any form, which no provider's strict mode can hold.
    tools = [
        ToolDefinition(
            name=tool.name, description=tool.description, parameters_json_schema=tool.input_schema, strict=False
        )
        for tool in request.tools
    ]
    schema = request.output_schema
    if schema is None or mode == "prompted":
        return ModelRequestParameters(function_tools=tools)
    if mode == "native":
        answer = OutputObjectDefinition(json_schema=schema, name=ANSWER, strict=False)
        return ModelRequestParameters(function_tools=tools, output_mode="native", output_object=answer)
    tool = ToolDefinition(
        name=ANSWER,
        description="Hand over the answer.",
        parameters_json_schema=schema,
        strict=False,
        kind="output",
    )
    return ModelRequestParameters(
        function_tools=tools, output_mode="tool", output_tools=[tool], allow_text_output=False
    )


def wire_settings(
    request: ChatRequest, temperature: float | None, timeout: float, *, top_p: float | None = None
) -> ModelSettings:
    """How the model is to answer. Attempts are made by our own rule, so the client makes one."""
    settings = ModelSettings(timeout=timeout, max_retries=0)
    if temperature is not None:
        settings["temperature"] = temperature if request.temperature is None else request.temperature
    if top_p is not None:
        settings["top_p"] = top_p
    if request.max_tokens is not None:
        settings["max_tokens"] = request.max_tokens
    if request.tools and request.tool_choice != "auto":
        settings["tool_choice"] = request.tool_choice
    return settings


def reply_of(response: wire.ModelResponse, request: ChatRequest, *, model: str, attempts: int) -> ChatReply:
    """The reply that a response holds."""
    text, calls = "", []
    for part in response.parts:
        match part:
            case wire.TextPart():
                text += part.content
            case wire.ToolCallPart() if request.output_schema is not None and part.tool_name == ANSWER:
                text += part.args_as_json_str()
            case wire.ToolCallPart():
                calls.append(ToolCall(name=part.tool_name, arguments=_arguments(part), id=part.tool_call_id))
            case _:
                pass
    reason = "tool_calls" if calls else _REASONS.get(response.finish_reason or "", "unknown")
    if request.output_schema is not None and reason == "unknown" and response.finish_reason == "tool_call":
        reason = "stop"
    usage = Usage(input_tokens=response.usage.input_tokens, output_tokens=response.usage.output_tokens)
    return ChatReply(
        text=text,
        tool_calls=tuple(calls),
        structured=_value(text) if request.output_schema is not None else None,
        usage=usage,
        cost=_cost(response),
        model=response.model_name or model,
        finish_reason=reason,
        attempts=attempts,
    )


def _arguments(part: wire.ToolCallPart) -> JsonObject | str:
    if isinstance(part.args, dict):
        return part.args
    text = part.args or "{}"
    value = _value(text)
    return value if isinstance(value, dict) else text


def _value(text: str) -> Json:
    try:
        return decode(text)
    except (ValueError, RecursionError):
        return None


def _cost(response: wire.ModelResponse) -> float | None:
    if not response.model_name or not response.usage.has_values():
        return None
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        # The table of prices does not know the model, or the provider did not say what it took.
        return None
