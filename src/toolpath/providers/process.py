"""Calls in a process of their own, which can be killed when their time is up."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys

import msgspec

from toolpath.errors import ToolFailed, ToolRetry, ToolTimeout, ToolUnavailable
from toolpath.model.tool import ToolResult
from toolpath.values import Json, JsonObject, decode, encode, made_ready

#: What the child writes before the size of its answer in eight bytes, and that.
MARK = b"\x1etoolpath\x1f"
#: Bytes of an answer; more is not read. The engine's own bound is a setting, and lower.
_LONGEST_ANSWER = 512 * 1024 * 1024
#: Seconds to end after it was killed.
_PATIENCE = 2.0
#: Bytes that are kept of what the tool prints.
_PRINTED_KEPT = 4096


async def run_in_process(reference: str, inputs: JsonObject) -> Json | ToolResult:
    """The output of the function `module:name` or `file.py:name`. Cancelling kills its process and what that started.

    Raises what the function raised, by kind and by name; `ToolUnavailable` when its process died.
    """
    if _in_child():
        raise ToolFailed(
            f"The module of {reference} calls tools while it is loaded. "
            'Put what is to run only as a program under `if __name__ == "__main__":`.'
        )
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        # Not from the working folder, where a file could be called like a module of Python.
        "-P",
        "-m",
        "toolpath.providers.child",
        reference,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # A group of its own: what the tool starts dies with it.
        start_new_session=sys.platform != "win32",
    )
    printing = asyncio.create_task(_printed(process))
    try:
        await _send(process, encode({"inputs": inputs, "path": sys.path}))
        answer = await _answer(process, reference)
    finally:
        # Whatever it left behind would hold its pipes open.
        _kill(process)
        await asyncio.shield(_close(process, printing))
    if answer is None:
        printed = printing.result() if not printing.cancelled() else ""
        raise ToolUnavailable(f"The process of {reference} {_ending(process.returncode)} without a result. {printed}")
    return _read(decode(answer))


async def _send(process: asyncio.subprocess.Process, request: bytes) -> None:
    assert process.stdin is not None
    # A child that dies early reads nothing; how it died is told by its end.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(request)
        await process.stdin.drain()
    process.stdin.close()


async def _answer(process: asyncio.subprocess.Process, reference: str) -> bytes | None:
    """The bytes that it writes between its start and its end, or None where it ends without."""
    assert process.stdout is not None
    try:
        head = await process.stdout.readexactly(len(MARK) + 8)
        size = int.from_bytes(head[len(MARK) :])
        if size > _LONGEST_ANSWER:
            raise ToolFailed(f"{reference} returned {size:,} bytes; the most is {_LONGEST_ANSWER:,}.")
        return await process.stdout.readexactly(size)
    except asyncio.IncompleteReadError:
        # It is dead or dying: its code tells more than that we killed it.
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _PATIENCE)
        return None


async def _printed(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    printed = bytearray()
    while chunk := await process.stderr.read(1 << 16):
        printed += chunk
        del printed[:-_PRINTED_KEPT]
    return printed.decode(errors="replace").strip()[-500:]


async def _close(process: asyncio.subprocess.Process, printing: asyncio.Task[str]) -> None:
    _, late = await asyncio.wait({printing, asyncio.ensure_future(process.wait())}, timeout=_PATIENCE)
    for task in late:
        task.cancel()
    if late:
        await asyncio.wait(late)
    # asyncio shows no public door to this; left open it warns when a grandchild holds a pipe.
    transport = getattr(process, "_transport", None)
    if transport is not None:
        with contextlib.suppress(PermissionError, ProcessLookupError):
            transport.close()


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def _in_child() -> bool:
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec is not None and spec.name == "toolpath.providers.child"


def _read(answer: JsonObject) -> Json | ToolResult:
    if "output" not in answer:
        raise _error(answer)
    told = answer.get("told")
    return answer["output"] if told is None else msgspec.convert({"output": answer["output"], **told}, ToolResult)


#: What the engine tells apart; every other error is told by its type's name alone.
ERROR_TYPES: dict[str, type[Exception]] = {
    kind.__name__: kind
    for kind in (ToolRetry, ToolTimeout, ToolUnavailable, ToolFailed, PermissionError, TimeoutError, ConnectionError)
}


def _error(answer: JsonObject) -> Exception:
    """An error that the engine records as if it had been raised here."""
    kind = ERROR_TYPES.get(answer["kind"], Exception)
    named: type[Exception] = kind if kind.__name__ == answer["type"] else type(answer["type"], (kind,), {})
    error = named(answer["message"])
    for name, value in answer["says"].items():
        setattr(error, name, value)
    return error


made_ready(ToolResult)
