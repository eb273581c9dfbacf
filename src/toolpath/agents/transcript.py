"""Transcript of an agent's talk with its model: what each round adds, and what is left out when it gets too long. Pure.

Old results go first: each is replaced by its beginning and a line that says what was left out. The goal, what the model
said and called, and the latest round stay whole. What is left out is decided by sizes alone, so that an agent that is
run again after a crash tells its model the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from toolpath.agents.prompt import CLOSING
from toolpath.model.chat import Message, ToolCall
from toolpath.values import Json, JsonObject, encode

#: Bytes of arguments that a model is reminded of.
_LONGEST_ARGUMENTS: Final = 60_000
#: Characters that stay of a result that is left out.
KEPT: Final = 400
#: Characters of what a model says beside its calls.
_LONGEST_WORDS: Final = 20_000


class CallAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to one call of the model's, in words for it."""

    call: ToolCall
    text: str
    key: str
    """Where the journal has it."""
    is_result: bool = False
    """The journal has the text as what the call gave: it is not kept again."""


class _Entry(msgspec.Struct, kw_only=True):
    message: Message
    key: str = ""
    """Of a result: where the journal has it."""

    @property
    def size(self) -> int:
        return len(self.message.text) + sum(len(str(call.arguments)) for call in self.message.tool_calls)


class Transcript:
    """Grows by one round after the other."""

    def __init__(self, requirement: str, longest: int, *, before: Sequence[Message] = ()) -> None:
        """`longest`: characters at which old results are left out, down to half of it.

        `before`: what was said before the run; the journal has it with the run's begin.
        """
        self._longest = longest
        self._entries = [_Entry(message=message) for message in (*before, Message(text=requirement))]
        self._size = sum(entry.size for entry in self._entries)
        self._new: list[Json] = [{"text": requirement}]
        self._shortened = 0
        """Entries from the beginning whose results were left out."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """All of it, oldest first."""
        return tuple(entry.message for entry in self._entries)

    def added(self) -> JsonObject:
        """The messages since this was asked last, for the journal: results by where it has them."""
        adds: JsonObject = {"messages": self._new}
        left_out = self._shorten()
        if left_out:
            adds["left_out"] = left_out
        self._new = []
        return adds

    def told(self, text: str) -> None:
        """A word of the house to the model."""
        self._add(Message(text=text))
        self._new.append({"text": text})

    def said(self, text: str, calls: Sequence[ToolCall]) -> None:
        """Add what the model said and called."""
        # The journal has it as the reply of its round.
        self._add(Message(role="assistant", text=text[:_LONGEST_WORDS], tool_calls=tuple(calls)))

    def answered(self, results: Sequence[CallAnswer], *, in_text: bool) -> None:
        """Add the answers of the calls, in their order."""
        for told in results:
            text = told.text
            if in_text:
                message = Message(text=f"{told.call.name}: {text}")
            else:
                message = Message(role="tool", text=text, tool_call_id=told.call.id, name=told.call.name)
            self._add(message, told.key)
            entry: JsonObject = {"result_of": told.key}
            self._new.append(entry if told.is_result else {**entry, "text": text})

    def _add(self, message: Message, key: str = "") -> None:
        entry = _Entry(message=message, key=key)
        self._entries.append(entry)
        self._size += entry.size

    def shorten(self) -> None:
        """Leave out what can be: the same again and again leads nowhere."""
        self._leave_out(0)

    def _shorten(self) -> list[str]:
        return self._leave_out(self._longest // 2) if self._size > self._longest else []

    def _leave_out(self, down_to: int) -> list[str]:
        found: list[str] = []
        for index in range(self._shortened, self._latest()):
            if self._size <= down_to:
                break
            self._shortened = index + 1
            entry = self._entries[index]
            before = entry.size
            if not entry.key or before <= 2 * KEPT:
                continue
            text = entry.message.text
            left = f"[{len(text) - KEPT:,} characters of this result were left out. Call again if needed.]"
            stub = f"{text[:KEPT]}\n{left}{CLOSING if text.endswith(CLOSING) else ''}"
            entry.message = msgspec.structs.replace(entry.message, text=stub)
            self._size += entry.size - before
            found.append(entry.key)
        return found

    def _latest(self) -> int:
        """Where the latest round begins."""
        said = [index for index, entry in enumerate(self._entries) if entry.message.role == "assistant"]
        return said[-1] if said else len(self._entries)


def shown_call(name: str, call_id: str, arguments: JsonObject) -> ToolCall:
    """The call as the model is reminded of it: arguments that nobody took are not sent again."""
    return ToolCall(name=name, id=call_id, arguments=arguments if len(encode(arguments)) <= _LONGEST_ARGUMENTS else {})


def said_before(conversation: Iterable[JsonObject]) -> tuple[Message, ...]:
    """The messages of a run's conversation, `{role, text}`, as a model is told of them."""
    found: list[Message] = []
    for said in conversation:
        text = said.get("text")
        if isinstance(text, str) and text:
            found.append(Message(role="assistant" if said.get("role") == "assistant" else "user", text=text))
    return tuple(found)
