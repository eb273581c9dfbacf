"""What a condition is looked up of: what it names itself or points to, and nothing that is said of something else."""

from __future__ import annotations

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call, Plan
from toolpath.planner.offline.planner import plan_offline

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
LISTED = {"type": "array", "items": {"type": "object", "properties": {"name": TEXT, "kind": TEXT}}}

TOOLS = (
    tool("get_temperature", "Measure the temperature of a room.", "read", {"celsius": NUMBER}, room=TEXT),
    tool("set_temperature", "Set the heating of a room.", "write", {"done": TEXT}, room=TEXT, celsius=NUMBER),
    tool(
        "get_weather",
        "The weather in a city.",
        "read",
        {"temperature": NUMBER, "condition": {"type": "string", "enum": ["sunny", "rain", "snow"]}, "wind_kmh": NUMBER},
        city=TEXT,
    ),
    tool("send_text", "Send a text message to a telephone.", "write", {"id": TEXT}, phone=TEXT, text=TEXT),
    tool(
        "find_places",
        "Find places such as pharmacies near somewhere.",
        "read",
        {"places": LISTED},
        kind=TEXT,
        near=TEXT,
    ),
    tool(
        "subscribe_alerts",
        "Subscribe to warnings for a city.",
        "write",
        {"id": TEXT},
        city=TEXT,
        kind={"type": "string", "enum": ["storm", "flood"]},
    ),
    tool("save_place", "Save a place among the favourites.", "write", {"id": TEXT}, name=TEXT, address=TEXT),
    tool("find_stock", "What there is of a food in the larder.", "read", {"entries": LISTED}, food=TEXT),
    tool("add_to_list", "Put a food on the shopping list.", "write", {"id": TEXT}, food=TEXT),
    tool(
        "cancel_order", "Cancel an order.", "destructive", {"id": TEXT}, order_id={**TEXT, "description": "e.g. O-90"}
    ),
)


def planned(request: str) -> Plan:
    return plan_offline(request, Catalog(tools={one.key: one for one in TOOLS}))


@pytest.mark.parametrize("form", ["If {condition}, {act}", "{act} if {condition}", "{act} unless {condition}"])
@pytest.mark.parametrize(
    ("condition", "act"),
    [
        # A word of its own that no tool knows.
        ("it is below 16 in the cellar", "set the kitchen to 20"),
        # Where it is, and what is handed on as a text.
        ("it is colder than 10 outside", "cancel O-90"),
        ("it snows", 'text +43 1 555 "stay home"'),
        # The kind of something else.
        ("there is a pharmacy near Graz", "subscribe me to storm warnings for Graz"),
        # What goes by no name.
        ("there is no reply", "cancel O-90"),
        ("there's enough left", "cancel O-90"),
        # The command names what is meant by itself.
        ("the wind in Graz is over 50 km/h", "save Linz as a favourite"),
    ],
)
def test_a_condition_of_something_else_is_asked_about(form: str, condition: str, act: str) -> None:
    plan = planned(form.format(condition=condition, act=act))
    acting = [step for step in plan.steps if isinstance(step, Call) and not step.tool.startswith(("get_", "find_"))]
    assert plan.questions or not acting


@pytest.mark.parametrize(
    ("request_", "read", "when"),
    [
        (
            "Set the kitchen to 20 if it's colder than 16 there",
            {"room": "kitchen"},
            "{{ get_temperature.celsius < 16 }}",
        ),
        (
            "If it's colder than 16 in the attic, set the kitchen to 20",
            {"room": "attic"},
            "{{ get_temperature.celsius < 16 }}",
        ),
        (
            "If the wind in Graz is over 50 km/h, subscribe me to storm warnings for Graz",
            {"city": "Graz"},
            "{{ get_weather.wind_kmh > 50 }}",
        ),
        (
            "If there is no butter left, put butter on the list",
            {"food": "butter"},
            "{{ find_stock.entries | length == 0 }}",
        ),
    ],
)
def test_a_condition_of_what_is_named_is_looked_up(request_: str, read: dict[str, object], when: str) -> None:
    plan = planned(request_)
    asked, act = (step for step in plan.steps if isinstance(step, Call))
    assert (asked.inputs, act.when, plan.questions) == (read, when, ())
