"""Commands for the things of somebody who is named in the sentence before."""

from __future__ import annotations

from typing import Any

import pytest
from tests.planner.made_tools import tool
from tests.planner.offline.planned_over import calls_of, is_left_alone, planned

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.antecedents import with_antecedents

TEXT = {"type": "string"}


def listed(name: str, **fields: Any) -> dict[str, Any]:
    return {name: {"type": "array", "items": {"type": "object", "properties": fields}}}


TOUR = {"type": "string", "description": "Number of the tour, e.g. TO-12"}
TOOLS = (
    tool(
        "list_tours",
        "Tours of a day, of all guides or of one.",
        "read",
        listed("tours", tour_id=TEXT, guide=TEXT, start=TEXT),
        day={"type": "string", "format": "date"},
        guide_={"type": "string", "description": "First name of the guide"},
    ),
    tool("cancel_tour", "Cancel a tour.", "destructive", {}, tour_id=TOUR),
    tool(
        "find_booking",
        "Find a booking by the name of the guest.",
        "read",
        {"booking_id": TEXT, "name": TEXT},
        name={"type": "string", "description": "Name of the guest"},
    ),
    tool(
        "cancel_booking",
        "Cancel a booking.",
        "destructive",
        {},
        booking_id={"type": "string", "description": "Number of the booking, e.g. BO-31"},
    ),
)
CATALOG = Catalog({one.key: one for one in TOOLS})


STATES = ("is off sick", "has a fever", "just rang, can't make it", "'s off sick")
COMMANDS = {"his": "cancel all of his tours today", "her": "Cancel every one of her tours today"}


@pytest.mark.parametrize("name", ["Ruben", "Odile"])
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("whose", COMMANDS)
def test_the_things_of_who_is_named_before_are_meant(name: str, state: str, whose: str) -> None:
    joint = "" if state.startswith("'") else " "
    plan = planned(f"{name}{joint}{state}. {COMMANDS[whose]}", CATALOG)
    assert not plan.questions
    read, acting = calls_of(plan)
    assert read.inputs == {"day": "2026-05-13", "guide": name}
    assert acting.tool == "cancel_tour"


@pytest.mark.parametrize("whose", ["his", "her"])
def test_what_is_found_by_a_name_is_found_by_the_one_before(whose: str) -> None:
    plan = planned(f"Odile Renard just rang. Cancel {whose} booking please", CATALOG)
    assert not plan.questions
    read, acting = calls_of(plan)
    assert read.inputs == {"name": "Odile Renard"}
    assert acting.inputs == {"booking_id": "{{ find_booking.booking_id }}"}


@pytest.mark.parametrize(
    "text",
    [
        "Ruben says Odile left. Cancel her tours today",
        "Ruben is here. Odile is ill. Cancel his tours today",
        "Ruben rang about his mother. Cancel her tours today",
        "Ruben's brother is ill. Cancel his tours today",
        "Mr Ruben is ill. Cancel her tours today",
        "Ruben is ill, his boss rang. Cancel his tours today",
        "Ruben is ill. Should we cancel his tours today?",
        "Ruben is ill. Don't cancel his tours today",
        "Someone is ill. Cancel his tours today",
        "Tomorrow is off. Cancel his tours today",
        'He wrote "Ruben is ill" and left. Cancel his tours today',
    ],
)
def test_whoever_else_may_be_meant_is_asked_about(text: str) -> None:
    assert is_left_alone(text, CATALOG)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Ms Okafor is here, check her in", "He is here, check Ms Okafor in"),
        ("TR3 is off sick, cancel every class of hers today", "It is off sick, cancel every class of TR3 today"),
        ("Nora moved in. Send her the letter", "He moved in. Send Nora the letter"),
        ("Nora is new. Please give her one", "Nora is new. Please give her one"),
        ("Close is shut. Cancel his order", "Close is shut. Cancel his order"),
        ("Nora is new. I like her", "Nora is new. I like her"),
    ],
)
def test_a_pronoun_is_said_by_the_name(text: str, said: str) -> None:
    assert with_antecedents(text) == said
