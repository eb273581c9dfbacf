"""A text that somebody is told, or that is noted, stays one text where commas and `and` stand in it."""

from __future__ import annotations

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call
from toolpath.planner.offline.planner import plan_offline

STRING = {"type": "string"}
SHOP = (
    tool(
        "write_review",
        "Write a review of a product.",
        "write",
        sku={**STRING, "description": "Such as SKU-1001"},
        stars={"type": "integer", "description": "1 to 5"},
        text_={**STRING, "description": "The review"},
    ),
    tool(
        "send_message",
        "Send a message to a colleague.",
        "write",
        to={**STRING, "description": "Name of the colleague"},
        text={**STRING, "description": "The message"},
    ),
    tool(
        "add_expense",
        "Record an expense.",
        "write",
        employee_id={**STRING, "description": "Such as E-104"},
        amount={"type": "number", "description": "Amount"},
        note_={**STRING, "description": "What it was for"},
    ),
)


def inputs_of(text: str) -> list[dict[str, object]]:
    plan = plan_offline(text, Catalog(tools={one.key: one for one in SHOP}))
    return [dict(step.inputs) for step in plan.steps if isinstance(step, Call)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("review SKU-1001 with four stars: fits well, nice colour", "fits well, nice colour"),
        ("send Mia a message: bring the keys, the laptop and coffee", "bring the keys, the laptop and coffee"),
        ("message Mia: bring the keys, the laptop and coffee", "bring the keys, the laptop and coffee"),
        ("record an expense of 42.50 for E-104: lunch, taxi and coffee", "lunch, taxi and coffee"),
        ("Schick Mia eine Nachricht: Schlüssel, Laptop und Kaffee", "Schlüssel, Laptop und Kaffee"),
    ],
)
def test_a_text_with_commas_is_one_text(text: str, told: str) -> None:
    (inputs,) = inputs_of(text)
    assert told in inputs.values()


def test_one_text_goes_to_each_of_several() -> None:
    made = inputs_of("send Mia and Jonas a message saying lunch is ready")
    assert sorted(str(one["to"]) for one in made) == ["Jonas", "Mia"]
    assert {one["text"] for one in made} == {"lunch is ready"}
