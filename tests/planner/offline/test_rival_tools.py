"""Of two tools that write and that the same command may mean, one is chosen only where something tells which."""

from __future__ import annotations

import pytest

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call, Plan
from toolpath.model.tool import Tool
from toolpath.planner.offline.planner import plan_offline
from toolpath.testing.scripted import scripted


def _a_tool(name: str, id_name: str, description: str = "") -> Tool:
    schema = {
        "type": "object",
        "properties": {id_name: {"type": "string", "description": description}},
        "required": [id_name],
        "additionalProperties": False,
    }
    told = name.replace("_", " ").capitalize() + "."
    return scripted(name, then={}, effect="write", description=told, input_schema=schema)


RESERVE = (_a_tool("reserve_booking", "booking_id"), _a_tool("reserve_invoice", "invoice_id"))
BOOK = (_a_tool("book_booking", "booking_id"), _a_tool("book_invoice", "invoice_id"))
CANCEL = (_a_tool("cancel_booking", "booking_id"), _a_tool("cancel_invoice", "invoice_id"))
ORDER = (_a_tool("order_order", "order_id"), _a_tool("order_item", "item_id"))
PAY = (_a_tool("pay_payment", "payment_id"), _a_tool("pay_invoice", "invoice_id"))
KNOWN = (
    _a_tool("cancel_booking", "booking_id", "Id of a booking, e.g. BO-12."),
    _a_tool("cancel_invoice", "invoice_id", "Id of an invoice, e.g. IN-12."),
)


def _made_of(request: str, tools: tuple[Tool, ...]) -> Plan:
    return plan_offline(request, Catalog({tool.key: tool for tool in tools}))


OPEN = [
    *((said, RESERVE) for said in ("Reserva IN-928", "Reserva IN-928 por favor", "Reserve IN-928", "Réserve IN-928")),
    *((said, RESERVE) for said in ("Reserviere IN-928", "Please reserve X-7")),
    *((said, BOOK) for said in ("Buche IN-928", "Book IN-928", "Réserve IN-928", "Reserva IN-928")),
    *((said, CANCEL) for said in ("Cancela IN-928", "Cancel IN-928", "Storniere IN-928", "Annule IN-928")),
    *((said, ORDER) for said in ("Order IT-928", "Bestelle IT-92", "Commande IT-92")),
    *((said, PAY) for said in ("Pay IN-928", "Paga IN-928", "Paie IN-928", "Bezahle IN-928")),
    ("Cancel the booking IN-928", KNOWN),
]


@pytest.mark.parametrize(("said", "tools"), OPEN)
@pytest.mark.parametrize("is_turned", [False, True])
def test_a_verb_alone_chooses_no_thing(said: str, tools: tuple[Tool, ...], is_turned: bool) -> None:
    plan = _made_of(said, tools[::-1] if is_turned else tools)
    assert plan.questions, plan.steps
    assert plan.confidence is not None
    assert plan.confidence <= 0.4


@pytest.mark.parametrize(
    ("said", "tools", "chosen"),
    [
        ("Reserva la factura IN-928", RESERVE, "reserve_invoice"),
        ("Reserva la reserva BO-12", RESERVE, "reserve_booking"),
        ("Reserve the booking BO-12", RESERVE, "reserve_booking"),
        ("Buche die Rechnung IN-928", BOOK, "book_invoice"),
        ("Cancel booking IN-928", CANCEL, "cancel_booking"),
        ("Storniere die Rechnung IN-928", CANCEL, "cancel_invoice"),
        ("Annule la facture IN-928", CANCEL, "cancel_invoice"),
        ("Order the order OR-1", ORDER, "order_order"),
        ("Cancel IN-928", KNOWN, "cancel_invoice"),
        ("Éteins la lampe", (_a_tool("turn_on", "device"), _a_tool("turn_off", "device")), "turn_off"),
        ("Cancela BO-928", KNOWN, "cancel_booking"),
    ],
)
def test_a_noun_or_a_known_id_chooses(said: str, tools: tuple[Tool, ...], chosen: str) -> None:
    plan = _made_of(said, tools)
    assert plan.questions == ()
    (step,) = plan.steps
    assert isinstance(step, Call)
    assert step.tool == chosen


def _a_state(name: str, thing: str, told: str, **state: object) -> Tool:
    properties = {thing: {"type": "string", "description": f"Name of the {thing}"}, **state}
    schema = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    return scripted(name, then={}, effect="write", description=told, input_schema=schema)


FLAG = {"type": "boolean", "description": "true opens it, false closes it"}
STATE = {"type": "string", "enum": ["open", "closed"]}
SET = (
    _a_state("set_slope", "slope", "Open or close a slope.", open=FLAG),
    _a_state("set_lift", "lift", "Open a lift, or close it.", state=STATE),
)


@pytest.mark.parametrize("said", ["Close Marmotte", "Close the Rotwand", "open the Rotwand", "open Marmotte"])
@pytest.mark.parametrize("is_turned", [False, True])
def test_a_name_that_two_tools_may_set_to_a_state_is_asked_about(said: str, is_turned: bool) -> None:
    assert _made_of(said, SET[::-1] if is_turned else SET).questions


@pytest.mark.parametrize(
    ("said", "key"), [("close the slope Marmotte", "set_slope"), ("close the lift Rot", "set_lift")]
)
def test_the_word_for_the_thing_says_which_is_set(said: str, key: str) -> None:
    plan = _made_of(said, SET)
    assert plan.questions == ()
    assert [step.tool for step in plan.steps if isinstance(step, Call)] == [key]
