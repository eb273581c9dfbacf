"""Commands that look into the store, or stop what runs, work without tools: broken ones do not hinder them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cli_cases import Command, spawned
from test_left_runs import slow_run
from tests.patience import PATIENCE

PLAN = "name: p\nsteps:\n  - {id: o, tool: shop.order, requires_approval: true, inputs: {item: tea, count: 2}}\n"
READING = [
    ("runs", "list"),
    ("runs", "list", "--status", "waiting", "--json"),
    ("runs", "show", "last"),
    ("runs", "show", "last", "--json"),
    ("runs", "events", "last"),
    ("runs", "watch", "last"),
    ("runs", "prune", "--older-than", "1d", "--dry-run"),
    ("tools", "stats"),
    ("tools", "route", "--last", "3"),
    ("plan", "--report"),
    ("audit", "list"),
    ("audit", "verify"),
    ("audit", "export"),
    ("keys", "list"),
    ("keys", "create", "name"),
    ("backup", "copy.db"),
]


def spied(shop: Path, *, breaks: bool) -> None:
    """All that the settings name tells when it is loaded or started; with `breaks` it fails then."""
    fault = "raise RuntimeError('broken')" if breaks else ""
    for path in shop.glob("shop_*.py"):
        path.write_text(f"from pathlib import Path\nPath('touched').touch()\n{fault}\n{path.read_text()}")
    server = f'{{"command": "{sys.executable}", "args": ["-c", "open(\'touched\', \'w\')"]}}'
    (shop / "mcp.json").write_text(f'{{"mcpServers": {{"s": {server}}}}}')
    with (shop / "toolpath.toml").open("a") as settings:
        settings.write(f'mcp = ["mcp.json"]\nfolders = ["{"gone" if breaks else "."}"]\n')


@pytest.fixture
def waiting(toolpath: Command, shop: Path) -> str:
    """The id of a run that waits for a person."""
    (shop / "p.yaml").write_text(PLAN)
    return str(toolpath("run", "p.yaml", "--no-input", "--json").json["run_id"])


@pytest.mark.parametrize("breaks", [False, True], ids=["whole", "broken"])
def test_reading_and_stopping_neither_load_nor_start_what_the_settings_name(
    toolpath: Command, shop: Path, waiting: str, breaks: bool
) -> None:
    spied(shop, breaks=breaks)
    for command in [*READING, ("runs", "cancel", "last")]:
        ran = toolpath(*command)
        assert ran.code == (4 if "watch" in command else 0), (command, ran.err)
        assert "broken" not in ran.err
        (shop / "copy.db").unlink(missing_ok=True)
    assert not (shop / "touched").exists()
    assert toolpath("runs", "show", waiting, "--json").json["status"] == "cancelled"
    # The probe probes: what calls tools loads them.
    toolpath("tools", "list")
    assert (shop / "touched").exists()


def test_what_is_not_yet_there_is_read_without_tools_too(toolpath: Command, shop: Path) -> None:
    spied(shop, breaks=True)
    for command in (("runs", "list"), ("plan", "--report"), ("keys", "list"), ("audit", "list"), ("tools", "stats")):
        assert toolpath(*command).code == 0, command
    assert not (shop / "touched").exists()
    assert not (shop / "runs.db").exists()


def test_a_run_whose_process_was_killed_is_cancelled_without_its_tools(toolpath: Command, shop: Path) -> None:
    process = slow_run(shop)
    process.kill()
    process.communicate()
    spied(shop, breaks=True)
    ran = toolpath("runs", "cancel", "last", "--json")
    assert (ran.code, ran.json["status"]) == (0, "cancelled"), ran.err
    assert not (shop / "touched").exists()


@pytest.mark.parametrize("verb", ["cancel", "pause"])
def test_a_run_of_another_process_is_stopped_without_its_tools(toolpath: Command, shop: Path, verb: str) -> None:
    process = slow_run(shop)
    spied(shop, breaks=True)
    try:
        ran = toolpath("runs", verb, "last")
        assert ran.code == 0, ran.err
        assert verb == "pause" or process.wait(timeout=PATIENCE) == 5
    finally:
        process.kill()
        process.communicate()
    assert not (shop / "touched").exists()


def test_a_run_that_nobody_drives_is_paused_without_its_tools(toolpath: Command, shop: Path, waiting: str) -> None:
    (module,) = shop.glob("shop_*.py")
    whole = module.read_text()
    module.write_text("raise RuntimeError('broken')")
    ran = toolpath("runs", "pause", waiting)
    assert (ran.code, "broken" in ran.err) == (0, False), ran.err
    assert toolpath("runs", "show", waiting, "--json").json["status"] == "paused"
    module.write_text(whole)
    assert toolpath("runs", "resume", waiting, "--no-input").code == 4
    assert toolpath("approve", waiting).code == 0
    assert (shop / "orders.txt").read_text() == "tea 2\n"


def test_a_run_whose_process_was_killed_is_paused_without_its_tools(toolpath: Command, shop: Path) -> None:
    process = slow_run(shop)
    process.kill()
    process.communicate()
    spied(shop, breaks=True)
    ran = toolpath("runs", "pause", "last", "--json")
    assert (ran.code, ran.json["status"]) == (0, "paused"), ran.err
    assert not (shop / "touched").exists()


def test_a_broken_module_is_told_by_what_needs_it(shop: Path) -> None:
    spied(shop, breaks=True)
    process = spawned(shop, "tools", "list")
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert b"broken" in said or b"gone" in said
