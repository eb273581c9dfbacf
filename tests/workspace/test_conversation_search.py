"""Search in conversations: what it looks through at most, and that nobody else waits for it."""

from __future__ import annotations

import time

import pytest

from toolpath import Toolpath
from toolpath.model.conversation import Conversation, ConversationMessage
from toolpath.workspace.conversations import conversations
from toolpath.workspace.conversations.conversation_records import ConversationRecords


async def kept(tp: Toolpath, *texts: str) -> Conversation:
    """A conversation with these messages."""
    talk = await tp.conversations.create("Long")
    for number, text in enumerate(texts, 1):
        message = ConversationMessage(number=number, role="user", text=text, at=talk.last_at + number)
        await ConversationRecords(tp.store).add(talk, message)
    return talk


async def test_a_search_through_long_messages_leaves_the_loop_to_others() -> None:
    text = "Ä" * 200_000
    async with Toolpath() as tp:
        await kept(tp, "Needle", *[text] * 60)
        begin = time.thread_time()
        for _ in range(60):
            text.casefold().find("needle")
        alone = time.thread_time() - begin
        taken: list[float] = []
        # The first of them learns what it needs, and a busy machine makes some dearer: one that is cheap shows it.
        for _ in range(5):
            begin = time.thread_time()
            (found,) = await tp.conversations.search("needle")
            taken.append(time.thread_time() - begin)
            assert found.number == 1
        assert min(taken) < alone / 2


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
