"""Translates requests into pydantic-ai's records and its responses into replies.

Loads pydantic-ai, so it is imported only when a model is asked.
"""

from __future__ import annotations

from typing import Final

from pydantic_ai import messages as wire
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from toolpath.llm.ways import Way
from toolpath.model.chat import ChatReply, ChatRequest, FinishReason, Message, ToolCall, Usage
from toolpath.values import Json, JsonObject, decode, encode

#: The tool through which a value is handed over.
ANSWER: Final = "answer"
_REASONS: Final[dict[str, FinishReason]] = {"stop": "stop", "length": "length", "tool_call": "tool_calls"}


def wire_messages(request: ChatRequest, way: Way) -> list[wire.ModelMessage]:
    """The conversation as pydantic-ai wants it; the system's text goes with the last turn, as its instructions.

    A model that knows no such text is told it in the first turn, and one that knows no tools reads of their calls.
    """
    found: list[wire.ModelMessage] = []
    turn = wire.ModelRequest(parts=[])
    told = _instructions(request, way)
    messages = tuple(map(_in_words, request.messages)) if "tools" in way.without else request.messages
    if "system" in way.without and told:
        first = Message(text=told)
        if messages and messages[0].role == "user":
            first, messages = Message(text=f"{told}\n\n{messages[0].text}"), messages[1:]
        messages, told = (first, *messages), ""
    for message in messages:
        if message.role == "assistant":
            found += (
                [turn, wire.ModelResponse(parts=_said(message))] if turn.parts else [wire.ModelResponse(_said(message))]
            )
            turn = wire.ModelRequest(parts=[])
        else:
            turn.parts = [*turn.parts, _told(message)]
    turn.instructions = told or None
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


def _in_words(message: Message) -> Message:
    """The turn without calls and results as such."""
    if message.role == "tool":
        return Message(text=f"Result of {message.name} ({message.tool_call_id}):\n{message.text}")
    if not message.tool_calls:
        return message
    calls = [{"name": call.name, "arguments": call.arguments} for call in message.tool_calls]
    return Message(role="assistant", text=f"{message.text}\n{encode({'tool_calls': calls}).decode()}".strip())


def _instructions(request: ChatRequest, way: Way) -> str:
    parts = [request.system]
    if request.tools and "tools" in way.without and request.tool_choice != "none":
        tools = [
            {"name": tool.name, "description": tool.description, "arguments": tool.input_schema}
            for tool in request.tools
        ]
        must = "Call at least one of these tools" if request.tool_choice == "required" else "You may call these tools"
        parts.append(
            f"{must}. To call them, answer with this JSON object and nothing else: "
            f'{{"tool_calls": [{{"name": …, "arguments": {{…}}}}]}}\n{encode(tools).decode()}'
        )
    if request.output_schema is not None and way.mode in ("json", "prompted"):
        schema = encode(request.output_schema).decode()
        parts.append(f"Answer with one JSON object and nothing else. It has to fit this JSON Schema:\n{schema}")
    return "\n\n".join(part for part in parts if part)


def wire_parameters(request: ChatRequest, way: Way) -> ModelRequestParameters:
    """The tools and the form of the answer as pydantic-ai wants them."""
    # Tools and plans take objects of any form, which no provider's strict mode can hold.
    tools = [
        ToolDefinition(
            name=tool.name, description=tool.description, parameters_json_schema=tool.input_schema, strict=False
        )
        for tool in (() if "tools" in way.without else request.tools)
    ]
    schema = request.output_schema
    if schema is None or way.mode == "prompted":
        return ModelRequestParameters(function_tools=tools)
    if way.mode == "json":
        # The schema stands in the instructions.
        return ModelRequestParameters(
            function_tools=tools, output_mode="prompted", output_object=OutputObjectDefinition(json_schema=schema)
        )
    if way.mode == "native":
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
        function_tools=tools, output_mode="tool", output_tools=[tool], allow_text_output="tool_choice" in way.without
    )


def wire_settings(
    request: ChatRequest, way: Way, temperature: float | None, timeout: float, *, top_p: float | None = None
) -> ModelSettings:
    """How the model is to answer. Attempts are made by our own rule, so the client makes one."""
    settings = ModelSettings(timeout=timeout, max_retries=0)
    if temperature is not None and "temperature" not in way.without:
        settings["temperature"] = temperature if request.temperature is None else request.temperature
    if top_p is not None and "top_p" not in way.without:
        settings["top_p"] = top_p
    if request.max_tokens is not None and "max_tokens" not in way.without:
        settings["max_tokens"] = min(request.max_tokens, way.max_tokens or request.max_tokens)
    if request.tools and request.tool_choice != "auto" and not way.without & {"tools", "tool_choice"}:
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
