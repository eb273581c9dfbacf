"""Requests that fit a tool in all but what they say: the other direction, another thing, a value nobody said."""

from __future__ import annotations

from typing import Any

import pytest

from toolpath import Settings
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.scoring.gold import ToolData, catalog_of


def tool(name: str, description: str, /, *, effect: Any = "write", gives: str = "ok", **fields: Any) -> ToolData:
    optional = [one for one in fields if one.endswith("_")]
    given = {one.rstrip("_"): {"type": "string", "description": ""} | schema for one, schema in fields.items()}
    return ToolData(
        name=name,
        description=description,
        effect=effect,
        parameters={
            "type": "object",
            "properties": given,
            "required": [one for one in fields if one not in optional],
            "additionalProperties": False,
        },
        output_schema={"type": "object", "properties": {gives: {"type": "string"}}, "required": [gives]},
    )


def an_id(thing: str, sample: str) -> dict[str, str]:
    return {"description": f"Id of the {thing}, such as {sample}"}


TOOLS = catalog_of(
    (
        tool("check_in", "Check a guest in.", guest_id=an_id("guest", "GU-2")),
        tool("check_out", "Check a guest out.", guest_id=an_id("guest", "GU-2")),
        tool("sign_in", "Sign a visitor in.", visitor_id=an_id("visitor", "VI-2")),
        tool("clean_wing", "Clean a wing.", wing={"enum": ["A", "B", "Y"], "description": "Wing of the hotel"}),
        tool(
            "report_damage",
            "Report damage of a room.",
            room_id=an_id("room", "RM-7"),
            description={"description": "What is damaged"},
        ),
        tool("log_defect", "Log a defect.", device={"description": "Device"}, text={"description": "What is wrong"}),
        tool("get_stay", "Show a stay.", effect="read", gives="invoice", stay_id=an_id("stay", "SY-3")),
        tool(
            "erase_invoice", "Erase an invoice.", effect="destructive", invoice={"description": "Path of the invoice"}
        ),
        tool("join_tour", "Put a guest into a tour.", tour_id=an_id("tour", "TR-1"), guest_id=an_id("guest", "GU-2")),
        tool(
            "leave_tour", "Take a guest out of a tour.", tour_id=an_id("tour", "TR-1"), guest_id=an_id("guest", "GU-2")
        ),
        tool("cancel_stay", "Cancel a stay.", effect="destructive", stay_id=an_id("stay", "SY-3")),
        tool("warn_guest", "Warn a guest.", name={"description": "Name of the guest"}, about={"description": "Hazard"}),
        tool("bill_guest", "Bill a guest.", name={"description": "Name of the guest"}, amount={"type": "number"}),
    )
)


def planned(request: str) -> Plan | None:
    try:
        return plan_offline(request, TOOLS)
    except NoToolFits:
        return None


def written(request: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls that write, of a plan that would be run."""
    plan = planned(request)
    if plan is None or plan.questions or (plan.confidence or 0.0) < Settings().planner_floor:
        return []
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call)]
    return [(call.tool, dict(call.inputs)) for call in calls if not TOOLS.tools[call.tool].is_read]


@pytest.mark.parametrize(
    "request_text",
    ["Sign VI-9 out", "Sign out VI-9", "Sign VI-9 out, please", "Please sign visitor VI-9 out."],
)
def test_a_tool_of_one_direction_is_not_called_by_the_other(request_text: str) -> None:
    assert written(request_text) == []


@pytest.mark.parametrize("request_text", ["Sign VI-9 in", "Sign in VI-9", "Sign visitor VI-9 in, please"])
def test_a_tool_of_one_direction_is_called_by_its_own(request_text: str) -> None:
    assert written(request_text) == [("sign_in", {"visitor_id": "VI-9"})]


@pytest.mark.parametrize("request_text", ["Check GU-8 out", "Check guest GU-8 out, please"])
def test_of_two_directions_never_the_contrary_one_is_taken(request_text: str) -> None:
    assert "check_in" not in [called for called, _ in written(request_text)]


@pytest.mark.parametrize("request_text", ["Clean a wing", "Clean a wing today", "Limpia y seca un ala"])
def test_a_little_word_is_no_option_of_one_letter(request_text: str) -> None:
    assert written(request_text) == []


@pytest.mark.parametrize("request_text", ["Clean wing A", "Clean wing a", "clean the wing B"])
def test_an_option_of_one_letter_is_taken_where_it_is_named(request_text: str) -> None:
    assert [called for called, _ in written(request_text)] == ["clean_wing"]


@pytest.mark.parametrize(
    "request_text",
    ["Report RM-7 and the umbrella", "Report RM-7 and an umbrella", "Report RM-7 and umbrellas"],
)
def test_what_is_joined_to_an_id_is_no_text_about_it(request_text: str) -> None:
    assert written(request_text) == []


def test_a_quoted_text_is_no_device() -> None:
    for request in (
        'Log a defect of the elevator: "door stuck, erase SY-3"',
        'Log a defect with the boiler: "it drips on RM-7"',
    ):
        assert all(inputs["text"].startswith(("door", "it drips")) for _, inputs in written(request)), request


@pytest.mark.parametrize("request_text", ["Erase SY-3", "Please erase SY-3", "Erase SY-3 now"])
def test_an_id_of_another_thing_is_not_followed_to_what_the_tool_takes(request_text: str) -> None:
    assert written(request_text) == []


def test_an_id_of_another_thing_is_followed_where_the_request_names_it() -> None:
    assert [called for called, _ in written("Erase the invoice of SY-3")] == ["erase_invoice"]


@pytest.mark.parametrize("request_text", ["Bill Ann Poe 1.200", "Bill Ann Poe 3.450 now"])
def test_an_amount_with_a_point_that_may_part_thousands_is_asked_about(request_text: str) -> None:
    assert written(request_text) == []


@pytest.mark.parametrize(
    ("request_text", "contrary"),
    [
        ("Put GU-8 in TR-5", "leave_tour"),
        ("Put GU-8 into TR-5", "leave_tour"),
        ("Move GU-8 into TR-5", "leave_tour"),
        ("Get GU-8 out of TR-5", "join_tour"),
        ("Move GU-8 out of TR-5", "join_tour"),
    ],
)
def test_what_is_put_in_is_not_taken_out(request_text: str, contrary: str) -> None:
    assert contrary not in [called for called, _ in written(request_text)]


@pytest.mark.parametrize("request_text", ["Uncancel SY-3", "uncancel stay SY-3"])
def test_a_word_that_undoes_what_a_tool_does_is_asked_about(request_text: str) -> None:
    plan = planned(request_text)
    assert plan is None or plan.questions


def test_what_one_verb_is_shown_with_is_no_object_of_the_next() -> None:
    assert [called for called, _ in written("Show SY-3. Then cancel it")] == ["cancel_stay"]


def test_a_preposition_is_no_word_left_over() -> None:
    assert written('Warn guest Ann Poe against "wet floors"') == [
        ("warn_guest", {"name": "Ann Poe", "about": "wet floors"})
    ]
