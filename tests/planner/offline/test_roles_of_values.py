"""A number, a day or a name that a request gives for something else is no value: bounds, starts, waits, neighbours."""

from __future__ import annotations

from datetime import date

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, every_step
from toolpath.model.tool import Tool
from toolpath.planner.offline.planner import plan_offline
from toolpath.values import JsonObject

TODAY = date(2026, 11, 5)
TEXT, NUMBER, DAY = {"type": "string"}, {"type": "number"}, {"type": "string", "format": "date"}


def told(kind: JsonObject, words: str) -> JsonObject:
    return {**kind, "description": words}


CELLAR = (
    tool(
        "cool_tank",
        "Cool a tank to a temperature.",
        "write",
        tank_id=told(TEXT, "Id of the tank, such as T-8"),
        degrees=told(NUMBER, "Temperature in degrees Celsius"),
    ),
    tool("drain_tank", "Drain a tank.", "write", tank_id=told(TEXT, "Id of the tank, such as T-8")),
)
TILL = (
    tool(
        "refund_order",
        "Refund an amount of an order.",
        "write",
        order_id=told(TEXT, "Id of the order, such as SO-77"),
        amount=told(NUMBER, "Amount in euros"),
    ),
)
LIBRARY = (
    tool(
        "lend_book",
        "Lend a book to a member.",
        "write",
        book_id=told(TEXT, "Id of the book, such as L-204"),
        member=told(TEXT, "Name of the member"),
        until=told(DAY, "Day it is due back"),
    ),
)
HOTEL = (
    tool(
        "move_booking",
        "Move a booking to another day.",
        "write",
        booking_id=told(TEXT, "Id of the booking, such as BK-12"),
        date=told(DAY, "New day of arrival"),
    ),
    tool("cancel_booking", "Cancel a booking.", "write", booking_id=told(TEXT, "Id of the booking, such as BK-12")),
)
CLINIC = (
    tool(
        "book_slot",
        "Book a slot of the clinic for a patient.",
        "write",
        patient=told(TEXT, "Name of the patient"),
        date=told(DAY, "Day of the visit"),
        time=told(TEXT, "Time of day, such as 14:30"),
    ),
)
SCHOOL = (tool("excuse_pupil", "Excuse a pupil from lessons.", "write", pupil=told(TEXT, "Name of the pupil")),)


def written(request: str, tools: tuple[Tool, ...]) -> list[JsonObject] | None:
    """What the plan would write with; None where it asks or refuses."""
    try:
        plan = plan_offline(request, Catalog({one.key: one for one in tools}), today=TODAY)
    except NoToolFits:
        return None
    calls = [step.inputs for _, step in every_step(plan.block) if isinstance(step, Call)]
    return None if plan.questions else calls


@pytest.mark.parametrize("number", [3, 8])
@pytest.mark.parametrize(
    "amount",
    [
        "for {} hours",
        "for {} minutes",
        "by {} degrees",
        "um {} Grad",
        "from {} degrees",
        "to {} K",
        "to under {} degrees",
        "to over {} degrees",
    ],
)
def test_number_of_another_role_is_asked_about(amount: str, number: int) -> None:
    assert written(f"Cool tank T-9 {amount.format(number)}.", CELLAR) is None


@pytest.mark.parametrize("bound", ["over", "under"])
def test_amount_that_is_only_bounded_is_asked_about(bound: str) -> None:
    assert written(f"Refund {bound} 19 euros of order SO-27.", TILL) is None


def test_number_that_is_to_come_of_it_is_taken() -> None:
    assert written("Cool tank T-9 to 8 degrees.", CELLAR) == [{"tank_id": "T-9", "degrees": 8}]
    assert written("Refund 19 euros of order SO-27.", TILL) == [{"order_id": "SO-27", "amount": 19}]


@pytest.mark.parametrize("day", ["20 November 2026", "2026-11-20"])
@pytest.mark.parametrize("before", ["from", "after", "on", "since", "starting"])
def test_end_is_not_taken_from_a_day_that_says_when_it_begins(before: str, day: str) -> None:
    assert written(f"Lend book L-204 to Tom Feld {before} {day}.", LIBRARY) is None


@pytest.mark.parametrize("before", ["until", "till", "by"])
def test_end_is_taken_from_a_day_that_says_so(before: str) -> None:
    expected = [{"book_id": "L-204", "member": "Tom Feld", "until": "2026-11-20"}]
    assert written(f"Lend book L-204 to Tom Feld {before} 20 November 2026.", LIBRARY) == expected


@pytest.mark.parametrize(
    "request_text",
    [
        "Lend book L-204 to Tom Feld until 2026-10-20.",
        "Lend book L-204 to Tom Feld until 20 October 2026.",
        "Verleihe das Buch L-204 an Tom Feld bis 20.10.2026.",
        "Prête le livre L-204 à Tom Feld jusqu'au 20 octobre 2026.",
        "Presta el libro L-204 a Tom Feld hasta el 20 de octubre de 2026.",
    ],
)
def test_end_that_is_over_is_asked_about(request_text: str) -> None:
    assert written(request_text, LIBRARY) is None


@pytest.mark.parametrize(
    "request_text",
    [
        "Move booking BK-72 on 20 November 2026.",
        "Verschiebe die Buchung BK-72 am 20.11.2026.",
        "Mueve la reserva BK-72 del 20 de noviembre de 2026.",
    ],
)
def test_day_on_which_something_is_or_was_is_none_it_becomes(request_text: str) -> None:
    assert written(request_text, HOTEL) is None


def test_day_to_which_something_is_moved_is_taken() -> None:
    expected = [{"booking_id": "BK-72", "date": "2026-11-20"}]
    assert written("Move booking BK-72 to 20 November 2026.", HOTEL) == expected


@pytest.mark.parametrize(
    ("request_text", "tools"),
    [
        ("Book a slot for Tom Feld on 20 November 2026 between 14:30 and 16:00.", CLINIC),
        ("Cancel bookings between BK-3 and BK-7.", HOTEL),
        ("Cancel BK-3-BK-7.", HOTEL),
        ("Storniere die Buchungen zwischen BK-3 und BK-7.", HOTEL),
        ("Annule les réservations entre BK-3 et BK-7.", HOTEL),
    ],
)
def test_ends_of_a_range_are_neither_two_things_nor_one(request_text: str, tools: tuple[Tool, ...]) -> None:
    assert written(request_text, tools) is None


@pytest.mark.parametrize(
    "joined", ["Nora and Tom Feld", "Nora und Tom Feld", "Nora & Tom Feld", "Ida, Nora and Tom Feld"]
)
def test_first_name_before_a_full_one_may_share_its_family(joined: str) -> None:
    assert written(f"Excuse {joined}.", SCHOOL) is None


@pytest.mark.parametrize(
    "request_text",
    [
        "Excuse me, Tom Feld.",
        "Excuse me Tom Feld",
        "Excuse Tom Feld and co.",
        "Excuse Tom Feld et al.",
        "Excuse Tom Feld and company.",
    ],
)
def test_words_of_courtesy_and_company_name_nobody(request_text: str) -> None:
    assert written(request_text, SCHOOL) is None


@pytest.mark.parametrize("both", ["Nora Brandt and Tom Feld", "both Nora Brandt and Tom Feld"])
def test_two_full_names_are_two_people(both: str) -> None:
    assert written(f"Excuse {both}.", SCHOOL) == [{"pupil": "Nora Brandt"}, {"pupil": "Tom Feld"}]


STAFF = (
    tool(
        "raise_salary",
        "Raise the salary of an employee by a percentage.",
        "write",
        employee=told(TEXT, "Name of the employee"),
        percent=told(NUMBER, "By how many percent"),
    ),
)
BANK = (
    tool(
        "transfer_money",
        "Transfer an amount from one account to another.",
        "write",
        from_account=told(TEXT, "Account it is taken from, such as AC-1"),
        to_account=told(TEXT, "Account it goes to, such as AC-2"),
        amount=told(NUMBER, "Amount in euros"),
    ),
)
HARBOUR = (
    tool(
        "load_containers",
        "Load containers onto a ship.",
        "write",
        ship=told(TEXT, "Name of the ship"),
        count=told({"type": "integer"}, "How many containers"),
    ),
)
LINES = (
    tool(
        "change_tariff",
        "Change the tariff of a line.",
        "write",
        line_id=told(TEXT, "Id of the line, such as LN-4"),
        tariff={"type": "string", "enum": ["basic", "plus", "max"], "description": "New tariff"},
    ),
)
COURTS = (
    tool(
        "book_court",
        "Book a court of the sports hall.",
        "write",
        court=told({"type": "integer"}, "Number of the court"),
        date=told(DAY, "Day"),
        start=told(TEXT, "Start, HH:MM"),
        hours=told(NUMBER, "For how many hours"),
    ),
)
PAGES = (
    tool("delete_page", "Delete a page.", "destructive", page_id=told(TEXT, "Id of the page, such as PG-8")),
    tool(
        "send_mail",
        "Send an e-mail.",
        "write",
        to=told(TEXT, "Address of the recipient"),
        body=told(TEXT, "Text of the mail"),
    ),
)
SITE = (
    tool(
        "rename_page",
        "Rename a page.",
        "write",
        page_id=told(TEXT, "Id of the page, such as PG-8"),
        title=told(TEXT, "New title"),
    ),
    tool(
        "move_page",
        "Move a page to a folder.",
        "write",
        page_id=told(TEXT, "Id of the page, such as PG-8"),
        folder=told(TEXT, "Name of the folder"),
    ),
    tool(
        "set_chat",
        "Switch the chat of a page on or off.",
        "write",
        page_id=told(TEXT, "Id of the page, such as PG-8"),
        enabled=told({"type": "boolean"}, "true switches it on, false off"),
    ),
    tool("delete_recipe", "Delete a recipe.", "destructive", name=told(TEXT, "Name of the recipe")),
    tool(
        "send_mail",
        "Send an e-mail.",
        "write",
        to={"type": "array", "items": {"type": "string", "format": "email"}, "description": "Addresses"},
        body=told(TEXT, "Text of the mail"),
    ),
)


@pytest.mark.parametrize(
    ("request_text", "tools"),
    [
        ("Raise the salary of Ute Kern by -3 percent.", STAFF),
        ("Raise the salary of Ute Kern by 3 euros.", STAFF),
        ("Raise the salary of Ute Kern to 3 percent.", STAFF),
        ("Raise the salary of Ute Kern by at most 3 percent.", STAFF),
        ("Raise the salary of Ute Kern 3 times.", STAFF),
        ("Lower the salary of Ute Kern by 3 percent.", STAFF),
        ("Transfer \u221219 euros from AC-7 to AC-36.", BANK),
        ("Transfer -19 euros from AC-7 to AC-36.", BANK),
        ("Load 5 containers from the Aurora.", HARBOUR),
        ("Load 5 containers off the Aurora.", HARBOUR),
        ("Lend book L-204 from Tom Feld.", LIBRARY),
        ("Change the plus line LN-4.", LINES),
        ("Change line LN-4 to a tariff like plus.", LINES),
        ("Book court 3 on 20 November 2026 until 14:00 for 2 hours.", COURTS),
        ("Book court 3 on 20 November 2026 by 14:00 for 2 hours.", COURTS),
        ('Forward: "send tom@feld.org an e-mail with the text Pay".', PAGES),
        ("Delete page PG-3 but keep its title.", PAGES),
        ("Load container 5 onto the ship Aurora.", HARBOUR),
        ("Book 3 courts on 20 November 2026 at 14:00 for 2 hours.", COURTS),
        ("Book court 3 on 20 November 2026 at about 14:00 for 2 hours.", COURTS),
        ('Rename page PG-3 from "Team".', SITE),
        ('Rename page PG-3, which is called "Team".', SITE),
        ('Send an e-mail with the text "See you" from ute@kern.eu.', SITE),
        ("Move page PG-3 to the folder of PG-4.", SITE),
        ("Delete a recipe with nuts.", SITE),
        ("Switch the chat of page PG-3 on and off.", SITE),
        ("Move the pages below PG-3 to the folder News.", SITE),
    ],
)
def test_reverse_of_what_is_said_is_not_done(request_text: str, tools: tuple[Tool, ...]) -> None:
    assert written(request_text, tools) is None


@pytest.mark.parametrize(
    ("request_text", "tools", "expected"),
    [
        ("Raise the salary of Ute Kern by 3 percent.", STAFF, {"employee": "Ute Kern", "percent": 3}),
        ("Load 5 containers onto the ship Aurora.", HARBOUR, {"ship": "Aurora", "count": 5}),
        ("Change the tariff of line LN-4 to plus.", LINES, {"line_id": "LN-4", "tariff": "plus"}),
        ("Delete page PG-3 but keep PG-4.", PAGES, {"page_id": "PG-3"}),
        ('Rename page PG-3 to "Team".', SITE, {"page_id": "PG-3", "title": "Team"}),
        ("Move page PG-3 to the folder News.", SITE, {"page_id": "PG-3", "folder": "News"}),
        ("Switch the chat of page PG-3 off.", SITE, {"page_id": "PG-3", "enabled": False}),
        ("Delete the recipe Apple Pie.", SITE, {"name": "Apple Pie"}),
        (
            "Transfer 19 euros from AC-7 to AC-36.",
            BANK,
            {"from_account": "AC-7", "to_account": "AC-36", "amount": 19},
        ),
        (
            "Book court 3 on 20 November 2026 at 14:00 for 2 hours.",
            COURTS,
            {"court": 3, "date": "2026-11-20", "start": "14:00", "hours": 2},
        ),
    ],
)
def test_what_is_said_so_is_done(request_text: str, tools: tuple[Tool, ...], expected: JsonObject) -> None:
    assert written(request_text, tools) == [expected]
