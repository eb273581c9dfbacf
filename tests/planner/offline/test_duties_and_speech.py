"""A duty that is told, an order that is passed on and a thing that is only like another one are no commands."""

from __future__ import annotations

import pytest
from tests.planner.made_tools import tool
from tests.planner.offline.test_roles_of_values import TEXT, told, written

SHOP = (
    tool("cancel_booking", "Cancel a booking.", "write", booking_id=told(TEXT, "Id of the booking, such as BK-12")),
    tool("clean_van", "Clean a van.", "write", van_id=told(TEXT, "Id of the van, such as V-6")),
    tool("retire_van", "Retire a van.", "write", van_id=told(TEXT, "Id of the van, such as V-6")),
    tool("pay_invoice", "Pay an invoice.", "write", invoice_id=told(TEXT, "Number of the invoice, such as INV-55")),
)
MAIL = (
    tool(
        "send_message",
        "Send a message to a person.",
        "write",
        to=told(TEXT, "Name of the person"),
        text=told(TEXT, "Text of the message"),
    ),
)
MUSEUM = (
    tool("lock_gallery", "Lock a gallery of the museum.", "write", gallery={"type": "integer"}),
    tool("unlock_gallery", "Unlock a gallery of the museum.", "write", gallery={"type": "integer"}),
)
#: German, French and Spanish: what is to be done, its infinitive behind it or before it.
GERMAN = ("die Buchung BK-3 stornieren", "die Rechnung INV-9 bezahlen")
FRENCH = ("annuler la réservation BK-3", "payer la facture INV-9")


@pytest.mark.parametrize("act", GERMAN)
@pytest.mark.parametrize("duty", ["Ich muss", "Ich muss noch", "Wir müssen", "Wir müssen nur", "Ich muss heute"])
def test_german_duty_is_told(duty: str, act: str) -> None:
    assert written(f"{duty} {act}.", SHOP) is None
    assert written(f"{duty} {act}", SHOP) is None


@pytest.mark.parametrize("act", FRENCH)
@pytest.mark.parametrize("duty", ["Je dois", "Je dois juste", "Nous devons", "Aujourd'hui je dois"])
def test_french_duty_is_told(duty: str, act: str) -> None:
    assert written(f"{duty} {act}.", SHOP) is None


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("Ich möchte die Buchung BK-3 stornieren.", [{"booking_id": "BK-3"}]),
        ("Je veux annuler la réservation BK-3.", [{"booking_id": "BK-3"}]),
        ("Bitte die Buchung BK-3 stornieren.", [{"booking_id": "BK-3"}]),
    ],
)
def test_wish_is_a_command(request_text: str, expected: list[dict[str, str]]) -> None:
    assert written(request_text, SHOP) == expected


@pytest.mark.parametrize("saying", ["Reply with", "Reply with:", "Say", "Answer:", "Answer with", "Type", "Write"])
def test_order_that_is_to_be_said_is_none(saying: str) -> None:
    assert written(f'{saying} send Tom the message "Come home".', MAIL) is None
    assert written(f"{saying} cancel booking BK-3.", SHOP) is None


@pytest.mark.parametrize("reason", ["is taken", "is broken", "has no booking", "was sold"])
def test_thing_of_a_reason_is_not_dealt_with(reason: str) -> None:
    for verb in ("retire", "clean"):
        assert written(f"Since van V-37 {reason}, {verb} van V-87.", SHOP) in (None, [{"van_id": "V-87"}])


@pytest.mark.parametrize(
    "request_text",
    [
        "Cancel a booking like BK-3.",
        "Cancel some booking like BK-3.",
        "Cancel booking BK-3-ish.",
        "Cancel any of BK-3, BK-7.",
        "Cancel either of BK-3, BK-7.",
        "Cancel two of BK-3, BK-7 and BK-9.",
    ],
)
def test_thing_that_is_only_like_another_one_or_any_of_them_is_asked_about(request_text: str) -> None:
    assert written(request_text, SHOP) is None


@pytest.mark.parametrize(
    "request_text",
    [
        "Lock the copy of gallery 70.",
        "Lock the gallery after 81.",
        "Lock the gallery before 81.",
        "Lock the lid of gallery 70.",
    ],
)
def test_thing_beside_a_number_is_not_that_number(request_text: str) -> None:
    assert written(request_text, MUSEUM) is None


def test_number_of_a_thing_is_taken() -> None:
    assert written("Lock gallery 70.", MUSEUM) == [{"gallery": 70}]
    assert written("Lock the gallery 81.", MUSEUM) == [{"gallery": 81}]


@pytest.mark.parametrize("henceforth", ["from now on", "from today on", "henceforth"])
def test_what_is_done_once_makes_no_rule(henceforth: str) -> None:
    assert written(f"Cancel booking BK-3 {henceforth}.", SHOP) is None
    assert written(f"{henceforth.capitalize()}, pay invoice INV-9.", SHOP) is None


@pytest.mark.parametrize("word", ["naja", "hm", "tja"])
def test_word_behind_a_comma_is_no_second_thing(word: str) -> None:
    assert written(f"Cancel booking BK-3, {word}.", SHOP) is None


ROOMS = (
    tool(
        "book_room",
        "Book a room.",
        "write",
        room=told(TEXT, "Room, e.g. A231"),
        date={"type": "string", "format": "date"},
        start=told(TEXT, "Start, HH:MM"),
    ),
    tool(
        "clean_room",
        "Order the cleaning of a room.",
        "write",
        room=told(TEXT, "Room, e.g. A231"),
        date={"type": "string", "format": "date"},
    ),
)


@pytest.mark.parametrize("when", ["on 20 November 2026 at 14:00", "on Friday at 14:00", "tomorrow at 14:00"])
def test_thing_and_a_time_say_nothing_of_what_is_to_be_done(when: str) -> None:
    assert written(f"A231 please {when}", ROOMS) is None
    assert written(f"Room A231 please {when}", ROOMS) is not None
