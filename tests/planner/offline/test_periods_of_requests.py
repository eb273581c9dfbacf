"""Days and periods that a request names, for tools that take a day, and for those that find what is between two."""

from __future__ import annotations

from datetime import date

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call, Plan
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.offline.request.spans import spans_of

WEDNESDAY = date(2026, 5, 13)
DAY = {"type": "string", "format": "date"}


DESK = (
    tool(
        "list_invoices",
        "List the invoices of the firm.",
        "read",
        customer_={"type": "string", "description": "Name of the customer"},
        date_from_={**DAY, "description": "From"},
        date_to_={**DAY, "description": "Until"},
    ),
    tool(
        "request_leave",
        "Request leave of an employee.",
        "write",
        employee_id={"type": "string", "description": "Such as E-104"},
        start_date={**DAY, "description": "First day"},
        end_date={**DAY, "description": "Last day"},
    ),
)


def planned(text: str) -> Plan:
    return plan_offline(text, Catalog(tools={one.key: one for one in DESK}), today=WEDNESDAY)


def inputs_of(text: str) -> dict[str, object]:
    (step,) = planned(text).steps
    assert isinstance(step, Call)
    return dict(step.inputs)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("pay on 25/05/2026", ["2026-05-25"]),
        ("pay on 05/25/2026", ["2026-05-25"]),
        ("payez le 12/05/2026 s'il vous plaît", ["2026-05-12"]),
        ("pay on 2026/05/25", ["2026-05-25"]),
        ("pay on 25-05-2026", ["2026-05-25"]),
        ("bezahl es bitte am 25.5.", ["2026-05-25"]),
        ("bezahl es bitte am 25.05.26", ["2026-05-25"]),
        ("between the 1st and the 15th of August 2025", ["2025-08-01", "2025-08-15"]),
        ("from the 3rd to the 14th of August", ["2026-08-03", "2026-08-14"]),
        ("from 3 to 20 May", ["2026-05-03", "2026-05-20"]),
        ("1-15 August 2026", ["2026-08-01", "2026-08-15"]),
        ("August 3 to 14", ["2026-08-03", "2026-08-14"]),
        ("entre le 1er et le 15 août 2025", ["2025-08-01", "2025-08-15"]),
        ("entre el 1 y el 15 de agosto", ["2026-08-01", "2026-08-15"]),
        ("zwischen dem 1. und 15. August", ["2026-08-01", "2026-08-15"]),
        ("by the end of the month", ["2026-05-31"]),
        ("bis Ende Juni", ["2026-06-30"]),
        ("avant la fin du mois", ["2026-05-31"]),
        ("antes de fin de mes", ["2026-05-31"]),
    ],
)
def test_a_day_is_read_as_people_write_it(text: str, days: list[str]) -> None:
    assert [one.value for one in spans_of(text, WEDNESDAY) if one.kind == "day"] == days


@pytest.mark.parametrize(
    "text", ["half of it, 1/2 cup", "pay on 31/31/2026", "open docs/31/12.txt", "set it to 1.2.", "seats 3 and 4"]
)
def test_numbers_are_no_day_for_a_stroke_or_a_point(text: str) -> None:
    assert [one for one in spans_of(text, WEDNESDAY) if one.kind == "day"] == []


def test_a_moment_of_machines_keeps_its_zone() -> None:
    (found,) = spans_of("at 2026-05-13T14:00:00+02:00 please", WEDNESDAY)
    assert (found.kind, found.value) == ("moment", "2026-05-13T14:00:00+02:00")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("list the invoices of last week", "2026-05-04", "2026-05-10"),
        ("list the invoices of this month", "2026-05-01", "2026-05-31"),
        ("list the invoices of next weekend", "2026-05-23", "2026-05-24"),
        ("which invoices did we get in April?", "2026-04-01", "2026-04-30"),
        ("which invoices did we get in December?", "2025-12-01", "2025-12-31"),
        ("list the invoices of March 2024", "2024-03-01", "2024-03-31"),
        ("list the invoices of yesterday", "2026-05-12", "2026-05-12"),
        ("list the invoices between 1 and 15 April", "2026-04-01", "2026-04-15"),
        ("Liste die Rechnungen der letzten Woche auf", "2026-05-04", "2026-05-10"),
        ("Zeig mir die Rechnungen im April", "2026-04-01", "2026-04-30"),
        ("liste les factures du mois dernier", "2026-04-01", "2026-04-30"),
        ("muestra las facturas de la semana pasada", "2026-05-04", "2026-05-10"),
    ],
)
def test_a_period_is_its_first_and_its_last_day(text: str, first: str, last: str) -> None:
    assert inputs_of(text) == {"date_from": first, "date_to": last}


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("list the invoices since 1 May", {"date_from": "2026-05-01"}),
        ("list the invoices until 20 May", {"date_to": "2026-05-20"}),
        ("list the invoices due by Friday", {"date_to": "2026-05-15"}),
        ("list the invoices of April Jones", {"customer": "April Jones"}),
    ],
)
def test_a_bound_is_no_period(text: str, inputs: dict[str, object]) -> None:
    assert inputs_of(text) == inputs


@pytest.mark.parametrize("text", ["request leave for E-104 next week", "request leave for E-104 in June"])
def test_a_write_of_a_period_is_asked_about(text: str) -> None:
    assert planned(text).questions
