"""Writes that take an id, of things that a request calls by their names: they are found first, or asked about."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan
from toolpath.model.tool import Tool
from toolpath.planner.offline.planner import plan_offline

TEXT = {"type": "string"}
DAY = {"type": "string", "format": "date"}
CONCERT = {"type": "string", "description": "e.g. CC-20"}
TODAY = date(2027, 3, 1)


FIND_MEMBER = tool(
    "find_member",
    "Find a member of the club by name.",
    "read",
    {"member_id": TEXT, "email": TEXT, "since": DAY},
    name=TEXT,
)
SEND_CARD = tool(
    "send_card",
    "Send a member a card.",
    "write",
    {"card_id": TEXT},
    member_id=TEXT,
    card={"type": "string", "enum": ["welcome_back", "get_well", "birthday"]},
)
SUSPEND = tool(
    "suspend_member",
    "Suspend a member from a day on.",
    "destructive",
    {"done": {"type": "boolean"}},
    member_id=TEXT,
    from_day=DAY,
)
FIND_CONCERT = tool(
    "find_concert",
    "Find a concert by its title and day.",
    "read",
    {"concert_id": TEXT, "seats": {"type": "integer"}},
    title=TEXT,
    date_=DAY,
)
HOLD = tool(
    "hold_places",
    "Hold places at a concert.",
    "write",
    {"hold_id": TEXT},
    concert_id=CONCERT,
    places={"type": "integer"},
    until_=DAY,
)


def catalog(*tools: Tool) -> Catalog:
    return Catalog({one.key: one for one in tools})


def planned(request: str, *tools: Tool) -> Plan:
    return plan_offline(request, catalog(*tools), today=TODAY)


def calls(plan: Plan) -> list[tuple[str, dict[str, Any]]]:
    return [(step.tool, dict(step.inputs)) for step in plan.steps if isinstance(step, Call)]


@pytest.mark.parametrize(
    ("request_", "name", "card"),
    [
        ("Send Ines Falk a birthday card", "Ines Falk", "birthday"),
        ("Send the birthday card to Ines Falk", "Ines Falk", "birthday"),
        ("Please send a get well card to Orhan Demir.", "Orhan Demir", "get_well"),
        ("Send Orhan Demir a get well card", "Orhan Demir", "get_well"),
        ("Can you send Ines Falk the welcome back card?", "Ines Falk", "welcome_back"),
    ],
)
def test_who_is_named_is_found_and_its_id_given_on(request_: str, name: str, card: str) -> None:
    plan = planned(request_, FIND_MEMBER, SEND_CARD)
    assert calls(plan) == [
        ("find_member", {"name": name}),
        ("send_card", {"card": card, "member_id": "{{ find_member.member_id }}"}),
    ]
    assert not plan.questions


def test_what_is_found_by_its_name_is_found_with_what_else_is_said_of_it() -> None:
    sell = tool(
        "sell_tickets", "Sell tickets.", "write", {"sale": TEXT}, concert_id=CONCERT, tickets={"type": "integer"}
    )
    plan = planned('Sell 4 tickets for "Winter Journey" on 9 March', FIND_CONCERT, sell)
    assert calls(plan) == [
        ("find_concert", {"title": "Winter Journey", "date": "2027-03-09"}),
        ("sell_tickets", {"tickets": 4, "concert_id": "{{ find_concert.concert_id }}"}),
    ]
    assert not plan.questions


@pytest.mark.parametrize(
    "request_",
    [
        'Hold 4 places for "Winter Journey" on 9 March',
        'Please hold 4 places for "Winter Journey" on Friday',
        'Hold 2 places at "Winter Journey" on 9 March for Ines',
    ],
)
def test_a_day_that_may_say_which_thing_is_meant_is_no_other_day_unasked(request_: str) -> None:
    plan = planned(request_, FIND_CONCERT, HOLD)
    for name, inputs in calls(plan):
        assert name != "hold_places" or "until" not in inputs or plan.questions


def test_where_two_tools_may_find_it_nothing_is_found_unasked() -> None:
    guests = tool("find_guest", "Find a guest by name.", "read", {"member_id": TEXT}, name=TEXT)
    plan = planned("Send Ines Falk a birthday card", FIND_MEMBER, guests, SEND_CARD)
    assert plan.questions


def test_where_what_is_found_has_another_id_it_is_asked_for() -> None:
    guests = tool("find_guest", "Find a guest by name.", "read", {"guest_id": TEXT}, name=TEXT)
    plan = planned("Send Ines Falk a birthday card", guests, SEND_CARD)
    assert any("member_id" in one for one in plan.questions)


def test_an_id_that_is_said_is_not_looked_for() -> None:
    plan = planned("Send M-17 a birthday card", FIND_MEMBER, SEND_CARD)
    assert calls(plan) == [("send_card", {"member_id": "M-17", "card": "birthday"})]


@pytest.mark.parametrize(
    "request_",
    [
        "Don't suspend Ines Falk on 9 March",
        "Should we suspend Ines Falk on 9 March?",
        "Ines Falk was suspended on 9 March",
        "Suspendiere Ines Falk nicht zum 9. März",
        "Ne suspends pas Ines Falk le 9 mars",
        "No suspendas a Ines Falk el 9 de marzo",
    ],
)
def test_nobody_is_found_to_be_acted_on_against_what_is_said(request_: str) -> None:
    try:
        plan = planned(request_, FIND_MEMBER, SEND_CARD, SUSPEND)
    except NoToolFits:
        return
    assert plan.questions or all(name == "find_member" for name, _ in calls(plan))


def test_a_name_is_no_id_where_a_tool_finds_the_id_by_it() -> None:
    find = tool("find_choir", "Find a choir by name.", "read", {"choir_id": TEXT}, name=TEXT)
    drop = tool("delete_choir", "Delete a choir.", "destructive", {"done": {"type": "boolean"}}, choir_id=TEXT)
    plan = planned('Delete the choir "Night Owls"', find, drop)
    assert calls(plan) == [
        ("find_choir", {"name": "Night Owls"}),
        ("delete_choir", {"choir_id": "{{ find_choir.choir_id }}"}),
    ]


@pytest.mark.parametrize(
    "request_", ["I'd like to change the food budget.", "Change the food budget", "Bitte ändere das Budget für food"]
)
def test_a_value_that_is_to_become_another_is_asked_for_and_not_read_back(request_: str) -> None:
    read = tool("get_budget", "A budget.", "read", {"category": TEXT, "limit": {"type": "number"}}, category=TEXT)
    change = tool("set_budget", "Change a budget.", "write", {"ok": TEXT}, category=TEXT, limit={"type": "number"})
    plan = planned(request_, read, change)
    acting = [inputs for name, inputs in calls(plan) if name == "set_budget"]
    assert plan.questions or not acting


@pytest.mark.parametrize(
    "request_",
    [
        "Suspend the member who knows Ines Falk on 9 March",
        "Suspend the member after Ines Falk on 9 March",
        "Suspend the member like Ines Falk on 9 March",
        "Suspend the member next to Ines Falk on 9 March",
        "Suspend the member who wrote to Ines Falk on 9 March",
        "Suspend the member related to Ines Falk on 9 March",
        "Suspend the member that replaced Ines Falk on 9 March",
        "Suspend Ines Falk's trainer on 9 March",
        "Suspendiere das Mitglied nach Ines Falk zum 9. März",
        "Suspendiere das Mitglied, das Ines Falk kennt, zum 9. März",
        "Suspends le membre qui a signalé Ines Falk le 9 mars",
        "Suspende al socio que conoce a Ines Falk el 9 de marzo",
        "Send the birthday card of Ines Falk",
        "Send a birthday card from Ines Falk",
        "Send the card that was sent to Ines Falk for her birthday",
    ],
)
def test_who_is_only_spoken_of_is_not_who_it_is_done_to(request_: str) -> None:
    try:
        plan = planned(request_, FIND_MEMBER, SEND_CARD, SUSPEND)
    except NoToolFits:
        return
    assert plan.questions or all(name == "find_member" for name, _ in calls(plan))


@pytest.mark.parametrize(
    "request_",
    [
        "Suspend Ines Falk on 9 March",
        "Suspend the member Ines Falk on 9 March",
        "Please suspend Mrs Ines Falk on 9 March",
        "Send the birthday card to Mrs Ines Falk",
    ],
)
def test_who_is_named_plainly_is_found(request_: str) -> None:
    plan = planned(request_, FIND_MEMBER, SEND_CARD, SUSPEND)
    assert calls(plan)[0][0] == "find_member"
    assert calls(plan)[-1][1]["member_id"] == "{{ find_member.member_id }}"
