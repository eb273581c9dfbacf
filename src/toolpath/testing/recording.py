"""Recorded tool calls: the lines of a recording, and a recorder that writes them while the real tools answer.

A recording is a file of JSON lines, one call each, in the order in which the calls ended.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

import msgspec

from toolpath.errors import ConfigError, ReadError, ToolFailed
from toolpath.model.redaction import Redactor
from toolpath.model.tool import Body, Tool, ToolResult
from toolpath.providers.functions import bind
from toolpath.values import Json, JsonObject, canonical, made_ready, plain


class RecordedError(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The exception that a call ended with."""

    type: str
    message: str
    code: str = ""
    retryable: bool = False
    retry_after: float | None = None
    details: Json = None


class RecordedCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call of a tool and its outcome: an output, an error, or neither where it was cancelled."""

    tool: str
    """Key."""
    inputs: JsonObject = {}
    output: Json = None
    result: JsonObject | None = None
    """Confidence, sources, cost and tokens, where the tool told them."""
    error: RecordedError | None = None
    cancelled: bool = False

    @property
    def key(self) -> tuple[str, bytes]:
        """The key that a later call must equal to be answered by this one."""
        return call_key(self.tool, self.inputs)


def call_key(tool: str, inputs: JsonObject) -> tuple[str, bytes]:
    """The tool's key and the canonical form of the inputs."""
    return tool, canonical(inputs)


def read_recording(path: str | Path) -> list[RecordedCall]:
    """All calls of a recording. Raises `ReadError`, naming the line, for what is none."""
    calls: list[RecordedCall] = []
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(f"The recording {path} cannot be read: {error}") from None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            calls.append(msgspec.json.decode(line, type=RecordedCall))
        except (msgspec.DecodeError, RecursionError) as error:
            raise ReadError(f"{path}:{number} is no recorded call: {error}", hint="Record again.") from None
    return calls


class Recorder:
    """Wraps tools so that each of their calls is written to a file as it ends.

    Use it as a context manager, or call `close()`. Tools whose body is a plan are left as they are: their calls are
    recorded. A tool that is called in a process of its own runs in a thread while it is recorded. Secrets that
    `redactor` knows are not written. What keeps a call from being written never changes the call's outcome: the first
    such fault is kept in `fault`, and nothing is written after it.
    """

    def __init__(self, path: str | Path, *, redactor: Redactor | None = None) -> None:
        self.path = Path(path)
        self.redactor = redactor or Redactor()
        self.fault = ""
        """Why calls are missing in the file; empty where none is."""
        self._file: TextIO | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Finish the file. An empty recording is a file too."""
        with self._lock:
            try:
                self._open().close()
            except OSError as error:
                self._missed(error)

    def open(self) -> None:
        """Make the file, empty. Raises `ConfigError` where it cannot be written."""
        with self._lock:
            try:
                self._open()
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                raise ConfigError(f"The recording {self.path} cannot be written: {reason}.") from None

    def record(self, tools: Iterable[Tool]) -> list[Tool]:
        """The same tools, recorded. Raises `ConfigError` for one without a body and for a file that cannot be made."""
        self.open()
        return [self._recorded(bind(tool)) for tool in tools]

    def note(self, call: RecordedCall) -> None:
        """Write one call."""
        self._keep(lambda: call)

    def _keep(self, told: Callable[[], RecordedCall | None]) -> None:
        with self._lock:
            if self.fault:
                return
            try:
                if (call := told()) is not None:
                    self._open().write(msgspec.json.encode(call).decode() + "\n")
                    self._open().flush()
            except Exception as error:  # noqa: BLE001  # the call is over: its outcome is the tool's, not the recorder's
                self._missed(error)

    def _missed(self, error: Exception) -> None:
        self.fault = self.fault or f"{type(error).__name__}: {error}"

    def _open(self) -> TextIO:
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("w", encoding="utf-8", newline="\n")
        return self._file

    def _recorded(self, tool: Tool) -> Tool:
        body = tool.body
        if not isinstance(body, Body):
            return tool

        def invoke(inputs: JsonObject, context: Any) -> Any:
            try:
                returned = body.invoke(inputs, context)
            except Exception as error:
                self._note_error(tool, inputs, error)
                raise
            if inspect.isawaitable(returned):
                return self._awaited(tool, inputs, returned)
            self._note_output(tool, inputs, returned)
            return returned

        recording = Body(invoke=invoke, runs=body.runs, wants_context=body.wants_context)
        return msgspec.structs.replace(tool, body=recording)

    async def _awaited(self, tool: Tool, inputs: JsonObject, returned: Awaitable[Any]) -> Any:
        try:
            output = await returned
        except asyncio.CancelledError:
            self._keep(lambda: RecordedCall(tool=tool.key, inputs=self._clean(inputs), cancelled=True))
            raise
        except Exception as error:
            self._note_error(tool, inputs, error)
            raise
        self._note_output(tool, inputs, output)
        return output

    def _note_output(self, tool: Tool, inputs: JsonObject, returned: Any) -> None:
        self._keep(lambda: self._answered(tool, inputs, returned))

    def _answered(self, tool: Tool, inputs: JsonObject, returned: Any) -> RecordedCall | None:
        told: JsonObject | None = None
        if isinstance(returned, ToolResult):
            told = {field: getattr(returned, field) for field in ("confidence", "sources", "cost", "tokens")}
            returned = returned.output
        try:
            output, _ = plain(returned)
        except ToolFailed:
            # No JSON: the engine will say so of the live call; a replay could not give it again.
            return None
        return RecordedCall(tool=tool.key, inputs=self._clean(inputs), output=self._clean(output), result=told)

    def _note_error(self, tool: Tool, inputs: JsonObject, error: Exception) -> None:
        self._keep(lambda: self._failed(tool, inputs, error))

    def _failed(self, tool: Tool, inputs: JsonObject, error: Exception) -> RecordedCall:
        known = RecordedError(
            type=type(error).__name__,
            message=self.redactor.text(str(getattr(error, "message", "") or error)),
            code=getattr(error, "code", "") if isinstance(error, ToolFailed) else "",
            retryable=bool(getattr(error, "retryable", False)),
            retry_after=getattr(error, "retry_after", None),
        )
        return RecordedCall(tool=tool.key, inputs=self._clean(inputs), error=known)

    def _clean(self, value: Json) -> Json:
        return self.redactor.value(value)


made_ready(RecordedCall)
