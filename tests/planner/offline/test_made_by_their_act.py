"""What is called after an act is made by it: `Reserve a suite` is `create_reservation`, in every tongue."""

from __future__ import annotations

from typing import Any

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.tools import makes_of
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan
from toolpath.model.tool import Tool
from toolpath.planner.offline.planner import plan_offline

NAME = {"type": "string", "description": "Name of the guest"}
ROOM = {"type": "string", "enum": ["suite", "single"]}
NIGHTS = {"type": "integer", "description": "Nights"}
GIVEN = {"id": {"type": "string"}}
RESERVE = ("Reserve a suite", "Réserve une suite", "Reserviere eine Suite", "Reserva una suite")
FOR_WHOM = (" for Ann Lee", " pour Ann Lee", " für Ann Lee", " para Ann Lee")


def _planned(request: str, *tools: Tool) -> Plan | None:
    try:
        return plan_offline(request, Catalog({one.key: one for one in tools}))
    except NoToolFits:
        return None


def _calls(plan: Plan | None) -> list[tuple[str, dict[str, Any]]]:
    return [] if plan is None else [(one.tool, dict(one.inputs)) for one in plan.steps if isinstance(one, Call)]


@pytest.mark.parametrize("said", [f"{act}{whom}" for act, whom in zip(RESERVE, FOR_WHOM, strict=True)])
@pytest.mark.parametrize("name", ["create_reservation", "add_reservation", "new_reservation"])
def test_what_is_made_goes_by_its_act(name: str, said: str) -> None:
    make = tool(name, "Make one for a guest.", "write", GIVEN, guest_name=NAME, room_type=ROOM)
    show = tool("list_rooms", "Rooms of the house.", "read", GIVEN)
    plan = _planned(said, make, show)
    assert plan is not None
    assert _calls(plan) == [(make.key, {"guest_name": "Ann Lee", "room_type": "suite"})]
    assert plan.questions == ()


@pytest.mark.parametrize("said", [f"{act}{whom}" for act, whom in zip(RESERVE, FOR_WHOM, strict=True)])
def test_a_tool_that_has_the_verb_itself_comes_first(said: str) -> None:
    make = tool("create_reservation", "Make one.", "write", GIVEN, guest_name=NAME, room_type=ROOM)
    own = tool("reserve_room", "Reserve a room.", "write", GIVEN, guest_name=NAME, room_type=ROOM)
    plan = _planned(said, make, own)
    assert plan is not None
    assert plan.questions or _calls(plan)[0][0] == own.key


@pytest.mark.parametrize(
    ("verb", "name"),
    [
        ("list", "create_list"),
        ("check", "create_check"),
        ("prüfe", "create_check"),
        ("cancel", "create_reservation"),
        ("reserve", "cancel_reservation"),
        ("reserve", "get_reservation"),
    ],
)
def test_what_is_shown_or_undone_makes_nothing(verb: str, name: str) -> None:
    assert not makes_of(verb, tool(name, "It does so.", "write", GIVEN))


@pytest.mark.parametrize("said", ["Don't reserve a suite for Ann Lee", "Did we reserve a suite for Ann Lee?"])
def test_no_command_makes_nothing(said: str) -> None:
    make = tool("create_reservation", "Make one.", "write", GIVEN, guest_name=NAME, room_type=ROOM)
    plan = _planned(said, make)
    assert plan is None or plan.questions or not _calls(plan)
