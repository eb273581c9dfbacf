"""Records of conversations in the store: each conversation, each of its messages, the ids that messages came with."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Final

import msgspec

from toolpath.errors import RecordConflict, RecordNotFound
from toolpath.model.conversation import Conversation, ConversationMessage
from toolpath.model.record import Record
from toolpath.ports import Store
from toolpath.values import digest, made_ready
from toolpath.workspace.record_form import RecordForm

_KIND: Final = "conversation"
_MESSAGE: Final = "conversation_message"
_ID: Final = "conversation_message_id"
_PAGE: Final = 200
#: Messages of a page where they may be long, and characters of one up to which they count as short.
_FEW: Final = 25
_SHORT: Final = 5_000
#: Seconds that lie between two messages at least, so that their order is that of their times.
_APART: Final = 0.001

_FORM: Final = RecordForm(_KIND, Conversation, id="conversation_id", moved={"user": "parent", "title": "name"})


class ConversationRecords:
    """The conversations of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, conversation_id: str) -> Conversation | None:
        """The conversation, or None."""
        record = await self._store.get_record(_KIND, conversation_id)
        return None if record is None else _FORM.read(record)

    async def put(self, conversation: Conversation) -> Conversation:
        """Keep it in the place of what it was made from. Raises `RecordConflict` where that was changed meanwhile."""
        record = _FORM.written(conversation)
        return _FORM.read(await self._store.put_record(record, expected=conversation.revision))

    async def newest(
        self, *, tenant: str | None, user: str | None, limit: int, before: str | None = None
    ) -> list[Conversation]:
        """The newest first; `user`: those that this one may see."""
        found: list[Conversation] = []
        while len(found) < limit:
            page = await self._store.list_records(_KIND, tenant=tenant, limit=_PAGE, before=before)
            found += [each for each in map(_FORM.read, page) if is_theirs(each, user)]
            if len(page) < _PAGE:
                break
            before = page[-1].id
        return found[:limit]

    async def delete(self, conversation: Conversation) -> None:
        """Forget the conversation with all its messages."""
        conversation_id = conversation.conversation_id
        await self._forget(conversation_id)
        await self._store.delete_record(_KIND, conversation_id)
        # What came meanwhile.
        await self._forget(conversation_id)

    async def _forget(self, conversation_id: str) -> None:
        for kind in (_MESSAGE, _ID):
            while found := await self._store.list_records(kind, parent=conversation_id, limit=_PAGE):
                for record in found:
                    await self._store.delete_record(kind, record.id)

    # Messages.

    async def add(self, conversation: Conversation, message: ConversationMessage) -> None:
        """Keep the message; one with its number that is there already stays."""
        record = Record(
            kind=_MESSAGE,
            id=_message_id(conversation.conversation_id, message.number),
            tenant=conversation.tenant,
            parent=conversation.conversation_id,
            data=msgspec.to_builtins(message),
            # Messages are listed by their times, and clocks may go back.
            created_at=max(message.at, conversation.last_at + _APART),
        )
        try:
            await self._store.put_record(record, expected=0)
        except RecordConflict:
            return

    async def renew(self, conversation_id: str, message: ConversationMessage) -> None:
        """Keep the message in the place of the one with its number. One that is gone stays so."""
        record = await self._store.get_record(_MESSAGE, _message_id(conversation_id, message.number))
        if record is None:
            return
        with contextlib.suppress(RecordConflict):
            # Who was faster has told the same run.
            changed = msgspec.structs.replace(record, data=msgspec.to_builtins(message))
            await self._store.put_record(changed, expected=record.version)

    async def take_back(self, conversation: Conversation, number: int) -> None:
        """Forget a message that was not said after all."""
        await self._store.delete_record(_MESSAGE, _message_id(conversation.conversation_id, number))

    async def message(self, conversation_id: str, number: int) -> ConversationMessage | None:
        """The message of that number, or None."""
        record = await self._store.get_record(_MESSAGE, _message_id(conversation_id, number))
        return None if record is None else _message(record)

    async def page(
        self, conversation: Conversation, *, limit: int, before: int | None = None
    ) -> list[ConversationMessage]:
        """The newest messages before that number, newest first."""
        last = None if before is None else _message_id(conversation.conversation_id, before)
        if last is not None and await self._store.get_record(_MESSAGE, last) is None:
            raise RecordNotFound(f"There is no message {before} in the conversation {conversation.conversation_id}.")
        records = await self._store.list_records(
            _MESSAGE, parent=conversation.conversation_id, limit=limit, before=last
        )
        return [_message(record) for record in records]

    async def backwards(self, conversation: Conversation) -> AsyncIterator[ConversationMessage]:
        """All messages, newest first, read a page at a time."""
        async for page in self.pages(conversation):
            for message in page:
                yield message

    async def pages(self, conversation: Conversation) -> AsyncIterator[list[ConversationMessage]]:
        """All messages, newest first, by the page: few where they are long, more where they are short."""
        before, limit = None, _FEW
        while page := await self.page(conversation, limit=limit, before=before):
            yield page
            if len(page) < limit:
                return
            before = page[-1].number
            limit = _PAGE if sum(len(message.text) for message in page) < _SHORT * _FEW else _FEW

    # Ids of messages.

    async def sent_before(self, conversation_id: str, message_id: str) -> tuple[int | None, str]:
        """Number of the message that came with this id, or None; and the digest of what was said with it."""
        record = await self._store.get_record(_ID, digest([conversation_id, message_id]))
        if record is None:
            return None, ""
        return int(record.data["number"]), str(record.data.get("said", ""))

    async def remember(self, conversation: Conversation, message_id: str, number: int, said: str) -> None:
        """Keep the id that a message came with, and the digest of what was said."""
        record = Record(
            kind=_ID,
            id=digest([conversation.conversation_id, message_id]),
            tenant=conversation.tenant,
            parent=conversation.conversation_id,
            data={"number": number, "said": said},
        )
        await self._store.put_record(record)

    async def forget_id(self, conversation: Conversation, message_id: str) -> None:
        """Forget an id whose message was not said after all."""
        await self._store.delete_record(_ID, digest([conversation.conversation_id, message_id]))


def is_theirs(conversation: Conversation, user: str | None) -> bool:
    """Whether the user may see it; None: one who may see all."""
    return user is None or not conversation.user or conversation.user == user


def _message_id(conversation_id: str, number: int) -> str:
    return f"{conversation_id}/{number:08d}"


def _message(record: Record) -> ConversationMessage:
    return msgspec.convert(record.data, ConversationMessage)


made_ready(ConversationMessage)
