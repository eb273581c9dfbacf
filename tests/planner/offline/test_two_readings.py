"""What a request's values are, where its words can be read in two ways."""

from __future__ import annotations

from datetime import date

import pytest

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan
from toolpath.model.tool import Effect, Tool
from toolpath.planner.offline.planner import plan_offline
from toolpath.values import JsonObject

TEXT: JsonObject = {"type": "string"}
NUMBER: JsonObject = {"type": "number"}


def tool(
    name: str, description: str, properties: JsonObject, optional: tuple[str, ...] = (), effect: Effect = "read"
) -> Catalog:
    schema: JsonObject = {
        "type": "object",
        "properties": properties,
        "required": [one for one in properties if one not in optional],
    }
    return Catalog({name: Tool(name=name, description=description, input_schema=schema, effect=effect)})


def planned(request: str, catalog: Catalog) -> Plan:
    return plan_offline(request, catalog, today=date(2026, 3, 10))


def calls(plan: Plan) -> list[JsonObject]:
    return [step.inputs for step in plan.steps if isinstance(step, Call)]


RIDES = tool(
    "find_rides",
    "Find rides from one city to another.",
    {"source": TEXT, "destination": TEXT, "max_cost": NUMBER},
    ("max_cost",),
)
WEATHER = tool("get_weather", "Get the current weather of a city.", {"city": TEXT})
SCORES = tool(
    "high_score", "The highest score of a game on a platform.", {"game": TEXT, "platform": TEXT}, ("platform",)
)


@pytest.mark.parametrize(
    ("request_text", "catalog", "expected"),
    [
        (
            "Find rides from New York to Los Angeles with a maximum cost of $40",
            RIDES,
            [{"source": "New York", "destination": "Los Angeles", "max_cost": 40}],
        ),
        ("Get the current weather of Boston, MA", WEATHER, [{"city": "Boston, MA"}]),
        ("Get the weather of Paris, Rome and Porto", WEATHER, [{"city": "Paris"}, {"city": "Rome"}, {"city": "Porto"}]),
    ],
)
def test_names_are_taken_whole(request_text: str, catalog: Catalog, expected: list[JsonObject]) -> None:
    assert calls(planned(request_text, catalog)) == expected


def test_values_with_words_of_their_own_are_not_taken_by_their_order() -> None:
    designs = tool(
        "design_house", "Design a house.", {"bathrooms": NUMBER, "bedrooms": NUMBER, "garden": TEXT}, ("garden",)
    )
    assert calls(planned("Design a house with 3 bedrooms and 2 bathrooms", designs)) == [
        {"bathrooms": 2, "bedrooms": 3}
    ]


def test_a_write_whose_values_can_be_read_in_two_ways_is_asked_about() -> None:
    properties = {"customer": TEXT, "delivery_city": TEXT}
    made = tool("create_order", "Create an order of a customer, delivered to a city.", properties, effect="write")
    plan = planned("Create an order of the customer Anna Berg for delivery to New York", made)
    assert plan.questions or calls(plan) == [{"customer": "Anna Berg", "delivery_city": "New York"}]


def test_the_opposite_of_what_a_tool_gives_is_not_taken_for_it() -> None:
    with pytest.raises(NoToolFits):
        planned("What's the lowest score in the game Chess?", SCORES)
    assert calls(planned("What's the highest score in the game Chess?", SCORES)) == [{"game": "Chess"}]


EMPLOYEE: JsonObject = {"type": "string", "description": "Id of the employee, such as EMP-12."}
SHIPMENT: JsonObject = {"type": "string", "description": "Id of the shipment, such as SH-12."}
DAY: JsonObject = {"type": "string", "format": "date"}
SALARIES = tool(
    "update_salary", "Change the salary of an employee.", {"employee_id": EMPLOYEE, "salary": NUMBER}, (), "write"
)
SHIPMENTS = Catalog(
    {
        **tool("cancel_shipment", "Cancel a shipment.", {"shipment_id": SHIPMENT}, (), "write").tools,
        **tool(
            "schedule_pickup", "Schedule the pickup of a shipment.", {"shipment_id": SHIPMENT, "date": DAY}, (), "write"
        ).tools,
    }
)


def test_a_number_that_would_be_written_and_that_nothing_names_is_asked_about() -> None:
    assert any("52000" in one for one in planned("Change EMP-6 to 52000", SALARIES).questions)
    said = planned("Change the salary of EMP-6 to 52000", SALARIES)
    assert not said.questions
    assert calls(said) == [{"employee_id": "EMP-6", "salary": 52000}]


def test_what_was_cancelled_is_not_what_the_next_command_is_for_unless_it_says_so() -> None:
    plan = planned("Cancel SH-4 and schedule a pickup on 2026-03-20", SHIPMENTS)
    assert any("shipment_id" in one for one in plan.questions)
    assert calls(plan) == [{"shipment_id": "SH-4"}, {"date": "2026-03-20"}]
    other = planned("Cancel SH-4 and schedule the pickup of SH-5 on 2026-03-20", SHIPMENTS)
    assert not other.questions
    assert calls(other) == [{"shipment_id": "SH-4"}, {"shipment_id": "SH-5", "date": "2026-03-20"}]


@pytest.mark.parametrize(
    ("word", "meant"),
    [("wether", "weather"), ("curent", "current"), ("currently", None), ("weathered", None), ("currents", None)],
)
def test_another_ending_of_a_tools_word_is_no_misspelling_of_it(word: str, meant: str | None) -> None:
    plan = planned(f"Get the {word} weather of a city, Boston", WEATHER)
    assert (f"Read {word!r} as {meant!r}." in plan.origin.reasoning) == (meant is not None)
    assert ("Read" in plan.origin.reasoning) == (meant is not None)


def test_a_tool_of_which_nothing_is_said_but_that_it_looks_for_something_is_not_meant() -> None:
    surveys = tool(
        "survey_search",
        "Search for surveys related to a particular subject in a certain location.",
        {"location": TEXT, "subject": TEXT},
    )
    with pytest.raises(NoToolFits):
        planned("Find out about parking rules in Texas.", surveys)
    assert calls(planned("Find surveys about parking rules in Texas.", surveys))
