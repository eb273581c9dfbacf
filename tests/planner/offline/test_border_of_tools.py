"""Requests that the tools of 22 sets serve, and as many that they nearly serve: these are refused, those are not."""

from __future__ import annotations

from functools import cache

import pytest
from tests.planner.offline.test_everyday_requests import FOLDER, calls_of, lines, planned, runs
from tests.planner.offline.test_unfit_requests import writes

from toolpath.catalog.snapshot import Catalog
from toolpath.planner.scoring.gold import ToolData, catalog_of, read_tool_set

#: Of 236 requests that no tool serves so many are refused at least, and of 236 that one serves so many at most.
LEAST_REFUSED, MOST_REFUSED = 212, 45


@cache
def tool_sets() -> dict[str, Catalog]:
    found = map(read_tool_set, (FOLDER / "border_tool_sets.jsonl").read_bytes().splitlines())
    return {one.toolset: catalog_of(one.tools) for one in found}


def refused(*, served: bool) -> list[str]:
    tasks = [one for one in lines("border.jsonl") if one["served"] is served]
    assert len(tasks) == 236
    return [one["request"] for one in tasks if planned(one["request"], tool_sets()[one["toolset"]]) is None]


def test_what_no_tool_serves_is_refused_and_nothing_is_written_for_it() -> None:
    assert len(refused(served=False)) >= LEAST_REFUSED
    unserved = [one for one in lines("border.jsonl") if not one["served"]]
    assert [one["request"] for one in unserved if writes(one["request"], tool_sets()[one["toolset"]])] == []


def test_what_a_tool_serves_is_seldom_refused() -> None:
    assert len(refused(served=True)) <= MOST_REFUSED


def tool(key: str, description: str, *gives: str, effect: str = "read", **fields: str) -> ToolData:
    told = {one: {"type": "string", "description": text} for one, text in fields.items()}
    needed = [one for one, text in fields.items() if not text.startswith("Optional")]
    output = {"type": "object", "properties": {one: {"type": "string"} for one in gives}} if gives else None
    return ToolData(
        name=key,
        description=description,
        effect=effect,  # type: ignore[arg-type]
        parameters={"type": "object", "properties": told, "required": needed},
        output_schema=output,
    )


BOATS = catalog_of(
    (
        tool(
            "get_boat", "One boat of the harbour.", "boat_id", "name", "berth", boat_id="Id of the boat, such as BT-4"
        ),
        tool("list_berths", "Berths of a pier.", "berth", "length", pier="Name of the pier"),
        tool("moor_boat", "Moor a boat at a berth.", effect="write", boat_id="Id, such as BT-4", berth="The berth"),
        tool("share_boat", "Share a boat with somebody.", effect="write", boat_id="Id, such as BT-4", email="E-mail"),
        tool("find_sailor", "Find a sailor by name.", "sailor_id", "name", name="Name of the sailor"),
        tool("charge_fee", "Charge a berth's fee.", effect="write", berth="The berth", reason="Why"),
    )
)


@pytest.mark.parametrize(
    ("unserved", "served"),
    [
        ("What's the weather at berth 4 of BT-4?", "What's the berth of BT-4?"),
        ("Wie ist das Wetter bei BT-4?", "Wie heißt BT-4?"),
        ("Quelle est l'adresse du capitaine de BT-4 ?", "Quel est le nom de BT-4 ?"),
        ("Which hotels are near the pier?", "Which berths does the pier North have?"),
        ("Explain tides to a child", "Show BT-4"),
        ("Who decides whether a boat gets a berth?", "What is the berth of BT-4?"),
        ("Get rid of the scratches on BT-4", "Show me the boat BT-4"),
        ("Undo the sharing of BT-4", "Share BT-4 with ann@sea.org"),
        ("Stop sharing BT-4 with ann@sea.org", "Share BT-4 with ann@sea.org"),
        ("Add Ann Lee as a new sailor", "Find the sailor Ann Lee"),
        ("Pay BT-4's insurance", "Show BT-4's berth"),
        ("Give BT-4 a paint job", "Moor BT-4 at A3"),
        ("How old is the captain of BT-4?", "What is the name of BT-4?"),
        ("Throw BT-4 away", "Moor BT-4 at A3"),
        ("Which boat is best for beginners?", "Which berth has BT-4?"),
    ],
)
def test_the_thing_that_is_asked_for_is_to_be_some_tools(unserved: str, served: str) -> None:
    assert planned(unserved, BOATS) is None
    assert planned(served, BOATS) is not None


@pytest.mark.parametrize(
    "request_text",
    ["Why is BT-4 at A3?", "What would happen if I sold BT-4?", "Do not moor BT-4 yet, she is still at sea"],
)
def test_what_a_tool_that_only_shows_leaves_open_is_asked(request_text: str) -> None:
    plan = planned(request_text, BOATS)
    assert plan is None or plan.questions
    shown = planned("Show BT-4", BOATS)
    assert shown is not None
    assert runs(shown)
    assert [one.tool for one in calls_of(shown)] == ["get_boat"]


MACHINES = catalog_of(
    (
        tool("get_machine", "One machine.", "state", "last_calibrated", machine_id="Id of the machine, such as MC-4"),
        tool("check_in", "Check a visitor in.", effect="write", visitor_id="Id of the visitor, such as VI-3"),
        tool("list_visits", "Visits of a day.", "visitor_id", "name", day="Day of the visits, such as 2026-05-01"),
    )
)


def test_that_something_was_done_once_says_of_no_tool_that_it_does_it() -> None:
    assert planned("Calibrate MC-4", MACHINES) is None
    assert planned("When was MC-4 last calibrated?", MACHINES) is not None


def test_the_words_of_a_tools_name_may_stand_apart() -> None:
    plan = planned("Ms Lee is at the door, check her in", MACHINES)
    assert plan is not None
    assert [one.tool for one in calls_of(plan)] == ["check_in"]
    assert plan.questions
