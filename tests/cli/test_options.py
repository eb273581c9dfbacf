from __future__ import annotations

import pytest

from toolpath.cli.options import GlobalOptions, hoisted


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["run", "x.yaml", "--json"], ["--json", "run", "x.yaml"]),
        (["run", "x", "--store", "a.db", "-i", "k=v"], ["--store", "a.db", "run", "x", "-i", "k=v"]),
        (["run", "x", "--mcp=m.json", "-q"], ["--mcp=m.json", "-q", "run", "x"]),
        (["-v", "runs", "list"], ["-v", "runs", "list"]),
        (["run", "--", "--json"], ["run", "--", "--json"]),
        (["run", "x", "--store"], ["--store", "run", "x"]),
    ],
)
def test_global_options_may_stand_anywhere_before_a_double_dash(typed: list[str], expected: list[str]) -> None:
    assert hoisted(typed) == expected


def test_options_become_arguments_that_another_process_understands() -> None:
    sources = {"tools": ("t", "u"), "folders": ("f",), "mcp": ("m.json",)}
    options = GlobalOptions(store="a.db", config="c.toml", sources=sources)
    assert options.as_arguments() == [
        *("--store", "a.db", "--config", "c.toml"),
        *("--tools", "t", "--tools", "u", "--folder", "f", "--mcp", "m.json"),
    ]
