"""`toolpath tools route`: the tool that is meant, its scores, and calling it."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_cases import Command

PRICE = 'shop.price of item "tea"'


def test_a_request_finds_its_tool_and_says_why(toolpath: Command) -> None:
    ran = toolpath("tools", "route", PRICE)
    assert ran.code == 0
    assert "tool: shop.price" in ran.out
    assert "shop.price → shop.price (exact)" in ran.err


def test_what_was_chosen_is_called(toolpath: Command) -> None:
    ran = toolpath("tools", "route", PRICE, "--run")
    assert (ran.code, ran.json) == (0, {"price": 2.5})


def test_what_writes_is_called_only_when_it_is_allowed(toolpath: Command, shop: Path) -> None:
    request = 'shop.order item "tea" count 3'
    ran = toolpath("tools", "route", request, "--run")
    assert ran.code == 2
    assert not Path("orders.txt").exists()
    assert toolpath("tools", "route", request, "--run", "--yes").code == 0
    assert Path("orders.txt").read_text() == "tea 3\n"


def test_where_nothing_is_meant_the_connected_tools_are_named(toolpath: Command) -> None:
    ran = toolpath("tools", "route", "Sing me a song", "--json")
    assert ran.code == 1
    assert ran.json["record"]["outcome"] == "no_match"
    assert "Agent could not determine a matching tool. Connected tools: [" in ran.json["message"]


def test_decisions_can_be_read_afterwards(toolpath: Command) -> None:
    toolpath("tools", "route", PRICE)
    toolpath("tools", "route", "shop.prize please")
    assert "shop.price" in toolpath("tools", "route", "--last", "5").out
    newest, oldest = toolpath("tools", "route", "--last", "5", "--json").json
    assert (newest["request"], oldest["request"]) == ("shop.prize please", PRICE)
    assert oldest["decisions"][0]["tools"] == ["shop.price"]
    assert (
        newest["decisions"][0]["candidates"][0][
            1 if isinstance(newest["decisions"][0]["candidates"][0], list) else "score"
        ]
        > 0
    )


@pytest.mark.parametrize(
    "words", [("",), ("x" * 1_000_001,), (PRICE, "--planner", "magic"), (PRICE, "--on-multiple", "some")]
)
def test_what_cannot_be_meant_is_a_fault_of_usage(toolpath: Command, words: tuple[str, ...]) -> None:
    assert toolpath("tools", "route", *words).code == 2


SITE = '''
from toolpath import ToolFailed, tool


@tool(group="site", effect="read")
def uptime() -> int:
    """How long the site is up."""
    return 7


@tool(group="site", effect="read")
def visitors() -> int:
    """How many visitors the site has."""
    return 12


@tool(group="site", effect="read")
def revenue() -> int:
    """The revenue of the site."""
    raise ToolFailed("no milk")
'''


@pytest.mark.parametrize(
    ("request_", "code", "given"),
    [
        ("site.uptime and site.visitors", 0, {"site.uptime": 7, "site.visitors": 12}),
        ("site.uptime and site.revenue", 1, {"site.uptime": 7, "site.revenue": None}),
    ],
)
def test_every_output_is_given_also_where_another_call_has_failed(
    toolpath: Command, shop: Path, request_: str, code: int, given: dict[str, int | None]
) -> None:
    (shop / "site_tools.py").write_text(SITE)
    # One after the other: the failure comes last.
    (shop / "toolpath.toml").write_text('tools = ["./site_tools.py"]\nparallel_limit = 1\n')
    command = ("tools", "route", request_, "--run")
    ran, whole = toolpath(*command), toolpath(*command, "--json")
    assert (ran.code, whole.code) == (code, code), ran.err
    assert "text" in whole.json
    for outputs in (ran.json, whole.json["outputs"]):
        assert {one["tool"]: one["output"] for one in outputs} == given
        assert {one["tool"]: one.get("error", "") for one in outputs} == {
            key: "no milk" if output is None else "" for key, output in given.items()
        }
