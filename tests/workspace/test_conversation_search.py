"""Search in conversations: what it looks through at most, and that nobody else waits for it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from toolpath import Toolpath
from toolpath.model.conversation import Conversation, ConversationMessage, FoundMessage
from toolpath.workspace.conversations import conversations
from toolpath.workspace.conversations.conversation_records import ConversationRecords


async def kept(tp: Toolpath, *texts: str) -> Conversation:
    """A conversation with these messages."""
    talk = await tp.conversations.create("Long")
    for number, text in enumerate(texts, 1):
        message = ConversationMessage(number=number, role="user", text=text, at=talk.last_at + number)
        await ConversationRecords(tp.store).add(talk, message)
    return talk


async def test_a_search_through_long_messages_leaves_the_loop_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[int] = set()
    found_in = conversations._found_in

    def noted(*given: Any) -> list[FoundMessage]:
        threads.add(threading.get_ident())
        return found_in(*given)

    monkeypatch.setattr(conversations, "_found_in", noted)
    async with Toolpath() as tp:
        await kept(tp, "Needle", *["Ä" * 200_000] * 3)
        (found,) = await tp.conversations.search("needle")
    assert found.number == 1
    assert threads
    assert threading.get_ident() not in threads


async def test_a_search_ends_where_it_has_read_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Toolpath() as tp:
        await kept(tp, "needle one", *["x" * 1_000] * 30, "needle two")
        assert [each.number for each in await tp.conversations.search("needle")] == [32, 1]
        monkeypatch.setattr(conversations, "SEARCHED", (1_000, 5_000, 10_000))
        assert [each.number for each in await tp.conversations.search("needle")] == [32]
        monkeypatch.setattr(conversations, "SEARCHED", (1_000, 31, 20_000_000))
        assert [each.number for each in await tp.conversations.search("needle")] == [32]


async def test_all_messages_are_looked_through_whatever_their_lengths() -> None:
    async with Toolpath() as tp:
        await kept(tp, *(f"needle {number} " + "x" * (number % 7 * 5_000) for number in range(1, 301)))
        found = await tp.conversations.search("NEEDLE", limit=500)
        assert [each.number for each in found] == list(range(300, 0, -1))
        assert len(await tp.conversations.search("needle", limit=5)) == 5
