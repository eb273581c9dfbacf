"""The page on findings lists every code that a rule gives, and no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SAY = {"error", "warning", "information", "remark"}


def codes_in(module: Path) -> set[str]:
    """Every text of the form of a code that a finding is made with."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {*SAY, "severity"}:
            for argument in node.args[:2]:
                found |= {text.value for text in ast.walk(argument) if isinstance(text, ast.Constant)}
    return {
        code
        for code in found
        if isinstance(code, str) and re.fullmatch(r"[a-z]+(_[a-z]+)+|cycle|misplaced|unreachable", code)
    }


def test_every_code_of_a_rule_is_on_the_page() -> None:
    given = set().union(*(codes_in(module) for module in (ROOT / "src" / "toolpath" / "checks").glob("*.py")))
    page = (ROOT / "docs" / "reference" / "findings.md").read_text(encoding="utf-8")
    assert given == set(re.findall(r"^\| `([a-z_]+)` \|", page, re.MULTILINE))
