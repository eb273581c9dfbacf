"""What a request corrects, lessens or names for another thing: none of it is written unasked, and nothing raises."""

from __future__ import annotations

import time
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.courtesy import closed_up, without_courtesies
from toolpath.checks.request.restated import restated
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.offline.request.periods import periods_in

MONDAY = date(2026, 11, 16)
TEXT = {"type": "string"}


def such_as(example: str) -> dict[str, Any]:
    return {"type": "string", "description": f"Such as {example}"}


DAY = {"type": "string", "format": "date"}
ORDERS = {"orders": {"type": "array", "items": {"type": "object", "properties": {"order_id": TEXT}}}}
LOAN = {"status": {"type": "string", "enum": ["active", "overdue", "returned"]}}
TOOLS = (
    tool(
        "list_orders",
        "List the orders of the shop, by week or by day.",
        "read",
        ORDERS,
        customer_={"type": "string", "description": "Name of the customer"},
        since_={**DAY, "description": "First day"},
        until_={**DAY, "description": "Last day"},
    ),
    tool(
        "refund_order",
        "Refund an order.",
        "destructive",
        {},
        order_id=such_as("SO-5"),
        amount_={"type": "number", "description": "Amount in euros"},
    ),
    tool(
        "ship_order",
        "Ship an order.",
        "write",
        {},
        order_id=such_as("SO-5"),
        express_={"type": "boolean", "description": "Ship by express"},
    ),
    tool("get_loan", "Look up a loan.", "read", LOAN, loan_id=such_as("LN-204")),
    tool("cancel_loan", "Cancel a loan.", "destructive", {}, loan_id=such_as("LN-204")),
    tool("restart_device", "Restart a device.", "write", {}, device_id=such_as("DV-9")),
    tool(
        "set_temperature",
        "Set the temperature of a room.",
        "write",
        {},
        room={"type": "string", "enum": ["kitchen", "bathroom"]},
        degrees={"type": "number", "description": "Degrees Celsius"},
    ),
    tool("lock_door", "Lock a door.", "write", {}, door={"type": "string", "enum": ["front", "back"]}),
)
CATALOG = Catalog({one.key: one for one in TOOLS})


def planned(text: str, today: date | None = MONDAY) -> Plan | None:
    try:
        return plan_offline(text, CATALOG, today=today)
    except NoToolFits:
        return None


def writes_of(plan: Plan | None) -> list[Call]:
    steps = [step for _, step in every_step(plan.block)] if plan is not None else []
    return [step for step in steps if isinstance(step, Call) and not CATALOG.tools[step.tool].is_read]


def is_unasked(plan: Plan | None) -> bool:
    return plan is not None and not plan.questions and bool(writes_of(plan))


CORRECTED = (
    "Ship SO-5, no SO-6",
    "Ship SO-5, no, SO-6",
    "Ship SO-5 - no, SO-6",
    "Ship SO-5, wait, SO-6",
    "Ship SO-5, I mean SO-6",
    "Restart DV-9, no DV-8",
    "Restart DV-9, sorry, DV-8",
    "Refund SO-5 20 euros, no 30",
    "Set the kitchen to 20 degrees, no wait 22",
    "Set the kitchen to 20 degrees, no, make that 22",
    "Lock the front door, no the back",
    "Lock the front door, oh no, the back one",
    "Storniere LN-204, nein LN-205",
    "Storniere LN-204, ich meine LN-205",
    "Annule LN-204, non LN-205",
    "Cancela LN-204, no, LN-205",
    "Cancela LN-204, no LN-205",
)
LESSENED = (
    "Ship SO-5 less express",
    "Ship SO-5 minus express",
    "Ship SO-5 without express",
    "Ship SO-5 without the express",
)


@pytest.mark.parametrize("text", [*CORRECTED, *LESSENED])
def test_what_is_corrected_or_lessened_is_not_written_unasked(text: str) -> None:
    plan = planned(text)
    assert not is_unasked(plan) or not any(call.inputs.get("express") for call in writes_of(plan))
    assert text in LESSENED or not is_unasked(plan)


@pytest.mark.parametrize(
    "text",
    [
        "Ship SO-5, no rush",
        "Ship SO-5 by express, no hurry",
        "Ship SO-5 by express",
        "Restart DV-9, thanks",
        "Set the kitchen to 20 degrees",
        "Lock the front door, please",
        "Restart DV-9 and DV-8",
        "Storniere LN-204, keine Eile",
    ],
)
def test_what_corrects_nothing_is_done(text: str) -> None:
    assert is_unasked(planned(text))


OTHER_PERIODS = (
    "before last week",
    "of the week before last week",
    "since last week",
    "after last month",
    "until next week",
    "other than last week",
    "except last week",
    "from last week on",
    "before May 2026",
    "from before last year",
)


@pytest.mark.parametrize("period", OTHER_PERIODS)
@pytest.mark.parametrize("act", ["Refund all orders {}", "Ship every order {}"])
def test_what_is_not_in_a_period_is_not_taken_for_what_is(act: str, period: str) -> None:
    assert not is_unasked(planned(act.format(period)))


@pytest.mark.parametrize(
    "text",
    [
        "Erstatte alle Bestellungen vor letzter Woche",
        "Erstatte alle Bestellungen der Woche vor letzter Woche",
        "Rembourse toutes les commandes d'avant la semaine dernière",
        "Reembolsa todos los pedidos de antes de la semana pasada",
        "Refund all orders of the week",
    ],
)
def test_a_word_for_a_period_is_nobody_and_no_other_period(text: str) -> None:
    assert not is_unasked(planned(text))


@pytest.mark.parametrize(
    "text", ["Ship every order of last week", "Refund all orders of last week", "Refund all orders from last week"]
)
def test_a_period_is_its_days(text: str) -> None:
    plan = planned(text)
    assert plan is not None
    (read,) = [step for step in plan.steps if isinstance(step, Call)]
    assert dict(read.inputs) == {"since": "2026-11-09", "until": "2026-11-15"}
    assert not plan.questions


CONDITIONS_NOT_TOLD = (
    "Is LN-204 not only overdue? Then cancel it",
    "If LN-204 is not only overdue, cancel it",
    "Isn't LN-204 overdue? Then cancel it",
    "Isn't LN-204 overdue? If so, cancel it",
    "Is LN-204 not overdue? Then cancel it",
    "Hasn't LN-204 been returned? Then cancel it",
    "Has LN-204 been overdue? Then cancel it",
    "If LN-204 was overdue, cancel it",
    "Cancel LN-204 if it was ever overdue",
    "Cancel LN-204 if it was returned late",
    "Cancel LN-204 if it is returned early",
    "Is LN-204 returned late? Then cancel it",
    "Ist LN-204 nicht überfällig? Dann storniere es",
    "Ist LN-204 nicht nur überfällig? Dann storniere es",
    "Storniere LN-204, wenn es überfällig war",
    "Storniere LN-204, wenn es zu spät zurückgegeben wurde",
    "Est-ce que LN-204 n'est pas en retard ? Alors annule LN-204",
    "Annule LN-204 si elle était en retard",
    "Annule LN-204 si elle a été rendue en retard",
    "¿No está LN-204 vencido? Entonces cancela LN-204",
    "Cancela LN-204 si estaba vencido",
    "Cancela LN-204 si fue devuelto tarde",
)


@pytest.mark.parametrize("text", CONDITIONS_NOT_TOLD)
def test_a_condition_of_which_a_word_is_not_told_is_asked_about(text: str) -> None:
    assert not is_unasked(planned(text))


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("Is LN-204 overdue? Then cancel it", "{{ get_loan.status == 'overdue' }}"),
        ("Has LN-204 been returned? Then cancel it", "{{ get_loan.status == 'returned' }}"),
        ("Cancel LN-204 if it was returned", "{{ get_loan.status == 'returned' }}"),
        ("Cancel LN-204 if its status is overdue", "{{ get_loan.status == 'overdue' }}"),
        ("Is LN-204 no longer active? Then cancel it", "{{ get_loan.status != 'active' }}"),
        ("Is LN-204 overdue? If not, cancel it", "{{ get_loan.status != 'overdue' }}"),
        ("See whether LN-204 is not overdue; if so, cancel it", "{{ get_loan.status != 'overdue' }}"),
    ],
)
def test_a_condition_that_is_told_is_what_it_depends_on(text: str, when: str) -> None:
    plan = planned(text)
    assert plan is not None
    assert not plan.questions
    assert [call.when for call in writes_of(plan)] == [when]


YEARS = st.integers(min_value=0, max_value=9999).map(lambda year: f"{year:04}")
PERIODS = st.one_of(
    st.builds("{} {}".format, st.sampled_from(["in June", "of May", "im Mai", "en junio de"]), YEARS),
    st.builds(
        "{} {}".format,
        st.sampled_from(["this", "last", "next"]),
        st.sampled_from(["week", "weekend", "month", "year"]),
    ),
    st.sampled_from(["nächste Woche", "la semaine dernière", "el año pasado", "el mes que viene", "in June"]),
)
EDGES = st.sampled_from([date.min, date(1, 1, 8), date(1, 2, 1), date(9999, 12, 20), date.max])


@given(PERIODS, st.one_of(st.dates(), EDGES))
def test_no_period_of_any_day_raises(period: str, today: date) -> None:
    for found in periods_in(f"Refund all orders {period}", today):
        assert found.first <= found.last
        assert 1900 <= found.last.year <= 2201


@pytest.mark.parametrize(
    ("text", "today"),
    [
        ("Show orders in June 0000", MONDAY),
        ("Refund all orders of May 0000", MONDAY),
        ("Show the orders of next week", date.max),
        ("Show the orders of next year", date.max),
        ("Show the orders of last week", date.min),
        ("Show the orders of last month", date.min),
    ],
)
def test_a_year_that_no_calendar_has_is_no_period(text: str, today: date) -> None:
    plan = planned(text, today)
    assert not is_unasked(plan)


@pytest.mark.parametrize(
    "noise", [", thanks", ", please", " now", "\n", "hey ", " #", " '", ".", ",", ", no"], ids=repr
)
def test_a_long_request_costs_a_moment(noise: str) -> None:
    began = time.process_time()
    planned("Cancel LN-204" + noise * (8_000 // len(noise)))
    assert time.process_time() - began < 5


@pytest.mark.parametrize("noise", ["\n", "hey ", "And ", ", thanks", " "], ids=repr)
@pytest.mark.parametrize("read", [restated, without_courtesies])
def test_a_long_text_of_nothing_is_read_once(read: Any, noise: str) -> None:
    began = time.process_time()
    read("a. " + noise * (4_000 // len(noise)))
    assert time.process_time() - began < 3


def test_blanks_that_two_texts_share_are_one() -> None:
    text, plain = f"say{' ' * 90}'{'a' * 50}' now", f"say{' ' * 90}{' ' * 52} now"
    assert closed_up(text, plain) == (text, plain)
    assert closed_up(f"a{' ' * 90}b", f"a{' ' * 90}c") == ("a b", "a c")
