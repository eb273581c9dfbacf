"""How a failed run is told: which step, which run, all lines, once."""

from __future__ import annotations

from pathlib import Path

from cli_cases import Command

LOOP = """
name: prices
steps:
  - id: prices
    loop:
      over: ["tea", "x"]
      as: item
      steps:
        - {id: cost, tool: shop.price, inputs: {item: "{{ item }}"}}
"""


def test_quiet_names_the_step_and_the_run_that_failed(toolpath: Command, shop: Path) -> None:
    (shop / "loop.yaml").write_text(LOOP)
    ran = toolpath("run", "loop.yaml", "-q")
    assert ran.code == 1
    assert ran.err.startswith("prices[1]/cost: KeyError: 'x' (run ")
    assert ran.err.count("KeyError") == 1


def test_a_failure_of_several_lines_is_told_once_with_its_lines(toolpath: Command) -> None:
    ran = toolpath("run", "shop.broken", "-i", "why=one\ntwo\x1b[2J", "-v")
    assert "one\n    two\\x1b[2J" in ran.err
    assert ran.err.count("two") == 1
    assert "⏎" not in ran.err
