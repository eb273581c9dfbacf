"""`toolpath plan`: what is planned, what is shown, and what is called only when it is allowed."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
from pathlib import Path

import pytest
from cli_cases import Command, spawned
from tests.patience import PATIENCE

PRICE = "What is the price of the item tea?"
ORDER = "Order 3 of the item tea"
HALF = "Order something"


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TOOL_PLANNER_LLM", "TOOL_PLANNER_MODEL", "TOOLPATH_PLANNER_LLM", "TOOLPATH_PLANNER_MODEL"):
        monkeypatch.delenv(name, raising=False)


def test_a_request_becomes_a_plan_on_stdout_and_nothing_is_called(toolpath: Command, shop: Path) -> None:
    ran = toolpath("plan", ORDER)
    assert ran.code == 0
    assert "tool: shop.order" in ran.out
    assert "Writes: order" in ran.err
    assert "Planned by the offline planner" in ran.err
    assert not Path("orders.txt").exists()
    assert not Path("runs.db").exists()


@pytest.mark.parametrize("request_text", [PRICE, ORDER])
def test_what_is_printed_validates_and_runs(toolpath: Command, shop: Path, request_text: str) -> None:
    (shop / "made.yaml").write_text(toolpath("plan", request_text, "-q").out)
    assert toolpath("validate", "--strict", "made.yaml").code == 0
    assert toolpath("run", "made.yaml").code == 0


def test_who_plans_without_tools_is_told_how_to_name_them(toolpath: Command, tmp_path: Path) -> None:
    (tmp_path / "toolpath.toml").unlink(missing_ok=True)
    ran = toolpath("plan", ORDER)
    assert ran.code == 1
    assert "--tools NAME.py" in ran.err


def test_a_plan_is_kept_in_a_file_and_stdout_stays_empty(toolpath: Command, shop: Path) -> None:
    ran = toolpath("plan", ORDER, "--out", "made.plan.yaml")
    assert (ran.code, ran.out) == (0, "")
    assert "toolpath run made.plan.yaml" in ran.err
    assert toolpath("run", "made.plan.yaml").json == {"order": {"number": 7}}
    assert Path("orders.txt").read_text() == "tea 3\n"


def test_a_file_that_cannot_be_written_is_said_without_a_trace(toolpath: Command) -> None:
    ran = toolpath("plan", ORDER, "--out", "not/there/plan.yaml")
    assert ran.code == 2
    assert "not/there/plan.yaml" in ran.err
    assert "Unexpected" not in ran.err


def test_a_plan_that_only_reads_runs_at_once(toolpath: Command) -> None:
    ran = toolpath("plan", PRICE, "--run")
    assert (ran.code, ran.json) == (0, {"price": 2.5})
    assert re.search(r"run run_\w+ started$", ran.err, re.MULTILINE), "a plan without a name leaves no colon"


def test_a_plan_that_writes_runs_with_yes(toolpath: Command) -> None:
    ran = toolpath("plan", ORDER, "--run", "--yes")
    assert (ran.code, ran.json) == (0, {"order": {"number": 7}})
    assert Path("orders.txt").read_text() == "tea 3\n"


@pytest.mark.parametrize("more", [(), ("--json",), ("--no-input",), ("-q",)])
def test_a_plan_that_writes_is_not_run_where_nobody_can_allow_it(toolpath: Command, more: tuple[str, ...]) -> None:
    ran = toolpath("plan", ORDER, "--run", *more)
    assert (ran.code, ran.out) == (2, "")
    assert "--yes" in ran.err
    assert not Path("orders.txt").exists()


@pytest.mark.parametrize(("typed", "code"), [(b"y\n", 0), (b"\n", 5), (b"no\n", 5), (b"\x04", 5)])
def test_a_person_at_the_terminal_is_asked_before_anything_is_written(shop: Path, typed: bytes, code: int) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, typed)
    with spawned(shop, "plan", ORDER, "--run", stdin=theirs, stderr=theirs) as process:
        os.close(theirs)
        said = b""
        while b"[y/N]" not in said:
            said += os.read(ours, 4096)
        process.communicate(timeout=PATIENCE)
    os.close(ours)
    assert b"The plan writes: order." in said
    assert process.returncode == code
    assert (shop / "orders.txt").exists() == (code == 0)


@pytest.mark.parametrize("more", [(), ("--run", "--yes")])
def test_what_is_not_said_is_asked_and_nothing_runs(toolpath: Command, more: tuple[str, ...]) -> None:
    ran = toolpath("plan", HALF, *more)
    assert ran.code == 3
    assert "Not said: order: what is 'count'" in ran.err
    assert "tool: shop.order" in ran.out
    assert not Path("orders.txt").exists()


@pytest.mark.parametrize("more", [(), ("--run", "--yes")])
def test_a_value_that_the_tool_refuses_is_asked_with_what_it_takes(toolpath: Command, more: tuple[str, ...]) -> None:
    ran = toolpath("plan", "Order 3.5 of the item tea", *more)
    assert ran.code == 3
    assert "Not said: order: what is 'count' (integer)?" in ran.err
    assert "3.5" in ran.err
    assert "tool: shop.order" in ran.out
    assert not Path("orders.txt").exists()


def test_a_zone_is_taken_and_one_that_there_is_not_is_a_wrong_option(toolpath: Command) -> None:
    assert toolpath("plan", PRICE, "--time-zone", "Asia/Tokyo").code == 0
    ran = toolpath("plan", PRICE, "--time-zone", "Mars/Base")
    assert (ran.code, ran.out) == (2, "")
    assert "There is no time zone 'Mars/Base'" in ran.err
    assert toolpath("plan", "--from", "-", "--time-zone", "UTC").code == 2


def test_questions_are_told_also_when_quiet(toolpath: Command) -> None:
    assert "Not said" in toolpath("plan", HALF, "-q").err


def test_with_json_all_that_is_known_of_the_plan_is_on_stdout(toolpath: Command) -> None:
    made = toolpath("plan", ORDER, "--json").json
    assert made["plan"]["steps"][0]["inputs"] == {"item": "tea", "count": 3}
    assert made["explanation"]["writes"] == ["order"]
    assert (made["findings"], made["planner"], made["outcome"]) == ([], "offline", "planned")


def test_with_json_a_plan_that_may_not_run_is_on_stdout_too(toolpath: Command) -> None:
    ran = toolpath("plan", HALF, "--run", "--yes", "--json")
    assert ran.code == 3
    assert {finding["code"] for finding in ran.json["findings"]} == {"missing_input"}
    assert ran.json["plan"]["origin"]["questions"]


def test_with_json_a_run_gives_its_whole_result(toolpath: Command) -> None:
    ran = toolpath("plan", ORDER, "--run", "--yes", "--json")
    assert (ran.code, ran.json["status"]) == (0, "completed")


def test_where_nothing_fits_the_nearest_tools_are_named(toolpath: Command) -> None:
    ran = toolpath("plan", "Sing me a song")
    assert (ran.code, ran.out) == (1, "")
    assert "Did you mean" in ran.err
    assert "shop.price" in ran.err


def test_only_the_tools_that_are_named_are_used(toolpath: Command) -> None:
    assert "tool: shop.price" in toolpath("plan", PRICE, "--tool", "shop.price").out
    ran = toolpath("plan", PRICE, "--tool", "shop.prize")
    assert ran.code == 2
    assert "shop.price" in ran.err


@pytest.mark.parametrize("words", [("plan", ""), ("plan", "  \n"), ("plan", PRICE, "--planner", "magic")])
def test_what_cannot_be_meant_is_a_fault_of_usage(toolpath: Command, words: tuple[str, ...]) -> None:
    ran = toolpath(*words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Error: ")


def test_a_model_that_is_not_configured_cannot_plan(toolpath: Command) -> None:
    ran = toolpath("plan", PRICE, "--planner", "model")
    assert ran.code == 2
    assert "TOOL_PLANNER_LLM" in ran.err


def test_a_request_may_come_from_stdin(toolpath: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PRICE.encode())))
    assert "item: tea" in toolpath("plan", "-").out


def test_a_run_that_fails_is_planned_anew_where_that_is_allowed(toolpath: Command, shop: Path) -> None:
    (shop / "shop_spare.py").write_text(
        "from toolpath import tool, ToolFailed\n\n\n"
        '@tool(group="old", effect="read")\n'
        'def price_of(item: str) -> float:\n    """The price of an item."""\n    raise ToolFailed("Closed.")\n'
    )
    settings = (shop / "toolpath.toml").read_text()
    (shop / "toolpath.toml").write_text(settings.replace("tools = [", 'tools = ["./shop_spare.py", '))
    plan = {
        "origin": {"request": PRICE},
        "steps": [{"id": "price", "tool": "old.price_of", "inputs": {"item": "tea"}}],
    }
    (shop / "old.plan.json").write_text(json.dumps(plan))
    assert toolpath("run", "old.plan.json").code == 1
    ran = toolpath("run", "old.plan.json", "--replan", "1")
    assert (ran.code, ran.json) == (0, {"price": 2.5})
    assert "plan revised" in ran.err
    failed = toolpath("runs", "list", "--json").json[1]["run_id"]
    assert toolpath("runs", "replan", failed).json == {"price": 2.5}


def test_a_megabyte_on_stdin_is_refused_not_cut(toolpath: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"price of tea " * 80_000)))
    ran = toolpath("plan", "-")
    assert (ran.code, ran.out) == (2, "")
    assert "1,040,000 characters; at most 1,000,000" in ran.err


ANSWER = {
    "tools": [{"tool": "shop.price", "reasoning": "It knows prices.", "parameters": {"item": "tea"}}],
    "executionOrder": ["shop.price"],
}


def test_the_answer_of_a_planner_is_read_checked_and_run(toolpath: Command, shop: Path) -> None:
    (shop / "answer.json").write_text(json.dumps(ANSWER))
    assert toolpath("validate", "answer.json").code == 0
    assert list(toolpath("run", "answer.json").json.values()) == [2.5]
    (shop / "said.txt").write_text(f"Here is the plan:\n```json\n{json.dumps(ANSWER)}\n```\nEnjoy!")
    ran = toolpath("plan", "--from", "said.txt")
    assert ran.code == 0
    assert "tool: shop.price" in ran.out
    assert "Read from what a model wrote" in ran.err
    assert toolpath("plan", "--from", "said.txt", "--run").code == 0


def test_what_is_wrong_in_an_answer_is_said_with_its_place(toolpath: Command, shop: Path) -> None:
    (shop / "answer.json").write_text(json.dumps({**ANSWER, "executionOrder": {}}))
    for command in (("validate", "answer.json"), ("run", "answer.json"), ("plan", "--from", "answer.json")):
        ran = toolpath(*command)
        assert ran.code != 0
        assert "executionOrder" in ran.err + ran.out


@pytest.mark.parametrize(
    "words", [("plan", PRICE, "--stream"), ("plan", "--from", "x", PRICE), ("plan", "--from", "x", "--stream", "--run")]
)
def test_what_does_not_go_together_is_a_fault_of_usage(toolpath: Command, words: tuple[str, ...]) -> None:
    assert toolpath(*words).code == 2


def test_a_streamed_request_without_a_model_runs_at_once(toolpath: Command) -> None:
    ran = toolpath("plan", PRICE, "--run", "--stream")
    assert (ran.code, ran.json) == (0, {"price": 2.5})


@pytest.mark.parametrize("option", ["--run", "--yes", "-y", "--run --yes", "--dry-run", "--planner=offline"])
@pytest.mark.parametrize("request_text", [ORDER, PRICE])
@pytest.mark.parametrize("flags", [(), ("--run", "--yes")])
def test_an_option_inside_the_words_is_no_flag_and_is_told(
    toolpath: Command, shop: Path, request_text: str, option: str, flags: tuple[str, ...]
) -> None:
    ran = toolpath("plan", f"{request_text} {option}", *flags)
    assert ran.code == 3
    assert f"'{option.split(maxsplit=1)[0]}' is a word of the request here" in ran.err
    assert not Path("orders.txt").exists()


def test_an_option_before_the_words_is_none_either(toolpath: Command, shop: Path) -> None:
    for text in (f"--run {ORDER}", f"-y {ORDER}", f"--yes {ORDER}"):
        assert toolpath("plan", text).code == 2
        assert toolpath("plan", "--", text).code == 3
    assert not Path("orders.txt").exists()


def test_an_option_in_quotes_is_somebody_s_words(toolpath: Command, shop: Path) -> None:
    ran = toolpath("plan", 'What is the price of the item "tea --run"?')
    assert "is a word of the request" not in ran.err


def test_a_decomposition_in_a_file_is_followed(toolpath: Command, shop: Path) -> None:
    parts = [{"id": "a", "query": ORDER, "suggestedTool": "shop.order"}]
    (shop / "parts.json").write_text(json.dumps({"queryType": "simple_lookup", "subQueries": parts}))
    ran = toolpath("plan", ORDER, "--decomposition", "parts.json")
    assert ran.code == 0
    assert "tool: shop.order" in ran.out
    for text, said in (("[]", "holds no object"), ("{", "is no JSON")):
        (shop / "parts.json").write_text(text)
        ran = toolpath("plan", ORDER, "--decomposition", "parts.json")
        assert ran.code == 2
        assert said in ran.err
        assert '"sub_queries"' in ran.err
    ran = toolpath("plan", ORDER, "--decomposition", '{"sub_queries": []}')
    assert ran.code == 2
    assert "takes a file, not JSON" in ran.err


def test_a_plan_that_is_filled_in_by_hand_is_run_as_ones_own(toolpath: Command, shop: Path) -> None:
    ran = toolpath("plan", HALF, "--out", "half.plan.yaml")
    assert ran.code == 3
    assert "take `origin` out" in ran.err
    made = (shop / "half.plan.yaml").read_text()
    filled = made.replace("tool: shop.order\n", "tool: shop.order\n    inputs: {item: tea, count: 3}\n")
    (shop / "half.plan.yaml").write_text(filled)
    refused = toolpath("run", "half.plan.yaml", "-q")
    assert refused.code == 3
    assert "write it into the plan" not in refused.err
    (shop / "half.plan.yaml").write_text(filled.partition("origin:")[0])
    assert toolpath("run", "half.plan.yaml", "-q").code == 0
    assert Path("orders.txt").read_text() == "tea 3\n"


@pytest.mark.parametrize("request_text", [HALF, f"Do not {ORDER}"])
def test_whatever_keeps_a_plan_from_its_run_is_said_to_have_done_so(toolpath: Command, request_text: str) -> None:
    ran = toolpath("plan", request_text, "--run", "-q")
    assert ran.code == 3
    assert "Nothing was run" in ran.err


def test_an_interrupt_at_the_question_is_heard_at_once(shop: Path) -> None:
    ours, theirs = pty.openpty()
    with spawned(shop, "plan", ORDER, "--run", stdin=theirs, stderr=theirs) as process:
        os.close(theirs)
        said = b""
        while b"[y/N]" not in said:
            said += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    os.close(ours)
    assert process.returncode == 5
    assert not (shop / "orders.txt").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("plan", ORDER, "--yes"), "--run"),
        (("plan", ORDER, "--replan", "2"), "--run"),
        (("plan", ORDER, "--last", "3"), "without a request"),
        (("plan", "--report", "--run"), "runs nothing"),
        (("tools", "route", ORDER, "--yes"), "--run"),
        (("tools", "route", ORDER, "--last", "3"), "without a request"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(toolpath: Command, words: tuple[str, ...], said: str) -> None:
    ran = toolpath(*words)
    assert ran.code == 2
    assert said in ran.err


def test_the_line_end_of_a_pipe_is_no_part_of_the_request(toolpath: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"{ORDER}\n".encode())))
    assert toolpath("plan", "-", "--json").json["plan"]["origin"]["request"] == ORDER


def test_what_holds_no_plan_is_said_once_with_what_it_has_to_hold(toolpath: Command, shop: Path) -> None:
    (shop / "answer.txt").write_text("hello there")
    ran = toolpath("plan", "--from", "answer.txt")
    assert ran.code == 3
    assert ran.err.count("There is no plan and no call") == 1
    assert "answer.txt:1:1" in ran.err
    assert "It has to hold a plan" in ran.err
