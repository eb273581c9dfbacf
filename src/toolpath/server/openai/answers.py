"""Answers as OpenAI's clients know them: whole, or in pieces. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from toolpath.model import events as ev
from toolpath.model.chat import ToolCall, Usage
from toolpath.model.events import AnyEvent, ApprovalRequested, InputRequested
from toolpath.model.run import RunResult
from toolpath.values import JsonObject, encode, made_ready

#: What a stream ends with.
DONE = b"data: [DONE]\n\n"


class Head(msgspec.Struct, frozen=True):
    """Head that all pieces of an answer share."""

    id: str
    model: str
    created: int


def whole(
    head: Head, text: str, *, calls: Sequence[ToolCall] = (), reason: str, usage: Usage, more: JsonObject | None = None
) -> JsonObject:
    """The answer in one piece; `more` is our own, beside what that API knows."""
    message: JsonObject = {"role": "assistant", "content": text if text or not calls else None, "refusal": None}
    if calls:
        message["tool_calls"] = [_call(call) for call in calls]
    return {
        "id": head.id,
        "object": "chat.completion",
        "created": head.created,
        "model": head.model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        "usage": _usage(usage),
        **({"toolpath": more} if more else {}),
    }


def first(head: Head) -> bytes:
    """The piece that says who speaks."""
    return _chunk(head, {"role": "assistant", "content": ""})


def piece(head: Head, text: str) -> bytes:
    """More of the text."""
    return _chunk(head, {"content": text})


def called(head: Head, calls: Sequence[ToolCall]) -> bytes:
    """The calls that the client is to make."""
    return _chunk(head, {"tool_calls": [{"index": index, **_call(call)} for index, call in enumerate(calls)]})


def last(head: Head, reason: str, more: JsonObject | None = None) -> bytes:
    """Why the answer ends."""
    return _chunk(head, {}, reason, {"toolpath": more} if more else {})


def counted(head: Head, usage: Usage) -> bytes:
    """The piece with the tokens, for who asked for it."""
    chunk = {**_head(head), "choices": [], "usage": _usage(usage)}
    return b"data: %b\n\n" % encode(chunk)


def broken(error: JsonObject) -> bytes:
    """The error that came after the answer had begun."""
    return b"data: %b\n\n" % encode({"error": error})


def usage_of(events: Iterable[AnyEvent]) -> Usage:
    """Tokens of all that models were asked in a run."""
    usage = Usage()
    for event in events:
        match event:
            case ev.StepSucceeded(path=path, output={"usage": dict() as counts}) if path.endswith("/think"):
                usage += msgspec.convert(counts, Usage)
            case ev.StepSucceeded(tokens=int() as tokens):
                # The reply was too large to stand in the event; its tokens are not told apart there.
                usage += Usage(output_tokens=tokens)
    return usage


def waiting_text(result: RunResult) -> str:
    """The questions that a run waits for and how they are answered, in words: nothing that is said here allows it."""
    lines = [f"This waits for a person (run {result.run_id}); saying so here does not allow it:"]
    for question in result.questions:
        match question:
            case ApprovalRequested(path=path, tool=tool, inputs=inputs):
                lines.append(f"- may {tool or path} be called with {_short(inputs)}?")
                lines.append(f"  toolpath approve {result.run_id} '{path}'")
                lines.append(f"  POST /api/v1/runs/{result.run_id}/approvals/{path}")
            case InputRequested(path=path, form=form):
                lines.append(f"- {form.get('title', 'a form')}: {', '.join(_fields(form))}")
                lines.append(f"  toolpath answer {result.run_id} '{path}' NAME=VALUE")
                lines.append(f"  POST /api/v1/runs/{result.run_id}/input")
    lines += [
        f"- did the write {step.path} happen?\n  toolpath settle {result.run_id} '{step.path}'"
        for step in result.results
        if step.status == "unknown"
    ]
    lines.append(f"It then goes on by itself. What comes of it: GET /api/v1/runs/{result.run_id}")
    return "\n".join(lines)


def about(result: RunResult) -> JsonObject:
    """The run of an answer, and what it asks."""
    asked: list[JsonObject] = []
    for question in result.questions:
        match question:
            case ApprovalRequested(path=path, tool=tool, inputs=inputs):
                asked.append({"kind": "approval", "step": path, "tool": tool, "inputs": inputs})
            case InputRequested(path=path, form=form):
                asked.append({"kind": "input", "step": path, "form": form})
    return {"run_id": result.run_id, "status": result.status, "questions": asked}


def _fields(form: JsonObject) -> list[str]:
    inputs = form.get("inputs", ())
    return [str(field.get("name", "")) for field in inputs if isinstance(field, dict)]


def _short(value: Any) -> str:
    text = encode(value).decode()
    return text if len(text) <= 500 else f"{text[:500]}…"


def _call(call: ToolCall) -> JsonObject:
    arguments = call.arguments if isinstance(call.arguments, str) else encode(call.arguments).decode()
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _usage(usage: Usage) -> JsonObject:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total,
    }


def _head(head: Head) -> JsonObject:
    return {"id": head.id, "object": "chat.completion.chunk", "created": head.created, "model": head.model}


def _chunk(head: Head, delta: JsonObject, reason: str | None = None, more: JsonObject | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
    return b"data: %b\n\n" % encode({**_head(head), "choices": [choice], **(more or {})})


made_ready(Usage)
