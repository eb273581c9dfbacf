"""`toolpath tools route`: the tool that is meant, its scores, and calling it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from cli_cases import Command
from eval_cases import model_environment

from toolpath.testing.model_replies import Fails
from toolpath.testing.model_server import ModelServer
from toolpath.values import JsonObject

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
    assert "--yes" in ran.err
    assert "--out" not in ran.err, "this command has no such option"
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


TEA = {"tool_name": "shop", "operation": "price", "args": {"item": "tea"}}
CAKE = {"tool_name": "shop", "operation": "price", "args": {"item": "cake"}}


@pytest.mark.parametrize(
    ("reply", "outputs", "text"),
    [
        ({"tool_calls": [TEA, CAKE]}, [2.5, 4.0], ""),
        ({"natural_language_response": "Let me look.", "tool_call": TEA}, [2.5], "Let me look."),
    ],
    ids=["several", "one with words"],
)
async def test_each_form_of_a_models_answer_gives_all_outputs_and_its_text(
    toolpath: Command, monkeypatch: pytest.MonkeyPatch, reply: JsonObject, outputs: list[float], text: str
) -> None:
    async with ModelServer(then=json.dumps(reply)) as server:
        for name, value in model_environment(server).items():
            monkeypatch.setenv(name, value)
        items = " and ".join(f'"{one}"' for one in ("tea", "cake")[: len(outputs)])
        request = f"What is the price of the items {items}?"
        ran = await asyncio.to_thread(toolpath, "tools", "route", request, "--run", "--json")
        assert ran.code == 0, ran.err
        assert [one["output"] for one in ran.json["outputs"]] == outputs
        assert ran.json["text"] == text
        (newest,) = (await asyncio.to_thread(toolpath, "tools", "route", "--last", "1", "--json")).json
        assert newest["run_id"] == ran.json["run_id"]
        trace = await asyncio.to_thread(toolpath, "tools", "route", "--trace", newest["id"])
        for said in (newest["run_id"], "→ shop.price (", "Answer 1:", "AVAILABLE TOOLS"):
            assert said in trace.out


async def test_a_model_that_fails_is_told_of_with_what_to_do(
    toolpath: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ModelServer(then=Fails(status=401, message="No such key.")) as server:
        for name, value in model_environment(server).items():
            monkeypatch.setenv(name, value)
        for words in (("tools", "route"), ("plan",)):
            ran = await asyncio.to_thread(toolpath, *words, PRICE, "-q")
            assert ran.code == 0
            assert "by rules in place of the model" in ran.err
            assert "No such key. Check OPENAI_API_KEY." in ran.err


def test_a_trace_that_is_not_there_is_told(toolpath: Command, shop: Path) -> None:
    for command in (("tools", "route"), ("plan",)):
        ran = toolpath(*command, "--trace", "none_1")
        assert ran.code != 0
        assert "--last 20" in ran.err
        assert toolpath(*command, "--last", "3").code == 0


def test_how_a_request_was_planned_is_read_afterwards(toolpath: Command) -> None:
    request = 'What is the price of the item "tea"?'
    assert toolpath("plan", request, "--run").code == 0
    # There is a store now: what is planned without a run is kept in it, too.
    assert toolpath("plan", request).code == 0
    later, first = toolpath("plan", "--last", "5", "--json").json
    assert (first["success"], bool(first["run_id"]), later.get("run_id", "")) == (True, True, "")
    assert first["id"] in toolpath("plan", "--last", "5").out
    trace = toolpath("plan", "--trace", first["id"]).out
    assert "planned by: rules" in trace
    assert f"run: {first['run_id']} succeeded" in trace
