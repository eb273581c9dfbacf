from __future__ import annotations

import re
from pathlib import Path

import pytest

from toolpath import errors
from toolpath.cli.exits import of_error
from toolpath.cli.main import app
from toolpath.cli.reference import page
from toolpath.server.problems import status_of

DOCS = Path(__file__).parents[2] / "docs" / "reference"


def test_the_page_of_the_command_line_is_what_the_program_says() -> None:
    assert (DOCS / "cli.md").read_text() == page(app), "make reference writes the page anew"


def test_the_page_of_errors_lists_every_error_once_with_its_code_http_status_and_exit_code() -> None:
    errors_page = (DOCS / "errors.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| .* \| (\d+) \| (\d+) \|$", errors_page, re.MULTILINE)
    listed = {name: (code, int(status), int(exit_code)) for name, code, status, exit_code in rows}
    assert len(rows) == len(listed)
    classes = {
        name: value
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.ToolpathError) and value is not errors.ToolpathError
    }
    assert {name: each[0] for name, each in listed.items()} == {name: value.code for name, value in classes.items()}
    for name, value in classes.items():
        error = value([]) if value is errors.PlanInvalid else value("x")
        assert (status_of(error), of_error(error)) == listed[name][1:], name


@pytest.mark.parametrize("word", ["run", "runs", "tools", "validate", "doctor", "demo"])
def test_every_verb_has_a_section(word: str) -> None:
    assert f"\n## toolpath {word}\n" in (DOCS / "cli.md").read_text()
