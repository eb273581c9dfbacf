"""Programs that built-in tools run: in a folder, within limits, with the variables that are named."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from toolpath.errors import ToolFailed, ToolUnavailable
from toolpath.values import JsonObject

_WARDEN: Final = str(Path(__file__).with_name("warden.py"))
#: Seconds that ending everything may take.
_PATIENCE: Final = 5.0
#: A program that writes so many times more than is kept is ended.
_MOST_TIMES: Final = 64
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of a program. 0: as much as there is."""

    seconds: float
    output: int
    """Bytes of stdout, and of stderr, that are kept."""
    memory: int = 0
    """Bytes of address space of each process."""
    cpu: int = 0
    """Seconds of each process."""
    file: int = 0
    """Bytes of each file that is written."""
    margin: int = 0
    """Bytes that are read besides at each side of a cut: so many may be a part of what is not to be shown."""

    def limits(self) -> dict[str, int]:
        """Limits as the system calls them."""
        named = {"RLIMIT_AS": self.memory, "RLIMIT_CPU": self.cpu, "RLIMIT_FSIZE": self.file}
        return {**{name: most for name, most in named.items() if most}, "RLIMIT_CORE": 0}


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of a program."""

    stdout: str
    stderr: str
    exit_code: int | None = None
    """None: it was ended, by a signal or by us."""
    ended_by: str = ""
    """`timeout`, `output`, or the name of a signal."""
    cut: bool = False
    """More was written than is here."""


async def run_program(
    argv: list[str],
    *,
    folder: str,
    bounds: Bounds,
    stdin: str = "",
    env: Mapping[str, str] | None = None,
    clean: Callable[[str], str] = str,
) -> Ended:
    """Run the program until it ends or its time is up. Cancelling ends it and all that it started; so does our death.

    `clean` takes out what is not to be shown, before anything is cut; what is not cut is left as it is.
    Raises `ToolFailed` for what no program can be given, `ToolUnavailable` when it cannot be watched.
    """
    if sys.platform == "win32":
        raise ToolFailed("Programs are run on Linux and macOS alone.")
    if any("\0" in text for text in argv):
        raise ToolFailed("What is to be run holds a NUL, which no program can be given.")
    told, tell = os.pipe()
    try:
        environment = {"PATH": _PATH, "LANG": "C.UTF-8", **(env or {})}
        job: JsonObject = {
            "argv": argv,
            "env": environment,
            "stdin": stdin,
            "limits": dict(bounds.limits()),
            "status": tell,
        }
        try:
            line = json.dumps(job).encode() + b"\n"
            "".join((*argv, stdin)).encode()
        except UnicodeEncodeError:
            raise ToolFailed("What is to be run holds half a character, which cannot be written.") from None
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",
            _WARDEN,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env={},
            start_new_session=True,
            pass_fds=(tell,),
        )
        os.close(tell)
        tell = -1
        streams, exit_code, ended_by = await _watched(process, line, _Status(told), bounds)
        # Much text takes a while.
        return await asyncio.to_thread(_result, streams, clean, exit_code, ended_by)
    finally:
        os.close(told)
        if tell >= 0:
            os.close(tell)


async def _watched(
    process: asyncio.subprocess.Process, job: bytes, status: _Status, bounds: Bounds
) -> tuple[list[_Kept], int | None, str]:
    """The output of the process, its exit code, and how it ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    full = asyncio.Event()
    streams = [_Kept(bounds, full), _Kept(bounds, full)]
    reading = [
        asyncio.create_task(kept.read(stream))
        for kept, stream in zip(streams, (process.stdout, process.stderr), strict=True)
    ]
    over = asyncio.create_task(process.wait())
    too_much = asyncio.create_task(full.wait())
    ended_by = ""
    try:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(job)
            await process.stdin.drain()
        done, _ = await asyncio.wait({over, too_much}, timeout=bounds.seconds, return_when=asyncio.FIRST_COMPLETED)
        if over not in done:
            ended_by = "output" if too_much in done else "timeout"
    finally:
        too_much.cancel()
        await asyncio.shield(_ended(process, over, reading, status))
    said = status.said()
    if ended_by:
        return streams, None, ended_by
    if "code" in said:
        return streams, said["code"], ""
    if "signal" in said:
        return streams, None, _name(said["signal"])
    raise ToolUnavailable("The program's watch was ended, and the program with it.")


async def _ended(
    process: asyncio.subprocess.Process, over: asyncio.Task[int], reading: list[asyncio.Task[None]], status: _Status
) -> None:
    """Have everything ended, and what it wrote read."""
    assert process.stdin is not None
    process.stdin.close()
    await asyncio.wait({over, *reading}, timeout=_PATIENCE)
    if not status.is_over:
        # Somebody has ended the warden before it was done.
        for group in {process.pid, status.said().get("pid", process.pid)}:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
    _, late = await asyncio.wait({over, *reading}, timeout=_PATIENCE)
    for task in late:
        task.cancel()
    if late:
        await asyncio.wait(late)
    # asyncio shows no public door to this; left open it warns when somebody holds a pipe.
    transport = getattr(process, "_transport", None)
    if transport is not None:
        with contextlib.suppress(PermissionError, ProcessLookupError):
            transport.close()


class _Kept:
    """The beginning and the end of what is written, as much as may be kept."""

    def __init__(self, bounds: Bounds, full: asyncio.Event) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._half = max(1, bounds.output // 2)
        self._margin = bounds.margin
        self._full = full
        self.size = 0

    async def read(self, stream: asyncio.StreamReader) -> None:
        """Take in what is written until it ends."""
        held = self._half + self._margin
        while chunk := await stream.read(1 << 16):
            self.size += len(chunk)
            room = held - len(self._head)
            self._head += chunk[:room]
            self._tail += chunk[room:] if room > 0 else chunk
            del self._tail[:-held]
            if self.size > self._half * 2 * _MOST_TIMES:
                self._full.set()

    @property
    def is_cut(self) -> bool:
        """Something is left out."""
        return self.size > self._half * 2

    def text(self, clean: Callable[[str], str]) -> str:
        """The text that is kept, with a word on what is not."""
        if not self.is_cut:
            return (self._head + self._tail).decode(errors="replace")
        if self.size <= len(self._head) + len(self._tail):
            head = tail = clean((self._head + self._tail).decode(errors="replace"))
        else:
            # In the margins there may be a piece of what would be taken out whole.
            head = clean(self._head.decode(errors="replace"))
            head = head[: max(0, len(head) - self._margin)]
            tail = clean(self._tail.decode(errors="replace"))[self._margin :]
        return f"{head[: self._half]}\n[{self.size - self._half * 2:,} bytes left out]\n{tail[-self._half :]}"


def _result(streams: list[_Kept], clean: Callable[[str], str], exit_code: int | None, ended_by: str) -> Ended:
    out, err = streams
    cut = out.is_cut or err.is_cut
    return Ended(stdout=out.text(clean), stderr=err.text(clean), exit_code=exit_code, ended_by=ended_by, cut=cut)


class _Status:
    """Status lines of the warden."""

    def __init__(self, told: int) -> None:
        os.set_blocking(told, False)
        self._told = told
        self._said: dict[str, int] = {}

    def said(self) -> dict[str, int]:
        """All of it so far."""
        with contextlib.suppress(BlockingIOError):
            for line in os.read(self._told, 4096).splitlines():
                self._said |= json.loads(line)
        return self._said

    @property
    def is_over(self) -> bool:
        """Whether nothing of the program is left."""
        return not self.said().keys().isdisjoint({"code", "signal", "cut_off"})


def _name(number: int) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
