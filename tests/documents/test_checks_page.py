"""Every finding has an example, and every example gives its finding."""

from __future__ import annotations

import ast
import re
import types
from pathlib import Path

import msgspec
import pytest

from pages import ROOT, Block, blocks_of, named_in
from toolpath import Finding, Plan, Tool
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check
from toolpath.checks.start import check_inputs, check_intent
from toolpath.config import Settings
from toolpath.model.language_model import KnownModels
from toolpath.model_output.documents import read_document
from toolpath.notation.composite import read_composite
from toolpath.providers.functions import is_marked, tool_from_function

PAGE = (ROOT / "docs" / "reference" / "checks.md").read_text(encoding="utf-8")
BLOCKS = blocks_of(PAGE)
EXAMPLES = {
    heading: [block for block in BLOCKS if block.heading == heading]
    for heading in re.findall(r"^### (.*)$", PAGE, re.M)
}
SOURCE = ROOT / "src" / "toolpath"


def catalog() -> Catalog:
    module = types.ModuleType("page")
    exec(compile(BLOCKS[0].text, "checks.md", "exec"), module.__dict__)
    found = [tool_from_function(value) for value in vars(module).values() if is_marked(value)]
    found += [value for value in vars(module).values() if isinstance(value, Tool)]
    found += [read_composite(block.text) for block in BLOCKS if "\nimplementation:" in block.text]
    return Catalog({tool.key: tool for tool in found}).with_models(KnownModels(prints={"fast": "sha256:0"}))


def findings_of(blocks: list[Block]) -> list[Finding]:
    """What the check says of a section's plans, and of the inputs that one is started with."""
    found: list[Finding] = []
    plan = Plan()
    for block in blocks:
        if block.language == "json":
            found += check_inputs(plan, msgspec.json.decode(block.text))
            continue
        document = read_document(block.text)
        read = document if isinstance(document, Plan) else document.body
        assert isinstance(read, Plan)
        plan = read
        found += check(plan, catalog(), secrets=["KEY"])
        found += check_intent(plan, Settings().planner_floor)
    return found


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_gives_its_finding(code: str) -> None:
    found = [finding for finding in findings_of(EXAMPLES[code]) if finding.code == code]
    assert found
    section = PAGE.split(f"### {code}\n")[1].split("```")[0]
    severity = "warning" if "A warning." in section else "information" if "Information." in section else "error"
    assert severity in {finding.severity for finding in found}
    # A place, so that whoever reads it finds it in the text.
    assert all(finding.line or finding.path.startswith(("/inputs", "/origin")) for finding in found)


def codes_in(module: Path) -> set[str]:
    """Every code that a call in the module makes a finding with."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        said: list[ast.expr] = []
        if name in ("error", "warning", "information", "remark"):
            said = node.args[:2]
        elif name == "fail":
            said = node.args[1:2]
        elif name in ("ExpressionError", "Finding"):
            said = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
        texts = [part.value for part in said for part in ast.walk(part) if isinstance(part, ast.Constant)]
        found |= {text for text in texts if isinstance(text, str) and re.fullmatch(r"[a-z]+(_[a-z]+)*", text)}
    return found - {"error", "warning", "information"}


def test_every_code_that_can_be_given_is_on_the_page() -> None:
    places = [
        *(SOURCE / "checks").glob("*.py"),
        *(SOURCE / "expressions").glob("*.py"),
        *(SOURCE / "notation").rglob("*.py"),
    ]
    given = set().union(*(codes_in(module) for module in places))
    told = set(EXAMPLES) | set(named_in(PAGE.split("## Without an example")[1]))
    assert given - told == set()
    assert set(EXAMPLES) - given == set()
