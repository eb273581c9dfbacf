from __future__ import annotations

import re
from pathlib import Path

import pytest

from toolpath import errors
from toolpath.cli.exits import of_error
from toolpath.cli.main import app
from toolpath.cli.reference import page

DOCS = Path(__file__).parents[2] / "docs" / "reference"


def test_the_page_of_the_command_line_is_what_the_program_says() -> None:
    assert (DOCS / "cli.md").read_text() == page(app), "make reference writes the page anew"


def test_the_page_of_errors_lists_every_error_with_its_code_and_exit_code() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| .* \| (\d+) \|$", (DOCS / "errors.md").read_text(), re.MULTILINE)
    listed = {name: (code, int(number)) for name, code, number in rows}
    classes = {
        name: value
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.ToolpathError) and value is not errors.ToolpathError
    }
    assert {name: code for name, (code, _) in listed.items()} == {name: value.code for name, value in classes.items()}
    for name, value in classes.items():
        error = value([]) if value is errors.PlanInvalid else value("x")
        assert of_error(error) == listed[name][1], name


@pytest.mark.parametrize("word", ["run", "runs", "tools", "validate", "doctor", "demo"])
def test_every_verb_has_a_section(word: str) -> None:
    assert f"\n## toolpath {word}\n" in (DOCS / "cli.md").read_text()
