"""The page on findings lists every code that is given; readers' codes may stand on the page of examples instead."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "toolpath"
REFERENCE = ROOT / "docs" / "reference"
#: Functions of rules that make a finding, its code being among their first two arguments.
OF_RULES = {"error", "warning", "information", "remark", "severity"}


def words_in(arguments: list[ast.expr]) -> set[str]:
    found = {part.value for one in arguments for part in ast.walk(one) if isinstance(part, ast.Constant)}
    return {word for word in found if isinstance(word, str)}


def codes_of_rules(module: Path) -> set[str]:
    """Every text of the form of a code that a rule makes a finding with."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in OF_RULES:
            found |= words_in(node.args[:2])
    return {code for code in found if re.fullmatch(r"[a-z]+(_[a-z]+)+|cycle|misplaced|unreachable", code)}


@cache
def codes_elsewhere(module: Path) -> set[str]:
    """Every code that a module makes a finding with itself, or by a function of its own of that name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "Finding":
                named = [each.value for each in node.keywords if each.arg == "code"]
                found |= words_in([code for code in named if not isinstance(code, ast.Call)])
            elif node.func.id == "_finding":
                found |= words_in(node.args[1:2])
    return {code for code in found if re.fullmatch(r"[a-z]+(_[a-z]+)*", code)}


@pytest.fixture(scope="module")
def listed() -> list[str]:
    page = (REFERENCE / "findings.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `([a-z_]+)` \|", page, re.MULTILINE)


def test_every_code_of_a_rule_is_on_the_page_and_no_code_that_nobody_gives(listed: list[str]) -> None:
    rules = set().union(*(codes_of_rules(module) for module in (SOURCE / "checks").glob("*.py")))
    others = set().union(*(codes_elsewhere(module) for module in SOURCE.rglob("*.py")))
    assert rules - set(listed) == set()
    assert set(listed) - rules - others == set()
    assert sorted(listed) == sorted(set(listed)), "a code has two rows"


def test_every_other_code_is_on_the_page_or_on_that_of_examples(listed: list[str]) -> None:
    examples = (REFERENCE / "checks.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^### ([a-z_]+)$", examples, re.MULTILINE))
    shown |= set(re.findall(r"`([a-z_]+)`", examples.partition("## Without an example")[2]))
    missing = {
        str(module.relative_to(SOURCE)): sorted(left)
        for module in SOURCE.rglob("*.py")
        if (left := codes_elsewhere(module) - set(listed) - shown)
    }
    assert missing == {}
