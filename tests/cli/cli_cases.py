from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.prepared.prepared import prepared

from toolpath.cli.main import main
from toolpath.values import Json

TOOLS = '''
import asyncio
from pathlib import Path

from toolpath import ToolFailed, tool


@tool(group="shop", effect="read")
def price(item: str) -> float:
    """The price of an item."""
    return {"tea": 2.5, "cake": 4.0}[item]


@tool(group="shop", effect="write")
def order(item: str, count: int) -> dict[str, int]:
    """Order something."""
    with Path("orders.txt").open("a") as file:
        file.write(f"{item} {count}\\n")
    return {"number": 7}


@tool(group="shop", effect="write")
def broken(why: str) -> None:
    """Fails."""
    raise ToolFailed(why)


@tool(group="shop", effect="write")
async def slow(mark: str) -> str:
    """Takes long, after it has told that it began."""
    Path(mark).write_text("begun")
    await asyncio.sleep(60)
    return "done"
'''


_numbers = itertools.count()


class Ran(msgspec.Struct):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Json:
        return msgspec.json.decode(self.out)


Command = Callable[..., Ran]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with tools, where commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    # A name of its own: Python keeps modules by name, and all tests share one process.
    module = f"shop_{next(_numbers)}.py"
    (tmp_path / module).write_text(TOOLS)
    (tmp_path / "toolpath.toml").write_text(f'tools = ["./{module}"]\nstore = "runs.db"\n')
    return tmp_path


@pytest.fixture
def toolpath(shop: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command in this process."""

    def run(*arguments: str) -> Ran:
        capsys.readouterr()
        # Each command is a process of its own for the person who types it: nothing is imported yet.
        for module in shop.glob("shop_*.py"):
            sys.modules.pop(module.stem, None)
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        said = capsys.readouterr()
        code = caught.value.code
        return Ran(code if isinstance(code, int) else 0, said.out, said.err)

    return run


def spawned(folder: Path, *arguments: str, real: bool = False, **options: object) -> subprocess.Popen[bytes]:
    """The command in a process of its own, its streams piped; `real` where it is killed, or its number matters."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("TOOL", "PYTEST"))}
    usual = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": env}
    command = [sys.executable, "-m", "toolpath", *arguments] if real else prepared("toolpath", *arguments)
    return subprocess.Popen(command, cwd=folder, **(usual | options))  # type: ignore[call-overload,no-any-return]
