"""Ordinary slips of a newcomer end in a plain error, not in a fault of the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_cases import Command

NAP = """
name: nap
steps:
  - {id: cost, tool: shop.price, inputs: {item: tea}}
"""


@pytest.mark.parametrize("into", ["there.txt", "there.txt/below"])
def test_a_folder_that_cannot_be_made_is_an_error_of_usage(
    toolpath: Command, shop: Path, monkeypatch: pytest.MonkeyPatch, into: str
) -> None:
    # The folder is looked at before any server is needed.
    monkeypatch.setattr("toolpath.cli.project.demonstration.missing_servers", lambda: ())
    (shop / "nap.yaml").write_text(
        "name: nap\nimplementation: {type: simple, simple: {tool: shop.price, inputs: {item: tea}}}\n"
    )
    (shop / "there.txt").write_text("")
    for command in (("demo",), ("generate", "nap.yaml")):
        ran = toolpath(*command, "--into", into)
        assert (ran.code, "fault of toolpath" in ran.err) == (2, False), ran.err
        assert "there.txt" in ran.err


def test_doctor_shows_a_module_that_is_not_there(toolpath: Command, shop: Path) -> None:
    (shop / "toolpath.toml").write_text('tools = ["no.such.module"]\n')
    ran = toolpath("doctor")
    assert ran.code == 1
    assert "no tools: " in ran.out
    assert "no.such.module" in ran.out


def test_where_there_are_no_tools_it_is_said_how_to_name_them(toolpath: Command, shop: Path) -> None:
    (shop / "toolpath.toml").write_text("")
    (shop / "nap.yaml").write_text(NAP)
    ran = toolpath("run", "nap.yaml")
    assert ran.code == 3
    assert "--tools FILE" in ran.err
