"""`shell.run` and `python.run`: what they give, and that nothing of them is left, whatever they do and whoever dies."""

from __future__ import annotations

import asyncio
import random
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from toolpath import Toolpath
from toolpath.errors import ConfigError, ToolFailed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs are run on Linux and macOS alone")


@asynccontextmanager
async def with_programs(**options: Any) -> AsyncIterator[Toolpath]:
    async with Toolpath(secrets={"KEY": "k3y-of-the-shop", "CODE": "90817263"}) as tp:
        tp.sources.add_source("builtin", {"shell": options, "python": options})
        yield tp


async def shell(command: str, tp: Toolpath, **inputs: Any) -> Any:
    return await tp.call("shell.run", {"command": command, **inputs})


def alive(*pids: str) -> list[str]:
    """Those of the processes that still do something."""
    states = subprocess.run(["ps", "-o", "pid=,stat=", *pids], capture_output=True, text=True, check=False).stdout
    return [row.split()[0] for row in states.splitlines() if "Z" not in row.split()[1]]


def words_of(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


async def test_a_command_gives_what_it_writes_and_how_it_ended():
    async with with_programs() as tp:
        assert await shell("cat; echo no >&2; exit 3", tp, stdin="tea ☕") == {
            "exit_code": 3,
            "ended_by": "",
            "stdout": "tea ☕",
            "stderr": "no\n",
            "cut": False,
            "value": None,
        }
        assert (await shell("kill -TERM $$", tp))["ended_by"] == "SIGTERM"
        assert (await tp.call("python.run", {"code": "print(6 * 7)"}))["stdout"] == "42\n"
        with pytest.raises(ToolFailed, match=r"exit code 3.*too bad"):
            await shell("echo too bad >&2; exit 3", tp, must_succeed=True)
        assert (await shell("echo '{\"a\": [1]}'", tp, json=True))["value"] == {"a": [1]}
        with pytest.raises(ToolFailed, match="no JSON"):
            await shell("echo tea", tp, json=True)
        with pytest.raises(ToolFailed, match="NUL"):
            await shell("echo \0", tp)


async def test_it_has_no_environment_of_ours_and_works_in_the_folder_of_its_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLPATH_SECRET_KEY", "k3y-of-ours")
    async with with_programs(env={"GIVEN": "{{ secrets.KEY }}"}) as tp:
        plan = {
            "flow": "chain",
            "steps": [
                {"id": "one", "tool": "shell.run", "inputs": {"command": "env; echo x > left; echo y > $HOME/gone"}},
                {"id": "two", "tool": "shell.run", "inputs": {"command": "pwd; ls -A; ls -A $HOME"}},
            ],
        }
        result = await tp.run(plan)
        seen = result.step("one").output["stdout"]
        assert "k3y-of-ours" not in seen
        names = {line.partition("=")[0] for line in seen.splitlines() if "=" in line}
        assert names <= {"PATH", "HOME", "TMPDIR", "LANG", "GIVEN", "PWD", "SHLVL", "_", "OLDPWD"}
        assert "GIVEN" in names
        # The folder is the run's: what lies in it stays for its next step, and for no other run.
        folder, *files = result.step("two").output["stdout"].split()
        assert files == ["left"]
        other = (await shell("pwd; ls -A", tp))["stdout"].split()
        assert len(other) == 1
        assert other[0] != folder


@pytest.mark.parametrize(
    "command",
    [
        "echo $GIVEN; echo $GIVEN >&2",
        "printf %s $GIVEN | base64 -w 0",
        "printf %s $GIVEN | od -An -tx1 | tr -d ' \n'",
        'python3 -c \'import json, os; print(json.dumps({os.environ["GIVEN"]: [os.environ["GIVEN"]]}))\'',
        # Left in a file for the next program.
        "echo $GIVEN > left",
    ],
)
async def test_secrets_of_the_settings_are_given_and_never_shown(command: str):
    async with with_programs(env={"GIVEN": "Bearer {{ secrets.KEY }}", "MODE": "production"}) as tp:
        steps = [
            {"id": "one", "tool": "shell.run", "inputs": {"command": command}},
            {"id": "two", "tool": "python.run", "inputs": {"code": "import os; print(os.listdir())"}},
            {"id": "three", "tool": "shell.run", "inputs": {"command": "cat left 2>&1; echo $MODE"}},
        ]
        result = await tp.run({"flow": "chain", "steps": steps})
        assert result.status == "completed"
        journal = str(await tp.events(result.run_id))
        for shown in (str(result), journal):
            assert "k3y-of-the-shop" not in shown
            assert "azN5LW9mLXRoZS1za" not in shown
            assert b"k3y-of-the-shop".hex() not in shown
        assert "production" in result.step("three").output["stdout"]


async def test_no_error_and_no_value_holds_a_secret_of_the_settings():
    async with with_programs(env={"GIVEN": "{{ secrets.KEY }}", "CODE": "{{ secrets.CODE }}"}) as tp:
        with pytest.raises(ToolFailed) as caught:
            # What an error tells is the end of it: there a piece of the secret would be left.
            await shell("echo $GIVEN; head -c 990 /dev/zero | tr '\\0' x; exit 3", tp, must_succeed=True)
        assert "shop" not in f"{caught.value} {caught.value.details}"
        found = await shell('echo "{\\"code\\": $CODE, \\"of\\": \\"$GIVEN\\"}"', tp, json=True)
        assert found["value"] == {"code": "[redacted]", "of": "[redacted]"}
        assert "90817263" not in str(found)


async def test_what_is_cut_leaves_no_piece_of_a_secret():
    async with with_programs(env={"GIVEN": "{{ secrets.KEY }}"}, max_output=1_000) as tp:
        for before in range(485, 500):
            printed = f"'a' * {before} + os.environ['GIVEN'] + 'b' * 9000 + os.environ['GIVEN'] + 'c' * {before}"
            code = f"import os; print({printed})"
            found = await tp.call("python.run", {"code": code})
            assert found["cut"]
            assert "k3y" not in found["stdout"]
            assert "shop" not in found["stdout"]
            assert len(found["stdout"]) < 1_100


async def test_what_it_starts_ends_with_it_also_what_hides(until):
    hiding = "(setsid sh -c 'sleep 600 & echo $! >&3; wait' &) ; (setsid nohup sleep 600 >/dev/null 2>&1 & echo $! >&3)"
    async with with_programs() as tp:
        ended = await shell(f"exec 3>&1; {hiding}; sleep 0.2; echo $$", tp)
        assert ended["exit_code"] == 0
        pids = ended["stdout"].split()
        assert len(pids) == 3
        await until(lambda: not alive(*pids))


async def test_its_time_is_up(until):
    async with with_programs(timeout=30) as tp:
        ended = await shell("echo $$; trap '' TERM INT HUP; sleep 600 & echo $!; wait", tp, timeout=0.5)
        assert (ended["exit_code"], ended["ended_by"]) == (None, "timeout")
        await until(lambda: not alive(*ended["stdout"].split()))


async def test_a_call_that_is_cancelled_ends_it(tmp_path: Path, until):
    async with with_programs() as tp:
        told = tmp_path / "pid"
        run = await tp.start(
            {"steps": [{"id": "a", "tool": "shell.run", "inputs": {"command": f"echo $$ > {told}; sleep 600"}}]}
        )
        await until(lambda: words_of(told))
        await tp.cancel(run.run_id)
        await until(lambda: not alive(*words_of(told)))
        assert (await run.result()).status == "cancelled"


async def test_the_death_of_toolpath_ends_it(tmp_path: Path, until):
    told = tmp_path / "pid"
    command = f"(setsid sleep 600 & echo $! >> {told}); echo $$ >> {told}; sleep 600"
    script = (
        "import asyncio\nfrom toolpath.providers.builtin.programs import Bounds, run_program\n"
        f"asyncio.run(run_program(['/bin/sh', '-c', {command!r}], folder={str(tmp_path)!r}, "
        "bounds=Bounds(seconds=600, output=1000)))"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script)
    try:
        await until(lambda: len(words_of(told)) == 2)
    finally:
        process.kill()
        await process.wait()
    await until(lambda: not alive(*words_of(told)))


async def test_who_ends_its_watch_ends_itself():
    async with with_programs() as tp:
        with pytest.raises(ToolFailed, match="watch was ended"):
            await shell("kill -KILL $PPID; sleep 600", tp)


async def test_what_it_writes_is_bounded():
    async with with_programs(max_output=10_000) as tp:
        ended = await shell("echo begin; head -c 300000 /dev/zero | tr '\\0' x; echo end", tp)
        assert ended["cut"]
        assert len(ended["stdout"]) < 10_100
        assert ended["stdout"].startswith("begin\n")
        assert ended["stdout"].endswith("end\n")
        assert "bytes left out" in ended["stdout"]
        assert (await shell("yes", tp))["ended_by"] == "output"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep all limits")
async def test_what_it_uses_is_bounded():
    async with with_programs(memory=400_000_000, max_file=100_000, cpu=1) as tp:
        ended = await tp.call("python.run", {"code": "x = bytearray(900_000_000)"})
        assert "MemoryError" in ended["stderr"]
        assert (await shell("head -c 300000 /dev/zero > big", tp))["exit_code"] != 0
        assert (await tp.call("python.run", {"code": "while True: pass"}))["ended_by"] in ("SIGKILL", "SIGXCPU")


async def test_text_from_elsewhere_is_one_word_of_a_plan_that_quotes_it():
    rng = random.Random(4)
    letters = "ab '\"`$();|&<>\\\n*?[]{}~#!%="
    async with with_programs() as tp:
        for _ in range(5):
            texts = ["".join(rng.choice(letters) for _ in range(30)) for _ in range(20)]
            command = "; ".join(f"printf '%s\\0' {shlex.quote(text)}" for text in texts)
            assert (await shell(command, tp))["stdout"].split("\0")[:-1] == texts
            # As an argument of its input nothing is ever read as a command.
            code = "import sys\nsys.stdout.write(sys.stdin.read())"
            assert (await tp.call("python.run", {"code": code, "stdin": texts[0]}))["stdout"] == texts[0]


def test_a_program_that_is_not_there_is_said_at_once():
    with pytest.raises(ConfigError, match="no program"):
        Toolpath().sources.add_source("builtin", {"shell": {"program": "/no/such/shell"}})
