"""Writes whose things a list gives: nothing is written to more of them than the request picks out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.scoring.gold import made_calls

TEXT = {"type": "string"}


def listed(name: str, **fields: Any) -> dict[str, Any]:
    return {name: {"type": "array", "items": {"type": "object", "properties": fields}}}


def one_of(*options: str) -> dict[str, Any]:
    return {"type": "string", "enum": [*options]}


ANCHOR = {"type": "string", "description": "Number of the anchor, e.g. AC-12"}
BOAT = {"type": "string", "description": "Number of the boat, e.g. BT-4"}
TOOLS = (
    tool(
        "list_anchors",
        "List the anchors of the harbour.",
        "read",
        listed("anchors", anchor_id=TEXT, owner=TEXT, pier={"type": "integer"}, weight={"type": "number"}),
        state_=one_of("stored", "rented", "damaged"),
        owner_={"type": "string", "description": "Name of the owner"},
        pier_={"type": "integer", "description": "Pier at which it lies"},
        below_weight_={"type": "boolean", "description": "Only those that weigh too little"},
    ),
    tool(
        "scrap_anchor",
        "Scrap an anchor.",
        "destructive",
        {"done": {"type": "boolean"}},
        anchor_id=ANCHOR,
        reason_={"type": "string", "description": "Why"},
    ),
    tool("clean_anchor", "Clean an anchor.", "write", {"done": {"type": "boolean"}}, anchor_id=ANCHOR),
    tool(
        "move_anchor",
        "Move an anchor to another pier.",
        "write",
        {"done": {"type": "boolean"}},
        anchor_id=ANCHOR,
        pier={"type": "integer", "description": "Number of the pier"},
    ),
    tool("rent_anchor", "Rent an anchor out.", "write", {"done": {"type": "boolean"}}, anchor_id=ANCHOR),
    tool(
        "list_trips",
        "List the trips of a boat, newest first.",
        "read",
        listed("trips", trip_id=TEXT, left_on=TEXT),
        boat_id=BOAT,
    ),
    tool("delete_trip", "Delete a trip.", "destructive", {"done": {"type": "boolean"}}, trip_id=TEXT),
    tool("delete_boat", "Delete a boat.", "destructive", {"done": {"type": "boolean"}}, boat_id=BOAT),
)
CATALOG = Catalog({one.key: one for one in TOOLS})


def planned(request_text: str) -> Plan:
    return plan_offline(request_text, CATALOG, today=date(2026, 5, 13))


def writes(plan: Plan) -> list[str]:
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call)]
    return [one.tool for one in calls if not CATALOG.tools[one.tool].is_read]


NARROWED = (
    # English
    "older than a year",
    "that nobody uses",
    "with a red label",
    "that Bob made",
    "worth more than 500",
    "except the newest",
    "other than the first",
    "but not the big ones",
    "but AC-7",
    "that are not damaged",
    "that were never cleaned",
    "without an owner",
    "in the basement",
    "below the minimum weight",
    "that weigh too little",
    "bigger than 2 GB",
    "marked as urgent",
    # German, French, Spanish
    "die älter als ein Jahr sind",
    "außer dem neuesten",
    "mit rotem Etikett",
    "ohne Besitzer",
    "que personne n'utilise",
    "sauf le dernier",
    "avec une étiquette rouge",
    "que nadie usa",
    "menos el último",
    "con etiqueta roja",
)


def everything_narrowed() -> Iterator[str]:
    for what in NARROWED:
        yield f"Scrap all anchors {what}"
        yield f"clean every anchor {what}"
        yield f"Move all the anchors {what} to pier 7"


@pytest.mark.parametrize("request_text", [*everything_narrowed()])
def test_a_list_that_is_not_narrowed_as_it_was_said_is_not_written_to_unasked(request_text: str) -> None:
    plan = planned(request_text)
    assert plan.questions or not writes(plan), plan.steps


@pytest.mark.parametrize(
    ("request_text", "narrowed"),
    [
        ("Scrap all damaged anchors", {"state": "damaged"}),
        ("scrap every damaged anchor of Olsen", {"state": "damaged", "owner": "Olsen"}),
        ("Scrap all the anchors for Olsen", {"owner": "Olsen"}),
        ("clean every anchor at pier 3", {"pier": 3}),
        ("Rent out all stored anchors", {"state": "stored"}),
    ],
)
def test_what_narrows_a_list_is_asked_of_the_tool_that_gives_it(request_text: str, narrowed: dict[str, Any]) -> None:
    plan = planned(request_text)
    read, write = made_calls(plan)
    assert read.arguments == narrowed
    assert write.arguments == {"anchor_id": "{{ item.anchor_id }}"}
    assert not plan.questions


@pytest.mark.parametrize(
    "request_text", ["Move all the anchors at pier 3 to pier 12", "Move every anchor from pier 3 to pier 12"]
)
def test_where_the_things_are_is_not_where_they_go(request_text: str) -> None:
    plan = planned(request_text)
    read, write = made_calls(plan)
    assert (read.arguments, write.arguments["pier"]) == ({"pier": 3}, 12)


@pytest.mark.parametrize(
    "request_text",
    ["Move all the anchors that lie at pier 3 to pier 12", "Move all anchors now lying around pier 3 to pier 12"],
)
def test_where_things_go_never_says_which_are_meant(request_text: str) -> None:
    plan = planned(request_text)
    is_right = [one.arguments.get("pier") for one in made_calls(plan)] == [3, 12]
    assert plan.questions or is_right


def test_what_is_done_to_each_does_not_narrow_the_list() -> None:
    read, _ = made_calls(planned("Rent out all anchors of Olsen"))
    assert read.arguments == {"owner": "Olsen"}


@pytest.mark.parametrize(
    "request_text",
    [
        "scrap all anchors near pier 3",
        "scrap all anchors before pier 3",
        "scrap every anchor up to pier 3",
        "scrap all anchors behind pier 3",
        "scrap all anchors from pier 3 on",
        "scrap all anchors at pier 3 and above",
        "scrap all damaged and stored anchors",
        "scrap all damaged or stored anchors",
        "show the trips of BT-4 and delete it",
        "delete all trips of BT-4 and BT-5",
        "delete all trips of BT-4 or BT-5",
        "list the trips of BT-4 and delete the second one",
        "list the trips of BT-4 and delete some of them",
        "delete every other trip of BT-4",
        "delete all but one trip of BT-4",
    ],
)
def test_a_list_that_is_nearly_the_one_that_was_said_is_asked_about(request_text: str) -> None:
    plan = planned(request_text)
    assert plan.questions or not writes(plan), plan.steps


@pytest.mark.parametrize(
    "request_text",
    [
        "delete all trips of BT-4",
        "Delete the newest trip of BT-4",
        "list the trips of BT-4 and delete the first one",
        "show me the trips of BT-4 and delete them",
    ],
)
def test_what_a_thing_has_is_deleted_and_not_the_thing(request_text: str) -> None:
    plan = planned(request_text)
    assert writes(plan) == ["delete_trip"]
    assert not plan.questions


@pytest.mark.parametrize(
    "request_",
    [
        "Ms Okoro has left. Scrap all her anchors",
        "Scrap all his anchors at pier 4",
        "Clean all their anchors",
    ],
)
def test_whose_things_are_meant_is_asked_where_no_step_says_so(request_: str) -> None:
    assert plan_offline(request_, CATALOG).questions


def test_things_of_one_who_is_named_in_the_plan_are_his() -> None:
    plan = plan_offline("List the anchors of Okoro and clean all her anchors", CATALOG)
    assert not any("whose" in one for one in plan.questions)
