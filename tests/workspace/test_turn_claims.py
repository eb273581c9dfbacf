"""Claims of turns: what may happen between a message and its run, and that nothing is lost or done twice by it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.workspace.conversation_cases import Talker, short, talking, told

from toolpath import Settings, Toolpath
from toolpath.errors import KeyReused, RecordNotFound, RunConflict
from toolpath.machine import SystemClock
from toolpath.model.chat import ChatReply, ChatRequest
from toolpath.model.run import RunContext
from toolpath.store.memory.store import MemoryStore
from toolpath.workspace.conversations.message import MessageDraft

Between = Callable[[], Awaitable[Any]]


class LateClock(SystemClock):
    """The time of day, and some seconds more."""

    late = 0.0

    def time(self) -> float:
        """Unix time in seconds."""
        return super().time() + self.late


class Interrupted(MemoryStore):
    """A store in which something happens once, before a message is kept or before a run is."""

    before_message: Between | None = None
    before_run: Between | None = None

    async def put_record(self, record: Any, **more: Any) -> Any:
        """Keep it, after what comes between."""
        if record.kind == "conversation_message" and self.before_message is not None:
            between, self.before_message = self.before_message, None
            await between()
        return await super().put_record(record, **more)

    async def begin_run(self, *given: Any, **more: Any) -> Any:
        """Begin it, after what comes between."""
        if self.before_run is not None:
            between, self.before_run = self.before_run, None
            await between()
        return await super().begin_run(*given, **more)


async def test_a_summary_that_takes_long_loses_no_turn() -> None:
    clock = LateClock()

    class Slow(Talker):
        async def __call__(self, request: ChatRequest) -> ChatReply:
            if "Summarise" in request.system:
                clock.late += 61
                await tp.conversations.get(talk.conversation_id)
            return await super().__call__(request)

    tp = Toolpath(chat=Slow(then="Noted."), clock=clock, settings=Settings(conversation_memory=6_000))
    async with tp:
        talk = await tp.conversations.create()
        for number in range(6):
            parts = await told(tp.conversations.say(talk.conversation_id, f"Number {number}: " + "x" * 1_500))
            assert short(parts)[-2:] == ["text Noted.", "end completed"]
        assert clock.late > 0, "a summary was made"
        history = await tp.conversations.history(await tp.conversations.get(talk.conversation_id))
        assert [each.status for each in history] == ["", "completed"] * 6


@pytest.mark.parametrize("place", ["before_message", "before_run"])
async def test_a_turn_that_was_given_up_meanwhile_does_not_go_on(place: str) -> None:
    clock = LateClock()
    store = Interrupted(clock=clock.time)
    tp, _, world = talking([("web.search", {"query": "tea"})], "Done.", store=store, clock=clock)

    async def given_up() -> None:
        clock.late += 61
        assert (await tp.conversations.get(talk.conversation_id)).turn is None

    async with tp:
        talk = await tp.conversations.create()
        setattr(store, place, given_up)
        with pytest.raises(RunConflict, match="given up"):
            await tp.conversations.begin(talk, MessageDraft(text="Tea?"), context=RunContext())
        for info in await tp.store.list_runs():
            assert (await tp.result(info.run_id)).status == "cancelled"
        assert world.calls == []
        history = await tp.conversations.history(await tp.conversations.get(talk.conversation_id))
        assert [(each.role, each.status) for each in history] == [("user", ""), ("assistant", "lost")]


@pytest.mark.parametrize("place", ["before_message", "before_run"])
async def test_a_conversation_is_deleted_while_its_turn_is_only_being_begun(place: str) -> None:
    store = Interrupted()
    tp, _, world = talking([("web.search", {"query": "tea"})], "Done.", store=store)

    async def deleted() -> None:
        await tp.conversations.delete(await tp.conversations.get(talk.conversation_id))

    async with tp:
        talk = await tp.conversations.create()
        setattr(store, place, deleted)
        with pytest.raises(RecordNotFound):
            await tp.conversations.begin(talk, MessageDraft(text="Tea?", message_id="m"), context=RunContext())
        for info in await tp.store.list_runs():
            assert (await tp.result(info.run_id)).status == "cancelled"
        assert world.calls == []
        for kind in ("conversation", "conversation_message", "conversation_message_id"):
            assert await tp.store.list_records(kind) == []


async def test_a_turn_that_is_only_being_begun_cannot_be_stopped_yet() -> None:
    store = Interrupted()
    tp, _, _ = talking("Done.", store=store)

    async def stopped() -> None:
        with pytest.raises(RunConflict, match="only being begun"):
            await tp.conversations.cancel(await tp.conversations.get(talk.conversation_id))

    async with tp:
        talk = await tp.conversations.create()
        store.before_run = stopped
        assert short(await told(tp.conversations.say(talk, "Tea?"))) == ["text Done.", "end completed"]
        assert store.before_run is None


@pytest.mark.parametrize(
    "other",
    [
        MessageDraft(text="B", message_id="m"),
        MessageDraft(text="A", message_id="m", tools=("web.search",)),
        MessageDraft(text="A", message_id="m", instructions="Be short."),
    ],
)
async def test_two_messages_with_one_id_at_once_are_not_taken_for_one(other: MessageDraft) -> None:
    store = Interrupted()
    tp, _, _ = talking(then="yes", store=store)

    async def refused() -> None:
        with pytest.raises(KeyReused):
            await tp.conversations.begin(talk, other, context=RunContext())

    async with tp:
        talk = await tp.conversations.create()
        store.before_message = refused
        turn = await tp.conversations.begin(talk, MessageDraft(text="A", message_id="m"), context=RunContext())
        assert store.before_message is None
        await refused()
        await told(tp.conversations.turns.follow(turn.run_id, talks=True))
        await refused()
        history = await tp.conversations.history(await tp.conversations.get(talk.conversation_id))
        assert [each.text for each in history] == ["A", "yes"]


async def test_the_same_message_sent_again_while_it_is_being_begun_is_one() -> None:
    store = Interrupted()
    tp, model, _ = talking(then="yes", store=store)
    said = MessageDraft(text="A", message_id="m")
    runs: list[str] = []

    async def again() -> None:
        turn = await tp.conversations.begin(
            await tp.conversations.get(talk.conversation_id), said, context=RunContext()
        )
        runs.append(turn.run_id)
        await told(tp.conversations.turns.follow(turn.run_id, talks=True))
        await tp.conversations.get(talk.conversation_id)

    async with tp:
        talk = await tp.conversations.create()
        store.before_message = again
        turn = await tp.conversations.begin(talk, said, context=RunContext())
        assert runs == [turn.run_id]
        assert not turn.is_new
        assert len(model.requests) == 1
        assert (await tp.conversations.get(talk.conversation_id)).messages == 2


async def test_what_is_asked_in_the_first_turn_stands_there_once() -> None:
    tp, model, _ = talking(then="yes")
    async with tp:
        talk = await tp.conversations.create()
        await told(tp.conversations.say(talk, "ONE"))
        assert [message.text for message in model.requests[-1].messages] == ["ONE"]
