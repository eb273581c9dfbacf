"""Requests whose shape says what belongs where: counted things, units, names of values, a tool for each clause."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.planner.made_tools import tool
from tests.planner.offline.test_offline_arguments import INTEGER, NUMBER, TEXT, read

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan
from toolpath.model.tool import Tool
from toolpath.planner.offline.mentions import mentions
from toolpath.planner.offline.planner import plan_offline

LISTED = {"type": "array", "items": {"type": "string", "enum": ["Balcony", "Garden View", "Wi-Fi"]}}
UNIT = {"type": "string", "description": "The unit of measurement."}


def planned(text: str, *tools: Tool) -> Plan:
    return plan_offline(text, Catalog({one.key: one for one in tools}))


def calls(plan: Plan) -> list[tuple[str, dict[str, Any]]]:
    return [(step.tool, dict(step.inputs)) for step in plan.steps if isinstance(step, Call)]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("The volume of three tanks: the first tank has a depth of 4, the second tank has a depth of 9", [4, 9]),
        ("For two pipes, where the first pipe has a depth of 7 and the second pipe has a depth of 8", [7, 8]),
        ("five holes with a depth of 6", [6]),
    ],
)
def test_a_number_that_counts_what_is_told_one_by_one_is_no_value(text: str, counts: list[int]) -> None:
    assert [call["depth"] for call in read(text, depth=INTEGER)] == counts


def test_an_option_of_a_list_is_no_name_of_something_else() -> None:
    found = read("a room in Oslo with a Balcony and a Garden View", city=TEXT, extras=LISTED, optional=("extras",))
    assert found == [{"city": "Oslo", "extras": ["Balcony", "Garden View"]}]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("Convert 12 ounces into grams", ("ounces", "grams")),
        ("How much is 9 gallons in liters?", ("gallons", "liters")),
        ("change 40 feet to metres", ("feet", "metres")),
    ],
)
def test_the_unit_wanted_is_the_one_after_to_or_into(text: str, units: tuple[str, str]) -> None:
    found = read(text, value=NUMBER, from_unit=TEXT, to_unit=TEXT)
    assert (found[0]["from_unit"], found[0]["to_unit"]) == units


def test_the_unit_of_all_numbers_is_said_and_that_of_numbers_of_two_kinds_is_not() -> None:
    assert read("a side of 3 inches", side=NUMBER, unit=UNIT, optional=("unit",)) == [{"side": 3, "unit": "inches"}]
    found = read("240 miles in 4 hours", distance=NUMBER, hours=NUMBER, unit=UNIT, optional=("unit",))
    assert found == [{"distance": 240, "hours": 4}]
    assert read("a fee of 3 for 5 people", fee=NUMBER, unit=UNIT, optional=("unit",)) == [{"fee": 3}]


def test_what_there_is_an_amount_of_is_the_thing() -> None:
    assert read("3 kilograms of sugar", weight=NUMBER, item=TEXT) == [{"weight": 3, "item": "sugar"}]


@pytest.mark.parametrize(
    "text", ["The slope of the roof should be 12", "I want the slope of this line to be 12", "the slope is 12"]
)
def test_what_is_said_to_be_something_is_named_by_it(text: str) -> None:
    assert read(text, optional=("slope", "height"), slope=NUMBER, height=NUMBER) == [{"slope": 12}]


def test_quotations_in_a_request_that_is_quoted_are_found() -> None:
    text = "\"Could you look for the album named 'Blue Train' by the artist named 'Coltrane' for me this evening?\""
    assert read(text, album=TEXT, artist=TEXT) == [{"album": "Blue Train", "artist": "Coltrane"}]


def test_a_day_in_quotation_marks_is_a_day() -> None:
    assert read("I plan to return it by '2031-02-03'", return_date=TEXT) == [{"return_date": "2031-02-03"}]


def test_what_points_back_names_nothing() -> None:
    assert read("the date of the Battle of Hastings and how long ago that event took place", event=TEXT)[0] == {
        "event": "Battle of Hastings"
    }


FILMS = tool("cinema.find_film", "Find films in a city.", "read", city=TEXT, genre=TEXT)


def test_what_is_done_to_a_thing_is_no_value() -> None:
    plan = planned("I'm thinking of watching a horror film in Vienna", FILMS)
    assert calls(plan) == [("cinema.find_film", {"city": "Vienna", "genre": "horror"})]


TRIP = tool("trip.plan_journey", "Plan a journey to a city.", "read", city=TEXT, days=INTEGER)
STEW = tool("kitchen.scale_ingredient", "Scale an amount of an item.", "read", item=TEXT, amount=INTEGER)


def test_the_place_of_one_clause_is_not_the_thing_of_another() -> None:
    made = dict(
        calls(planned("Plan a journey to Lisbon for 4 days. Also, scale the ingredient to an amount of 6.", TRIP, STEW))
    )
    assert made["trip.plan_journey"] == {"city": "Lisbon", "days": 4}
    assert "Lisbon" not in made.get("kitchen.scale_ingredient", {}).values()


SCORES = tool("sport.mean_score", "Mean score of a player.", "read", player_name=TEXT, season=TEXT)


def test_a_word_beside_the_thing_asked_for_is_no_season() -> None:
    plan = planned("What is the rebound mean score of Ada Lovelace?", SCORES)
    assert calls(plan) == [("sport.mean_score", {"player_name": "Ada Lovelace"})]
    assert plan.questions


CUBE = tool("solid.box_volume", "Calculate the volume of a box.", "read", width=NUMBER, depth=NUMBER)


def test_letters_for_all_numbers_ask_for_a_formula_that_no_tool_gives() -> None:
    with pytest.raises(NoToolFits):
        planned("What is the volume of a box with width 'w' and depth 'd'?", CUBE)
    plan = planned("What is the volume of a box with width 3 and depth 'd'?", CUBE)
    assert calls(plan) == [("solid.box_volume", {"width": 3})]
    assert plan.questions


def test_the_unit_of_a_number_is_no_word_of_the_request() -> None:
    assert read("for 3 weeks", kind=TEXT, optional=("kind",)) == [{}]
    assert all(one.text != "weeks" for one in mentions("energy for 3 weeks"))


def test_a_plan_that_does_more_of_the_request_is_not_left_for_one_that_is_silent() -> None:
    plan = planned("Find a horror film in Vienna, then plan a journey to a city", FILMS, TRIP)
    assert {name for name, _ in calls(plan)} == {"cinema.find_film", "trip.plan_journey"}
    assert plan.questions


def test_a_long_row_of_numbers_is_read_at_once() -> None:
    row = ", ".join(str(number) for number in range(2, 60))
    started = time.process_time()
    planned(f"What is the volume of a box with width {row} and a depth that nobody knows?", CUBE)
    assert time.process_time() - started < 5
