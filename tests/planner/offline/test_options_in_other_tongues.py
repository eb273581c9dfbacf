"""Options of tools that a request says in another language, in one word, in a longer one, or in several."""

from __future__ import annotations

from typing import Any

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call
from toolpath.planner.offline.planner import plan_offline


def one_of(*options: str) -> dict[str, Any]:
    return {"type": "string", "enum": [*options]}


BAKE = {"sku": {"type": "string", "description": "e.g. BR-01"}}
TOOLS = {
    "vaccine": tool(
        "vaccination_status",
        "Which vaccinations a patient has.",
        "read",
        patient_id={"type": "string", "description": "e.g. P-2041"},
        vaccine_=one_of("rabies", "distemper", "flu"),
    ),
    "shift": tool("schedule_bake", "Plan a bake.", "write", **BAKE, shift=one_of("early", "late", "night")),
    "colour": tool("list_slopes", "Ski runs by difficulty.", "read", difficulty_=one_of("blue", "red", "black")),
    "method": tool(
        "record_count",
        "Record a count of a hive.",
        "write",
        hive={"type": "integer"},
        method=one_of("alcohol_wash", "roll"),
    ),
}


@pytest.mark.parametrize(
    ("key", "request_", "name", "option"),
    [
        ("vaccine", "Ist P-3310 gegen Tollwut geimpft?", "vaccine", "rabies"),
        ("shift", "Plane BR-01 in der Frühschicht ein", "shift", "early"),
        ("shift", "Plane BR-01 in der Spätschicht ein", "shift", "late"),
        ("colour", "Muestra las pistas rojas", "difficulty", "red"),
        ("colour", "Zeig die schwarzen Pisten", "difficulty", "black"),
        ("method", "Record a count of hive 4, wash with alcohol", "method", "alcohol_wash"),
    ],
)
def test_an_option_is_taken_in_whatever_tongue_it_is_said(key: str, request_: str, name: str, option: str) -> None:
    (step,) = plan_offline(request_, Catalog({TOOLS[key].key: TOOLS[key]})).steps
    assert isinstance(step, Call)
    assert step.inputs[name] == option


def test_a_word_that_is_said_of_two_options_chooses_neither() -> None:
    meal = tool("plan_meal", "Plan a meal.", "write", dish={"type": "string"}, at=one_of("afternoon", "evening"))
    plan = plan_offline('Planifica "sopa" para la tarde', Catalog({meal.key: meal}))
    assert plan.questions


def test_an_option_that_is_denied_is_not_taken() -> None:
    plan = plan_offline("Plane BR-01 nicht in der Frühschicht ein", Catalog({TOOLS["shift"].key: TOOLS["shift"]}))
    assert plan.questions
