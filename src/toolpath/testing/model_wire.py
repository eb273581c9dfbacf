"""The wire formats of model providers, whole and as streams: OpenAI chat and responses, Anthropic, Google.

`whole` gives the body of an answer, `pieces` the server-sent events of a stream, each as name and data.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from toolpath.testing.model_replies import Calls, Refuses, Says
from toolpath.values import JsonObject

Protocol = Literal["chat", "responses", "anthropic", "google"]
Event = tuple[str, Any]
Answer = Says | Calls | Refuses


def protocol_of(path: str) -> Protocol | None:
    """The protocol that is spoken at a path, or None."""
    if path.endswith("/chat/completions"):
        return "chat"
    if path.endswith("/responses"):
        return "responses"
    if path.endswith("/messages"):
        return "anthropic"
    return "google" if "enerateContent" in path else None


def wants_stream(path: str, body: JsonObject) -> bool:
    """Whether the request asks for a stream."""
    return bool(body.get("stream")) or ":streamGenerateContent" in path


def forced_tool(body: JsonObject) -> str:
    """The tool that the request says has to be called, or empty."""
    choice = body.get("tool_choice")
    names = [tool.get("name") or tool.get("function", {}).get("name") for tool in body.get("tools") or []]
    if isinstance(choice, dict):
        name = choice.get("name") or choice.get("function", {}).get("name")
        if name:
            return str(name)
        choice = choice.get("type")
    return str(names[0]) if choice in ("any", "required") and len(names) == 1 else ""


def as_answer(answer: Answer, body: JsonObject) -> Answer:
    """The answer in the form that the request forces."""
    name = forced_tool(body)
    if isinstance(answer, Says) and name:
        return Calls(calls=((name, {}),), arguments=answer.text)
    return answer


def whole(protocol: Protocol, answer: Answer, model: str) -> JsonObject:
    """The body of an answer."""
    match protocol:
        case "chat":
            return _chat(answer, model)
        case "responses":
            return _responses(answer, model)
        case "anthropic":
            return _anthropic(answer, model)
        case "google":
            return _google(answer, model)


def pieces(protocol: Protocol, answer: Answer, model: str) -> Iterator[Event]:
    """The events of a stream."""
    match protocol:
        case "chat":
            return _chat_events(answer, model)
        case "responses":
            return _responses_events(answer, model)
        case "anthropic":
            return _anthropic_events(answer, model)
        case "google":
            return _google_events(answer, model)


def _cut(text: str, answer: Answer) -> list[str]:
    size = answer.piece if isinstance(answer, Says) else 8
    return [text[at : at + size] for at in range(0, len(text), size)]


def _calls(answer: Answer) -> list[tuple[str, str, str]]:
    """Id, name and arguments as text."""
    if not isinstance(answer, Calls):
        return []
    return [
        (f"call_{number}", name, json.dumps(arguments) if answer.arguments is None else answer.arguments)
        for number, (name, arguments) in enumerate(answer.calls)
    ]


def _tokens(answer: Answer) -> tuple[int, int]:
    return (answer.input_tokens, answer.output_tokens) if isinstance(answer, Says) else (11, 7)


# OpenAI, chat completions.


def _chat_usage(answer: Answer) -> JsonObject:
    read, written = _tokens(answer)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _chat_finish(answer: Answer) -> str:
    return "tool_calls" if isinstance(answer, Calls) else answer.finish if isinstance(answer, Says) else "stop"


def _chat_calls(answer: Answer) -> list[JsonObject]:
    return [
        {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call, name, arguments in _calls(answer)
    ]


def _chat(answer: Answer, model: str) -> JsonObject:
    message: JsonObject = {"role": "assistant", "content": None if isinstance(answer, Refuses) else answer.text}
    if isinstance(answer, Refuses):
        message["refusal"] = answer.text
    if calls := _chat_calls(answer):
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": _chat_finish(answer)}
    head = {"id": "chat_1", "object": "chat.completion", "created": 1_700_000_000, "model": model}
    return {**head, "choices": [choice], "usage": _chat_usage(answer)}


def _chat_events(answer: Answer, model: str) -> Iterator[Event]:
    head = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": model}

    def chunk(delta: JsonObject, finish: str | None = None) -> Event:
        return "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    key = "refusal" if isinstance(answer, Refuses) else "content"
    for text in _cut(answer.text, answer):
        yield chunk({"role": "assistant", key: text})
    for index, call in enumerate(_chat_calls(answer)):
        function = call["function"]
        yield chunk({"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]})
        for text in _cut(function["arguments"], answer):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": text}}]})
    yield chunk({}, _chat_finish(answer))
    yield "", {**head, "choices": [], "usage": _chat_usage(answer)}
    yield "", "[DONE]"


# OpenAI, responses.


def _responses_items(answer: Answer) -> list[JsonObject]:
    items: list[JsonObject] = []
    if isinstance(answer, Refuses):
        content: JsonObject = {"type": "refusal", "refusal": answer.text}
    else:
        content = {"type": "output_text", "text": answer.text, "annotations": []}
    if answer.text:
        items.append(
            {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [content]}
        )
    for call, name, arguments in _calls(answer):
        item = {"type": "function_call", "id": f"fc_{call}", "call_id": call, "name": name, "arguments": arguments}
        items.append({**item, "status": "completed"})
    return items


def _responses(answer: Answer, model: str) -> JsonObject:
    read, written = _tokens(answer)
    is_cut = isinstance(answer, Says) and answer.finish == "length"
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "incomplete" if is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "model": model,
        "output": _responses_items(answer),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written,
        },
    }


def _responses_events(answer: Answer, model: str) -> Iterator[Event]:
    number = 0
    full = _responses(answer, model)

    def event(kind: str, **data: Any) -> Event:
        nonlocal number
        number += 1
        return kind, {"type": kind, "sequence_number": number, **data}

    yield event("response.created", response={**full, "status": "in_progress", "output": [], "usage": None})
    for index, item in enumerate(full["output"]):
        place = {"item_id": item["id"], "output_index": index}
        if item["type"] == "function_call":
            empty = {**item, "arguments": "", "status": "in_progress"}
            yield event("response.output_item.added", output_index=index, item=empty)
            for text in _cut(item["arguments"], answer):
                yield event("response.function_call_arguments.delta", **place, delta=text)
            yield event("response.function_call_arguments.done", **place, arguments=item["arguments"])
        else:
            content = item["content"][0]
            kind = "refusal" if content["type"] == "refusal" else "output_text"
            key = "refusal" if kind == "refusal" else "text"
            empty = {**item, "content": [], "status": "in_progress"}
            yield event("response.output_item.added", output_index=index, item=empty)
            yield event("response.content_part.added", **place, content_index=0, part={**content, key: ""})
            for text in _cut(content[key], answer):
                yield event(f"response.{kind}.delta", **place, content_index=0, delta=text, logprobs=[])
            yield event(f"response.{kind}.done", **place, content_index=0, **{key: content[key]}, logprobs=[])
            yield event("response.content_part.done", **place, content_index=0, part=content)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.incomplete" if full["incomplete_details"] else "response.completed", response=full)


# Anthropic, messages.

_ANTHROPIC_ENDS = {"stop": "end_turn", "length": "max_tokens"}


def _anthropic_end(answer: Answer) -> str:
    if isinstance(answer, Says):
        return _ANTHROPIC_ENDS[answer.finish]
    return "tool_use" if isinstance(answer, Calls) else "refusal"


def _anthropic(answer: Answer, model: str) -> JsonObject:
    read, written = _tokens(answer)
    content: list[JsonObject] = [{"type": "text", "text": answer.text}] if answer.text else []
    for call, name, arguments in _calls(answer):
        content.append({"type": "tool_use", "id": call, "name": name, "input": json.loads(arguments)})
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": _anthropic_end(answer),
        "stop_sequence": None,
        "usage": {"input_tokens": read, "output_tokens": written},
    }


def _anthropic_events(answer: Answer, model: str) -> Iterator[Event]:
    read, written = _tokens(answer)

    def event(kind: str, **data: Any) -> Event:
        return kind, {"type": kind, **data}

    blocks: list[tuple[JsonObject, str, str]] = []
    if answer.text:
        blocks.append(({"type": "text", "text": ""}, "text", answer.text))
    for call, name, arguments in _calls(answer):
        blocks.append(({"type": "tool_use", "id": call, "name": name, "input": {}}, "partial_json", arguments))
    head: JsonObject = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": read, "output_tokens": 1},
    }
    yield event("message_start", message=head)
    for index, (block, key, full) in enumerate(blocks):
        yield event("content_block_start", index=index, content_block=block)
        kind = "text_delta" if key == "text" else "input_json_delta"
        for text in _cut(full, answer):
            yield event("content_block_delta", index=index, delta={"type": kind, key: text})
        yield event("content_block_stop", index=index)
    end = {"stop_reason": _anthropic_end(answer), "stop_sequence": None}
    yield event("message_delta", delta=end, usage={"output_tokens": written})
    yield event("message_stop")


# Google, generateContent.


def _google_body(parts: list[JsonObject], answer: Answer, model: str, *, last: bool) -> JsonObject:
    read, written = _tokens(answer)
    candidate: JsonObject = {"content": {"role": "model", "parts": parts}, "index": 0}
    if last:
        ends = {"stop": "STOP", "length": "MAX_TOKENS"}
        is_refusal = isinstance(answer, Refuses)
        candidate["finishReason"] = "SAFETY" if is_refusal else ends[getattr(answer, "finish", "stop")]
    usage = {"promptTokenCount": read, "candidatesTokenCount": written, "totalTokenCount": read + written}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": "resp_1"}


def _google_calls(answer: Answer) -> list[JsonObject]:
    return [
        {"functionCall": {"id": call, "name": name, "args": json.loads(arguments)}}
        for call, name, arguments in _calls(answer)
    ]


def _google(answer: Answer, model: str) -> JsonObject:
    parts = [{"text": answer.text}] if answer.text and not isinstance(answer, Refuses) else []
    return _google_body([*parts, *_google_calls(answer)], answer, model, last=True)


def _google_events(answer: Answer, model: str) -> Iterator[Event]:
    if not isinstance(answer, Refuses):
        for text in _cut(answer.text, answer):
            yield "", _google_body([{"text": text}], answer, model, last=False)
    yield "", _google_body(_google_calls(answer), answer, model, last=True)
