"""Requests of OpenAI's clients as records, and as what our own models are asked.

Fields that nobody knows are let pass.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from toolpath.agents.prompt import result_text
from toolpath.model.chat import ChatRequest, Message, ToolCall, ToolChoice, ToolSpec
from toolpath.server.openai_problems import BadRequest
from toolpath.values import JsonObject, decode, made_ready

#: Characters of all messages together.
MOST: Final = 350_000
_MOST_TOOLS: Final = 128
_MOST_MESSAGES: Final = 5_000
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
#: Characters of the result of a client's tool that are told to an agent of ours.
_RESULT: Final = 60_000


class _Function(msgspec.Struct, frozen=True):
    name: str = ""
    arguments: str = "{}"
    description: str | None = None
    parameters: JsonObject | None = None


class _Call(msgspec.Struct, frozen=True):
    id: str = ""
    function: _Function = _Function()


class _Tool(msgspec.Struct, frozen=True):
    type: str = "function"
    function: _Function = _Function()


class SaidMessage(msgspec.Struct, frozen=True):
    """One message of a request."""

    role: str
    content: str | list[JsonObject] | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None
    name: str | None = None


class _StreamOptions(msgspec.Struct, frozen=True):
    include_usage: bool = False


class Completion(msgspec.Struct, frozen=True):
    """The body of `POST /v1/chat/completions`."""

    model: str
    messages: list[SaidMessage]
    stream: bool | None = False
    stream_options: _StreamOptions | None = None
    tools: list[_Tool] | None = None
    tool_choice: str | JsonObject | None = None
    response_format: JsonObject | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    n: int | None = 1


class Dialogue(msgspec.Struct, frozen=True, kw_only=True):
    """Dialogue, told apart: rules, messages before, and the last one."""

    instructions: str
    messages: tuple[Message, ...]


def completion_of(data: bytes) -> Completion:
    """The body. Raises `BadRequest`, naming the part that is wrong."""
    try:
        body = msgspec.json.decode(data, type=Completion)
    except (ValueError, RecursionError) as error:
        message, _, at = str(error).partition(" - at `$")
        raise BadRequest(f"The body cannot be read: {message}.", param=at.strip("`.")) from None
    if not body.messages:
        raise BadRequest("There is no message.", param="messages")
    if len(body.messages) > _MOST_MESSAGES:
        message = (
            f"There are {len(body.messages):,} messages; at most {_MOST_MESSAGES:,} are taken. Leave older ones out."
        )
        raise BadRequest(message, param="messages", code="context_length_exceeded")
    if body.n not in (None, 1):
        raise BadRequest("One answer is given to a request.", param="n")
    if body.tools and len(body.tools) > _MOST_TOOLS:
        raise BadRequest(f"At most {_MOST_TOOLS} tools are taken.", param="tools")
    return body


def dialogue_of(body: Completion) -> Dialogue:
    """The dialogue. Raises `BadRequest` for a message that is none, and for too much."""
    rules: list[str] = []
    messages: list[Message] = []
    names: dict[str, str] = {}
    for number, said in enumerate(body.messages):
        at = f"messages[{number}]"
        text = _text(said, at)
        match said.role:
            case "system" | "developer":
                rules.append(text)
            case "user":
                messages.append(Message(text=text))
            case "assistant":
                calls = tuple(_call(each) for each in said.tool_calls or ())
                names |= {call.id: call.name for call in calls}
                messages.append(Message(role="assistant", text=text, tool_calls=calls))
            case "tool" | "function":
                call_id = said.tool_call_id or ""
                name = said.name or names.get(call_id, "tool")
                messages.append(Message(role="tool", text=text, tool_call_id=call_id, name=name))
            case _:
                raise BadRequest(f"There is no role {said.role[:50]!r}.", param=f"{at}.role")
    size = sum(map(len, rules)) + sum(len(message.text) for message in messages)
    if size > MOST:
        raise BadRequest(
            f"The messages have {size:,} characters; at most {MOST:,} are taken. Leave older ones out, or keep the "
            "conversation on the server.",
            param="messages",
            code="context_length_exceeded",
        )
    return Dialogue(instructions="\n\n".join(rules), messages=tuple(messages))


def plain_request(body: Completion, dialogue: Dialogue, *, model: str) -> ChatRequest:
    """The request to a model itself, with the tools of the client."""
    tools, choice = _tools(body)
    return ChatRequest(
        system=dialogue.instructions,
        messages=dialogue.messages,
        tools=tools,
        tool_choice=choice,
        output_schema=None if tools else _schema(body.response_format),
        temperature=body.temperature,
        max_tokens=body.max_completion_tokens or body.max_tokens,
        model=model,
    )


def told_before(messages: Sequence[Message]) -> list[JsonObject]:
    """Messages as an agent of ours is told of them: calls of the client's tools, and what came of them, in words."""
    told: list[JsonObject] = []
    for message in messages:
        text = message.text
        if message.role == "tool":
            text = result_text(text, message.name, _RESULT)
        elif message.tool_calls:
            calls = ", ".join(call.name for call in message.tool_calls)
            text = f"{text}\n[Called: {calls}]".strip()
        if text:
            told.append({"role": "assistant" if message.role == "assistant" else "user", "text": text})
    return told


def _text(said: SaidMessage, at: str) -> str:
    content = said.content
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for part in content:
        text = part.get("text", part.get("refusal"))
        if not isinstance(text, str):
            kind = str(part.get("type", ""))[:50]
            raise BadRequest(f"A part of a message is {kind!r}; texts alone are read.", param=f"{at}.content")
        texts.append(text)
    return "\n".join(texts)


def _call(call: _Call) -> ToolCall:
    try:
        arguments: Any = decode(call.function.arguments or "{}")
    except ValueError:
        arguments = call.function.arguments
    known = arguments if isinstance(arguments, dict) else call.function.arguments
    return ToolCall(name=call.function.name, arguments=known, id=call.id)


def _tools(body: Completion) -> tuple[tuple[ToolSpec, ...], ToolChoice]:
    specs = []
    for number, tool in enumerate(body.tools or ()):
        function = tool.function
        if tool.type != "function" or not _NAME.fullmatch(function.name):
            raise BadRequest(
                "A tool is a function with a name of up to 64 letters, digits, '_' and '-'.", param=f"tools[{number}]"
            )
        schema = function.parameters or {"type": "object", "properties": {}}
        specs.append(ToolSpec(name=function.name, description=function.description or "", input_schema=schema))
    match body.tool_choice:
        case None | "auto":
            return tuple(specs), "auto"
        case "none":
            return tuple(specs), "none"
        case "required":
            return tuple(specs), "required"
        case {"function": {"name": str() as name}}:
            chosen = tuple(spec for spec in specs if spec.name == name)
            if not chosen:
                raise BadRequest(f"There is no tool {name[:64]!r}.", param="tool_choice")
            return chosen, "required"
        case _:
            raise BadRequest("The choice of a tool is 'auto', 'none', 'required', or names one.", param="tool_choice")


def _schema(form: JsonObject | None) -> JsonObject | None:
    match form:
        case {"type": "json_schema", "json_schema": {"schema": dict() as schema}}:
            return schema
        case {"type": "json_object"}:
            return {"type": "object"}
        case _:
            return None


made_ready(Completion)
