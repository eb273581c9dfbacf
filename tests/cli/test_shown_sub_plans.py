"""`toolpath runs show RUN:PATH` and `--tree`: plans inside a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.cli_cases import Command

BUY = """
name: Buy
steps:
  - {id: asked, tool: shop.price, inputs: {item: "<<item>>"}}
  - {id: bought, tool: shop.order, inputs: {item: "<<item>>", count: 1}, depends_on: [asked]}
outputs: "{{ bought.number }}"
"""
WHOLE = """
name: whole
steps:
  - {id: tea, tool: ungrouped.Buy, inputs: {item: tea}}
  - {id: each, loop: {over: [tea, cake], steps: [{id: p, tool: shop.price, inputs: {item: "{{ item }}"}}]}}
outputs: "{{ tea }}"
"""


@pytest.fixture
def run_id(toolpath: Command, shop: Path) -> str:
    (shop / "buy.plan.yaml").write_text(BUY)
    (shop / "whole.yaml").write_text(WHOLE)
    assert toolpath("templates", "save", "buy.plan.yaml").code == 0
    assert toolpath("templates", "publish", "Buy", "--channel", "tool").code == 0
    ran = toolpath("run", "whole.yaml", "--json")
    assert ran.code == 0, ran.err + ran.out
    found: str = ran.json["run_id"]
    return found


def test_the_tree_of_a_run_has_each_plan_below_the_one_that_called_it(toolpath: Command, run_id: str) -> None:
    shown = toolpath("runs", "show", "last", "--tree").out.splitlines()
    assert shown[0].split() == [run_id, "completed"]
    assert any(line.startswith(f"  {run_id}:tea  ") and line.endswith("succeeded") for line in shown[1:])
    plans = {plan["plan_id"]: plan for plan in toolpath("runs", "show", run_id, "--tree", "--json").json}
    assert (plans[f"{run_id}:tea"]["parent"], plans[f"{run_id}:tea"]["call"]) == (run_id, "tea")
    assert all(plan["root"] == run_id for plan in plans.values())
    # The tree of a plan inside has nothing of its neighbours.
    assert toolpath("runs", "show", f"{run_id}:tea", "--tree", "--json").json == []


def test_a_plan_inside_a_run_is_shown_as_a_run(toolpath: Command, run_id: str) -> None:
    shown = toolpath("runs", "show", f"{run_id}:tea", "--json").json
    assert (shown["run_id"], shown["status"], shown["outputs"]) == (f"{run_id}:tea", "completed", 7)
    assert [step["path"] for step in shown["results"]] == ["tea/asked", "tea/bought"]
    told = toolpath("runs", "show", "last:tea").out
    assert "tea/bought" in told
    assert "each" not in told
    missing = toolpath("runs", "show", f"{run_id}:coffee")
    assert (missing.code, "has no plan" in missing.err) == (2, True)
