"""What is told beside a command: who somebody is and what became of them commands nothing, and asks nothing."""

from __future__ import annotations

import pytest
from tests.checks.commanded import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.clauses import clauses_of
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan, every_step
from toolpath.model.tool import Tool
from toolpath.planner.offline.planner import plan_offline

#: A command of each tool, and the tool.
TOOLS = (
    ("Close ticket T-7", tool("desk.close_ticket", "Close a ticket.", ticket_id="string")),
    ("Archive order T-7", tool("shop.archive_order", "Archive an order.", order_id="string")),
    ("Extend booking T-7", tool("hotel.extend_booking", "Extend a booking.", booking_id="string")),
)
#: It tells of somebody, in words that no tool has.
TOLD = (
    "Mrs Adeyemi moved in last month",
    "Henrik Solberg just rang",
    "Ines brought the keys back",
    "Tom Okafor forgot his umbrella again",
    "she was in hospital",
    "the roof got smashed",
    "Frau Novak ist im Urlaub",
    "Mme Fontaine est malade",
    "le tribunal nous a entendus",
    "Marta está enferma",
    "Marta llamó",
)
#: It may be more than that.
MORE = (
    "Ann said so",
    "Ann already closed, archived and extended it",
    "Ann wants T-8",
    "Mrs Adeyemi decides tomorrow",
    "Mme Fontaine ne veut pas",
    "Frau Novak will das nicht",
    "Marta no quiere",
    "Henrik will tell us first",
)


def _planned(request: str, *tools: Tool) -> Plan | None:
    try:
        return plan_offline(request, Catalog({one.key: one for one in tools}))
    except NoToolFits:
        return None


def _is_done(request: str, *tools: Tool) -> bool:
    """Whether the request makes one call, of T-7, and asks nothing."""
    plan = _planned(request, *tools)
    calls = [] if plan is None else [one for _, one in every_step(plan.block) if isinstance(one, Call)]
    return plan is not None and not plan.questions and [[*one.inputs.values()] for one in calls] == [["T-7"]]


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize(("command", "acting"), TOOLS)
def test_what_is_told_of_somebody_asks_nothing(command: str, acting: Tool, told: str) -> None:
    assert _is_done(f"{command}, {told}.", acting)
    assert _is_done(f"{told[0].upper()}{told[1:]}. {command}.", acting)


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize(("command", "acting"), TOOLS)
def test_what_may_take_it_back_is_asked_about(command: str, acting: Tool, more: str) -> None:
    assert not _is_done(f"{command}. {more}.", acting)
    assert not _is_done(f"{more}. {command}.", acting)


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize(("command", "acting"), TOOLS)
def test_what_is_told_alone_does_nothing(command: str, acting: Tool, told: str) -> None:
    assert not _is_done(f"{told}, T-7.", acting)
    assert not _is_done(f"{told}.", acting)


def test_who_is_told_of_before_is_whom_it_is_done_for() -> None:
    sign = tool("club.sign_up", "Sign up a member.", name="string")
    plan = _planned("Oluwaseun Bakare moved in last week. Please sign him up.", sign)
    assert plan is not None
    assert [one.inputs for _, one in every_step(plan.block) if isinstance(one, Call)] == [{"name": "Oluwaseun Bakare"}]


def test_when_it_was_is_nothing_to_a_tool_that_takes_no_day() -> None:
    told = "Bella (T-7) weighed in at 27.4 kg this morning, please put that in the file"
    plain = tool("vet.record_weight", "Write a weight into the file.", patient_id="string", weight_kg="number")
    dated = tool(
        "vet.record_weight", "Write a weight into the file.", patient_id="string", weight_kg="number", date="string"
    )
    for one, left in ((plain, False), (dated, True)):
        plan = _planned(told, one)
        assert plan is not None
        assert bool(plan.questions) == left, plan.questions


@pytest.mark.parametrize(
    ("said", "moods"),
    [
        ("We have a new member :) Please sign her up", ["reason", "command"]),
        ("The kids are finally asleep. Close the shutters", ["reason", "command"]),
        ("do we have a spare key", ["question"]),
        ("where's T-7", ["asked"]),
    ],
)
def test_moods_of_what_is_told_and_asked(said: str, moods: list[str]) -> None:
    assert [one.mood for one in clauses_of(said, lambda _: False)] == moods


@pytest.mark.parametrize(
    "said",
    [
        "Ferme le ticket T-7, puis archive-le",
        "Schließ das Ticket T-7 und archiviere es danach",
        "Cierra el ticket T-7 y luego archívalo",
        "Close ticket T-7, then archive it",
    ],
)
def test_what_says_that_something_comes_after_is_no_word_left_over(said: str) -> None:
    close = tool("desk.close_ticket", "Close a ticket.", ticket_id="string")
    archive = tool("desk.archive_ticket", "Archive a ticket.", ticket_id="string")
    plan = _planned(said, close, archive)
    assert plan is not None
    assert plan.questions == ()
    assert [one.tool for _, one in every_step(plan.block) if isinstance(one, Call)] == [close.key, archive.key]


@pytest.mark.parametrize("name", ["Metacam", "Apoquel", "Urbason"])
def test_a_name_behind_an_apostrophe_is_that_name(name: str) -> None:
    stock = tool("vet.check_stock", "Check the stock of a drug.", "read", drug="string")
    joined = "d'" if name[0] in "AEIOU" else "de "
    plan = _planned(f"Vérifie le stock de Rimadyl et {joined}{name}", stock)
    assert plan is not None
    assert not any(name in one for one in plan.questions), plan.questions
