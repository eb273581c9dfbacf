"""Answers of servers that speak a provider's language nearly, break off or send none, over the real clients."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.llm.test_chat import CALL, HELLO, KEY, broken_stream, chat_at, streamed

from toolpath.errors import ChatFailed
from toolpath.llm import bodies
from toolpath.model.chat import ToolCall
from toolpath.model.model_providers import Api
from toolpath.testing.clock import FakeClock
from toolpath.testing.model_replies import Says, Sends
from toolpath.testing.model_server import ModelServer

EVENTS = "text/event-stream"


def completion(message: dict[str, Any], **fields: Any) -> Sends:
    """An answer that has what a server cannot leave out, and no more."""
    return Sends(body=json.dumps({"choices": [{"message": message}], **fields}).encode())


def called(**fields: Any) -> Sends:
    return completion({"content": None, "tool_calls": [fields]})


def events(*chunks: Any, end: bytes = b"") -> Sends:
    lines = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    return Sends(body=lines + end, content_type=EVENTS)


def delta(text: str, **fields: Any) -> dict[str, Any]:
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": {"content": text}, **fields}]}  # fmt: skip


async def test_what_a_server_leaves_out_of_an_answer_is_not_missed() -> None:
    for reply in (completion({"content": "hi"}), completion({"content": "hi"}, created="today", id=None, model=None)):
        async with ModelServer(reply) as server, chat_at(server) as chat:
            assert (await chat(HELLO)).text == "hi"


@pytest.mark.parametrize(
    "reply",
    [
        called(function={"name": "math--add", "arguments": {"a": 1}}),
        called(id=None, function={"name": "math--add", "arguments": '{"a": 1}'}),
        called(id="x", type="tool", function={"name": "math--add", "arguments": '{"a": 1}'}),
        completion({"function_call": {"name": "math--add", "arguments": '{"a": 1}'}}),
    ],
)
async def test_a_call_is_read_however_a_server_writes_it(reply: Sends) -> None:
    async with ModelServer(reply) as server, chat_at(server) as chat:
        (call,) = (await chat(CALL)).tool_calls
    assert (call.name, call.arguments) == ("math--add", {"a": 1})
    assert call.id


async def test_a_call_without_arguments_has_none() -> None:
    reply = called(id="x", function={"name": "f", "arguments": None})
    async with ModelServer(reply) as server, chat_at(server) as chat:
        assert (await chat(CALL)).tool_calls == (ToolCall(name="f", arguments={}, id="x"),)


@pytest.mark.parametrize(
    ("error", "kind"),
    [({"message": "The model is loading.", "code": 503}, "server"), ({"message": "No tools.", "code": 400}, "rejected"),
     ("The model is loading.", "server")],
)  # fmt: skip
async def test_an_error_that_is_sent_as_a_success_is_told_as_the_server_says_it(error: Any, kind: str) -> None:
    body = json.dumps({"error": error}).encode()
    async with ModelServer(then=Sends(body=body)) as server, chat_at(server, max_retries=0) as chat:
        with pytest.raises(ChatFailed, match=r"loading|No tools") as caught:
            await chat(HELLO)
    assert caught.value.kind == kind


async def test_an_answer_without_choices_is_asked_for_again() -> None:
    server = ModelServer(Sends(body=b'{"choices": []}'), Says(text="hi"))
    async with server, chat_at(server, clock=FakeClock(auto=True)) as chat:
        reply = await chat(HELLO)
    assert (reply.text, reply.attempts) == ("hi", 2)


async def test_thoughts_that_used_up_all_tokens_are_not_thought_again() -> None:
    message = {"content": "", "reasoning_content": "Hm."}
    body = json.dumps({"choices": [{"message": message, "finish_reason": "length"}]}).encode()
    async with ModelServer(then=Sends(body=body)) as server, chat_at(server) as chat:
        with pytest.raises(ChatFailed, match="used up its tokens"):
            await chat(HELLO)
    assert len(server.requests) == 1


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_that_does_not_end_is_left(stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MOST_BYTES", 100_000)
    reply = events(delta("x" * 200_000)) if stream else completion({"content": "x" * 200_000})
    async with ModelServer(then=reply) as server, chat_at(server) as chat:
        with pytest.raises(ChatFailed, match="more than 100,000 bytes") as caught:
            _ = [piece async for piece in chat.stream(HELLO)] if stream else await chat(HELLO)
    assert not caught.value.retryable
    assert KEY not in str(caught.value)
    assert len(server.requests) == 1


BROKEN: dict[Api, Sends] = {
    "openai": events(delta("Half of")),
    "ollama": events(delta("Half of")),
    "google": events({"candidates": [{"content": {"role": "model", "parts": [{"text": "Half of"}]}}]}),
    "anthropic": Sends(
        content_type=EVENTS,
        body=b"".join(
            f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
            for kind, fields in (
                ("message_start", {"message": {
                    "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
                    "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
                }}),
                ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
                ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "Half of"}}),
            )
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("api", BROKEN)
async def test_a_stream_that_ends_in_its_middle_without_a_word_is_no_answer(api: Api) -> None:
    async with ModelServer(then=BROKEN[api]) as server, chat_at(server, api) as chat:
        pieces, failure = await broken_stream(chat)
    assert ("".join(pieces), failure.kind) == ("Half of", "connection")


FINISHED = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'


@pytest.mark.parametrize("end", [b"data: [DONE]\n\n", FINISHED])
async def test_one_word_is_enough_to_end_a_stream(end: bytes) -> None:
    async with ModelServer(then=events(delta("All of it"), end=end)) as server, chat_at(server) as chat:
        assert (await streamed(chat, HELLO))[0] == "All of it"


async def test_a_server_that_takes_no_notice_of_streams_is_asked_without_and_that_is_remembered() -> None:
    async with ModelServer(then=completion({"content": "hi"})) as server, chat_at(server) as chat:
        assert (await streamed(chat, HELLO))[0] == "hi"
        assert len(server.requests) == 2
        assert (await streamed(chat, HELLO))[0] == "hi"
        assert len(server.requests) == 3
