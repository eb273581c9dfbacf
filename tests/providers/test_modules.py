"""Modules of tools: from files and by name, whatever they are called, and found again by a process of their own."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE

from toolpath.errors import ConfigError, ToolFailed, ToolRetry, ToolUnavailable
from toolpath.model.tool import Body, ToolResult
from toolpath.providers.functions import marked_in, tool_from_function
from toolpath.providers.modules import find_function, load_module, reference_to

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


async def call(path: Path, name: str, /, **inputs: Any) -> Any:
    body = tool_from_function(find_function(f"{path}:{name}"), isolation="process").body
    assert isinstance(body, Body)
    return await body.invoke(inputs, None)


def test_two_files_of_one_name_are_two_modules(write: Write) -> None:
    one, two = (load_module(str(write(f"{folder}/tools.py", f"WHO = {folder!r}\n"))) for folder in ("a", "b"))
    assert (one.WHO, two.WHO) == ("a", "b")


def test_a_file_named_like_a_module_of_python_hides_nothing(write: Write) -> None:
    text = "import statistics\n\ndef mean() -> float:\n    return statistics.fmean([1, 3])\n"
    assert load_module(str(write("statistics.py", text))).mean() == 2
    import statistics  # noqa: PLC0415 - after the file was loaded

    assert statistics.fmean([1, 3]) == 2


def test_a_file_is_run_once_until_it_changes(write: Write) -> None:
    path = write("count.py", "VALUE = 1\n")
    first = load_module(str(path))
    assert load_module(str(path)) is first
    path.write_text("VALUE = 2\n")
    assert load_module(str(path)).VALUE == 2


def test_what_lies_beside_a_file_can_be_imported_when_it_is_loaded_and_when_it_is_called(write: Write) -> None:
    write("beside_one.py", "A = 1\n")
    write("beside_two.py", "B = 2\n")
    text = "import beside_one\n\ndef both() -> int:\n    import beside_two\n    return beside_one.A + beside_two.B\n"
    assert load_module(str(write("tools.py", text))).both() == 3


def test_a_module_of_the_working_folder_is_found_by_its_name(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("named_tools.py", "from toolpath import tool\n\n@tool\ndef f() -> int:\n    return 1\n")
    monkeypatch.chdir(path.parent)
    module = load_module("named_tools")
    assert [function.__name__ for function in marked_in(module)] == ["f"]
    assert reference_to(module.f) == "named_tools:f"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(:\n", r"broken\.py:1: "),
        ("\n\nraise KeyError('x')\n", r"broken\.py:3: .*KeyError: 'x'"),
        ("import sys\nsys.exit(7)\n", r"broken\.py:2: .*SystemExit: 7"),
        ("import no_such_thing\n", r"broken\.py:1: .*No module named 'no_such_thing'"),
        ("\0", "null bytes"),
    ],
)
def test_a_file_that_cannot_be_loaded_names_the_line(write: Write, text: str, message: str) -> None:
    path = write("broken.py", text)
    with pytest.raises(ConfigError, match=message):
        load_module(str(path))
    path.write_text("OK = True\n")
    assert load_module(str(path)).OK


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no/such.py", "cannot be read: No such file"),
        ("no_such_module", "There is no module no_such_module"),
        ("os.no_such", "There is no module os.no_such"),
        (".", "cannot be"),
    ],
)
def test_what_is_no_module_is_named(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_module(name)


async def test_a_process_calls_functions_of_files_and_knows_their_classes(write: Write) -> None:
    text = (
        "import os\nfrom dataclasses import dataclass\n\n@dataclass\nclass Point:\n    x: int\n    y: int = 0\n\n"
        "def move(point: Point, by: int) -> Point:\n    print('moving')\n"
        "    return Point(point.x + by, os.getpid())\n\n"
        "async def later(x: int) -> int:\n    return x + 1\n"
    )
    path = write("json.py", text)
    moved = await call(path, "move", point={"x": 1}, by=2)
    assert moved["x"] == 3
    assert moved["y"] != os.getpid()
    assert await call(path, "later", x=1) == 2


async def test_errors_of_a_process_are_of_the_kind_and_name_that_they_had(write: Write) -> None:
    text = (
        "import os, sys\nfrom toolpath import ToolFailed, ToolRetry\n\nclass Odd(Exception): ...\n\n"
        "def fail(how: str) -> None:\n"
        "    if how == 'retry': raise ToolRetry('busy', retry_after=3, details={'queue': 9})\n"
        "    if how == 'failed': raise ToolFailed('no', hint='try yes')\n"
        "    if how == 'permission': raise PermissionError('not yours')\n"
        "    if how == 'odd': raise Odd('strange')\n"
        "    if how == 'exit': sys.exit(3)\n"
        "    if how == 'die': print('last words', flush=True); os._exit(4)\n"
        "    if how == 'kill': os.kill(os.getpid(), 11)\n"
        "    if how == 'object': return object()\n"
    )
    path = write("failing.py", text)

    async def error(how: str) -> Any:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - each kind is looked at below
            await call(path, "fail", how=how)
        return caught.value

    retry, failed, permission, odd, exits, dies, killed, what = await asyncio.gather(
        *map(error, ("retry", "failed", "permission", "odd", "exit", "die", "kill", "object"))
    )
    assert isinstance(retry, ToolRetry)
    assert (retry.message, retry.retry_after, retry.details) == ("busy", 3, {"queue": 9})
    assert isinstance(failed, ToolFailed)
    assert (failed.message, failed.hint) == ("no", "try yes")
    assert isinstance(permission, PermissionError)
    assert (type(odd).__name__, str(odd)) == ("Odd", "strange")
    assert (type(exits).__name__, str(exits)) == ("SystemExit", "3")
    assert isinstance(dies, ToolUnavailable)
    assert "ended with exit code 4 without a result. last words" in dies.message
    assert "was ended by SIGSEGV" in killed.message
    assert "object" in str(what)


async def test_a_result_with_its_confidence_comes_through(write: Write) -> None:
    text = "from toolpath.model.tool import ToolResult\n\ndef guess():\n"
    text += "    return ToolResult(output=7, confidence=0.5, sources=('a',))\n"
    assert await call(write("guess.py", text), "guess") == ToolResult(output=7, confidence=0.5, sources=("a",))


async def test_a_process_that_is_given_up_dies_with_what_it_started(write: Write, tmp_path: Path, until: Any) -> None:
    text = (
        "import subprocess, sys, time\nfrom pathlib import Path\n\ndef hang(folder: str) -> None:\n"
        "    inner = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "    Path(folder, 'pid.new').write_text(str(inner.pid))\n"
        "    Path(folder, 'pid.new').rename(Path(folder, 'pid'))\n"
        "    time.sleep(600)\n"
    )
    calling = asyncio.create_task(call(write("hanging.py", text), "hang", folder=str(tmp_path)))
    await until((tmp_path / "pid").exists)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(calling, PATIENCE)
    grandchild = int((tmp_path / "pid").read_text())
    await until(lambda: not _lives(grandchild))


def _lives(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


async def test_floods_and_processes_left_behind_hold_nothing_up(write: Write) -> None:
    text = (
        "import subprocess, sys\n\ndef flood() -> str:\n"
        "    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "    for _ in range(2000): print('noise ' * 1000)\n    return 'done'\n"
    )
    async with asyncio.timeout(PATIENCE):
        assert await call(write("flooding.py", text), "flood") == "done"


def test_functions_of_a_program_are_found_and_a_program_without_guard_starts_no_avalanche(write: Write) -> None:
    text = (
        "import asyncio\nfrom toolpath import tool, Toolpath\n\n"
        "@tool(isolation='process')\ndef twice(x: int) -> int:\n    return 2 * x\n\n"
        "async def main() -> None:\n    async with Toolpath() as tp:\n        tp.add(twice)\n"
        "        print(await tp.call('twice', {'x': 21}))\n\n"
    )
    guarded = write("guarded.py", text + "if __name__ == '__main__':\n    asyncio.run(main())\n")
    done = subprocess.run([sys.executable, guarded], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr
    bare = write("bare.py", text + "asyncio.run(main())\n")
    done = subprocess.run([sys.executable, bare], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    assert "__main__" in done.stderr
