"""Stored conversations: messages that are kept as they come, answered in turns, found again, taken up again."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Final

import msgspec

from toolpath.access.trail import Trail
from toolpath.engine.drive.large import LargeValues
from toolpath.engine.drive.services import Services
from toolpath.errors import RecordConflict, RecordNotFound, RunConflict, RunNotFound, SchemaError
from toolpath.machine import new_id
from toolpath.model.conversation import Conversation, ConversationMessage, FoundMessage, Part
from toolpath.model.events import StepStarted
from toolpath.model.run import RunContext, RunInfo, StepResult
from toolpath.model.template import PlanTemplate
from toolpath.ports import Signal
from toolpath.projections.steps import step_results
from toolpath.runs.drives import Drives
from toolpath.values import JsonObject
from toolpath.workspace.conversations.as_plan import calls_of, plan_of
from toolpath.workspace.conversations.conversation_records import ConversationRecords, is_theirs
from toolpath.workspace.conversations.memory import memory_of
from toolpath.workspace.conversations.message import MessageDraft, check_text
from toolpath.workspace.conversations.turns import BegunTurn, ConversationTurns
from toolpath.workspace.templates import TemplateDraft

_LONGEST_TITLE: Final = 200
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}")
_TRIES: Final = 20
#: Runs of a conversation that a plan is made of.
_MOST_RUNS: Final = 200
#: Conversations, messages and characters of messages that a search looks through, the newest.
SEARCHED: Final = (1_000, 5_000, 20_000_000)
#: Characters round what was found that are told.
_ROUND: Final = 80


class Conversations:
    """The conversations of one Toolpath."""

    def __init__(
        self, services: Services, trail: Trail, records: ConversationRecords, turns: ConversationTurns, runs: Drives
    ) -> None:
        self._templates = turns.templates
        self._store = services.store
        self._trail = trail
        self._clock = trail.clock
        self._records = records
        self._runs = runs
        self._services = services
        self.turns = turns
        """Turns of conversations: begun, followed, settled."""

    # Keeping.

    async def create(
        self, title: str = "", *, conversation_id: str = "", tenant: str = "", user: str = ""
    ) -> Conversation:
        """Begin one. Raises `SchemaError` for a title or id that it cannot have, `RecordConflict` for one that is."""
        check_text(title, "title", _LONGEST_TITLE)
        if conversation_id and not _ID.fullmatch(conversation_id):
            raise SchemaError(
                f"{conversation_id[:100]!r} can be no conversation's id.",
                hint="Use up to 100 letters, digits, '_', '-', '.' and ':'.",
            )
        now = self._clock.time()
        made = Conversation(
            conversation_id=conversation_id or new_id("conv", now), title=title, tenant=tenant, user=user, last_at=now
        )
        if conversation_id and await self._records.get(conversation_id) is not None:
            raise RecordConflict(f"There is already a conversation {conversation_id!r}.", hint="Take another id.")
        await self._recorded("conversation.create", made, user)
        return await self._records.put(made)

    async def get(self, conversation_id: str, *, tenant: str | None = None, user: str | None = None) -> Conversation:
        """The conversation, as it stands. Raises `RecordNotFound`, in the same words where it is not theirs.

        `tenant` and `user`: the reader; None: one who may see all.
        """
        found = await self._records.get(conversation_id)
        if found is None or (tenant is not None and found.tenant != tenant) or not is_theirs(found, user):
            raise RecordNotFound(f"There is no conversation {conversation_id[:100]!r}.")
        return await self.turns.settled(found)

    async def settle(self, conversation_id: str) -> None:
        """Keep the outcome of its turn and its other runs, as far as they have ended."""
        found = await self._records.get(conversation_id)
        if found is not None:
            await self.turns.settled(found)

    async def keep_answers(self, runs: Iterable[RunInfo]) -> None:
        """Keep the outcome of these runs, which are about to be deleted."""
        for conversation_id in {info.conversation_id for info in runs if info.conversation_id}:
            await self.settle(conversation_id)

    async def newest(
        self, *, tenant: str | None = None, user: str | None = None, limit: int = 50, before: str | None = None
    ) -> list[Conversation]:
        """The newest first; `before` is the last id of the page before."""
        found = await self._records.newest(tenant=tenant, user=user, limit=limit, before=before)
        return [await self.turns.settled(each) for each in found]

    async def history(
        self, conversation: Conversation, *, limit: int = 50, before: int | None = None
    ) -> list[ConversationMessage]:
        """The newest messages in order, oldest first; `before` is the first number of the page after."""
        return (await self._records.page(conversation, limit=limit, before=before))[::-1]

    async def runs(self, conversation: Conversation, *, limit: int = 50, before: str | None = None) -> list[RunInfo]:
        """The runs that belong to it, newest first: its turns, and whatever was begun with its id."""
        return await self._store.list_runs(
            tenant=conversation.tenant,
            conversation_id=conversation.conversation_id,
            limit=limit,
            before=before,
        )

    async def rename(self, conversation: Conversation, title: str, *, user: str = "") -> Conversation:
        """Give it another title. Raises `SchemaError`."""
        check_text(title, "title", _LONGEST_TITLE)
        if not title.strip():
            raise SchemaError("The title is empty.")
        await self._recorded("conversation.rename", conversation, user, to=title)
        for _ in range(_TRIES):
            try:
                return await self._records.put(msgspec.structs.replace(conversation, title=title))
            except RecordConflict:
                conversation = await self.get(conversation.conversation_id)
        raise RecordConflict("The conversation changes all the time.", hint="Try again.")

    async def delete(self, conversation: Conversation, *, user: str = "") -> None:
        """Forget it with its messages. A turn that goes on is cancelled; runs stay."""
        await self._recorded("conversation.delete", conversation, user)
        await self._stopped(conversation)
        await self._records.delete(conversation)
        # Its run may only have been begun meanwhile.
        await self._stopped(conversation)

    async def _stopped(self, conversation: Conversation) -> None:
        if conversation.turn is not None:
            with contextlib.suppress(RunConflict, RecordNotFound):
                await self.cancel(conversation)

    async def search(
        self, text: str, *, tenant: str | None = None, user: str | None = None, limit: int = 50
    ) -> list[FoundMessage]:
        """Where the text stands, capitals or not: in titles, and in messages of the newest conversations."""
        wanted = text.casefold().strip()
        if not wanted:
            raise SchemaError("There is nothing to search for.")
        most, messages, characters = SEARCHED
        found: list[FoundMessage] = []
        for each in await self._records.newest(tenant=tenant, user=user, limit=most):
            if wanted in each.title.casefold():
                found.append(FoundMessage(conversation_id=each.conversation_id, title=each.title))
            if messages > 0 and characters > 0:
                async for newer in self._records.pages(each):
                    page = newer[:messages]
                    # Long texts take their time.
                    found += await asyncio.to_thread(_found_in, page, each, wanted)
                    messages -= len(page)
                    characters -= sum(len(message.text) for message in page)
                    if messages <= 0 or characters <= 0 or len(found) >= limit:
                        break
            if len(found) >= limit:
                break
        return found[:limit]

    # Talking.

    async def begin(
        self, conversation: Conversation, said: MessageDraft, *, context: RunContext, priority: int = 0
    ) -> BegunTurn:
        """Begin the turn that answers a message, and come back at once. Raises as `ConversationTurns.begin`.

        Who says it stands in the audit trail with the run.
        """
        return await self.turns.begin(conversation, said, context, priority=priority)

    async def say(
        self,
        conversation: Conversation | str,
        text: str,
        *,
        message_id: str = "",
        template: str = "",
        inputs: JsonObject | None = None,
        tools: tuple[str, ...] = (),
        model: str = "",
        context: RunContext | None = None,
    ) -> AsyncIterator[Part]:
        """Say something and be told the answer while it comes: texts, calls, questions, and the end.

        Where a part is a question, `tp.approve`, `deny` or `answer` it and go on reading. The turn goes on, too, where
        nobody reads. Raises as `ConversationTurns.begin`.
        """
        known = await self.get(conversation) if isinstance(conversation, str) else conversation
        said = MessageDraft(
            text=text, message_id=message_id, template=template, inputs=inputs, tools=tools, model=model
        )
        who = context or RunContext(known.user, tenant=known.tenant)
        turn = await self.begin(known, said, context=who)
        async for part in self.turns.follow(turn.run_id, talks=not template, memory=turn.memory):
            yield part
        await self.get(known.conversation_id)

    async def follow(self, conversation: Conversation) -> AsyncIterator[Part]:
        """The turn that goes on, from its first moment. Raises `RunConflict` where none does."""
        turn = conversation.turn
        if turn is None:
            raise RunConflict(f"No turn of the conversation {conversation.conversation_id} goes on.")
        message = await self._records.message(conversation.conversation_id, turn.number)
        talks = message is None or not message.template
        memory = None if message is None else message.memory
        async for part in self.turns.follow(turn.run_id, talks=talks, memory=memory):
            yield part
        await self.get(conversation.conversation_id)

    async def cancel(self, conversation: Conversation) -> None:
        """Stop the turn that goes on. Raises `RunConflict` where none does, or where it has no run yet."""
        if conversation.turn is None:
            raise RunConflict(f"No turn of the conversation {conversation.conversation_id} goes on.")
        try:
            await self._runs.tell(conversation.turn.run_id, Signal(kind="cancel", data={"reason": "stopped"}))
        except RunNotFound:
            raise RunConflict(
                f"The turn of the conversation {conversation.conversation_id} is only being begun.",
                hint="Try again in a moment.",
            ) from None

    async def save_as_template(
        self, conversation: Conversation, draft: TemplateDraft | None = None, *, user: str = ""
    ) -> PlanTemplate:
        """Keep what its runs called, in order, as a plan template: each call with what it was given then.

        Raises `SchemaError` where nothing was called, `RecordConflict` where the title is taken.
        """
        draft = draft or TemplateDraft()
        title = draft.title or conversation.title or conversation.conversation_id
        runs = [await self._results(info.run_id) for info in await self._all_runs(conversation)]
        # What was given to the calls may be large.
        document = await asyncio.to_thread(plan_of, title, runs)
        draft = msgspec.structs.replace(draft, title=title)
        return await self._templates().save(document, draft, tenant=conversation.tenant, user=user)

    async def _all_runs(self, conversation: Conversation) -> list[RunInfo]:
        """Its runs, oldest first. Raises `SchemaError` where there are too many for a plan."""
        found = await self.runs(conversation, limit=_MOST_RUNS + 1)
        if len(found) > _MOST_RUNS:
            raise SchemaError(f"The conversation has more than {_MOST_RUNS} runs.", hint="Save a shorter one.")
        return found[::-1]

    async def _results(self, run_id: str) -> list[StepResult]:
        events = await self._store.read_events(run_id)
        if not events:
            return []
        large = LargeValues()
        await large.load([event for event in events if isinstance(event, StepStarted)], self._store)
        results = step_results(events)
        return [
            msgspec.structs.replace(each, inputs=large.restored(each.inputs), output=None) for each in calls_of(results)
        ]

    async def may_be_named(self, conversation_id: str, *, tenant: str, user: str | None) -> bool:
        """Whether a run may name that id: not where it is a conversation of the tenant that the user may not see."""
        found = await self._records.get(conversation_id)
        return found is None or found.tenant != tenant or is_theirs(found, user)

    async def of_run(self, context: RunContext) -> Conversation | None:
        """The conversation that a run with this context belongs to; None where they may see none of that id."""
        found = await self._records.get(context.conversation_id)
        theirs = found is not None and found.tenant == context.tenant and is_theirs(found, context.user_id)
        return await self.turns.settled(found) if found is not None and theirs else None

    async def remembered(self, context: RunContext, found: Conversation) -> RunContext:
        """The context of a run that belongs to a conversation, with what was said in it before.

        As it is where it brings messages of its own.
        """
        if context.conversation or not found.messages:
            return context
        memory = await memory_of(
            self._records,
            found,
            most=self._services.settings.conversation_memory,
            through=found.messages,
            said=found.characters,
            models=None,
        )
        return RunContext.from_json({**context.as_json(), "conversation": list(memory.messages)})

    async def _recorded(self, action: str, conversation: Conversation, user: str, **more: Any) -> None:
        said: JsonObject = {"conversation": conversation.title, **more}
        await self._trail.record(action, conversation.conversation_id, tenant=conversation.tenant, user=user, **said)


def _found_in(page: Sequence[ConversationMessage], conversation: Conversation, wanted: str) -> list[FoundMessage]:
    """Where the text stands in these messages."""
    places = ((message, message.text.casefold().find(wanted)) for message in page)
    return [_found(conversation, message, at, len(wanted)) for message, at in places if at >= 0]


def _found(conversation: Conversation, message: ConversationMessage, at: int, length: int) -> FoundMessage:
    begin, end = max(0, at - _ROUND), at + length + _ROUND
    excerpt = " ".join(message.text[begin:end].split())
    return FoundMessage(
        conversation_id=conversation.conversation_id,
        title=conversation.title,
        number=message.number,
        excerpt=f"{'…' if begin else ''}{excerpt}{'…' if end < len(message.text) else ''}",
    )
