"""Tools that answer from a script and remember how they were called."""

from __future__ import annotations

import inspect
from typing import Any

from toolpath.errors import ToolFailed
from toolpath.model.tool import Body, Tool
from toolpath.values import JsonObject

_NOTHING: Any = object()


class Script:
    """Script of a tool: what it will answer, and the calls it has had."""

    __slots__ = ("calls", "replies", "surplus", "then")

    def __init__(self, replies: tuple[Any, ...], then: Any = _NOTHING) -> None:
        self.replies = list(replies)
        """What is still to be answered."""
        self.then = then
        self.calls: list[JsonObject] = []
        """The inputs of every call, in order."""
        self.surplus = 0
        """Calls that came after the script's end."""

    def next_reply(self, tool: str, inputs: JsonObject) -> Any:
        """Note the call and give what answers it."""
        self.calls.append(inputs)
        if self.replies:
            return self.replies.pop(0)
        if self.then is not _NOTHING:
            return self.then
        self.surplus += 1
        planned = len(self.calls) - self.surplus
        return ToolFailed(f"{tool} was called {len(self.calls)} times; its script has {planned} replies.")


class ScriptedTool(Tool, frozen=True, kw_only=True, dict=True):
    """A tool whose calls return or raise what its script says, in order. Made by `scripted`."""

    script: Script

    @property
    def calls(self) -> list[JsonObject]:
        """The inputs of every call so far, in order."""
        return self.script.calls

    def assert_complete(self) -> None:
        """Raise `AssertionError` unless every reply was asked for and no more."""
        if self.script.surplus:
            raise AssertionError(f"{self.key}: {self.script.surplus} calls came after the script's end.")
        if self.script.replies:
            raise AssertionError(f"{self.key}: {len(self.script.replies)} replies were never asked for.")


def scripted(name: str, *replies: Any, then: Any = _NOTHING, **fields: Any) -> ScriptedTool:
    """A tool that answers its calls with `replies`, one after the other, and with `then` after the last.

    A reply is a value, an exception (raised), a function of the inputs (called), or an awaitable (awaited). `name` may
    be a key, `group.name`; `fields` are those of `Tool`, `effect="read"` unless given. Without `then` a call too many
    fails.
    """
    group, _, bare = name.rpartition(".")
    script = Script(replies, then)

    def invoke(inputs: JsonObject, context: Any) -> Any:
        return _outcome(script.next_reply(name, inputs), inputs)

    known: JsonObject = {"group": group, "effect": "read", "input_schema": {"type": "object"}, **fields}
    return ScriptedTool(name=bare, script=script, body=Body(invoke=invoke), **known)


def _outcome(reply: Any, inputs: JsonObject) -> Any:
    if isinstance(reply, BaseException) or (isinstance(reply, type) and issubclass(reply, BaseException)):
        raise reply
    if inspect.isawaitable(reply):
        return reply
    if callable(reply):
        return _outcome(reply(inputs), inputs)
    return reply
