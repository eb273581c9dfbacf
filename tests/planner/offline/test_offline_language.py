"""How the planner without a model reads language: lists, names, places, commands and what they are about."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.linked import linked_tasks
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan
from toolpath.model.tool import Tool
from toolpath.planner.offline.fill import fill
from toolpath.planner.offline.mentions import mentions
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.offline.slots import slots_of
from toolpath.planner.offline.tool_parts import tool_parts
from toolpath.planner.scoring.gold import gold_calls, made_calls
from toolpath.planner.scoring.score import score_plan

TEXT, NUMBER, INTEGER = {"type": "string"}, {"type": "number"}, {"type": "integer"}


def catalog(*tools: Tool) -> Catalog:
    return Catalog({one.key: one for one in tools})


def calls(plan: Plan) -> list[tuple[str, dict[str, Any]]]:
    return [(step.tool, step.inputs) for step in plan.steps if isinstance(step, Call)]


def planned(text: str, *tools: Tool) -> list[tuple[str, dict[str, Any]]]:
    return calls(plan_offline(text, catalog(*tools)))


def read(text: str, **properties: Any) -> list[dict[str, Any]]:
    slots = slots_of({"type": "object", "properties": properties, "required": list(properties)})
    return [{name: found.value for name, found in call.items()} for call in fill(slots, text).calls]


def named(text: str) -> list[str]:
    return [one.text for one in mentions(text) if one.kind == "name"]


BOAT = tool("rent_boat", "Rent a boat in a harbour.", "write", harbour_city=TEXT, hours=INTEGER, seats=INTEGER)
FERRY = tool("ferry_price", "The price of a ferry between two towns.", "write", start=TEXT, end=TEXT)
TIDES = tool("tide_forecast", "Forecast of the tides.", "write", location=TEXT, days=INTEGER)
WIND = tool("wind_forecast", "Forecast of the wind.", "write", location=TEXT, days=INTEGER)


# Several calls of one tool


def test_what_conjunctions_join_are_calls_that_each_have_their_own_values() -> None:
    text = "Rent a boat in Oslo for 3 hours with 4 seats and one with 6 seats in Bergen for 5 hours"
    assert [inputs for _, inputs in planned(text, BOAT)] == [
        {"harbour_city": "Oslo", "hours": 3, "seats": 4},
        {"harbour_city": "Bergen", "hours": 5, "seats": 6},
    ]


def test_what_one_of_the_joined_says_alone_holds_for_the_others() -> None:
    text = "Rent a boat with 4 seats in Oslo for 3 hours and in Bergen for 5 hours"
    made = planned(text, BOAT)
    assert [inputs["seats"] for _, inputs in made] == [4, 4]
    assert [inputs["hours"] for _, inputs in made] == [3, 5]


def test_two_lists_are_every_pair_and_respectively_goes_along() -> None:
    crossed = read("the score of Lions and Bears in the years 2011 and 2013", team=TEXT, year=INTEGER)
    assert crossed == [
        {"team": "Lions", "year": 2011},
        {"team": "Lions", "year": 2013},
        {"team": "Bears", "year": 2011},
        {"team": "Bears", "year": 2013},
    ]
    along = read("the score of Lions and Bears in the years 2011 and 2013 respectively", team=TEXT, year=INTEGER)
    assert along == [{"team": "Lions", "year": 2011}, {"team": "Bears", "year": 2013}]


def test_what_the_named_have_goes_along_with_them() -> None:
    made = read("the members Ada and Max with the emails ada@x.org and max@x.org", name=TEXT, email=TEXT)
    assert made == [{"name": "Ada", "email": "ada@x.org"}, {"name": "Max", "email": "max@x.org"}]


def test_several_allowed_values_in_a_list_are_several_calls() -> None:
    order = {**TEXT, "enum": ["rising", "falling"]}
    assert read("sorted in rising and falling order", order=order) == [{"order": "rising"}, {"order": "falling"}]
    assert read("sorted in falling order", order=order) == [{"order": "falling"}]


def test_a_list_that_one_call_takes_is_not_torn_apart() -> None:
    club = tool(
        "find_club", "Find a club with facilities.", "write", city=TEXT, facilities={"type": "array", "items": TEXT}
    )
    assert planned("Find a club in Lyon with a 'Sauna' and a 'Pool'", club) == [
        ("find_club", {"city": "Lyon", "facilities": ["Sauna", "Pool"]})
    ]


def test_a_number_that_counts_what_is_listed_is_no_value() -> None:
    assert read("the sum of two numbers: 40 and 50", first=INTEGER, second=INTEGER) == [{"first": 40, "second": 50}]


def test_a_call_that_is_said_twice_is_made_once() -> None:
    text = "I need the tides. Get the tide forecast for Dover for 4 days. So: tide forecast for Dover for 4 days"
    assert planned(text, TIDES, FERRY) == [("tide_forecast", {"location": "Dover", "days": 4})]


# Several tools


def test_a_value_that_is_left_out_is_what_the_tool_before_was_told() -> None:
    made = planned("Get the tide forecast for Dover for 4 days, then show me the wind forecast", TIDES, WIND)
    assert made == [
        ("tide_forecast", {"location": "Dover", "days": 4}),
        ("wind_forecast", {"location": "Dover", "days": 4}),
    ]


def test_a_part_that_hints_at_one_tool_alone_and_says_what_it_needs_has_it() -> None:
    text = "Show the tide forecast of the tides in Dover for 4 days, and what is a ferry from Calais to Ramsgate?"
    assert [name for name, _ in planned(text, TIDES, FERRY)] == ["tide_forecast", "ferry_price"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Show the tides for the next 4 days", 1),
        ("I would also like to see the wind", 1),
        ("Write to Mr. Bean at once", 1),
        ("Rent it. Next, sail it home", 2),
        ("Compare the boats and cancel the older one", 2),
    ],
)
def test_words_of_sequence_cut_only_where_they_stand_for_one(text: str, parts: int) -> None:
    assert len(tool_parts(text)) == parts


# Names, places, calendars


def test_a_state_or_country_stays_with_its_place() -> None:
    assert named("the wind in Boston, USA and the tides in Dover, England for me") == ["Boston, USA", "Dover, England"]
    assert named("flats in Denver, CO and a car") == ["Denver, CO"]
    assert named("offices in Germany, France and Spain") == ["Germany", "France", "Spain"]


def test_titles_and_numbers_belong_to_names() -> None:
    assert named("a letter to Mr. Otto Kern") == ["Mr. Otto Kern"]
    assert named("something that runs on Windows 10.") == ["Windows 10"]
    assert "ID 53" not in named("the drawing with ID 53")


def test_a_place_is_rather_the_value_of_a_place_and_a_state_no_city() -> None:
    assert read("a tax in Austin, Texas", city=TEXT, state=TEXT) == [{"city": "Austin", "state": "Texas"}]
    assert read("the crime of theft in Ohio", crime_type=TEXT, location=TEXT)[0]["location"] == "Ohio"


def test_a_day_of_the_week_is_no_name_of_a_thing() -> None:
    made = read("opening hours of the Tate Gallery on Saturday", gallery_name=TEXT, day=TEXT)
    assert made == [{"gallery_name": "Tate Gallery", "day": "Saturday"}]


def test_currencies_of_two_words_have_their_code() -> None:
    assert read("from British pounds to Canadian dollars", base_currency=TEXT, to_currency=TEXT) == [
        {"base_currency": "GBP", "to_currency": "CAD"}
    ]


def test_a_percentage_is_written_as_its_parameter_says() -> None:
    assert read("a rate of 5%", rate={**NUMBER, "description": "The rate in percent."}) == [{"rate": 5}]
    assert read("a rate of 5%", rate={**NUMBER, "description": "The rate."}) == [{"rate": 0.05}]


def test_an_object_in_the_request_is_read_as_one() -> None:
    assert read("these marks: {'art': 2, 'music': 1}", marks={"type": "object"}) == [{"marks": {"art": 2, "music": 1}}]


def test_a_title_without_quotation_marks_ends_where_the_sentence_goes_on() -> None:
    said = [one.value for one in mentions("a song titled Bread and butter by Ann") if one.kind == "quoted"]
    assert said == ["Bread and butter"]


def test_the_name_of_the_tool_or_of_a_parameter_is_no_value() -> None:
    text = "Use the 'ferry_price' function from Calais to Ramsgate"
    assert planned(text, FERRY) == [("ferry_price", {"start": "Calais", "end": "Ramsgate"})]
    assert read("the plan with plan_id 'B17'", plan_id=TEXT) == [{"plan_id": "B17"}]


# Which tool is meant

CREATE_NOTE = tool("createNote", "Create a note on a ticket.", "write", ticketId=TEXT, text=TEXT)
LIST_NOTES = tool("listNotesByTicket", "List the notes of a ticket.", "write", ticketId=TEXT)
CREATE_TICKET = tool("createTicket", "Create a ticket.", "write", title=TEXT)
DELETE_TICKET = tool("deleteTicket", "Delete a ticket.", "write", ticketId=TEXT)
DESK = (CREATE_NOTE, LIST_NOTES, CREATE_TICKET, DELETE_TICKET)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Note on the ticket 't1' saying 'seen'", "createNote"),
        ("Write a note 'seen' on ticket 't1'", "createNote"),
        ("Please add a note on ticket 't1' saying 'seen'", "createNote"),
        ("Show the notes of ticket 't1'", "listNotesByTicket"),
        ("List all notes on ticket 't1'", "listNotesByTicket"),
        ("Remove the ticket 't1'", "deleteTicket"),
        ("Open a ticket titled 'No light'", "createTicket"),
    ],
)
def test_the_verb_and_its_thing_say_which_tool_is_meant(text: str, expected: str) -> None:
    assert [name for name, _ in planned(text, *DESK)] == [expected]


def test_initials_name_a_tool() -> None:
    bmr = tool("health.bmr", "Compute a figure of the body.", "write", weight=NUMBER, height=NUMBER)
    other = tool("health.sleep", "Compute the sleep.", "write", weight=NUMBER, height=NUMBER)
    text = "Compute the basal metabolic rate for a weight of 70 kg and a height of 180 cm"
    assert [name for name, _ in planned(text, bmr, other)] == ["health.bmr"]


def test_the_opposite_of_what_a_tool_does_is_not_asked_of_it() -> None:
    sunrise = tool("sun.sunrise", "Get the time of sunrise at a place.", "write", location=TEXT)
    assert planned("Get the time of sunrise at a place: Rome", sunrise) == [("sun.sunrise", {"location": "Rome"})]
    with pytest.raises(NoToolFits):
        plan_offline("Tell the time of sunset: Rome", catalog(sunrise))


# How sure linked plans are


def test_a_clear_request_for_linked_steps_is_a_sure_plan_and_a_vague_one_is_not() -> None:
    tasks = [(task, tools) for family, task, tools in linked_tasks() if family == "blog"]
    clear = "Create author Ida with email ida@x.org, then create a blog by Ida titled 'Ice' with content 'It is cold'"
    sure = plan_offline(clear, tasks[0][1]).confidence
    assert sure is not None
    assert sure > 0.6
    right, wrong = [], []
    for task, tools in tasks:
        plan = plan_offline(task.query, tools)
        (right if score_plan(made_calls(plan), gold_calls(task, tools)).is_whole else wrong).append(
            plan.confidence or 0
        )
    assert sum(right) / len(right) > sum(wrong) / len(wrong) + 0.15


def test_a_step_is_made_for_each_of_those_before_where_the_request_says_so() -> None:
    tools = next(tools for family, _, tools in linked_tasks() if family == "shop")
    text = (
        "Create customers Ida and Bo with emails ida@x.org and bo@x.org, "
        "then create an order for each of them of the product 'lamp'"
    )
    made = calls(plan_offline(text, tools))
    assert [inputs.get("customerId") for name, inputs in made if name == "createOrder"] == [
        "{{ createCustomer.id }}",
        "{{ createCustomer_2.id }}",
    ]
