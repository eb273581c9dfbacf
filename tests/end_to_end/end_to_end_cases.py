"""What the tests from the outside share: commands with what they said, and the folder they run in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from tests.patience import PATIENCE
from tests.prepared.prepared import prepared

from toolpath.values import Json

SERVERS = Path(__file__).parent.parent / "servers"


class Ran(msgspec.Struct):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.out)


Command = Callable[..., Ran]


def stdio(script: str, *arguments: str, **fields: Json) -> dict[str, Json]:
    """The entry of `mcp.json` for a script in `tests/servers`."""
    plain = [sys.executable, str(SERVERS / script), *arguments]
    command, *args = prepared("probe", *arguments) if script == "probe_server.py" else plain
    return {"command": command, "args": args, **fields}


def write_servers(folder: Path, **more: dict[str, Json]) -> None:
    """`mcp.json` with the servers `probe` (the newer generation) and `raw` (the older), and more."""
    entries = {"probe": stdio("probe_server.py"), "raw": stdio("raw_server.py"), **more}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": entries}))


class Desk:
    """The folder where commands run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    @property
    def calls(self) -> list[str]:
        """What the tools of `desk.py` noted."""
        path = self.folder / "calls.txt"
        return path.read_text().split() if path.exists() else []

    def spawn(self, *arguments: str, **options: Any) -> Process:
        """The command in a process of its own."""
        return Process(self.folder, [sys.executable, "-m", "toolpath", *arguments], **options)

    def run(self, *arguments: str) -> Ran:
        """The command in a process of its own, to its end."""
        return Process(self.folder, prepared("toolpath", *arguments)).wait()

    def until(self, holds: Callable[[], Any], process: Process | None = None) -> None:
        """Wait for what another process brings about."""
        give_up = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < give_up, "it never came"
            if process is not None:
                assert process.popen.poll() is None, process.wait()
            time.sleep(0.005)


class Process:
    """A command in a process of its own."""

    def __init__(self, folder: Path, command: list[str], **options: Any) -> None:
        env = {name: value for name, value in os.environ.items() if not name.startswith(("TOOL", "PYTEST"))}
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.popen = subprocess.Popen(command, cwd=folder, env=env, **(streams | options))

    def wait(self) -> Ran:
        out, err = self.popen.communicate(timeout=PATIENCE)
        return Ran(self.popen.returncode, out.decode(), err.decode())

    def kill(self, number: int = signal.SIGKILL) -> Ran:
        self.popen.send_signal(number)
        return self.wait()


def events(toolpath: Command, run: str = "last") -> list[Any]:
    """The journal of a run, through the command line."""
    return [msgspec.json.decode(line) for line in toolpath("runs", "events", run, "--json").out.splitlines()]
