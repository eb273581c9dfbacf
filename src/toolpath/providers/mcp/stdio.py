"""The pipe to a server that is a child process: lines of JSON, bounded, and an end that leaves nothing behind.

Garbage on its standard output is skipped up to a limit, its standard error is kept in part for messages.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Self, cast

from anyio import ClosedResourceError
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from toolpath.errors import ToolUnavailable
from toolpath.providers.mcp.launch import Launch

#: Bytes of one message; a longer one ends the connection.
_LONGEST_LINE = 32 * 1024 * 1024
#: Lines in a row that are no message before the connection is given up.
_MOST_GARBAGE = 10_000
#: Bytes of standard error that are kept.
_STDERR_KEPT = 4096
#: Seconds each: to exit when its input ends, when it is asked to, when it is killed.
_LAST_WORDS = 0.5
_PATIENCE = (1.0, 1.0, 1.0)


class StdioTransport:
    """A server's process and its two streams, as the `mcp` library wants a transport: an async context manager."""

    def __init__(self, launch: Launch, environment: Mapping[str, str], ended: Callable[[str], None]) -> None:
        self._launch = launch
        self._environment = launch.process_environment(environment)
        self._ended = ended
        self._process: asyncio.subprocess.Process | None = None
        self._stderr = bytearray()
        self._garbage = bytearray()
        self._listener: asyncio.Task[None] | None = None
        self._kill_at_exit: weakref.finalize[[int, int], Any] | None = None

    @property
    def stderr(self) -> str:
        """The last words that the server wrote to its standard error."""
        # Some say on their standard output why they do not start.
        return bytes(self._stderr or self._garbage).decode("utf-8", "replace").strip()

    @property
    def exit_code(self) -> int | None:
        """The code its process ended with; None while it runs or before."""
        return self._process.returncode if self._process is not None else None

    async def __aenter__(self) -> tuple[_Reader, _Writer]:
        launch = self._launch
        program = shutil.which(launch.command, path=self._environment.get("PATH"))
        if program is None:
            raise ToolUnavailable(
                f"The command {launch.command!r} was not found.",
                reached=False,
                hint="Install it, or write its full path.",
            )
        try:
            process = await asyncio.create_subprocess_exec(
                program,
                *launch.args,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment,
                cwd=launch.cwd,
                limit=_LONGEST_LINE,
                # A group of its own: what the server starts dies with it, and Ctrl-C is ours alone.
                start_new_session=sys.platform != "win32",
            )
        except (OSError, ValueError) as error:
            raise ToolUnavailable(
                f"The command {launch.command!r} could not be started: {error}", reached=False
            ) from None
        self._process = process
        # At the end of the interpreter too, and when the connection is dropped without being closed.
        self._kill_at_exit = weakref.finalize(self, _signal_group, process.pid, _SIGKILL)
        errors = cast(asyncio.StreamReader, process.stderr)
        self._listener = asyncio.get_running_loop().create_task(self._listen(errors))
        reader, writer = cast(asyncio.StreamReader, process.stdout), cast(asyncio.StreamWriter, process.stdin)
        return _Reader(reader, self._ended, self._garbage), _Writer(writer)

    def kill(self) -> None:
        """End the process at once, from whatever loop or thread."""
        if self._kill_at_exit is not None:
            self._kill_at_exit()

    async def __aexit__(self, *_: object) -> None:
        process = self._process
        if process is None:
            return
        try:
            cast(asyncio.StreamWriter, process.stdin).close()
            if not await _exits(process, _PATIENCE[0]):
                _signal_group(process.pid, signal.SIGTERM)
                if not await _exits(process, _PATIENCE[1]):
                    _signal_group(process.pid, _SIGKILL)
                    await _exits(process, _PATIENCE[2])
        finally:
            # What the server started may still live, though the server is gone.
            _signal_group(process.pid, _SIGKILL)
            if self._kill_at_exit is not None:
                self._kill_at_exit.detach()
            if self._listener is not None:
                # Its last words may still be in the pipe, and say why it ended.
                await asyncio.wait({self._listener}, timeout=_LAST_WORDS)
                self._listener.cancel()
            _close_pipes(process)

    async def _listen(self, errors: asyncio.StreamReader) -> None:
        while chunk := await errors.read(65536):
            self._stderr += chunk
            del self._stderr[:-_STDERR_KEPT]


_SIGKILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)


def _signal_group(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            os.kill(pid, number)
        else:
            os.killpg(pid, number)


async def _exits(process: asyncio.subprocess.Process, patience: float) -> bool:
    # Not `process.wait()`, which also waits for pipes that a grandchild may hold open.
    deadline = asyncio.get_running_loop().time() + patience
    while process.returncode is None:
        if asyncio.get_running_loop().time() >= deadline:
            return False
        await asyncio.sleep(0.005)
    return True


def _close_pipes(process: asyncio.subprocess.Process) -> None:
    # asyncio shows no public door to this; left open it warns when a grandchild holds a pipe.
    transport = getattr(process, "_transport", None)
    if transport is not None:
        with contextlib.suppress(PermissionError, ProcessLookupError):
            transport.close()


class _Stream:
    """Base of both directions: it can be entered and left, no more."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Left to the transport, which owns the pipes."""


class _Reader(_Stream):
    """The server's messages, one by one."""

    def __init__(self, stream: asyncio.StreamReader, ended: Callable[[str], None], garbage: bytearray) -> None:
        self._stream = stream
        self._ended = ended
        self._garbage = garbage

    def __aiter__(self) -> _Reader:
        return self

    async def __anext__(self) -> SessionMessage:
        garbage = 0
        while garbage <= _MOST_GARBAGE:
            try:
                line = await self._stream.readline()
            except ValueError:
                return self._end(f"it sent a message of more than {_LONGEST_LINE} bytes")
            except OSError:
                line = b""
            if not line:
                return self._end("")
            if not line.isspace():
                try:
                    return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
                except (ValueError, RecursionError):
                    garbage += 1
                    self._garbage += line[-_STDERR_KEPT:]
                    del self._garbage[:-_STDERR_KEPT]
            # Lines that are there already are read without a pause; a flood of them must not stop the loop.
            await asyncio.sleep(0)
        return self._end(f"it wrote {_MOST_GARBAGE} lines to its standard output that are no messages")

    async def receive(self) -> SessionMessage:
        """The next message."""
        return await self.__anext__()

    def _end(self, reason: str) -> SessionMessage:
        self._ended(reason)
        raise StopAsyncIteration


class _Writer(_Stream):
    """Messages to the server."""

    def __init__(self, stream: asyncio.StreamWriter) -> None:
        self._stream = stream

    async def send(self, item: SessionMessage) -> None:
        """Write one message. Raises anyio's `ClosedResourceError` when the server reads no more."""
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            self._stream.write(text.encode("utf-8", "replace") + b"\n")
            await self._stream.drain()
        except (OSError, RuntimeError):
            raise ClosedResourceError from None
