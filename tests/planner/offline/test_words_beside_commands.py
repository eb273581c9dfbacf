"""Words beside a command that say how its call is to be made: they are carried, or asked about, in four languages."""

from __future__ import annotations

from datetime import date
from typing import Any

import msgspec
import pytest
from tests.planner.made_tools import tool

from toolpath import Settings
from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.planner import plan_offline

TEXT, COUNT = {"type": "string"}, {"type": "integer"}


def ident(example: str) -> dict[str, Any]:
    return {"type": "string", "description": f"e.g. {example}"}


def one_of(*options: str) -> dict[str, Any]:
    return {"type": "string", "enum": [*options]}


STOCK = {"type": "object", "properties": {"sku": TEXT, "stock": COUNT, "shelf": TEXT}}
TOOLS = (
    tool(
        "decline_tender",
        "Decline a tender and send the letter.",
        "destructive",
        tender_id=ident("TN-4"),
        letter_={**one_of("short", "after_visit", "too_late"), "description": "Wording of the letter"},
    ),
    tool(
        "cancel_order",
        "Cancel an order.",
        "destructive",
        order_id=ident("OR-7"),
        refund_={**one_of("card", "voucher", "none"), "description": "How the customer gets the money back"},
    ),
    tool("get_order", "Details of an order.", "read", order_id=ident("OR-7")),
    tool(
        "close_account",
        "Close an account.",
        "destructive",
        account_id=ident("AC-3"),
        email_statement_={"type": "boolean", "description": "Mail the last statement to the customer"},
    ),
    tool(
        "change_appointment",
        "Change the time or the doctor of an appointment.",
        "write",
        appointment_id=ident("AP-2"),
        time_={"type": "string", "format": "time"},
        doctor_=TEXT,
    ),
    tool(
        "update_ticket",
        "Change a ticket.",
        "write",
        ticket_id=ident("TK-9"),
        priority_=one_of("low", "high"),
        title_=TEXT,
    ),
    tool(
        "admit_patient",
        "Admit a patient to the ward.",
        "write",
        patient_id=ident("PT-5"),
        bed_={"type": "string", "description": "Bed to use, otherwise the one reserved"},
    ),
    msgspec.structs.replace(
        tool("get_item", "Get the stock of a SKU.", "read", sku={**TEXT, "description": "like SK-2001"}),
        output_schema=STOCK,
    ),
    tool(
        "move_stock",
        "Book a movement of goods from one shelf to another.",
        "write",
        sku={**TEXT, "description": "Item"},
        from_shelf={**TEXT, "description": "Shelf it is on"},
        to_shelf={**TEXT, "description": "Shelf it goes to"},
        qty={**COUNT, "description": "Pieces"},
    ),
    tool(
        "publish_post",
        "Publish a post right now. Goes to all channels unless some are named.",
        "write",
        post={**COUNT, "description": "Number of the post"},
        channels_={"type": "array", "items": one_of("blog", "mastodon", "newsletter")},
    ),
)
CATALOG = Catalog({one.key: one for one in TOOLS})


def run_of(request: str) -> Plan | None:
    """The plan that is run unasked; None where it asks or is refused."""
    try:
        plan = plan_offline(request, CATALOG, today=date(2026, 5, 12))
    except NoToolFits:
        return None
    return None if plan.questions or (plan.confidence or 0.0) < Settings().planner_floor else plan


def calls_of(request: str) -> list[tuple[str, dict[str, Any]]]:
    plan = run_of(request)
    assert plan is not None, request
    return [(step.tool, dict(step.inputs)) for _, step in every_step(plan.block) if isinstance(step, Call)]


@pytest.mark.parametrize(
    "request_",
    [
        "Decline TN-4 and TN-5. Both were here for a visit so use that wording",
        "Decline TN-4. They were here for a visit, so use that wording",
        "Decline TN-4. They came in on Monday, therefore pick the other letter",
        "Decline TN-4, they were here so send the long one",
        "Close AC-3, she moved away, so tell the branch",
        "Close AC-3. The customer has died, so please write a letter",
        "Cancel OR-7. The shop is shut, so pay it back in cash",
        "Storniere OR-7. Der Kunde ist krank, deshalb nimm den Gutschein",
        "Storniere OR-7. Der Laden ist zu, daher zahle es bar aus",
        "Annule OR-7. Le client est malade, donc utilise un bon",
        "Cancela OR-7. El cliente está enfermo, así que usa un vale",
    ],
)
def test_what_a_reason_leads_to_is_no_part_of_the_reason(request_: str) -> None:
    assert run_of(request_) is None


@pytest.mark.parametrize(
    "request_",
    [
        "Cancel OR-7, they would rather have a voucher",
        "Cancel OR-7, the customer wants a voucher",
        "Cancel OR-7, it was paid by card",
        "Decline TN-4, they were too late",
        "Storniere OR-7, der Kunde hat lieber einen Gutschein",
    ],
)
def test_a_reason_that_says_an_option_is_no_mere_reason(request_: str) -> None:
    plan = run_of(request_)
    assert plan is None or any(len(step.inputs) > 1 for step in plan.steps if isinstance(step, Call))


@pytest.mark.parametrize(
    "request_",
    [
        "Cancel OR-7 because the shop is shut",
        "Cancel OR-7, the customer is ill",
        "Cancel OR-7, it rained so they stayed at home",
        "Storniere OR-7, der Kunde ist krank",
    ],
)
def test_a_mere_reason_is_left_out(request_: str) -> None:
    assert calls_of(request_) == [("cancel_order", {"order_id": "OR-7"})]


@pytest.mark.parametrize(
    ("request_", "orders"),
    [
        ("cancel OR-7 and OR-8, no refund on either", ["OR-7", "OR-8"]),
        ("cancel OR-7, no refund", ["OR-7"]),
        ("cancel OR-7, but don't refund it", ["OR-7"]),
        ("Storniere OR-7, keine Erstattung", ["OR-7"]),
        ("Annule OR-7, pas de remboursement", ["OR-7"]),
    ],
)
def test_a_denied_setting_is_its_value_for_that(request_: str, orders: list[str]) -> None:
    assert calls_of(request_) == [("cancel_order", {"order_id": one, "refund": "none"}) for one in orders]


@pytest.mark.parametrize("request_", ["close AC-3, no statement by email", "close AC-3, don't email the statement"])
def test_a_denied_flag_is_false(request_: str) -> None:
    assert calls_of(request_) == [("close_account", {"account_id": "AC-3", "email_statement": False})]


@pytest.mark.parametrize(
    "request_",
    [
        "cancel OR-7, no refund on OR-8",
        "cancel OR-7, but not with a voucher",
        "cancel OR-7 without refund",
        "Storniere OR-7 ohne Erstattung",
        "Annule OR-7 sans remboursement",
        "Cancela OR-7 sin reembolso",
        "decline TN-4, but no letter",
        "decline TN-4, not the short one",
        "admit PT-5, but not in B7",
        "admit PT-5, not to bed 12",
        "Nimm PT-5 auf, aber nicht in B7",
        "publish 44, no newsletter",
        "cancel OR-7 but keep it in stock",
        "close AC-3, but leave it on the shelf",
        "publish 44, but not to the newsletter",
    ],
)
def test_a_denial_that_no_value_carries_is_asked_about(request_: str) -> None:
    plan = run_of(request_)
    told = [] if plan is None else [step.inputs for step in plan.steps if isinstance(step, Call)]
    assert plan is None or any("none" in inputs.values() for inputs in told)


@pytest.mark.parametrize(
    "request_",
    [
        "change appointment AP-2",
        "Ändere den Termin AP-2",
        "Modifie le rendez-vous AP-2",
        "Cambia la cita AP-2",
        "update TK-9",
        "Please update ticket TK-9",
        "Aktualisiere das Ticket TK-9",
        "Actualiza el ticket TK-9",
    ],
)
def test_a_change_of_nothing_asks_what_is_to_be_changed(request_: str) -> None:
    try:
        plan = plan_offline(request_, CATALOG, today=date(2026, 5, 12))
    except NoToolFits:
        return
    assert plan.questions


def test_a_change_of_something_does_not_ask() -> None:
    assert calls_of("update ticket TK-9 to high priority") == [
        ("update_ticket", {"ticket_id": "TK-9", "priority": "high"})
    ]


@pytest.mark.parametrize(
    "request_",
    [
        "put 40 of SK-2044 from A-03 over to C-11",
        "move 40 of SK-2044 from A-03 to C-11",
        "Move 40 pieces of SK-2044 from shelf A-03 to shelf C-11",
    ],
)
def test_a_value_that_is_said_is_not_read_first(request_: str) -> None:
    moved = {"sku": "SK-2044", "from_shelf": "A-03", "to_shelf": "C-11", "qty": 40}
    assert calls_of(request_) == [("move_stock", moved)]


@pytest.mark.parametrize("channels", [("blog", "mastodon"), ("mastodon", "blog"), ("newsletter", "blog")])
@pytest.mark.parametrize(
    "frame", ["Publish 44, but to {} and {} only", "Publish 44, but only to {} and {}", "Publish 44 only to {} and {}"]
)
def test_all_that_only_is_said_of_is_planned_in_any_order(frame: str, channels: tuple[str, str]) -> None:
    assert calls_of(frame.format(*channels)) == [("publish_post", {"post": 44, "channels": [*channels]})]


def test_what_is_denied_beside_joined_values_is_asked_about() -> None:
    assert run_of("Move 40 of SK-2044 and SK-2045 from A-03 to C-11, no fragile ones") is None
