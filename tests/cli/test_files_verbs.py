"""`toolpath files …`, and the files that a run begins with."""

from __future__ import annotations

from pathlib import Path

from tests.cli.cli_cases import Command

PLAN = """
name: seen
steps:
  - {id: seen, tool: files.list}
outputs: "{{ seen.files }}"
"""


def test_a_run_begins_with_files_and_its_folder_is_read_and_emptied(toolpath: Command, shop: Path) -> None:
    (shop / "seen.plan.yaml").write_text(PLAN)
    (shop / "tea.csv").write_text("kind,price\n")
    ran = toolpath("--builtin", "files", "run", "seen.plan.yaml", "--file", "tea.csv", "--json")
    assert (ran.code, ran.json["outputs"]) == (0, [{"path": "tea.csv", "size": 11}])
    assert toolpath("files", "list", "last", "--json").json == [{"path": "tea.csv", "size": 11}]
    assert toolpath("files", "get", "last", "tea.csv", "-o", "back.csv").code == 0
    assert (shop / "back.csv").read_text() == "kind,price\n"
    assert toolpath("files", "put", "last", "tea.csv").code == 1
    assert toolpath("files", "get", "last", "../secret").code == 3
    assert "Did you mean 'tea.csv'" in toolpath("files", "get", "last", "ta.csv").err
    assert toolpath("files", "delete", "last", "tea.csv").code == 0
    assert toolpath("files", "list", "last", "--json").json == []


def test_a_file_that_cannot_be_read_begins_no_run(toolpath: Command, shop: Path) -> None:
    (shop / "seen.plan.yaml").write_text(PLAN)
    (shop / "run.exe").write_text("MZ")
    for name, code in (("missing.csv", 2), ("run.exe", 3)):
        assert toolpath("--builtin", "files", "run", "seen.plan.yaml", "--file", name).code == code
    assert toolpath("runs", "list", "--json").json == []
