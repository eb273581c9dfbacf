"""`toolpath eval --router`: which tools a request means, scored as plans are."""

from __future__ import annotations

import json

import pytest
from cli_cases import Command
from eval_cases import LUNCH, PRICE, RIGHT, SETS, with_model
from test_eval_sets import words_of, write

from toolpath.testing.model_replies import Fails


def test_the_router_is_scored_without_a_model(toolpath: Command) -> None:
    ran = toolpath("eval", LUNCH, "--toolsets", SETS, "--router", "--json")
    assert ran.code == 0
    found = ran.json
    assert (found["router"], found["planner"], found["tasks"]) == (True, "offline", 6)
    came = {one["task"]: one["came"] for one in found["attempts"]}
    assert came["right-of-several"] == "plan"
    assert came["refused"] == "refusal"
    assert {one["task"] for one in found["attempts"] if one["right"]} >= {"right-of-several", "refused"}
    assert (found["right_refusals"], found["missed_refusals"]) == (1, 1)
    assert found["calibration"]["error"] >= 0
    assert found["seconds"] > 0


def test_the_choice_counts_apart_from_the_arguments(toolpath: Command) -> None:
    wrong = {**PRICE, "toolset": "shop", "gold_plan": [{"step": "p", "tool": "price", "arguments": {"item": "cake"}}]}
    found = toolpath("eval", write("wrong.jsonl", wrong), SETS, "--router", "--json").json
    assert (found["tools_right"], found["tool_f1"], found["whole_plans"]) == (1.0, 1.0, 0.0)


def test_a_picture_and_a_table_say_that_it_is_the_router(toolpath: Command) -> None:
    ran = toolpath("eval", LUNCH, SETS, "--router", "--plot", "plot.svg")
    assert ran.code == 0
    assert "tools right" in ran.out
    assert "lunch.jsonl: the router (offline)" in words_of("plot.svg")


async def test_the_router_of_a_model_is_scored_with_its_tokens(
    toolpath: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = json.dumps({"tool": "price", "inputs": RIGHT["steps"][0]["inputs"]})
    ran, asked = await with_model(toolpath, monkeypatch, call, LUNCH, "--toolsets", SETS, "--router")
    assert ran.code == 0
    assert {one["task"] for one in ran.json["attempts"] if one["right"]} == {"right-of-several"}
    assert ran.json["missed_refusals"] == 2
    assert ran.json["usage"] == {"input_tokens": 11 * asked, "output_tokens": 7 * asked}


async def test_a_model_that_answers_in_words_calls_nothing_and_so_refuses(
    toolpath: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, _ = await with_model(toolpath, monkeypatch, "I cannot sing.", LUNCH, "--toolsets", SETS, "--router")
    assert (ran.json["right_refusals"], ran.json["wrong_refusals"], ran.json["failures"]) == (2, 4, 0)


async def test_what_words_would_have_chosen_is_not_counted_for_the_model(
    toolpath: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, asked = await with_model(toolpath, monkeypatch, Fails(status=401), LUNCH, SETS, "--router")
    assert (ran.code, asked) == (1, 5)
    assert (ran.json["failures"], ran.json["right"]) == (5, 0.0)
    assert "did not answer 5 requests" in ran.err


def test_a_router_without_a_configured_model_is_not_scored_as_one(toolpath: Command) -> None:
    ran = toolpath("eval", LUNCH, SETS, "--router", "--planner", "model")
    assert (ran.code, ran.out) == (2, "")
    assert "TOOL_PLANNER_LLM" in ran.err
