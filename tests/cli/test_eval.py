"""`toolpath eval`: a planner on requests whose right plans are known."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from cli_cases import Command
from eval_cases import BROKEN, GOLD, LUNCH, PRICE, RIGHT, SETS, with_model

from toolpath.testing.model_replies import Fails


def test_plans_and_refusals_are_counted_as_right_and_wrong(toolpath: Command) -> None:
    ran = toolpath("eval", LUNCH, "--toolsets", SETS, "--json")
    assert ran.code == 0
    found = ran.json
    assert (found["tasks"], found["left_out"], found["unreadable"], found["failures"]) == (6, 1, [], 0)
    assert {one["task"] for one in found["attempts"] if one["right"]} == {"right", "right-of-several", "refused"}
    assert [one["came"] for one in found["attempts"]] == ["plan", "plan", "refusal", "plan", "refusal", "plan"]
    assert (found["right"], found["whole_plans"], found["tools_right"], found["tool_f1"]) == (0.5, 0.5, 0.75, 0.75)
    assert (found["right_refusals"], found["wrong_refusals"], found["missed_refusals"]) == (1, 1, 1)
    assert 0 <= found["calibration"]["error"] <= 1
    assert found["usage"] == {"input_tokens": 0, "output_tokens": 0}
    assert found["seconds"] > 0


def test_people_read_a_table_on_stdout(toolpath: Command) -> None:
    ran = toolpath("eval", LUNCH, "--toolsets", SETS)
    lines = {line[:24].strip(): line[24:].strip() for line in ran.out.splitlines()}
    assert lines["tasks"] == "6"
    assert lines["right"] == "50.0%"
    assert lines["tool F1"] == "0.750"
    assert lines["refusals wrong"] == "1"
    assert "calibration error" in lines
    assert "tokens" in lines
    assert "1 tasks were left out" in ran.err


def test_a_limit_counts_the_tasks_that_are_planned(toolpath: Command) -> None:
    assert toolpath("eval", LUNCH, "--toolsets", SETS, "--limit", "2", "--json").json["tasks"] == 2
    assert toolpath("eval", LUNCH, "--limit", "0").code == 2


def test_lines_that_cannot_be_read_are_said_by_number_and_the_rest_goes_on(toolpath: Command) -> None:
    ran = toolpath("eval", BROKEN, "--toolsets", SETS, "--json", "--config", "/dev/null")
    assert ran.code == 3
    assert ran.json["tasks"] == 1
    said = {one["line"]: one["message"] for one in ran.json["unreadable"]}
    assert sorted(said) == [1, 2, 3, 5, 6, 7, 8, 10, 11]
    assert "gold_plan" in said[2]
    assert "Did you mean 'shop'?" in said[3]
    assert "'createAuthor'" in said[5]
    assert "accepted_values" in said[6]
    assert "query" in said[7]
    assert "'z'" in said[8]
    assert "none are connected" in said[11]
    for line in said:
        assert f"broken.jsonl:{line}: " in ran.err


@pytest.mark.parametrize(
    "line",
    [b"\xff\xfe{}", b'{"query":' + b"[" * 200_000, b'"' + b"x" * 5_000_000 + b'"', b"\x00", b"{}"],
    ids=["no text", "deep", "long", "null", "empty"],
)
def test_a_hostile_line_costs_only_itself(toolpath: Command, shop: Path, line: bytes) -> None:
    good = json.dumps({**PRICE, **GOLD}).encode()
    (shop / "mixed.jsonl").write_bytes(line + b"\n" + good + b"\n")
    ran = toolpath("eval", "mixed.jsonl", "--json")
    assert ran.code == 3
    assert [one["line"] for one in ran.json["unreadable"]] == [1]
    assert [(one["line"], one["right"]) for one in ran.json["attempts"]] == [(2, True)]
    assert len(ran.err) < 5_000


def test_tasks_that_name_no_tools_are_planned_with_those_that_are_connected(toolpath: Command, shop: Path) -> None:
    bare = {"gold_plan": [{"step": "p", "tool": "price", "arguments": {"item": "tea"}}]}
    (shop / "mine.jsonl").write_text(json.dumps({**PRICE, **GOLD}) + "\n" + json.dumps({**PRICE, **bare}) + "\n")
    found = toolpath("eval", "mine.jsonl", "--json").json
    assert (found["tasks"], found["right"]) == (2, 1.0)
    assert not Path("runs.db").exists()


def test_many_bad_lines_are_counted_and_not_all_told(toolpath: Command, shop: Path) -> None:
    (shop / "bad.jsonl").write_text('{"query": "", "gold_plan": []}\n' + "no\n" * 500)
    ran = toolpath("eval", "bad.jsonl")
    assert ran.code == 3
    assert len(ran.err.splitlines()) < 30
    assert "497 more" in ran.err, "three lines that say the same tell enough"


def test_an_empty_data_set_has_no_figures(toolpath: Command, shop: Path) -> None:
    (shop / "none.jsonl").write_text("\n\n")
    found = toolpath("eval", "none.jsonl", "--json", "--plot", "none.svg").json
    assert (found["tasks"], found["right"], found["calibration"]) == (0, None, None)
    ET.parse("none.svg")
    assert toolpath("eval", "none.jsonl").code == 0


def test_a_picture_shows_the_shares(toolpath: Command, shop: Path) -> None:
    (shop / "a<b&c.jsonl").write_text(json.dumps({**PRICE, **GOLD}))
    ran = toolpath("eval", "a<b&c.jsonl", "--plot", "plot.svg")
    assert ran.code == 0
    assert "plot.svg" in ran.err
    words = [node.text for node in ET.parse("plot.svg").iter("{http://www.w3.org/2000/svg}text")]
    assert "a<b&c.jsonl: the offline planner" in words
    assert words.count("100%") >= 4


@pytest.mark.parametrize(
    "words", [("nothing.jsonl",), (".",), (LUNCH, "--toolsets", "nothing"), (LUNCH, "--planner", "magic")]
)
def test_what_cannot_be_meant_is_a_fault_of_usage(toolpath: Command, words: tuple[str, ...]) -> None:
    ran = toolpath("eval", *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Error: ")


def test_a_picture_that_cannot_be_written_is_said_before_anything_is_planned(toolpath: Command) -> None:
    Path("folder.svg").mkdir()
    for plot in ("not/there.svg", "folder.svg"):
        ran = toolpath("eval", LUNCH, "--toolsets", SETS, "--plot", plot)
        assert (ran.code, ran.out) == (2, "")
        assert f"{plot} cannot be written" in ran.err


def test_a_model_that_is_not_configured_cannot_be_scored(toolpath: Command) -> None:
    ran = toolpath("eval", LUNCH, "--planner", "model")
    assert ran.code == 2
    assert "TOOL_PLANNER_LLM" in ran.err


async def test_a_model_is_scored_with_its_tokens(toolpath: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    ran, asked = await with_model(toolpath, monkeypatch, json.dumps(RIGHT), LUNCH, "--toolsets", SETS)
    assert ran.code == 0
    right = {one["task"] for one in ran.json["attempts"] if one["right"]}
    assert right == {"right-of-several"}
    assert asked >= ran.json["tasks"], "nothing is taken from a cache"
    assert ran.json["usage"]["input_tokens"] == 11 * asked


async def test_what_rules_would_have_planned_is_not_counted_for_the_model(
    toolpath: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, _ = await with_model(toolpath, monkeypatch, "I cannot.", LUNCH, "--toolsets", SETS)
    assert (ran.json["failures"], ran.json["right"], ran.json["calibration"]) == (6, 0.0, None)
    assert ran.json["attempts"][0]["error"]


async def test_a_model_that_never_answers_ends_it_early(
    toolpath: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "long.jsonl").write_text(f"{json.dumps(PRICE | GOLD)}\n" * 50)
    ran, asked = await with_model(toolpath, monkeypatch, Fails(status=401), "long.jsonl")
    assert ran.code == 1
    assert "did not answer 5 requests" in ran.err
    assert asked == 5


async def test_a_model_whose_library_is_missing_is_no_planner_that_fails(
    toolpath: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "toolpath.llm.requests", None)
    for words in ((LUNCH, SETS), (LUNCH, SETS, "--router")):
        ran, asked = await with_model(toolpath, monkeypatch, json.dumps(RIGHT), *words)
        assert (ran.code, ran.out, asked) == (2, "", 0)
        assert "pip install" in ran.err


def test_several_tool_sets_together_and_tasks_at_the_same_time_score_alike(toolpath: Command, shop: Path) -> None:
    price = {
        "name": "price",
        "description": "The price of an item.",
        "parameters": {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]},
    }
    song = {**price, "name": "song", "description": "Sing a song about an item."}
    (shop / "sets.jsonl").write_text(
        json.dumps({"toolset": "a", "tools": [price]}) + "\n" + json.dumps({"toolset": "b", "tools": [song]}) + "\n"
    )
    gold = {"gold_plan": [{"step": "p", "tool": "price", "arguments": {"item": "tea"}}]}
    tasks = [{**PRICE, **gold, "id": str(n), "toolsets": ["a", "b"]} for n in range(6)]
    tasks.append(
        {"id": "no", "query": PRICE["query"], "gold_plan": [], "toolsets": ["a", "b"], "excluded_tools": ["price"]}
    )
    (shop / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)))
    one = toolpath("eval", "tasks.jsonl", "--toolsets", "sets.jsonl", "--json").json
    many = toolpath("eval", "tasks.jsonl", "--toolsets", "sets.jsonl", "--json", "--concurrency", "4").json
    assert [attempt["task"] for attempt in many["attempts"]] == ["0", "1", "2", "3", "4", "5", "no"]
    assert [attempt["right"] for attempt in many["attempts"]] == [attempt["right"] for attempt in one["attempts"]]
    assert one["whole_plans"] == 1.0
    limited = toolpath(
        "eval", "tasks.jsonl", "--toolsets", "sets.jsonl", "--json", "--concurrency", "4", "--limit", "3"
    )
    assert limited.json["tasks"] == 3


def test_where_no_task_is_nothing_was_measured_and_that_is_said(toolpath: Command) -> None:
    Path("none.jsonl").write_text("")
    ran = toolpath("eval", "none.jsonl")
    assert "nothing was measured" in ran.err


def test_a_picture_that_would_not_be_what_its_name_says_is_refused_before_anything_is_planned(
    toolpath: Command,
) -> None:
    ran = toolpath("eval", LUNCH, "--toolsets", SETS, "--plot", "planner.png")
    assert ran.code == 2
    assert "SVG" in ran.err
    assert not Path("planner.png").exists()


def test_an_argument_of_a_gold_plan_that_is_misspelt_is_said(toolpath: Command, shop: Path) -> None:
    misspelt = {**PRICE, "gold_plan": [{"step": "p", "tool": "shop.price", "arguments": {"itme": "tea"}}]}
    (shop / "mine.jsonl").write_text(json.dumps(misspelt) + "\n")
    ran = toolpath("eval", "mine.jsonl", "--json")
    assert ran.code == 3
    assert "mine.jsonl:1: Gold step 'p' gives 'itme', which 'shop.price' does not take. Did you mean 'item'?" in ran.err
