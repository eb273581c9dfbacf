"""`toolpath eval` with several data sets: files, folders, a row for each and one for all, and what ends it early."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from cli_cases import Command, spawned
from eval_cases import GOLD, LUNCH, PRICE, RIGHT, SETS, model_environment, with_model
from tests.patience import PATIENCE

from toolpath.testing.model_replies import Fails, Hangs
from toolpath.testing.model_server import ModelServer

SONG = {"id": "song", "query": "Sing me a song", "gold_plan": []}
MISSED = {"id": "missed", **PRICE, "gold_plan": []}


def write(file: str, *records: object) -> str:
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return file


def words_of(picture: str) -> list[str | None]:
    return [node.text for node in ET.parse(picture).iter("{http://www.w3.org/2000/svg}text")]


def test_each_data_set_has_its_figures_and_all_together_have_theirs(toolpath: Command) -> None:
    one, other = write("one.jsonl", PRICE | GOLD, PRICE | GOLD, SONG), write("other.jsonl", MISSED)
    found = toolpath("eval", one, other, "--json").json
    assert [(each["data_set"], each["file"], each["tasks"]) for each in found["sets"]] == [
        ("one", "one.jsonl", 3),
        ("other", "other.jsonl", 1),
    ]
    assert [(each["right"], each["missed_refusals"]) for each in found["sets"]] == [(1.0, 0), (0.0, 1)]
    assert (found["tasks"], found["right"], found["missed_refusals"]) == (4, 0.75, 1)
    assert [each["data_set"] for each in found["attempts"]] == ["one", "one", "one", "other"]


def test_people_read_a_row_for_each_data_set_and_one_for_all(toolpath: Command) -> None:
    ran = toolpath("eval", write("one.jsonl", PRICE | GOLD), write("other.jsonl", MISSED))
    rows = [line.split() for line in ran.out.splitlines()]
    assert [row[:3] for row in rows if row and row[0] in ("one", "other", "all")][:3] == [
        ["one", "1", "100.0%"],
        ["other", "1", "0.0%"],
        ["all", "2", "50.0%"],
    ]
    for measure in ("tool F1", "edge F1", "arguments right", "refusals wrong", "calibration error", "tokens", "time"):
        assert ran.out.count(measure) >= 1


def test_a_folder_gives_its_data_sets_with_its_tool_sets_and_leaves_the_rest_out(toolpath: Command) -> None:
    write("folder/tools.jsonl", json.loads(Path(SETS).read_text()))
    write("folder/b.jsonl", {**PRICE, "toolset": "shop", "gold_plan": [{"step": "p", "tool": "price"}]})
    Path("folder/a.jsonl").write_bytes(Path(LUNCH).read_bytes())
    write("folder/corpus.jsonl", {"name": "a tool", "description": "no request"})
    write("folder/empty.jsonl")
    write("folder/notes.txt", "no data set at all")
    ran = toolpath("eval", "folder", "--json")
    assert ran.code == 0
    assert [(one["data_set"], one["tasks"]) for one in ran.json["sets"]] == [("a", 6), ("b", 1)]
    assert "corpus.jsonl" in ran.err
    assert "empty.jsonl" in ran.err
    assert "notes.txt" not in ran.err


def test_tool_sets_among_the_files_are_taken_for_what_they_are(toolpath: Command) -> None:
    assert toolpath("eval", LUNCH, SETS, "--json").json["tasks"] == 6


def test_folders_keep_their_tool_sets_to_themselves(toolpath: Command) -> None:
    task = {**PRICE, "toolset": "mine", "gold_plan": [{"step": "p", "tool": "price", "arguments": {"item": "tea"}}]}
    shop = json.loads(Path(SETS).read_text())
    write("one/tasks.jsonl", task)
    write("one/tools.jsonl", {**shop, "toolset": "mine"})
    write("two/tasks.jsonl", task)
    write("two/tools.jsonl", {"toolset": "mine", "tools": [{"name": "song", "description": "Sing."}]})
    ran = toolpath("eval", "one", "two", "one/tasks.jsonl", "--json")
    assert ran.code == 3
    assert [(Path(one["data_set"]).parent.name, one["tasks"], one["unreadable"]) for one in ran.json["sets"]] == [
        ("one", 1, 0),
        ("two", 0, 1),
    ]


def test_a_limit_is_for_each_data_set(toolpath: Command) -> None:
    one, other = write("one.jsonl", SONG, SONG, SONG), write("other.jsonl", SONG, SONG)
    found = toolpath("eval", one, other, "--limit", "2", "--json").json
    assert [each["tasks"] for each in found["sets"]] == [2, 2]


def test_a_bad_line_is_said_with_its_file_and_costs_only_itself(toolpath: Command) -> None:
    one, other = write("one.jsonl", SONG), write("other.jsonl", SONG)
    with Path(other).open("a") as file:
        file.write('{"query": "cut o\n')
    ran = toolpath("eval", one, other, "--json")
    assert ran.code == 3
    assert "other.jsonl:2: " in ran.err
    assert [(bad["file"], bad["line"]) for bad in ran.json["unreadable"]] == [("other.jsonl", 2)]
    assert [each["tasks"] for each in ran.json["sets"]] == [1, 1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("one.json",), "Did you mean 'one.jsonl'?"),
        (("nowhere/",), "nowhere/ cannot be read"),
        (("bare",), "The folder bare holds no data set"),
        (("plain.jsonl",), "plain.jsonl has no gold plans"),
        (("one.jsonl", "plain.jsonl"), "plain.jsonl has no gold plans"),
        ((SETS,), "Only tool sets"),
        (("one.jsonl", "--planner", "ofline"), "Did you mean 'offline'?"),
        (("one.jsonl", "--planner", "router"), "--router"),
        (("one.jsonl", "--plot", "one.png"), "SVG is the only format"),
        (("one.jsonl", "--against", "plain.jsonl"), "is no attempt"),
        (("people/developmnt",), "Did you mean 'people/development'?"),
        (("peple",), "Did you mean 'people'?"),
        (("diary.jsonl",), "none of its lines is a JSON object"),
        (("one.jsonl", "diary.jsonl"), "none of its lines is a JSON object"),
        (("one.jsonl", "--beside", "ofline"), "Did you mean 'offline'?"),
        (("one.jsonl", "--beside", "offline"), "compared with itself"),
        (("one.jsonl", "--beside", "router", "--against", "one.jsonl"), "--beside or --against"),
    ],
)
def test_what_cannot_be_scored_is_said_before_anything_is_planned(
    toolpath: Command, words: tuple[str, ...], said: str
) -> None:
    write("one.jsonl", SONG)
    write("plain.jsonl", {"query": "no gold"}, {"query": "none here either"})
    write("bare/readme.txt", "nothing")
    Path("diary.jsonl").write_text("dear diary\n[1]\n")
    ran = toolpath("eval", *words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_picture_shows_the_data_sets_side_by_side(toolpath: Command) -> None:
    one, other = write("one.jsonl", PRICE | GOLD), write(f"{'long' * 20}.jsonl", MISSED)
    assert toolpath("eval", one, other, "--plot", "plot.svg").code == 0
    words = words_of("plot.svg")
    assert "2 data sets: the offline planner" in words
    assert {"one", "all", "tool F1", "edge F1", "arguments right", "0 / 0 / 1"} <= set(words)
    assert max(len(word or "") for word in words) < 80
    assert len(list(ET.parse("plot.svg").iter("{http://www.w3.org/2000/svg}polyline"))) == 1


def test_a_file_may_have_any_name(toolpath: Command) -> None:
    odd = os.fsdecode(b"odd/\xff\x01.jsonl")
    write(odd, SONG)
    with Path(odd).open("a") as file:
        file.write("no\n")
    tools = write(os.fsdecode(b"\xff.jsonl"), json.loads(Path(SETS).read_text()), "no tools")
    ran = toolpath("eval", "odd", LUNCH, tools, "--json", "--plot", "plot.svg")
    assert ran.code == 3
    assert [(one["file"], one["line"]) for one in ran.json["unreadable"]] == [("?.jsonl", 2), ("odd/?\\x01.jsonl", 2)]
    assert [(one["data_set"], one["unreadable"]) for one in ran.json["sets"]] == [("?\\x01", 1), ("lunch", 0)]
    assert "?\\x01" in words_of("plot.svg")


async def test_a_model_that_falls_silent_costs_no_figures(toolpath: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = write("one.jsonl", SONG), write("other.jsonl", *[PRICE | GOLD] * 9)
    ran, _ = await with_model(toolpath, monkeypatch, Fails(status=401), one, other)
    assert ran.code == 1
    assert "did not answer 5 requests" in ran.err
    assert [(each["data_set"], each["tasks"], each["complete"]) for each in ran.json["sets"]] == [
        ("one", 1, True),
        ("other", 4, False),
    ]


async def test_an_interrupted_evaluation_shows_what_was_done(shop: Path) -> None:
    write("one.jsonl", PRICE | GOLD)
    write("other.jsonl", PRICE | GOLD, PRICE | GOLD)
    write("third.jsonl", PRICE | GOLD)
    plan = json.dumps(RIGHT)
    async with ModelServer(plan, plan, then=Hangs()) as server:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TOOL", "PYTEST"))}
        words = ("eval", "one.jsonl", "other.jsonl", "third.jsonl", "--planner", "model", "--plot", "plot.svg")
        process = spawned(shop, *words, env=kept | model_environment(server))
        async with asyncio.timeout(PATIENCE):
            while len(server.requests) < 3:
                assert process.poll() is None, process.communicate()
                await asyncio.sleep(0)
        process.send_signal(signal.SIGINT)
        out, err = await asyncio.to_thread(process.communicate, timeout=PATIENCE)
    assert process.returncode == 130
    rows = [line.split() for line in out.decode().splitlines() if line]
    assert ["one", "1", "100.0%"] in [row[:3] for row in rows]
    assert ["other", "(not", "all)", "1", "100.0%"] in [row[:5] for row in rows]
    assert "third" not in out.decode()
    assert "other after 1 of its tasks; not begun: third" in err.decode()
    assert "Traceback" not in err.decode()
    assert "other (not all)" in words_of(str(shop / "plot.svg"))


def test_the_shipped_requests_are_scored_by_category_and_compared(toolpath: Command) -> None:
    first = toolpath("eval", "people", "--limit", "3", "--keep", "kept.jsonl", "--json")
    assert first.code == 0, first.err
    told = json.loads(first.out)
    assert [one["data_set"] for one in told["sets"]] == ["development", "set_aside"]
    assert sum(one["tasks"] for one in told["categories"]) == told["tasks"] == 6
    assert all(
        one["interval"]["low"] <= one["right"] / one["tasks"] <= one["interval"]["high"] for one in told["languages"]
    )
    kept = [json.loads(line) for line in Path("kept.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(kept) == 6
    assert all(one["plan"]["steps"] for one in kept if one.get("came", "plan") == "plan")
    again = toolpath("eval", "people/development", "--limit", "3", "--against", "kept.jsonl", "--json")
    compared = json.loads(again.out)["compared"]
    assert (compared["tasks"], compared["gained"], compared["lost"]) == (3, [], [])
    shown = toolpath("eval", "people/development", "--limit", "3", "--against", "kept.jsonl")
    assert "95% interval" in shown.out
    assert "right before alone" in shown.out
    assert "95% interval" in shown.out


def test_two_planners_are_scored_side_by_side_and_every_plan_is_kept(toolpath: Command) -> None:
    words = ("eval", "people/development", "--limit", "4", "--beside", "router", "--keep", "plans.jsonl")
    found = json.loads(toolpath(*words, "--json").out)
    assert found["beside"] == {"planner": "offline", "router": True}
    both = found["compared"]
    assert both["tasks"] == 4
    assert sum(one["tasks"] for one in both["categories"]) == sum(one["tasks"] for one in both["languages"]) == 4
    for one in both["categories"]:
        assert (
            one["difference"]["low"] <= (one["right"] - one["right_before"]) / one["tasks"] <= one["difference"]["high"]
        )
    for file in ("plans.jsonl", "plans.router.jsonl"):
        assert len(Path(file).read_text(encoding="utf-8").splitlines()) == 4
    shown = toolpath(*words).out
    assert "right by the offline planner" in shown
    assert "right by the router (offline)" in shown


def test_where_no_line_can_be_scored_there_are_no_figures(toolpath: Command) -> None:
    wrong = [
        {**PRICE, "gold_plan": [{"step": "p", "tool": 5}]},
        {**PRICE, **GOLD, "right": ["plann"]},
        {**PRICE, **GOLD, "rihgt": ["plan"]},
    ]
    ran = toolpath("eval", write("wrong.jsonl", *wrong))
    assert ran.code == 3
    assert ran.out.strip() == ""
    assert "wrong.jsonl:1: " in ran.err
    assert "$.gold_plan[0].tool" in ran.err
    assert "$.right[0]" in ran.err
    assert "wrong.jsonl:3: There is no field 'rihgt' - at `$`. Did you mean 'right'?" in " ".join(ran.err.split())


def test_tasks_without_an_id_are_compared_by_their_request(toolpath: Command, shop: Path) -> None:
    price = {"query": "What is the price of the item tea?", **GOLD}
    song = {"query": "Sing me a song", "gold_plan": []}
    lines = [price, {**price, "gold_plan": []}, song]
    (shop / "mine.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    beside = toolpath("eval", "mine.jsonl", "--beside", "router", "--keep", "kept.jsonl", "--json").json["compared"]
    assert (beside["tasks"], beside["right"], beside["right_before"]) == (3, 2, 2)
    again = toolpath("eval", "mine.jsonl", "--against", "kept.jsonl", "--json").json["compared"]
    assert (again["tasks"], again["gained"], again["lost"]) == (3, [], [])
    (shop / "mine.jsonl").write_text(json.dumps(song) + "\n" + json.dumps({**song, "query": "Dance"}) + "\n")
    moved = toolpath("eval", "mine.jsonl", "--against", "kept.jsonl")
    assert "1 of 2 tasks are not compared" in moved.err
