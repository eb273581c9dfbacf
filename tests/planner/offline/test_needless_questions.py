"""Words that change nothing of what is to be done are no reason to ask; words that could change it are."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan, every_step
from toolpath.model.tool import Tool
from toolpath.planner.offline.planner import plan_offline

TODAY = date(2026, 11, 25)
TEXT, NUMBER = {"type": "string"}, {"type": "number"}


def one_of(*options: str) -> dict[str, Any]:
    return {"type": "string", "enum": [*options]}


BOAT = {**TEXT, "description": "Boat number, e.g. MB-204"}
MARINA = (
    tool("get_boat", "Details of one boat: owner, berth, insurance, status.", "read", boat_id=BOAT),
    tool("assign_berth", "Give a boat a berth.", "write", boat_id=BOAT, berth={**TEXT, "description": "e.g. C-14"}),
    tool("release_berth", "Free the berth of a boat.", "write", boat_id=BOAT),
    tool("tow_boat", "Order a tow for a boat.", "write", boat_id=BOAT),
    tool(
        "charge_boat",
        "Charge an amount to the account of a boat.",
        "write",
        boat_id=BOAT,
        amount={**NUMBER, "description": "Amount in euros"},
    ),
    tool("end_contract", "End the mooring contract of a boat.", "destructive", boat_id=BOAT),
)
JOB = {**TEXT, "description": "Job number, e.g. J-3001"}
PRESS = (
    tool("get_job", "One print job: customer, status, copies, paper.", "read", job_id=JOB),
    tool("startJob", "Start printing a job.", "write", job_id=JOB),
    tool("cancelJob", "Cancel a print job.", "destructive", job_id=JOB),
    tool("setCopies", "Set how many copies of a job are printed.", "write", job_id=JOB, copies={"type": "integer"}),
    tool("shipJob", "Ship a finished job.", "write", job_id=JOB, carrier=one_of("ups", "dhl", "post")),
    tool(
        "book_meeting_room",
        "Book a meeting room.",
        "write",
        room=one_of("small", "large"),
        date={**TEXT, "format": "date"},
        start={**TEXT, "description": "Start, HH:MM"},
        hours={**NUMBER, "description": "How long"},
    ),
)


def planned(request: str, tools: tuple[Tool, ...]) -> Plan | None:
    try:
        return plan_offline(request, Catalog({one.key: one for one in tools}), today=TODAY)
    except NoToolFits:
        return None


def done(request: str, tools: tuple[Tool, ...]) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a plan that asks nothing."""
    plan = planned(request, tools)
    assert plan is not None, request
    assert plan.questions == (), request
    return [(step.tool, dict(step.inputs)) for _, step in every_step(plan.block) if isinstance(step, Call)]


def is_asked(request: str, tools: tuple[Tool, ...]) -> bool:
    plan = planned(request, tools)
    return plan is None or bool(plan.questions)


@pytest.mark.parametrize(
    "request_",
    [
        "free the berth of MB-204, cheers mate",
        "Release the berth of MB-204 right now, thanks a lot",
        "when you get a chance, release the berth of MB-204",
        "release the berth of MB-204 as soon as you can",
        "please be a dear and release the berth of MB-204",
        "release the berth of MB-204 NOW!",
        "release the berth of MB-204 for now",
        "MB-204 has lost its mast, release its berth",
    ],
)
def test_courtesies_and_haste_are_no_reason_to_ask(request_: str) -> None:
    assert done(request_, MARINA) == [("release_berth", {"boat_id": "MB-204"})]


@pytest.mark.parametrize(
    "request_",
    [
        "Berechne der Jolle MB-204 45 Euro, danke dir",
        "Facture 45 euros au voilier MB-204, merci beaucoup",
        "Cobra 45 euros al velero MB-204, gracias de antemano",
    ],
)
def test_thanks_change_nothing_in_other_tongues(request_: str) -> None:
    assert done(request_, MARINA) == [("charge_boat", {"boat_id": "MB-204", "amount": 45})]


@pytest.mark.parametrize(
    "request_",
    [
        "cancel J-3001 asap",
        "Storniere den Auftrag J-3001, merci",
        "Storniere J-3001, sobald du kannst",
        "Annule J-3001 dès que possible",
        "Cancela J-3001, gracias",
        "Cancela J-3001 lo antes posible",
    ],
)
def test_nor_are_they_of_what_destroys(request_: str) -> None:
    assert done(request_, PRESS) == [("cancelJob", {"job_id": "J-3001"})]


@pytest.mark.parametrize(
    "request_",
    [
        "Verschick die Broschüren J-3001 mit DHL",
        "Envoie les dépliants J-3001 avec dhl",
        "Envía los folletos J-3001 con dhl",
    ],
)
def test_what_an_id_says_needs_no_word_of_the_tools(request_: str) -> None:
    assert done(request_, PRESS) == [("shipJob", {"job_id": "J-3001", "carrier": "dhl"})]


@pytest.mark.parametrize(
    "request_",
    [
        "ship the piano J-3001 with dhl",
        "Verschick das Piano J-3001 mit DHL",
        "Verschick den Umschlag der Broschüre J-3001 mit DHL",
        "Envoie la facture J-3001 avec dhl",
        "Envía la otra J-3001 con dhl",
        "Storniere die Broschüre J-3001",
    ],
)
def test_an_id_that_is_called_something_else_is_asked_about(request_: str) -> None:
    assert is_asked(request_, PRESS)


@pytest.mark.parametrize(
    "request_",
    [
        "book the large room for Monday 2pm, three hours",
        "Reserva la sala grande para el lunes a las 14, tres horas",
    ],
)
def test_a_room_that_is_an_option_is_a_room(request_: str) -> None:
    expected = {"room": "large", "date": "2026-11-30", "start": "14:00", "hours": 3}
    assert done(request_, PRESS) == [("book_meeting_room", expected)]


@pytest.mark.parametrize(
    "request_",
    [
        "cancel the invoice J-3001",
        "cancel the invoice of J-3001",
        "cancel the cover of J-3001",
        "cancel the remaining J-3001",
        "cancel J-3001 for now",
        "start J-3001 without the cover",
        "start J-3001 when the client agrees",
        "start J-3001 once it is paid",
        "start J-3001 if you can get the paper under 20 euros",
        "Starte J-3001 ohne Umschlag, danke",
        "Starte J-3001, sobald die Platten da sind",
        "Lance J-3001 sans la couverture, merci",
        "Lance J-3001 dès que le client accepte",
        "Lanza J-3001 sin la portada, gracias",
        "Lanza J-3001 cuando llegue el papel",
    ],
)
def test_what_could_change_the_act_is_asked(request_: str) -> None:
    assert is_asked(request_, PRESS)


@pytest.mark.parametrize(
    "request_",
    [
        "tow the trailer of the yacht MB-204",
        "release the berth of MB-204 except on Sundays, thanks",
        "release the berth of MB-204 on Friday, please",
        "charge MB-204 45 euros by Friday, cheers",
        "end the contract of MB-204 for the time being",
    ],
)
def test_restrictions_beside_courtesies_are_asked(request_: str) -> None:
    assert is_asked(request_, MARINA)


def test_a_verb_and_a_unit_name_no_other_parameter() -> None:
    photo = {**TEXT, "description": "Photo number, e.g. p-15"}
    tag = tool("tag_photo", "Tag a photo with a word.", "write", photo_id=photo, tag=TEXT)
    assert done("tag p-17 with dog", (tag,)) == [("tag_photo", {"photo_id": "p-17", "tag": "dog"})]
    litres = {**NUMBER, "description": "Litres"}
    pump = tool(
        "record_fuel", "Record fuel of a boat.", "write", boat_id=BOAT, litres=litres, fuel=one_of("diesel", "petrol")
    )
    asked = planned("record 80 litres diesel for MB-204", (pump,))
    assert asked is not None
    assert asked.questions == ()
    swapped = tool("book_course", "Book a course.", "write", course={**TEXT, "description": "e.g. B12"}, room=TEXT)
    assert is_asked("book room B12 for yoga", (swapped,))


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("changez AP-45 pour les places F8 et F9", {"booking_id": "AP-45", "seats": ["F8", "F9"]}),
        ("Change AP-45 to the seats F8 and F9", {"booking_id": "AP-45", "seats": ["F8", "F9"]}),
        ("Ändere AP-45 auf die Plätze F8 und F9", {"booking_id": "AP-45", "seats": ["F8", "F9"]}),
    ],
)
def test_a_command_of_which_nothing_is_left_needs_no_second_one(request_: str, expected: dict[str, Any]) -> None:
    seats = {"type": "array", "items": TEXT, "description": "Seats, e.g. D4"}
    booking = {**TEXT, "description": "Booking number, e.g. AP-12"}
    tools = (
        tool("change_seats", "Change the seats of a booking.", "write", booking_id=booking, seats=seats),
        tool("get_booking", "Details of one booking.", "read", booking_id=booking),
        tool("cancel_booking", "Cancel a booking.", "destructive", booking_id=booking),
    )
    assert done(request_, tools) == [("change_seats", expected)]


CASE = {"type": "integer", "description": "Case number, e.g. 7011"}
LAW = (
    tool("get_case", "One case: client, lawyer, status.", "read", case_no=CASE),
    tool("assign_case", "Give a case to a lawyer.", "write", case_no=CASE, lawyer={**TEXT, "description": "User name"}),
    tool("decide_appeal", "Decide an appeal.", "write", case_no=CASE, decision=one_of("grant", "reject")),
    tool("send_letter", "Send a letter to the client of a case.", "write", case_no=CASE, body=TEXT),
    tool(
        "checkout_file",
        "Lend a file of a case to somebody.",
        "write",
        case_no=CASE,
        member={**TEXT, "description": "e.g. M-12"},
    ),
    tool("drop_case", "Drop a case for good.", "destructive", case_no=CASE),
)


@pytest.mark.parametrize(
    ("request_", "key", "expected"),
    [
        ("assign 7011 to mara", "assign_case", {"case_no": 7011, "lawyer": "mara"}),
        ("Assign case 7011 to mara, please", "assign_case", {"case_no": 7011, "lawyer": "mara"}),
        ("Gib den Fall 7011 an mara", "assign_case", {"case_no": 7011, "lawyer": "mara"}),
        ("reject appeal 7011", "decide_appeal", {"case_no": 7011, "decision": "reject"}),
        ("grant the appeal 7011", "decide_appeal", {"case_no": 7011, "decision": "grant"}),
        ('Tell the client on case 7011 "We won."', "send_letter", {"case_no": 7011, "body": "We won."}),
        ("Check case 7011 out to M-14", "checkout_file", {"case_no": 7011, "member": "M-14"}),
        ("check out case 7011 to M-14", "checkout_file", {"case_no": 7011, "member": "M-14"}),
    ],
)
def test_a_verb_may_stand_in_for_that_of_the_tool(request_: str, key: str, expected: dict[str, Any]) -> None:
    assert done(request_, LAW) == [(key, expected)]


@pytest.mark.parametrize(
    "request_",
    [
        "assign 7011 to whoever is free",
        "assign 7011 to mara or leo",
        "assign 7011 to mara from June on",
        "reject the offer of case 7011",
        "reject 7011 unless they paid",
        "I rejected 7011",
        "check case 7011",
        "check out how case 7011 went",
        "throw case 7011 to M-14",
        "Tell the client on case 7011",
        "put 7011 on ice",
        "put 7011 with M-14",
        "give 7011 a rest",
    ],
)
def test_nor_does_it_where_something_else_is_meant(request_: str) -> None:
    plan = planned(request_, LAW)
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call)] if plan is not None else []
    assert plan is None or plan.questions or all(call.tool == "get_case" for call in calls)


@pytest.mark.parametrize(
    "request_",
    ["Put MB-204 on C-14", "Mets MB-204 sur C-14", "Pon MB-204 en C-14"],
)
def test_to_put_a_thing_is_what_the_only_tool_does_that_takes_both(request_: str) -> None:
    assert done(request_, MARINA) == [("assign_berth", {"boat_id": "MB-204", "berth": "C-14"})]


def test_to_put_a_thing_is_asked_about_where_two_tools_may_be_meant() -> None:
    berth = {**TEXT, "description": "e.g. C-14"}
    other = tool("reserve_berth", "Keep a berth free for a boat.", "write", boat_id=BOAT, berth=berth)
    assert is_asked("Put MB-204 on C-14", (*MARINA, other))
    assert is_asked("Put MB-204 on C-14 and C-15", MARINA)
    assert is_asked("Put MB-204 on the crane", MARINA)


FUEL = one_of("diesel", "petrol")
PULSE = {"type": "integer", "description": "Beats a minute"}
NOTED = (
    tool("get_boat", "Details of one boat.", "read", boat_id=BOAT),
    tool("record_fuel", "Record fuel that a boat took.", "write", boat_id=BOAT, litres=NUMBER, fuel=FUEL),
    tool(
        "record_pulse",
        "Record the pulse of a guest.",
        "write",
        guest_id={**TEXT, "description": "e.g. G-7"},
        pulse=PULSE,
    ),
    tool(
        "charge_boat",
        "Charge an amount to a boat.",
        "write",
        boat_id=BOAT,
        amount=NUMBER,
        currency=one_of("EUR", "USD"),
    ),
    tool(
        "book_room",
        "Book a room of the club.",
        "write",
        room=one_of("small", "large"),
        date={**TEXT, "format": "date"},
        start={**TEXT, "description": "Start, HH:MM"},
        guests={"type": "integer", "description": "Number of people"},
    ),
    tool("end_contract", "End the contract of a boat.", "destructive", boat_id=BOAT, day={**TEXT, "format": "date"}),
)


@pytest.mark.parametrize(
    ("request_", "key"),
    [
        ("MB-204: 80 litres diesel", "record_fuel"),
        ("MB-204, 80 litres of petrol", "record_fuel"),
        ("G-12: pulse 88", "record_pulse"),
        ("large room, Monday at 2pm, 12 guests please", "book_room"),
        ("small room for 4 guests on Friday at 7pm", "book_room"),
    ],
)
def test_a_note_that_one_tool_alone_takes_means_it(request_: str, key: str) -> None:
    assert [name for name, _ in done(request_, NOTED)] == [key]


@pytest.mark.parametrize(
    "request_",
    [
        "MB-204: 80 litres diesel?",
        "MB-204: no diesel, 80 litres",
        "MB-204: 80 litres diesel, I think",
        "MB-204: 80 litres diesel tomorrow morning",
        "MB-204: 80 litres diesel for the owner",
        "MB-204 got 80 litres of diesel",
        "MB-204: maybe 80 litres diesel",
        "MB-204: 80 litres diesel or petrol",
        "MB-204: 80 litres diesel were recorded",
        "MB-204: 80 litres",
        "MB-204 and MB-205: 80 litres diesel",
        "MB-204: 45 EUR",
        "MB-204: contract, 2026-12-31",
        "large room, Monday at 2pm, 12 guests with lunch",
        "large room, Monday at 2pm, 12 guests if it is free",
    ],
)
def test_a_note_of_which_something_is_left_is_asked_about(request_: str) -> None:
    plan = planned(request_, NOTED)
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call)] if plan is not None else []
    assert plan is None or plan.questions or all(call.tool == "get_boat" for call in calls)


def test_a_note_that_two_tools_take_is_asked_about() -> None:
    order = tool("order_fuel", "Order fuel for a boat.", "write", boat_id=BOAT, litres=NUMBER, fuel=FUEL)
    assert is_asked("MB-204: 80 litres diesel", (*NOTED, order))


SHOP = (
    tool("get_order", "One order: customer, status.", "read", order_no={**TEXT, "description": "e.g. SO-501"}),
    tool(
        "create_shipment",
        "Create the shipment of an order.",
        "write",
        order_no={**TEXT, "description": "Order, e.g. SO-501"},
        carrier=one_of("ups", "dhl"),
    ),
    tool("delete_photo", "Delete a photo.", "destructive", photo_id={**TEXT, "description": "e.g. p-12"}),
    tool("start_count", "Start to count the stock of a zone.", "write", zone=one_of("A", "B", "C")),
    tool("send_reminder", "Send a customer a reminder.", "write", customer={**TEXT, "description": "e.g. c-12"}),
    tool("close_issue", "Close an issue.", "write", number={"type": "integer", "description": "Issue number"}),
)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("Ship SO-577 with dhl", ("create_shipment", {"order_no": "SO-577", "carrier": "dhl"})),
        ("SO-577: ship it with dhl", ("create_shipment", {"order_no": "SO-577", "carrier": "dhl"})),
        ("lösch p-77, ist total verwackelt", ("delete_photo", {"photo_id": "p-77"})),
        ("delete p-77, is way too dark", ("delete_photo", {"photo_id": "p-77"})),
        ("supprime p-77, est complètement floue", ("delete_photo", {"photo_id": "p-77"})),
        ("borra p-77, está muy borrosa", ("delete_photo", {"photo_id": "p-77"})),
        ("delete p-77, the owner rang", ("delete_photo", {"photo_id": "p-77"})),
        ("start the count in B, not in A", ("start_count", {"zone": "B"})),
        ("c-45 bitte freundlich erinnern", ("send_reminder", {"customer": "c-45"})),
        ("send c-45 a friendly reminder", ("send_reminder", {"customer": "c-45"})),
        ("send a reminder to c-45, politely", ("send_reminder", {"customer": "c-45"})),
    ],
)
def test_what_says_why_how_kindly_or_where_not_is_no_question(request_: str, expected: tuple[str, Any]) -> None:
    assert done(request_, SHOP) == [expected]


@pytest.mark.parametrize(
    "request_",
    [
        "SO-577: do not ship it with dhl",
        "SO-577: was it shipped with dhl?",
        "Ship SO-577 with dhl, is it ready?",
        "Ann: ship SO-577 with dhl",
        "delete p-77, is that wise?",
        "delete p-77, is not decided",
        "lösch p-77, ist nicht sicher",
        "start the count in B, not in B",
        "start the count in B, not before A",
        "start the count in B and A is next",
        "send c-45 a secret reminder",
        "send c-45 a written reminder by Friday",
        "remind me to ship SO-577 with dhl",
    ],
)
def test_what_denies_puts_off_or_asks_is_none_of_these(request_: str) -> None:
    plan = planned(request_, SHOP)
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call)] if plan is not None else []
    assert plan is None or plan.questions or all(call.tool == "get_order" for call in calls)


def test_to_ship_is_no_shipment_where_another_tool_ships() -> None:
    other = tool("ship_sample", "Ship a sample of an order.", "write", order_no={**TEXT, "description": "e.g. SO-501"})
    assert is_asked("Ship SO-577 with dhl", (*SHOP, other))


CLUB = (
    tool("get_case", "One case: client, status.", "read", case_no=CASE),
    tool("close_case", "Close a case.", "write", case_no=CASE, outcome=one_of("won", "lost", "settled")),
    tool(
        "page_trainer",
        "Page the trainer on call.",
        "write",
        member_id={**TEXT, "description": "e.g. FC-12"},
        message=TEXT,
    ),
    tool("set_status", "Set the status of a case.", "write", case_no=CASE, status=one_of("pending", "open")),
    tool("suspend_member", "Suspend a member.", "write", member_id={**TEXT, "description": "e.g. FC-12"}),
)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("FC-31 has broken a mirror, suspend them", ("suspend_member", {"member_id": "FC-31"})),
        ("FC-31 is ill, suspend him", ("suspend_member", {"member_id": "FC-31"})),
        ("case 7011 is won, close it", ("close_case", {"case_no": 7011, "outcome": "won"})),
        ("7011: set it to pending", ("set_status", {"case_no": 7011, "status": "pending"})),
        (
            'page the on-call trainer for FC-31: "please come"',
            ("page_trainer", {"member_id": "FC-31", "message": "please come"}),
        ),
        ("suspend FC-31 please mate", ("suspend_member", {"member_id": "FC-31"})),
        ("finally suspend FC-31", ("suspend_member", {"member_id": "FC-31"})),
    ],
)
def test_a_statement_names_its_thing_and_says_why(request_: str, expected: tuple[str, Any]) -> None:
    assert done(request_, CLUB) == [expected]


@pytest.mark.parametrize(
    "request_",
    [
        "FC-31 has been suspended, leave them",
        "FC-31 is not ill, suspend FC-32 or FC-33",
        "FC-31 said to suspend him",
        "FC-31 wants FC-32 suspended",
        "7011: pending?",
        "7011: was it set to pending",
        "7011: nobody set it to pending",
        "suspend FC-31 and finally FC-32's brother",
    ],
)
def test_a_statement_commands_nothing(request_: str) -> None:
    plan = planned(request_, CLUB)
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call)] if plan is not None else []
    assert plan is None or plan.questions or all(call.tool == "get_case" for call in calls)


PART = {**TEXT, "description": "e.g. SK-12"}
STATION = (
    tool(
        "update_show",
        "Change a show.",
        "write",
        show_id={**TEXT, "description": "e.g. SH-12"},
        explicit={"type": "boolean", "description": "For grown-ups alone", "default": False},
        live={"type": "boolean", "description": "Live or not", "default": False},
    ),
    tool(
        "scrap_part",
        "Take broken parts off the stock.",
        "write",
        sku=PART,
        qty={"type": "integer"},
    ),
    tool("get_part", "One part: stock, shelf.", "read", sku=PART),
)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("Mark SH-40 as explicit", ("update_show", {"show_id": "SH-40", "explicit": True})),
        ("Marca SH-40 como explícito", ("update_show", {"show_id": "SH-40", "explicit": True})),
        ("6 pieces of SK-77 got crushed, scrap them", ("scrap_part", {"sku": "SK-77", "qty": 6})),
        ("3 units of SK-77 were crushed by the truck, scrap them", ("scrap_part", {"sku": "SK-77", "qty": 3})),
    ],
)
def test_what_is_marked_and_what_got_broken_is_plain(request_: str, expected: tuple[str, Any]) -> None:
    assert done(request_, STATION) == [expected]


@pytest.mark.parametrize(
    "request_",
    [
        "Mark SH-40 as boring",
        "6 pieces of SK-77 got crushed",
        "6 pieces of SK-77 got crushed, scrap 4 of them",
        "SK-77 is crushed, scrap 4 of SK-78",
        "6 pieces of SK-77 got crushed, scrap 4 pieces of SK-78",
        "6 pieces of SK-77 were scrapped, scrap them",
        "6 pieces of SK-77 got crushed, shall we scrap them?",
    ],
)
def test_what_is_marked_otherwise_or_only_broken_is_not(request_: str) -> None:
    plan = planned(request_, STATION)
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call)] if plan is not None else []
    assert plan is None or plan.questions or all(call.tool == "get_part" for call in calls)


def test_a_plan_that_asks_nothing_is_not_unsure() -> None:
    for request in ("Envoie J-3001 avec dhl, merci", "Envía J-3001 con ups, gracias", "ship J-3001 with dhl"):
        plan = planned(request, PRESS)
        assert plan is not None
        assert plan.questions == ()
        assert (plan.confidence or 0.0) >= 0.5


@pytest.mark.parametrize(
    "request_",
    [
        "Log a plumbing repair for 4B, the tap in the kitchen drips",
        "File a repair for 4B, the door sticks. Don't call anybody yet.",
        "Open a repair for 4B",
    ],
)
def test_the_word_for_what_a_tool_makes_is_no_text_of_it(request_: str) -> None:
    repair = tool(
        "open_repair",
        "Open a repair of a flat.",
        "write",
        flat={"type": "string", "description": "e.g. 7C"},
        description={"type": "string", "description": "What is broken"},
        trade_={"type": "string", "enum": ["plumbing", "electric"]},
    )
    plan = planned(request_, (repair,))
    calls = [step for step in plan.steps if isinstance(step, Call)] if plan is not None else []
    assert plan is None or plan.questions or all(call.inputs["description"] != "repair" for call in calls)
