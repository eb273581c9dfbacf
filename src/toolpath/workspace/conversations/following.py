"""Follower of a turn: its run's events and the drafts of its model as parts, from the turn's first moment on."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Iterator
from typing import Final

import msgspec

from toolpath.agents.asked_calls import AskedCalls, read_reply
from toolpath.engine.drive.drafts import Drafts
from toolpath.engine.drive.large import LargeValues
from toolpath.model import events as ev
from toolpath.model.chat import ChatReply
from toolpath.model.conversation import CallPart, Part, QuestionPart, RestartPart, ResultPart, TextPart
from toolpath.model.events import AnyEvent, Failure
from toolpath.ports import Store
from toolpath.values import Json, made_ready

#: The step of a turn's plan in which the model answers.
REPLY: Final = "reply"
#: Between what is told in one round and in the next.
BETWEEN: Final = "\n\n"
#: Events that are read at once, and the bytes with which a page of them ends.
_PAGE, _PAGE_BYTES = 500, 1_000_000
#: Seconds between two looks where the store wakes who waits, and where it does not.
_HEARD, _UNHEARD = 10.0, 1.0
_THINK: Final = re.compile(rf"^{REPLY}(~\d+)?/round\[\d+\]/think$")
_ACT: Final = re.compile(rf"^{REPLY}(~\d+)?/round\[\d+\]/act\[\d+\]$")
#: What a text begins with that may be a call in words: it is told when it is whole, if it is none.
_CALLS: Final = ("{", "[", "<", "```")


class _Thought(msgspec.Struct, frozen=True):
    """A whole reply of the model: its text and the calls in it."""

    text: str
    asked: AskedCalls


class Follower:
    """Follower of one run. Each part is told once; what was answered before it came is not asked again."""

    def __init__(self, store: Store, drafts: Drafts, run_id: str, *, talks: bool) -> None:
        """`talks`: the run is a model's turn; else a template's, whose steps are told."""
        self._store = store
        self._drafts = drafts
        self._run_id = run_id
        self._talks = talks
        self._large = LargeValues()
        self._path = ""
        """Of the reply whose text is being told."""
        self._told = ""
        """What was told of it."""
        self._begun = 1
        self._has_said = False
        self._calls: set[str] = set()
        self._open: dict[str, QuestionPart] = {}
        self._asked: set[tuple[str, int]] = set()
        self._asks: dict[str, int] = {}
        """Number of the event that asked."""

    async def parts(self) -> AsyncGenerator[Part]:
        """The parts that are told until the run has ended."""
        after = 0
        with self._drafts.followed(self._run_id) as news:
            while True:
                news.clear()
                events = await self._store.read_events(self._run_id, after=after, limit=_PAGE, most_bytes=_PAGE_BYTES)
                for event in events:
                    after = event.seq
                    await self._large.load([event], self._store)
                    thought = await self._thought_of(event)
                    for part in self._parts_of(event, thought):
                        yield part
                    if isinstance(event, ev.RunCompleted | ev.RunFailed | ev.RunCancelled):
                        return
                if events:
                    continue
                for asked in self._newly_asked():
                    yield asked
                for text in self._drafted():
                    yield text
                await self._wait(after, news)

    async def _wait(self, after: int, news: asyncio.Event) -> None:
        """Until there may be more."""
        if news.is_set():
            return
        patience = _HEARD if self._store.hears_others else _UNHEARD
        waiting = [
            asyncio.ensure_future(self._store.wait_events(self._run_id, after)),
            asyncio.ensure_future(news.wait()),
        ]
        try:
            await asyncio.wait(waiting, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()
            for each in waiting:
                with contextlib.suppress(asyncio.CancelledError):
                    await each

    # Text.

    def _drafted(self) -> Iterator[Part]:
        """The parts that the model has written since, of a reply that is not whole yet."""
        for path, draft in list(self._drafts.of(self._run_id).items()):
            if not self._talks or not _THINK.match(path):
                continue
            if draft.begun != self._begun and path == self._path:
                yield from self._forget()
                self._begun = draft.begun
            text = draft.text.strip()
            if not text.startswith(_CALLS):
                yield from self._tell(path, text)

    def _tell(self, path: str, text: str) -> Iterator[Part]:
        if path != self._path:
            self._path, self._told, self._begun = path, "", 1
        if not text.startswith(self._told):
            yield from self._forget()
        more = text[len(self._told) :]
        if not more:
            return
        # A blank line between two rounds is told with the first words of the later one.
        before = BETWEEN if self._has_said and not self._told else ""
        if not self._told:
            self._before = before
        self._told = text
        yield TextPart(text=before + more)

    _before = ""

    def _forget(self) -> Iterator[Part]:
        if self._told:
            yield RestartPart(characters=len(self._before) + len(self._told))
        self._told = ""

    async def _thought_of(self, event: AnyEvent) -> _Thought | None:
        """The model's reply with which a round ends, read for calls, beside the event loop where it is long."""
        if not (self._talks and isinstance(event, ev.StepSucceeded) and _THINK.match(event.path)):
            return None
        reply = msgspec.convert(self._large.restored(event.output), ChatReply)
        return _Thought(reply.text, await read_reply(reply, 0, talks=True))

    def _thought(self, event: ev.StepSucceeded, thought: _Thought) -> Iterator[Part]:
        """A reply is whole."""
        text = "" if thought.asked.in_text and thought.asked.calls else thought.text.strip()
        yield from self._tell(event.path, text)
        self._has_said = self._has_said or bool(text)

    # Events.

    def _parts_of(self, event: AnyEvent, thought: _Thought | None) -> Iterator[Part]:
        path = getattr(event, "path", None)
        if path is None:
            return
        match event:
            case ev.ApprovalRequested():
                self._ask(event.seq, QuestionPart(
                    kind="approval",
                    run_id=self._run_id,
                    step=path,
                    tool=event.tool,
                    inputs=self._large.restored(event.inputs),
                    asked_at=event.at,
                ))  # fmt: skip
            case ev.InputRequested():
                asked = QuestionPart(kind="input", run_id=self._run_id, step=path, form=event.form, asked_at=event.at)
                self._ask(event.seq, asked)
            case ev.StepUnknown():
                asked = QuestionPart(kind="settle", run_id=self._run_id, step=path, tool=event.tool, asked_at=event.at)
                self._ask(event.seq, asked)
            case ev.StepWaiting():
                return
            case _:
                self._open.pop(path, None)
                yield from self._told_of(event, path, thought)

    def _told_of(self, event: AnyEvent, path: str, thought: _Thought | None) -> Iterator[Part]:
        if self._talks and _THINK.match(path):
            if isinstance(event, ev.StepSucceeded) and thought is not None:
                yield from self._thought(event, thought)
            return
        if not (_ACT.match(path) if self._talks else "/" not in path):
            return
        match event:
            case ev.StepStarted(tool=tool, inputs=inputs) if path not in self._calls and not _is_own(tool):
                self._calls.add(path)
                yield CallPart(step=path, tool=tool, inputs=self._large.restored(inputs))
            case ev.StepSucceeded() if path in self._calls:
                yield ResultPart(step=path, status="succeeded")
            case ev.StepFailed(error=error) | ev.StepTimedOut(error=error):
                yield ResultPart(step=path, status="failed", error=_said(error))
            case ev.StepCancelled() if path in self._calls:
                yield ResultPart(step=path, status="cancelled")

    def _ask(self, seq: int, part: QuestionPart) -> None:
        self._open[part.step] = part
        self._asks[part.step] = seq

    def _newly_asked(self) -> Iterator[Part]:
        """The questions that are asked now, as no event that is there says that they were answered."""
        for step, part in self._open.items():
            mark = (step, self._asks[step])
            if mark not in self._asked:
                self._asked.add(mark)
                yield part


def _is_own(tool: str) -> bool:
    return tool.startswith("toolpath.")


def _said(error: Failure) -> str:
    return error.message


def text_of(outputs: Json) -> str:
    """The text of a run's outputs: their own text, a `message` in them, else their JSON."""
    match outputs:
        case str():
            return outputs
        case None:
            return ""
        case {"message": str() as message, **others} if not others:
            return message
        case _:
            return msgspec.json.encode(outputs).decode()


made_ready(ChatReply)
