"""Drafts: what models of this process are writing now, for the followers of their runs.

The journal has each when it is whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import Final

import msgspec

from toolpath.errors import ChatFailed
from toolpath.model.chat import ChatReply, ChatRequest
from toolpath.model.redaction import Redactor
from toolpath.ports import Chat

#: Characters of a reply; a model that writes more is cut off.
LONGEST: Final = 400_000
#: Characters at the end of a draft that are held back while there are secrets, at least: the begin of one is not known
#: as such. Of long secrets it is as many as the longest may take.
HELD_BACK: Final = 256
#: Characters after which secrets are looked for again.
_STRIDE: Final = 64


class ReplyPlace(msgspec.Struct, frozen=True):
    """Place that a reply is written at."""

    run_id: str
    path: str
    talks: bool
    """To a person, who may come when it is half written; else it is shown where somebody follows the run."""


class ReplyDraft:
    """One reply while it is being written."""

    __slots__ = ("_raw", "_redactor", "_seen", "begun", "text")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._raw = ""
        self._seen = 0
        self.text = ""
        """As much of it as may be shown."""
        self.begun = 1
        """How often it was begun: a reply that broke off is written anew."""

    @property
    def size(self) -> int:
        """Characters that the model has written."""
        return len(self._raw)

    def add(self, text: str) -> None:
        """The model wrote more."""
        self._raw += text
        if not self._redactor.active:
            self.text = self._raw
        elif len(self._raw) >= self._seen + _STRIDE:
            self._seen = len(self._raw)
            self.text = self._redactor.text(self._raw)[: -max(HELD_BACK, self._redactor.longest)]

    def restart(self) -> None:
        """Drop what was written: it does not count."""
        self._raw, self._seen, self.text = "", 0, ""
        self.begun += 1


class Drafts:
    """The drafts of one process, by run."""

    def __init__(self) -> None:
        self._drafts: dict[str, dict[str, ReplyDraft]] = {}
        self._readers: dict[str, list[asyncio.Event]] = {}

    @contextmanager
    def followed(self, run_id: str) -> Iterator[asyncio.Event]:
        """Replies of the run are written where they can be seen as long as this lasts; set when there is more."""
        news = asyncio.Event()
        readers = self._readers.setdefault(run_id, [])
        readers.append(news)
        try:
            yield news
        finally:
            readers.remove(news)
            if not readers:
                del self._readers[run_id]

    def of(self, run_id: str) -> Mapping[str, ReplyDraft]:
        """The drafts of the run that are being written, by the path of the step."""
        return self._drafts.get(run_id, {})

    async def reply(self, chat: Chat, request: ChatRequest, place: ReplyPlace, redactor: Redactor) -> ChatReply:
        """The model's reply, in view while it is written where somebody may want to see it. Raises `ChatFailed`."""
        run_id, path = place.run_id, place.path
        if not place.talks and run_id not in self._readers:
            return await chat(request)
        draft = ReplyDraft(redactor)
        drafts = self._drafts.setdefault(run_id, {})
        drafts[path] = draft
        try:
            return await self._streamed(chat, request, draft, run_id)
        except ChatFailed as error:
            if not error.retryable or not draft.size:
                raise
            # A stream that broke off cannot be gone on with; a reply in one piece may still come.
            draft.restart()
            self._tell(run_id)
            return await chat(request)
        finally:
            del drafts[path]
            if not drafts:
                self._drafts.pop(run_id, None)

    async def _streamed(self, chat: Chat, request: ChatRequest, draft: ReplyDraft, run_id: str) -> ChatReply:
        reply: ChatReply | None = None
        async with aclosing(chat.stream(request)) as pieces:
            async for piece in pieces:
                reply = piece.reply or reply
                if piece.text:
                    draft.add(piece.text)
                    self._tell(run_id)
                if draft.size > LONGEST:
                    raise ChatFailed(
                        f"The model wrote more than {LONGEST:,} characters and was cut off.", kind="malformed"
                    )
        if reply is None:
            raise ChatFailed("The model's answer ended before it was whole.", kind="malformed", retryable=True)
        return reply

    def _tell(self, run_id: str) -> None:
        for news in self._readers.get(run_id, ()):
            news.set()
