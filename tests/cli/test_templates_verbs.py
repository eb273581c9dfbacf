"""`toolpath templates …`, and `toolpath run` of a template, stored or in a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.cli_cases import Command

TEMPLATE = """
name: Buy
steps:
  - {id: bought, tool: shop.order, inputs: {item: "<<item>>", count: <<count>>}}
outputs: "{{ bought.number }} of <<item>>"
"""


@pytest.fixture
def buy(shop: Path) -> Path:
    file = shop / "buy.template.yaml"
    file.write_text(TEMPLATE)
    return file


def test_a_template_in_a_file_runs_with_its_parameters_as_inputs(toolpath: Command, shop: Path, buy: Path) -> None:
    ran = toolpath("run", "buy.template.yaml", "-i", "item=tea", "-i", "count=2", "--json")
    assert (ran.code, ran.json["outputs"]) == (0, "7 of tea")
    assert (shop / "orders.txt").read_text() == "tea 2\n"
    missing = toolpath("run", "buy.template.yaml", "-i", "item=tea")
    assert (missing.code, "needs the input 'count'" in missing.err) == (3, True)
    assert toolpath("run", "buy.template.yaml", "-i", "item=tea", "-i", "count=2", "--dry-run").code == 0
    assert (shop / "orders.txt").read_text() == "tea 2\n"


def test_a_kept_template_has_versions_is_compared_and_run_by_its_name(toolpath: Command, shop: Path, buy: Path) -> None:
    assert "at version 1" in toolpath("templates", "save", "buy.template.yaml", "--group", "shop").err
    buy.write_text(TEMPLATE.replace(" of ", " times "))
    kept = toolpath("templates", "save", "buy.template.yaml", "--group", "shop", "--comment", "clearer", "--json")
    assert [(each["version"], each.get("comment", "")) for each in kept.json["versions"]] == [(1, ""), (2, "clearer")]
    diff = toolpath("templates", "diff", "Buy", "--json")
    assert (diff.json["fields"], diff.json["changed"]) == (["outputs"], {})
    assert toolpath("run", "shop.Buy", "-i", "item=tea", "-i", "count=1", "--json").json["outputs"] == "7 times tea"
    assert toolpath("templates", "rollback", "Buy", "1").code == 0
    assert toolpath("run", "Buy", "-i", "item=tea", "-i", "count=1", "--json").json["outputs"] == "7 of tea"
    (listed,) = toolpath("templates", "list", "--json").json
    assert (listed["group"], listed["title"], len(listed["versions"])) == ("shop", "Buy", 3)
    shown = toolpath("templates", "show", "Buy", "--json").json
    assert [each["name"] for each in shown["parameters"]] == ["item", "count"]


def test_a_template_is_published_withdrawn_exported_and_imported(toolpath: Command, shop: Path, buy: Path) -> None:
    toolpath("templates", "save", "buy.template.yaml")
    assert "published: http" in toolpath("templates", "publish", "Buy", "--channel", "http").err
    exported = toolpath("templates", "export")
    (shop / "all.json").write_text(exported.out)
    assert "is a draft" in toolpath("templates", "withdraw", "Buy").err
    assert toolpath("templates", "delete", "Buy").code == 0
    assert toolpath("templates", "list", "--json").json == []
    assert "1 of 1 are kept" in toolpath("templates", "import", "all.json").err
    assert toolpath("templates", "list", "--json").json[0]["channels"] == ["http"]


def test_what_cannot_be_published_is_kept_as_a_draft_and_said(toolpath: Command, shop: Path) -> None:
    other = {"title": "Gone", "steps": [{"stepRequirement": "x"}], "toolConfig": {"enableHttpService": True}}
    own = {"title": "Odd", "plan": {"steps": [{"tool": "no.tool"}]}, "toolConfig": {"enableHttpService": True}}
    (shop / "some.json").write_text(json.dumps([own, {"title": 7}, other]))
    taken = toolpath("templates", "import", "some.json")
    assert taken.code == 1
    assert "Odd: It is kept as a draft" in taken.err
    assert toolpath("templates", "publish", "Odd", "--channel", "http").code == 3


def test_the_plan_of_a_run_is_kept(toolpath: Command, shop: Path, buy: Path) -> None:
    run = toolpath("run", "buy.template.yaml", "-i", "item=tea", "-i", "count=1", "--json").json["run_id"]
    assert toolpath("templates", "save", "--run", run, "--title", "Again").code == 0
    assert toolpath("run", "Again", "-i", "item=cake", "-i", "count=1", "--json").json["outputs"] == "7 of cake"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("save",), 2, "There must be a file or --run"),
        (("save", "nowhere.yaml"), 2, "nowhere.yaml"),
        (("show", "Buyy"), 2, "Did you mean 'Buy'"),
        (("publish", "Buy", "--channel", "htp"), 2, "There are tool, http, conversation, mcp"),
        (("rollback", "Buy", "9"), 2, "has no version 9"),
        (("import", "buy.template.yaml"), 2, "is no JSON"),
    ],
)
def test_what_cannot_be_done_is_said(
    toolpath: Command, buy: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    toolpath("templates", "save", "buy.template.yaml")
    ran = toolpath("templates", *arguments)
    assert (ran.code, said in ran.err) == (code, True), ran.err
