"""Recorded tool calls answer again, so that a plan runs without its tools."""

from __future__ import annotations

import asyncio
import builtins
import difflib
from collections import Counter, deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec
from rapidfuzz.distance import Levenshtein

from toolpath import errors
from toolpath.errors import ToolFailed
from toolpath.model.plan import Plan
from toolpath.model.redaction import Redactor
from toolpath.model.tool import Body, Tool, ToolResult
from toolpath.providers.functions import bind
from toolpath.testing.recording import RecordedCall, RecordedError, call_key, read_recording
from toolpath.values import JsonObject


class ReplayMiss(ToolFailed):
    """A call that the recording does not hold; the message shows the nearest one that it does."""

    code = "replay_miss"


class Replay:
    """Wraps tools so that a recording answers instead of them.

    Equal calls of a tool are answered in the order in which they were recorded. `order="strict"` also demands that
    the calls of all tools come in the recorded order: right for chains, not for what runs side by side. A call that
    was not recorded fails the step with `ReplayMiss` and is kept in `misses`. A recorded call that was cancelled
    waits until it is cancelled again.
    """

    def __init__(
        self, path: str | Path, *, order: Literal["key", "strict"] = "key", redactor: Redactor | None = None
    ) -> None:
        self.path = Path(path)
        self.order = order
        self.redactor = redactor or Redactor()
        self.calls = read_recording(path)
        self.misses: list[ReplayMiss] = []
        self._left: dict[tuple[str, bytes], deque[int]] = {}
        for index, call in enumerate(self.calls):
            self._left.setdefault(call.key, deque()).append(index)
        self._used = [False] * len(self.calls)
        self._next = 0

    def replay(self, tools: Iterable[Tool]) -> list[Tool]:
        """The same tools, answered by the recording. Tools whose body is a plan are left: their calls are answered."""
        return [self._replayed(tool) for tool in tools]

    @property
    def unused(self) -> list[RecordedCall]:
        """Recorded calls that were not made."""
        return [call for call, used in zip(self.calls, self._used, strict=True) if not used]

    def assert_complete(self) -> None:
        """Raise `AssertionError` unless every recorded call was made and no other."""
        problems = [str(miss) for miss in self.misses]
        for tool, count in Counter(call.tool for call in self.unused).items():
            problems.append(f"{tool}: {count} recorded call{'s were' if count > 1 else ' was'} not made.")
        if problems:
            raise AssertionError("\n".join(problems))

    def answer(self, tool: str, inputs: JsonObject) -> RecordedCall:
        """The recorded call that answers this one, now used up. Raises `ReplayMiss`."""
        inputs = self.redactor.value(inputs)
        index = self._find(tool, inputs)
        if index is None:
            miss = ReplayMiss(self._explain(tool, inputs), hint="Record again if the plan was meant to change.")
            self.misses.append(miss)
            raise miss
        self._used[index] = True
        self._next = index + 1
        return self.calls[index]

    def _find(self, tool: str, inputs: JsonObject) -> int | None:
        key = call_key(tool, inputs)
        if self.order == "strict":
            return self._next if self._next < len(self.calls) and self.calls[self._next].key == key else None
        left = self._left.get(key)
        return left.popleft() if left else None

    def _replayed(self, tool: Tool) -> Tool:
        if isinstance(tool.body, Plan):
            return tool

        async def invoke(inputs: JsonObject, context: Any) -> Any:
            return await _outcome(self.answer(tool.key, inputs))

        # A plain function may still have to tell its schemas.
        known = tool if tool.body is None else bind(tool)
        return msgspec.structs.replace(known, body=Body(invoke=invoke))

    def _explain(self, tool: str, inputs: JsonObject) -> str:
        asked = _shown(RecordedCall(tool=tool, inputs=inputs))
        if self.order == "strict":
            if self._next >= len(self.calls):
                return f"{tool} was called after the recording's last call ({len(self.calls)})."
            return f"Call {self._next + 1} is not the recorded one:\n{_diff(self.calls[self._next], asked)}"
        equal = sum(call.key == call_key(tool, inputs) for call in self.calls)
        if equal:
            return f"{tool} was called {equal + 1} times with these inputs; {equal} such calls are recorded:\n{asked}"
        nearest = self._nearest(tool, asked)
        if nearest is None:
            known = ", ".join(sorted({call.tool for call in self.calls})) or "nothing"
            return f"No call of {tool} is recorded in {self.path.name}; it holds: {known}."
        return f"This call of {tool} is not recorded in {self.path.name}. The nearest one:\n{_diff(nearest, asked)}"

    def _nearest(self, tool: str, asked: str) -> RecordedCall | None:
        same_tool = [call for call in self.calls if call.tool == tool]
        # A call that is still to be answered is likelier meant than one that was; long texts are compared in part.
        unused = [call for call, used in zip(self.calls, self._used, strict=True) if not used and call.tool == tool]
        candidates = (unused or same_tool)[:1000]
        return min(candidates, key=lambda call: Levenshtein.distance(_shown(call)[:2000], asked[:2000]), default=None)


def _shown(call: RecordedCall) -> str:
    text = msgspec.json.format(msgspec.json.encode(call.inputs, order="sorted"), indent=2).decode()
    return f"{call.tool} {text}"


def _diff(recorded: RecordedCall, asked: str) -> str:
    lines = difflib.unified_diff(
        _shown(recorded).splitlines(), asked.splitlines(), "recorded", "called", lineterm="", n=2
    )
    return "\n".join(line for _, line in zip(range(60), lines, strict=False))


async def _outcome(call: RecordedCall) -> Any:
    if call.cancelled:
        await asyncio.Event().wait()
    if call.error is not None:
        raise revived(call.error)
    if call.result is not None:
        return ToolResult(output=call.output, **{**call.result, "sources": tuple(call.result.get("sources") or ())})
    return call.output


def revived(error: RecordedError) -> Exception:
    """An exception of the recorded type's name, and of that type where it is one of Python's or of this package's."""
    if error.type == "ToolRetry":
        return errors.ToolRetry(error.message, retry_after=error.retry_after, code=error.code)
    if error.type == "ToolFailed":
        return ToolFailed(error.message, code=error.code)
    known = getattr(errors, error.type, None) or getattr(builtins, error.type, None)
    if isinstance(known, type) and issubclass(known, Exception):
        try:
            exact = known(error.message)
        except TypeError:
            exact = None
        # Some types dress up their message (`KeyError`) or need more than one: those are made anew below.
        if exact is not None and str(getattr(exact, "message", exact)) == error.message:
            return exact
    made = type(error.type, (ToolFailed,), {"code": error.code or "tool_failed", "retryable": error.retryable})
    revived_error: Exception = made(error.message)
    return revived_error
