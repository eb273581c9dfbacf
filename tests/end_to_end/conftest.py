"""The command line and the door, in a folder with tools, two MCP servers and a store."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from end_to_end_cases import Command, Desk, Ran, write_servers

from toolpath.cli.main import main


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """The folder where commands run: `desk.py` with tools, `mcp.json` with the servers `probe` and `raw`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "path", list(sys.path))
    desk = Desk(tmp_path)
    desk.write("desk.py", DESK)
    desk.write("toolpath.toml", 'tools = ["./desk.py"]\nstore = "runs.db"\n')
    write_servers(tmp_path)
    return desk


@pytest.fixture
def toolpath(desk: Desk, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command in this process, each with a loop, a store and servers of its own."""

    def run(*arguments: str) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        said = capsys.readouterr()
        code = caught.value.code
        return Ran(code if isinstance(code, int) else 0, said.out, said.err)

    return run


@pytest.fixture
def servers(desk: Desk) -> Callable[..., None]:
    """Writes `mcp.json` anew: name → entry."""

    def write(**entries: Any) -> None:
        desk.write("mcp.json", json.dumps({"mcpServers": entries}))

    return write


DESK = '''
import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

from toolpath import ToolFailed, tool


def note(name):
    with Path("calls.txt").open("a") as file:
        file.write(name + "\\n")


@tool(effect="write")
def mark(name: str) -> str:
    """Leaves a line in calls.txt."""
    note(name)
    return name


@tool(effect="read")
def look(name: str) -> str:
    """Leaves a line too, but only looks."""
    note(name)
    return name


@tool(effect="write")
async def slow(name: str) -> str:
    """Takes a minute after it has told that it began."""
    note(name)
    await asyncio.sleep(60)
    return name


@tool(effect="read")
async def gate(name: str) -> str:
    """Waits until the file `open` is there."""
    note(name)
    while not Path("open").exists():
        await asyncio.sleep(0.01)
    return name


@tool(effect="read")
def kilobytes(count: int) -> str:
    """Text that cannot be made smaller."""
    return os.urandom(count * 512).hex()


@tool(effect="read")
def large(megabytes: int) -> list[str]:
    """Very much of it."""
    return ["x" * 1_000_000] * megabytes


@tool(effect="read")
def printing() -> str:
    """Prints in every way there is."""
    print("printed")
    sys.stdout.write("written\\n")
    os.write(1, b"to the descriptor\\n")
    subprocess.run([sys.executable, "-c", "print('by a child')"], check=True)
    return "the result"


@tool(effect="read", isolation="process")
def printing_apart() -> str:
    """The same in a process of its own."""
    print("printed")
    os.write(1, b"to the descriptor\\n")
    return "the result"


@tool(effect="read")
def exits() -> str:
    """Tries to end the program."""
    raise SystemExit(3)


@tool(effect="read")
def interrupts() -> str:
    """Pretends that the person pressed Ctrl-C."""
    raise KeyboardInterrupt


@tool(effect="read")
def object_() -> object:
    """Returns what is no JSON."""
    return object()


@tool(effect="read")
def nan() -> float:
    """Returns a number that JSON does not have."""
    return float("nan")


@tool(effect="read")
def deep():
    """Returns a list in a list in a list."""
    value = []
    for _ in range(100_000):
        value = [value]
    return value


@tool(effect="read", retry=0, timeout="200ms")
def never() -> str:
    """A thread that does not come back in time."""
    time.sleep(20)
    return "late"


@tool(effect="read", retry=0, timeout="500ms", isolation="process")
def spins() -> str:
    """A process that never comes back."""
    Path("pid").write_text(str(os.getpid()))
    while True:
        pass


@tool(effect="read", retry=0, isolation="process")
def dies() -> str:
    """A process that dies."""
    print("last words", flush=True)
    os._exit(9)


@tool(effect="read")
def broken(why: str) -> str:
    """Fails."""
    raise KeyError(why)
'''
