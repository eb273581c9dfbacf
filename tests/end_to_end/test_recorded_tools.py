"""A run goes on with the tools it began with, though the command that goes on with it does not name them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from end_to_end_cases import Command, Desk, stdio

TOOLS = """
    from pathlib import Path
    from toolpath import tool

    @tool(effect="write")
    def stamp(name: str) -> str:
        Path("stamps.txt").write_text(name)
        return name.upper()
"""


@pytest.fixture
def waiting(desk: Desk, toolpath: Command) -> Desk:
    """A run that waits for approval, begun with tools that only its own command named."""
    desk.write("elsewhere/stamps.py", TOOLS)
    desk.write("elsewhere/flows/say.yaml", "name: say\nsteps:\n  - {id: s, tool: other.echo, inputs: {text: said}}\n")
    desk.write("elsewhere/mcp.json", json.dumps({"mcpServers": {"other": stdio("raw_server.py")}}))
    desk.write(
        "both.yaml",
        """
        name: both
        flow: chain
        steps:
          - {id: stamp, tool: stamp, requires_approval: true, inputs: {name: ada}}
          - {id: say, tool: say}
        outputs: ["{{ stamp }}", "{{ say.s }}"]
        """,
    )
    named = ("--tools", "elsewhere/stamps.py", "--folder", "elsewhere/flows", "--mcp", "elsewhere/mcp.json")
    ran = toolpath("run", "both.yaml", *named)
    assert ran.code == 4, ran.err
    Path("mcp.json").unlink()
    return desk


@pytest.mark.mcp
def test_whoever_approves_need_not_name_the_tools_again(waiting: Desk, toolpath: Command) -> None:
    ran = toolpath("approve", "last")
    assert ran.code == 0, ran.err
    assert ran.json == ["ADA", "said"]


@pytest.mark.mcp
def test_a_run_can_be_steered_from_another_folder(
    waiting: Desk, toolpath: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (waiting.folder / "far").mkdir()
    monkeypatch.chdir(waiting.folder / "far")
    ran = toolpath("approve", "last", "--store", "../runs.db")
    assert ran.code == 0, ran.err
    assert ran.json == ["ADA", "said"]


def test_tools_that_are_gone_are_named_and_the_run_can_still_be_cancelled(waiting: Desk, toolpath: Command) -> None:
    Path("elsewhere/stamps.py").unlink()
    ran = toolpath("runs", "resume", "last")
    assert ran.code != 0
    assert "cannot be loaded again" in ran.err
    assert "stamps.py" in ran.err
    assert "stamp" in ran.err.splitlines()[-1]
    assert "Traceback" not in ran.err
    assert toolpath("runs", "show", "last", "--json").json["status"] == "waiting"
    ran = toolpath("runs", "cancel", "last")
    assert ran.code == 0, ran.err
    assert toolpath("runs", "show", "last", "--json").json["status"] == "cancelled"
