"""A chat that answers from a script."""

from __future__ import annotations

import pytest

from toolpath.errors import ChatFailed
from toolpath.model.chat import ChatReply, ChatRequest, Message
from toolpath.testing.scripted_chat import ScriptedChat

ASKED = ChatRequest(messages=(Message(text="Hello?"),), output_schema={"type": "object"})


async def test_replies_come_in_order_and_requests_are_remembered() -> None:
    chat = ScriptedChat(
        "text", {"a": 1}, ChatReply(text="whole"), lambda request: request.messages[0].text, then="last"
    )
    texts = [(await chat(ASKED)).text for _ in range(6)]
    assert texts == ["text", '{"a":1}', "whole", "Hello?", "last", "last"]
    assert chat.requests == [ASKED] * 6
    chat.assert_complete()


async def test_a_value_is_structured_where_one_was_asked_for() -> None:
    chat = ScriptedChat({"a": 1}, {"a": 1}, "no json")
    assert (await chat(ASKED)).structured == {"a": 1}
    assert (await chat(ChatRequest())).structured is None
    assert (await chat(ASKED)).structured is None


async def test_failures_are_raised_and_too_many_requests_fail() -> None:
    chat = ScriptedChat(ChatFailed("No.", kind="refused"))
    with pytest.raises(AssertionError):
        chat.assert_complete()
    with pytest.raises(ChatFailed, match="No"):
        await chat(ASKED)
    with pytest.raises(ChatFailed, match="not in the script"):
        await chat(ASKED)


async def test_a_stream_comes_in_pieces_and_ends_with_the_reply() -> None:
    pieces = [piece async for piece in ScriptedChat("0123456789", piece=4).stream(ASKED)]
    assert [piece.text for piece in pieces] == ["0123", "4567", "89", ""]
    assert pieces[-1].reply is not None
    assert pieces[-1].reply.text == "0123456789"
