"""Conditions on an amount that is nothing where all is well, and on what is free at a day and a time of day."""

from __future__ import annotations

from typing import Any

import pytest
from tests.planner.made_tools import tool
from tests.planner.offline.planned_over import is_left_alone, planned, writes

from toolpath.catalog.snapshot import Catalog

TEXT = {"type": "string"}
PLOT = {"type": "string", "description": "Number of the plot, e.g. PL-12"}
DAY = {"type": "string", "format": "date"}
TIME = {"type": "string", "description": "HH:MM"}
HALL = {"type": "integer", "description": "Number of the hall, 1 to 6"}


def number(description: str) -> dict[str, Any]:
    return {"type": "number", "description": description}


TOOLS = (
    tool(
        "get_plot",
        "Look up a plot of the garden.",
        "read",
        {"holder": TEXT, "fees": number("What the holder owes us; 0 when all is settled")},
        plot_id=PLOT,
    ),
    tool(
        "get_account",
        "Look up an account.",
        "read",
        {"holder": TEXT, "credit": number("Euros; negative where the holder owes us, 0 when even")},
        account_id={"type": "string", "description": "Number of the account, e.g. AC-3"},
    ),
    tool("lock_plot", "Lock a plot.", "destructive", {}, plot_id=PLOT),
    tool(
        "lock_account",
        "Lock an account.",
        "destructive",
        {},
        account_id={"type": "string", "description": "Number of the account, e.g. AC-3"},
    ),
    tool(
        "check_hall", "Whether a hall is free.", "read", {"free": {"type": "boolean"}}, hall=HALL, day=DAY, start=TIME
    ),
    tool("book_hall", "Book a hall.", "write", {}, hall=HALL, day=DAY, start=TIME),
)
CATALOG = Catalog({one.key: one for one in TOOLS})


OWED = {
    "PL-12 still owes us anything": ">",
    "PL-12 owes us money": ">",
    "there's still money owing on PL-12": ">",
    "PL-12 owes us nothing": "==",
    "PL-12 doesn't owe us anything": "==",
    "nothing is owed on PL-12": "==",
}


@pytest.mark.parametrize("said", OWED)
@pytest.mark.parametrize("form", ["If {said}, lock PL-12", "Lock PL-12 if {said}"])
def test_what_is_owed_is_compared_with_nothing(said: str, form: str) -> None:
    plan = planned(form.format(said=said), CATALOG)
    assert not plan.questions
    assert [one.when for one in writes(plan, CATALOG)] == [f"{{{{ get_plot.fees {OWED[said]} 0 }}}}"]


@pytest.mark.parametrize(
    "text",
    [
        "If we owe PL-12 money, lock PL-12",
        "If PL-12 owed us money last year, lock PL-12",
        "If PL-12 will owe us money, lock PL-12",
        "If PL-12 owes Tom money, lock PL-12",
        "If nobody owes us anything, lock PL-12",
        "If PL-12 never owed us anything, lock PL-12",
        "If PL-12 owes us anything but 20 euros, lock PL-12",
        "If PL-12 has owed us money since May, lock PL-12",
        "Lock PL-12 unless all is settled",
        "If AC-3 owes us money, lock AC-3",
        "If AC-3 owes us nothing, lock AC-3",
    ],
)
def test_another_debt_is_asked_about(text: str) -> None:
    assert is_left_alone(text, CATALOG)


@pytest.mark.parametrize(
    ("when", "day", "start"),
    [("tomorrow at 5 pm", "2026-05-14", "17:00"), ("on Friday at 9:30", "2026-05-15", "09:30")],
)
def test_one_is_booked_where_it_is_free_and_else_the_other(when: str, day: str, start: str) -> None:
    plan = planned(f"If hall 2 is free {when}, book it. Otherwise book hall 5.", CATALOG)
    assert not plan.questions
    assert [(one.when, one.inputs) for one in writes(plan, CATALOG)] == [
        ("{{ check_hall.free }}", {"hall": 2, "day": day, "start": start}),
        ("{{ not check_hall.free }}", {"hall": 5, "day": day, "start": start}),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "If hall 2 was free yesterday at 5 pm, book it for tomorrow at 5 pm",
        "If hall 2 is free tomorrow at 5 pm and at 6 pm, book it",
        "If hall 2 is nearly free tomorrow at 5 pm, book it",
        "If hall 2 is free tomorrow at 5 pm for Ann, book it",
    ],
)
def test_a_condition_that_says_more_is_asked_about(text: str) -> None:
    assert is_left_alone(text, CATALOG)
