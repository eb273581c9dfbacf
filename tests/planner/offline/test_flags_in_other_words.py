"""Flags that a request sets by its verb, or by the contrary of their name."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call
from toolpath.planner.offline.planner import plan_offline

SLOPE = {"type": "string", "description": "Name or number of the slope"}
FLAG = {"type": "boolean"}


def flag(description: str) -> dict[str, Any]:
    return {**FLAG, "description": description}


#: Ways in which a tool says which value of its flag does what.
SETTERS = (
    tool("set_slope", "Open or close a slope.", "write", slope=SLOPE, open=FLAG),
    tool("set_slope", "Open or close a slope.", "write", slope=SLOPE, open=flag("true opens it, false closes it")),
    tool("set_slope", "Open or close a slope.", "write", slope=SLOPE, is_open=flag("true to open, false to close")),
    tool("set_slope", "Open or close a slope.", "write", slope=SLOPE, shut=flag("True: close; false: open.")),
)


@pytest.mark.parametrize("setter", SETTERS, ids=range(len(SETTERS)))
def test_the_verb_says_the_flag(setter: Any) -> None:
    (name,) = setter.input_schema["properties"].keys() - {"slope"}
    for verb, is_open in (("open", True), ("close", False)):
        plan = plan_offline(f"{verb} slope 7", Catalog({setter.key: setter}))
        (step,) = plan.steps
        assert isinstance(step, Call)
        assert step.inputs == {"slope": "7", name: is_open if name != "shut" else not is_open}
        assert not plan.questions


@pytest.mark.parametrize("setter", SETTERS, ids=range(len(SETTERS)))
@pytest.mark.parametrize(
    "request_", ["don't close slope 7", "should we close slope 7?", "close slope 7 if it snows", "set slope 7"]
)
def test_what_is_not_commanded_or_not_said_is_asked(setter: Any, request_: str) -> None:
    plan = plan_offline(request_, Catalog({setter.key: setter}))
    assert plan.questions or not plan.steps


def test_a_row_of_numbers_is_a_call_for_each() -> None:
    setter = SETTERS[1]
    plan = plan_offline("close slopes 3 and 4", Catalog({setter.key: setter}))
    assert [step.inputs for step in plan.steps if isinstance(step, Call)] == [
        {"slope": "3", "open": False},
        {"slope": "4", "open": False},
    ]
    assert not plan.questions


def test_a_list_is_narrowed_by_the_contrary_of_its_flag() -> None:
    rooms = tool(
        "list_rooms",
        "Rooms with their state.",
        "read",
        {"rooms": {"type": "array", "items": {"type": "object", "properties": {"room": {"type": "string"}}}}},
        floor_={"type": "integer"},
        occupied_=flag("Only occupied / only vacant rooms"),
    )
    for request, occupied in (("list the vacant rooms", False), ("list the occupied rooms", True)):
        (step,) = plan_offline(request, Catalog({rooms.key: rooms})).steps
        assert isinstance(step, Call)
        assert step.inputs == {"occupied": occupied}


def test_today_is_asked_about_where_it_says_which() -> None:
    plan = tool("groom_slope", "Groom a slope.", "write", slope=SLOPE, start_={**SLOPE, "description": "HH:MM"})
    today = date(2026, 1, 21)
    (step,) = plan_offline("groom slope 12 tonight at 21:00", Catalog({plan.key: plan}), today=today).steps
    assert isinstance(step, Call)
    assert step.inputs == {"slope": "12", "start": "21:00"}
    assert plan_offline("groom slope 12 tomorrow at 21:00", Catalog({plan.key: plan}), today=today).questions
    assert plan_offline("groom slope 12 today", Catalog({plan.key: plan}), today=today).questions
