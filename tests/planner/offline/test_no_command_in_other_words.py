"""Words in place of a command count only where they can mean nothing else: options, notes, putting, courtesies."""

from __future__ import annotations

import pytest
from tests.planner.offline.test_needless_questions import NUMBER, TEXT, done, one_of, planned, tool

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call, every_step
from toolpath.model.tool import Tool


def coded(example: str) -> dict[str, str]:
    return {**TEXT, "description": f"e.g. {example}"}


WHOLE = {"type": "integer"}
MAIL = (tool("mark_message", "Mark a message.", "write", id=coded("MS-3"), state=one_of("read", "unread", "spam")),)
PAGES = (
    tool("set_visibility", "Set who sees a page.", "write", id=coded("PG-3"), mode=one_of("show", "hide", "list")),
)
REQUESTS = (tool("decide_request", "Decide a request.", "write", id=coded("RQ-3"), how=one_of("approve", "reject")),)
HOME = (
    tool(
        "set_temperature",
        "Set the temperature of a room.",
        "write",
        room={**TEXT, "description": "Room, e.g. Kitchen"},
        degrees={**NUMBER, "description": "Degrees celsius"},
    ),
)
READINGS = (
    tool("log_temperature", "Log how warm a room is.", "write", room={**TEXT, "description": "Room"}, degrees=NUMBER),
)
PRICES = (tool("set_price", "Set the price of a product.", "write", product_id=coded("PT-40"), price=NUMBER),)
HOURS = (tool("log_hours", "Log hours on a project.", "write", project_id=coded("PJ-4"), hours=NUMBER),)
TABLES = (
    tool(
        "book_table",
        "Book a table.",
        "write",
        people={**WHOLE, "description": "How many people"},
        date={**TEXT, "format": "date"},
        time={**TEXT, "description": "HH:MM"},
        name={**TEXT, "description": "Name of the guest"},
    ),
)
WARD = (
    tool(
        "record_vitals",
        "Record the vitals of a patient.",
        "write",
        patient_id=coded("P-1087"),
        temperature={**NUMBER, "description": "Body temperature"},
        pulse={**WHOLE, "description": "Pulse per minute", "default": 0},
    ),
    tool("assign_bed", "Assign a bed to a patient.", "write", patient_id=coded("P-1087"), bed=coded("3")),
)
STOCK = (tool("set_stock", "Set the stock of a product.", "write", product_id=coded("KX-100"), quantity=WHOLE),)
LOANS = (
    tool("cancel_loan", "Cancel a loan.", "destructive", loan_id=coded("LN-204")),
    tool("shutdown_server", "Power a server down.", "destructive", server_id=coded("SV-4")),
)
SERVERS = (tool("rollback_server", "Put a server to its last state.", "destructive", server_id=coded("SV-4")),)
CALLS = (
    tool(
        "schedule_call",
        "Schedule a call with somebody.",
        "write",
        name={**TEXT, "description": "Name of whom to call"},
        date={**TEXT, "format": "date"},
    ),
)


def writes(request: str, tools: tuple[Tool, ...]) -> bool:
    """Whether the plan writes and leaves no question open."""
    plan = planned(request, tools)
    if plan is None or plan.questions:
        return False
    effects = {one.key: one.effect for one in Catalog({one.key: one for one in tools}).tools.values()}
    return any(effects[step.tool] != "read" for _, step in every_step(plan.block) if isinstance(step, Call))


ASKED = [
    # A verb of reading is no option, and neither is one that the request takes back or makes another one.
    *((text, MAIL) for text in ("Read MS-3", "Please read MS-3", "Can you read MS-3", "read MS-3 and MS-4")),
    *((text, PAGES) for text in ("Show PG-3", "Show me PG-3", "List PG-3", "Please list PG-3")),
    *(
        (text, REQUESTS)
        for text in ("Reject RQ-3, no approve it", "Reject RQ-3, no, approve it", "Reject RQ-3, nein approve")
    ),
    *((text, REQUESTS) for text in ("Approve of RQ-3", "Reject RQ-3 or approve RQ-3")),
    # How it is, is no wish.
    *(
        (f"{room} {text}", tools)
        for tools in (HOME, READINGS)
        for room in ("Kitchen", "Bedroom")
        for text in (
            "20 degrees too hot",
            "20 degrees so cold",
            "just 20 degrees",
            "only 20 degrees",
            "hit 20 degrees",
            "up 20 degrees",
            "down to 20 degrees",
            "from 20 degrees",
            "20 degrees last night",
        )
    ),
    *(
        (text, HOME)
        for text in (
            "Kitchen currently 20 degrees",
            "Kitchen at 20 degrees now",
            "Kitchen 20 degrees",
            "Kitchen 20 degrees too hot please",
            "Küche 20 Grad zu warm",
            "Küche gerade 20 Grad",
            "Küche bei 20 Grad",
            "Küche erst 20 Grad",
            "Cuisine 20 degrés trop chaud",
            "Cuisine à peine 20 degrés",
            "Cocina solo 20 grados",
            "Cocina 20 grados de más",
        )
    ),
    *(
        (f"PT-40{mark} price {text}", PRICES)
        for mark in ("", ":")
        for text in ("up 20 euros", "down by 20 euros", "from 20 euros", "20 euros", "too low 20 euros")
    ),
    *((text, HOURS) for text in ("PJ-4 in 3 hours", "PJ-4 no 3 hours", "PJ-4 out 3 hours", "PJ-4 in 3 Stunden")),
    *(
        (f"table {text} at 8 pm, Okafor", TABLES)
        for text in ("for 4 last Friday", "from 4 on Friday", "to 4 on Friday", "in for 4 on Friday")
    ),
    ("P-1087: pulse 38.4, temp 112", WARD),
    ("P-1087: temp 38.4, temp 39.1", WARD),
    ("Record pulse 38.4 and temperature 112 for P-1087", WARD),
    # Before a bed is not in it.
    *(
        (f"Put P-1087 {text} bed 3", WARD)
        for text in ("before", "after", "over", "off", "with", "up for", "in for", "by", "near", "down for", "from")
    ),
    *((text, WARD) for text in ("Put in P-1087, bed 3", "Put P-1087 bed 3 on")),
    *(
        (text, STOCK)
        for text in (
            "Give 40 units of KX-100",
            "Put 40 units of KX-100 away",
            "Put down 40 units of KX-100",
            "Put 40 units of KX-100 aside",
            "Put 40 units of KX-100 back",
        )
    ),
    # What is begun and has no end waits for something.
    *(
        (f"Cancel LN-204 {text}", LOANS)
        for text in (
            "once you have",
            "once you find",
            "as soon as you get",
            "if you would",
            "when you have",
            "whenever you find",
            "when you get the",
        )
    ),
    *((f"{text}, cancel LN-204", LOANS) for text in ("Once you have", "When you find", "As soon as you get")),
    ("Roll SV-4 for Ana back", SERVERS),
    ("Shut SV-4 for the break in the room down", LOANS),
]


@pytest.mark.parametrize(("request_text", "tools"), ASKED)
def test_what_may_mean_something_else_is_asked_about(request_text: str, tools: tuple[Tool, ...]) -> None:
    assert not writes(request_text, tools)


@pytest.mark.parametrize(
    ("request_text", "tools", "inputs"),
    [
        ("Reject RQ-3", REQUESTS, {"id": "RQ-3", "how": "reject"}),
        ("Reject RQ-3, don't approve it", REQUESTS, {"id": "RQ-3", "how": "reject"}),
        ("Kitchen 20 degrees please", HOME, {"room": "Kitchen", "degrees": 20}),
        ("19 Grad im Wohnzimmer bitte", HOME, {"room": "Wohnzimmer", "degrees": 19}),
        ("PJ-4: 3 hours", HOURS, {"project_id": "PJ-4", "hours": 3}),
        ("PJ-4: 3 Stunden", HOURS, {"project_id": "PJ-4", "hours": 3}),
        (
            "table for 4 on Friday at 8 pm, Okafor",
            TABLES,
            {"people": 4, "date": "2026-11-27", "time": "20:00", "name": "Okafor"},
        ),
        ("P-1087: temp 38.4, pulse 112", WARD, {"patient_id": "P-1087", "temperature": 38.4, "pulse": 112}),
        ("Put P-1087 in bed 3", WARD, {"patient_id": "P-1087", "bed": "3"}),
        ("Put P-1087 into bed 3, please", WARD, {"patient_id": "P-1087", "bed": "3"}),
        ("Give P-1087 bed 3", WARD, {"patient_id": "P-1087", "bed": "3"}),
        ("Set KX-100 to 40 units", STOCK, {"product_id": "KX-100", "quantity": 40}),
        *(
            (f"Cancel LN-204 {text}", LOANS, {"loan_id": "LN-204"})
            for text in (
                "when you can",
                "if you could",
                "once you have a spare minute",
                "when you get a chance",
                "as soon as you find the time",
                "when you get to it",
                "when you have time",
            )
        ),
        ("Roll back SV-4", SERVERS, {"server_id": "SV-4"}),
        ("Set up a call with Ana Ruiz on Friday", CALLS, {"name": "Ana Ruiz", "date": "2026-11-27"}),
        ("If you would, cancel LN-204", LOANS, {"loan_id": "LN-204"}),
        ("When you get a moment, cancel LN-204", LOANS, {"loan_id": "LN-204"}),
    ],
)
def test_what_can_mean_nothing_else_is_done(request_text: str, tools: tuple[Tool, ...], inputs: object) -> None:
    assert [given for _, given in done(request_text, tools)] == [inputs]
