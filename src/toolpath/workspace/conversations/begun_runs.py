"""Runs that were begun with the id of a conversation, besides its turns: each is told in it, in two messages.

A run is noted in its conversation's record before it is begun. Once it has ended its two messages get their numbers
there, then they are kept, then the note goes: who dies in between leaves it to the next look, and nothing is said
twice. A run that had ended and goes on, as by a retry, is noted with the number of its answer, which is renewed. While
a turn goes on no run gets numbers, since the turn's answer follows its message.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from toolpath.errors import RecordConflict, RunConflict, RunNotFound
from toolpath.model.conversation import BegunRun, Conversation, ConversationMessage, EndPart
from toolpath.model.events import RunStarted
from toolpath.model.run import ENDED_RUN, RunInfo
from toolpath.ports import Clock, Store
from toolpath.values import encode
from toolpath.workspace.conversations.conversation_records import ConversationRecords
from toolpath.workspace.conversations.memory import cut

#: Runs of a conversation that may go on at once besides its turn.
MOST_BEGUN: Final = 100
#: Messages of a conversation, and characters of all of them.
MOST_MESSAGES: Final = 10_000
MOST_CHARACTERS: Final = 20_000_000
#: Characters of what a run was asked for, of one input in it, and of its outcome, as messages.
_REQUEST, _INPUT, _RESULT = 4_000, 1_000, 20_000
#: Characters of an answer.
LONGEST_ANSWER: Final = 200_000
#: Seconds after which a run that is not there counts as one that was never begun.
BEGINNING: Final = 60.0
#: How often a change is tried again that somebody else made another one before.
_TRIES: Final = 2 * MOST_BEGUN

End = Callable[[str], Awaitable[EndPart]]
"""Gives the outcome of a run that has ended."""

NameOf = Callable[[RunInfo], Awaitable[str]]
"""Gives what people know the plan of a run by."""


class BegunRuns:
    """The runs that belong to the conversations of one store, besides their turns."""

    def __init__(
        self, records: ConversationRecords, store: Store, clock: Clock, *, end_of: End, name_of: NameOf
    ) -> None:
        self._records = records
        self._store = store
        self._clock = clock
        self._end_of = end_of
        self._name_of = name_of

    async def note(self, conversation_id: str, run_id: str) -> None:
        """Note that the run is begun now. Raises `RunConflict` where too many go on."""
        for _ in range(_TRIES):
            conversation = await self._records.get(conversation_id)
            if conversation is None:
                return
            if len(conversation.begun) >= MOST_BEGUN:
                raise RunConflict(
                    f"{MOST_BEGUN} runs of the conversation {conversation_id} go on.",
                    hint="Wait until some have ended.",
                )
            begun = BegunRun(run_id=run_id, at=self._clock.time())
            if await self._put(msgspec.structs.replace(conversation, begun=(*conversation.begun, begun))):
                return
        raise RecordConflict("The conversation changes all the time.", hint="Try again.")

    async def note_again(self, conversation_id: str, run_id: str) -> bool:
        """Note that a run goes on that had ended; false where the conversation says nothing of its end yet."""
        for _ in range(_TRIES):
            conversation = await self._records.get(conversation_id)
            if conversation is None or len(conversation.begun) >= MOST_BEGUN:
                return False
            if any(each.run_id == run_id for each in conversation.begun):
                return False
            answer = await self._answer_of(conversation, run_id)
            if not answer:
                return False
            begun = BegunRun(run_id=run_id, at=self._clock.time(), answer=answer)
            if await self._put(msgspec.structs.replace(conversation, begun=(*conversation.begun, begun))):
                return True
        return False

    async def _answer_of(self, conversation: Conversation, run_id: str) -> int:
        async for message in self._records.backwards(conversation):
            if message.run_id == run_id and message.role == "assistant":
                return message.number
        return 0

    async def strike(self, conversation_id: str, run_id: str) -> None:
        """Take back what was noted of a run that was not begun after all."""
        for _ in range(_TRIES):
            conversation = await self._records.get(conversation_id)
            if conversation is None or await self._put(_without(conversation, run_id)):
                return

    async def _put(self, conversation: Conversation) -> bool:
        try:
            await self._records.put(conversation)
        except RecordConflict:
            return False
        return True

    async def one_told(self, conversation: Conversation) -> Conversation | None:
        """The conversation one step further; None where no run has ended that it does not tell of.

        Raises `RecordConflict` where somebody else changed it meanwhile.
        """
        for each in conversation.begun:
            if each.answer:
                renewed = await self._renewed(conversation, each)
                if renewed is not None:
                    return renewed
            elif each.number:
                for message in await self._messages(each):
                    await self._records.add(_at(conversation, each), message)
                return await self._records.put(_without(conversation, each.run_id))
        if conversation.turn is not None:
            return None
        for each in conversation.begun:
            if each.answer:
                continue
            info = await self._info(each.run_id)
            if info is not None and info.status in ENDED_RUN:
                return await self._numbered(conversation, each)
            if info is None and self._clock.time() >= each.at + BEGINNING:
                return await self._records.put(_without(conversation, each.run_id))
        return None

    async def _renewed(self, conversation: Conversation, again: BegunRun) -> Conversation | None:
        """The conversation with the outcome of a run that went on; None: it goes on still."""
        before = await self._records.message(conversation.conversation_id, again.answer)
        info = await self._info(again.run_id)
        if before is None or info is None:
            return await self._records.put(_without(conversation, again.run_id))
        if info.status not in ENDED_RUN:
            return None
        end = await self._end_of(again.run_id)
        message = msgspec.structs.replace(
            before,
            text=cut(end.text, LONGEST_ANSWER),
            status=end.status,
            error=end.error[:1_000],
        )
        if again.number:
            await self._records.renew(conversation.conversation_id, message)
            return await self._records.put(_without(conversation, again.run_id))
        if message == before:
            # It is noted before it goes on, and may have failed in the same way again.
            is_over = self._clock.time() >= again.at + BEGINNING
            return await self._records.put(_without(conversation, again.run_id)) if is_over else None
        counted = msgspec.structs.replace(again, number=again.answer)
        summary = conversation.summary
        return await self._records.put(
            msgspec.structs.replace(
                conversation,
                begun=tuple(counted if each.run_id == again.run_id else each for each in conversation.begun),
                characters=conversation.characters + len(message.text) - len(before.text),
                # What it says of this run is not true any more.
                summary=None if summary is not None and summary.through >= again.answer else summary,
            )
        )

    async def _numbered(self, conversation: Conversation, ended: BegunRun) -> Conversation:
        now = max(self._clock.time(), conversation.last_at)
        ended = msgspec.structs.replace(ended, number=conversation.messages + 1, at=now)
        characters = conversation.characters + sum(len(each.text) for each in await self._messages(ended))
        if conversation.messages + 2 > MOST_MESSAGES or characters > MOST_CHARACTERS:
            # It is full: its runs can still be looked at.
            return await self._records.put(_without(conversation, ended.run_id))
        begun = tuple(ended if each.run_id == ended.run_id else each for each in conversation.begun)
        return await self._records.put(
            msgspec.structs.replace(
                conversation, begun=begun, messages=ended.number + 1, characters=characters, last_at=now
            )
        )

    async def _messages(self, ended: BegunRun) -> tuple[ConversationMessage, ConversationMessage]:
        """The request and the answer of a run as messages; the same whenever they are asked for."""
        info = await self._info(ended.run_id)
        if info is None:
            asked, end = "A run was begun.", None
        else:
            asked, end = await self._asked(info), await self._end_of(ended.run_id)
        return (
            ConversationMessage(number=ended.number, role="user", text=asked, at=ended.at, run_id=ended.run_id),
            ConversationMessage(
                number=ended.number + 1,
                role="assistant",
                text="" if end is None else cut(end.text, _RESULT),
                at=ended.at,
                run_id=ended.run_id,
                status="lost" if end is None else end.status,  # type: ignore[arg-type]  # of an ended run
                error="Its run was deleted." if end is None else end.error[:1_000],
            ),
        )

    async def _asked(self, info: RunInfo) -> str:
        """The request that a run's plan was made for, else the plan's name; and the run's inputs."""
        (first,) = await self._store.read_events(info.run_id, limit=1)
        assert isinstance(first, RunStarted)
        request = (first.plan.get("origin") or {}).get("request")
        asked = request if isinstance(request, str) and request else f"Run {await self._name_of(info)}."
        # As the journal has them: what is large stands for itself there.
        inputs = [f"{name}: {cut(_words(value), _INPUT)}" for name, value in first.inputs.items()]
        return cut("\n".join([asked, *inputs]), _REQUEST)

    async def _info(self, run_id: str) -> RunInfo | None:
        try:
            return await self._store.get_run(run_id)
        except RunNotFound:
            return None


def _words(value: object) -> str:
    return value if isinstance(value, str) else encode(value).decode()


def _at(conversation: Conversation, ended: BegunRun) -> Conversation:
    """The conversation as it was when the messages got their numbers: they are listed by that time."""
    return msgspec.structs.replace(conversation, last_at=ended.at)


def _without(conversation: Conversation, run_id: str) -> Conversation:
    begun = tuple(each for each in conversation.begun if each.run_id != run_id)
    return msgspec.structs.replace(conversation, begun=begun)
