"""What the shell is offered, asked as the shell asks: by environment, in a process of its own."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from cli_cases import Command
from tests.patience import PATIENCE
from tests.prepared.prepared import prepared

PLAN = "name: p\nsteps:\n  - {id: o, tool: shop.order, requires_approval: true, inputs: {item: tea, count: 2}}\n"
SPY = """
from pathlib import Path
from toolpath import tool

Path(__file__).with_name("imported").write_text("yes")
GROUP = "spied"

@tool(group=GROUP, effect="read")
def look() -> str:
    "Looks."
    return ""

@tool
async def bare() -> str:
    "Bare."
    return ""

@tool(name="renamed", group="spied")
def other() -> str:
    "Renamed."
    return ""

def no_tool() -> None: ...
"""
HEAVY = {"toolpath.app", "toolpath.engine", "toolpath.server", "mcp", "pydantic_ai", "asyncio", "asyncpg"}


def asked(line: str, *, shell: str = "bash", trace: bool = False, folder: Path | None = None) -> tuple[list[str], str]:
    """What is offered at the end of the line, one each, and what went to stderr."""
    words = shlex.split(line)
    number = len(words) if line.endswith(" ") else len(words) - 1
    env = {name: value for name, value in os.environ.items() if not name.startswith(("TOOL", "PYTEST", "_TYPER"))}
    env |= {"_TOOLPATH_COMPLETE": f"complete_{shell}", "COMP_WORDS": line, "COMP_CWORD": str(number)}
    env |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    traced = [sys.executable, "-X", "importtime", "-m", "toolpath"]
    done = subprocess.run(
        traced if trace else prepared("toolpath"),
        check=False,
        env=env,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout.split("\n")[:-1] if shell == "bash" else done.stdout.splitlines(), done.stderr


def offered(line: str) -> list[str]:
    found, said = asked(line)
    assert said == ""
    return [one for one in found if one]


@pytest.fixture
def runs(toolpath: Command, shop: Path) -> dict[str, str]:
    """Runs of several states: id by status."""
    (shop / "p.yaml").write_text(PLAN)
    toolpath("run", "p.yaml", "--no-input")
    toolpath("tools", "call", "shop.price", "-i", "item=tea")
    toolpath("tools", "call", "shop.broken", "-i", "why=luck")
    return {run["status"]: run["run_id"] for run in toolpath("runs", "list", "--json").json}


def test_ids_of_runs_come_newest_first_and_begin_as_typed(runs: dict[str, str]) -> None:
    newest_first = [runs["failed"], runs["completed"], runs["waiting"]]
    assert offered("toolpath runs show ") == ["last", *newest_first]
    assert offered("toolpath runs show l") == ["last"]
    assert offered(f"toolpath runs events {runs['completed'][:-2]}") == [runs["completed"]]
    assert offered("toolpath runs show nothing") == []
    assert offered("toolpath runs show 'run_%'") == []


def test_only_runs_that_the_command_can_be_meant_for_are_offered(runs: dict[str, str]) -> None:
    for verb in ("approve", "deny", "answer", "runs resume", "runs cancel", "runs pause"):
        assert offered(f"toolpath {verb} ") == [runs["waiting"]], verb


def test_statuses_are_offered_and_for_prune_those_that_are_ends(shop: Path) -> None:
    assert offered("toolpath runs list --status ") == [
        *("pending", "running", "waiting", "paused", "completed", "completed_with_errors", "failed", "cancelled")
    ]
    assert offered("toolpath runs list --status comp") == ["completed", "completed_with_errors"]
    assert offered("toolpath runs prune --older-than 1d --status ") == [
        *("completed", "completed_with_errors", "failed", "cancelled")
    ]


def test_tools_are_read_off_the_text_of_modules_and_folders_and_nothing_is_imported_or_started(
    toolpath: Command, shop: Path
) -> None:
    toolpath("tools", "call", "shop.price", "-i", "item=tea")
    (shop / "spy.py").write_text(SPY)
    (shop / "wrong.py").write_text("def (")
    folder = shop / "workflows" / "mail"
    folder.mkdir(parents=True)
    (folder / "x.yaml").write_text("name: archive\nimplementation: {type: composite, composite: {steps: []}}\n")
    (folder / "y.yaml").write_text("name: own\ngroup: of_its_own\n")
    (folder / "plain.plan.json").write_text('{\n  "steps": []\n}')
    server = f'{{"command": "{sys.executable}", "args": ["-c", "open(\'started\', \'w\')"]}}'
    (shop / "mcp.json").write_text(f'{{"mcpServers": {{"s": {server}}}}}')
    (shop / "toolpath.toml").write_text(
        'tools = ["spy.py", "wrong", "away.py"]\nfolders = ["workflows", "gone"]\n'
        'mcp = ["mcp.json"]\nstore = "runs.db"\n'
    )
    everything = ["bare", "mail.archive", "mail.plain", "of_its_own.own", "shop.price", "spied.look", "spied.renamed"]
    assert offered("toolpath tools call ") == everything
    assert offered("toolpath plan 'do it' --tool spied.l") == ["spied.look"]
    assert offered("toolpath run spi") == ["spied.look", "spied.renamed"]
    _, imports = asked("toolpath tools show ", trace=True)
    loaded = {line.rpartition("|")[2].strip() for line in imports.splitlines() if line.startswith("import time:")}
    assert "toolpath.cli.completion" in loaded
    assert loaded & HEAVY == set()
    assert not (shop / "imported").exists()
    assert not (shop / "started").exists()


def test_what_is_offered_as_tools_is_what_the_catalogue_has(toolpath: Command, shop: Path) -> None:
    assert offered("toolpath tools call ") == [tool["key"] for tool in toolpath("tools", "list", "--json").json]


def test_files_of_plans_are_offered_with_the_folders_on_the_way(shop: Path) -> None:
    (shop / "inner").mkdir()
    for name in ("a.yaml", "b.json", "note.txt", "inner/c.yml", ".hidden.yaml"):
        (shop / name).write_text("")
    assert offered("toolpath validate ") == ["a.yaml", "b.json", "inner/"]
    assert offered("toolpath validate inner/") == ["inner/c.yml"]
    assert offered("toolpath explain a") == ["a.yaml"]
    assert offered("toolpath validate gone/") == []


def test_global_options_count_wherever_they_stand(runs: dict[str, str], shop: Path) -> None:
    (shop / "runs.db").rename(shop / "other.db")
    assert offered("toolpath runs show ") == []
    assert runs["failed"] in offered("toolpath --store other.db runs show ")
    assert runs["failed"] in offered("toolpath runs show --store other.db ")
    assert runs["failed"] in offered("toolpath runs show --json --store=other.db run_")
    # What is to come is the option's value, not a run.
    assert offered("toolpath --store other.db runs show --store ") == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_what_a_run_is(runs: dict[str, str], shell: str) -> None:
    found, said = asked("toolpath runs show run_", shell=shell)
    text = "\n".join(found)
    assert said == ""
    assert all(run in text for run in runs.values())
    assert "waiting p" in text


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_itself_completes_with_the_script_that_is_shown(runs: dict[str, str], shop: Path) -> None:
    # `toolpath` as it is installed is another word for this.
    (shop / "toolpath").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m toolpath "$@"\n')
    (shop / "toolpath").chmod(0o755)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("TOOL", "PYTEST", "_TYPER"))}
    env |= {"PATH": f"{shop}:{env['PATH']}", "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    script = """
eval "$(toolpath --show-completion bash)"
COMP_WORDS=(toolpath approve run_); COMP_CWORD=2
$(complete -p toolpath | sed 's/.*-F \\([^ ]*\\).*/\\1/') toolpath
printf '%s\\n' "${COMPREPLY[@]}"
"""
    shell = ["bash", "--norc", "-c", script]
    done = subprocess.run(shell, check=False, env=env, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout.split(), done.stderr) == ([runs["waiting"]], "")


def away(kind: str, shop: Path) -> str:
    """The address of a store that is not there, or is none."""
    path = shop / f"{kind}.db"
    match kind:
        case "empty":
            path.touch()
        case "noise":
            path.write_bytes(random.Random(7).randbytes(5_000))
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "another":
            sqlite3.connect(path).execute("CREATE TABLE runs (a)").connection.close()
        case "postgres":
            return "postgresql://nobody:secret@127.0.0.1:1/none"
        case "unknown":
            return "redis://127.0.0.1/"
    return str(path)


@pytest.mark.parametrize("kind", ["gone", "empty", "noise", "pipe", "folder", "another", "postgres", "unknown"])
def test_a_store_that_is_away_offers_nothing_and_says_nothing(shop: Path, kind: str) -> None:
    store = away(kind, shop)
    before = sorted(path.name for path in shop.iterdir())
    assert offered(f"toolpath --store {store} runs show ") == []
    assert offered(f"toolpath --store {store} tools call shop.p") == ["shop.price"]
    assert sorted(path.name for path in shop.iterdir()) == before


@pytest.mark.parametrize("settings", ["store = [", 'nonsense = 1\nstore = "runs.db"', 'default_timeout = "soon"'])
def test_settings_that_cannot_be_read_offer_nothing_and_say_nothing(shop: Path, settings: str) -> None:
    (shop / "toolpath.toml").write_text(settings)
    for line in ("runs show ", "tools call ", "run ", "approve "):
        assert offered(f"toolpath {line}") == []


def test_a_name_that_is_shell_code_is_shown_without_what_a_shell_would_run(toolpath: Command, shop: Path) -> None:
    (shop / "p.yaml").write_text(
        'name: "$(touch owned) `touch owned` \\"; touch owned"\n'
        "steps: [{id: o, tool: shop.price, inputs: {item: tea}}]\n"
    )
    assert toolpath("run", "p.yaml").code == 0
    for shell in ("zsh", "fish"):
        found, said = asked("toolpath runs show ", shell=shell)
        assert said == ""
        assert "$(touch" not in "\n".join(found)
        assert "`touch" not in "\n".join(found)
