"""Which parameter a value of a request fills: by its form, the words beside it, examples and what is left for whom."""

from __future__ import annotations

from datetime import date

import pytest
from tests.planner.offline.tools_of_values import CENTRE, HOTEL, VET

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call, Plan
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.offline.request.asking import told_once
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import ToolField
from toolpath.planner.offline.request.values_of_fields import measured

WEDNESDAY = date(2026, 5, 13)


def planned(text: str, catalog: Catalog) -> Plan:
    return plan_offline(text, catalog, today=WEDNESDAY)


def call_of(plan: Plan) -> Call:
    (step,) = plan.steps
    assert isinstance(step, Call)
    return step


@pytest.mark.parametrize(
    ("catalog", "text", "tool", "inputs"),
    [
        (VET, "record PT-88: weighs 4.2 kg", "weigh_pet", {"pet_id": "PT-88", "weight_kg": 4.2}),
        (VET, "weigh PT-88 at 850 g", "weigh_pet", {"pet_id": "PT-88", "weight_kg": 0.85}),
        (
            VET,
            "Prescribe PT-31 200 mg amoxicillin for 7 days",
            "prescribe",
            {"pet_id": "PT-31", "medicine": "amoxicillin", "dose_mg": 200, "days": 7},
        ),
        (
            VET,
            "prescribe meloxicam 0.5 g to PT-31",
            "prescribe",
            {"pet_id": "PT-31", "medicine": "meloxicam", "dose_mg": 500},
        ),
        (
            VET,
            "book PT-204 in for a jab on friday at quarter past three in the afternoon",
            "book_visit",
            {"pet_id": "PT-204", "start": "2026-05-15T15:15", "kind": "vaccination"},
        ),
        (
            VET,
            "tell the owner of PT-9 that the blood results are fine",
            "message_owner",
            {"pet_id": "PT-9", "text": "the blood results are fine"},
        ),
        (
            VET,
            "Schreib dem Besitzer von PT-12, dass die Operation gut verlaufen ist",
            "message_owner",
            {"pet_id": "PT-12", "text": "die Operation gut verlaufen ist"},
        ),
        (VET, "close T4 until tomorrow 8am", "close_room", {"room": "T4", "until": "2026-05-14T08:00"}),
        # What one tool says of an option holds for all that have it.
        (VET, "list the visits for a jab", "list_visits", {"kind": "vaccination"}),
        # 4117 is no number of stars, and 2 of no visit as long as that one is.
        (VET, "rate 2 for visit 4117", "rate_visit", {"visit_no": 4117, "stars": 2}),
        (VET, "rate visit 4117 with 4 in MUC", "rate_visit", {"visit_no": 4117, "stars": 4, "practice": "MUC"}),
        (VET, "show me the rabbits", "list_pets", {"species": "rabbit"}),
        (
            HOTEL,
            "any rooms free from 3 to 9 June for two people with a sea view?",
            "find_rooms",
            {"check_in": "2026-06-03", "check_out": "2026-06-09", "guests": 2, "view": "sea"},
        ),
        (
            HOTEL,
            "reserve 14c for Ana Prieto from 3 to 9 June with breakfast",
            "reserve_room",
            {
                "room_no": "14c",
                "guest": "Ana Prieto",
                "check_in": "2026-06-03",
                "check_out": "2026-06-09",
                "breakfast": True,
            },
        ),
        (
            HOTEL,
            "Réserve la 3a pour Luc Morel du 2 au 5 juillet",
            "reserve_room",
            {"room_no": "3a", "guest": "Luc Morel", "check_in": "2026-07-02", "check_out": "2026-07-05"},
        ),
        (
            HOTEL,
            "Reserva la 3a para Luc Morel del 2 al 5 de julio",
            "reserve_room",
            {"room_no": "3a", "guest": "Luc Morel", "check_in": "2026-07-02", "check_out": "2026-07-05"},
        ),
        (
            HOTEL,
            "wake 12b up at half six tomorrow morning",
            "wake_up_call",
            {"room_no": "12b", "time": "06:30", "date": "2026-05-14"},
        ),
        (
            HOTEL,
            "set the rate of 9d to 129 euros from 1 July",
            "set_rate",
            {"room_no": "9d", "price": 129, "valid_from": "2026-07-01"},
        ),
        (HOTEL, "which guests are from Portugal?", "list_guests", {"country": "PT"}),
        (HOTEL, "Welche Gäste kommen aus Österreich?", "list_guests", {"country": "AT"}),
        (
            HOTEL,
            "order 24 bottles of Rioja for the minibar",
            "minibar_order",
            {"item": "Rioja", "quantity": 24},
        ),
        (HOTEL, "occupancy of the last 30 days", "occupancy", {"period": "30d"}),
        (CENTRE, "resize data-main to 2 TB", "resize_volume", {"name": "data-main", "size_gb": 2000}),
        (CENTRE, "reboot mail in eu-2", "reboot_server", {"name": "mail", "zone": "eu-2"}),
        (CENTRE, "deploy web:1.4 on front", "deploy_image", {"server": "front", "image": "web:1.4"}),
        (
            CENTRE,
            "post in #alerts: maintenance at 10 is off",
            "post_message",
            {"channel": "#alerts", "text": "maintenance at 10 is off"},
        ),
        (
            CENTRE,
            'raise a p2, "Disk full", for mail',
            "raise_alarm",
            {"title": "Disk full", "level": "p2", "system": "mail"},
        ),
        (CENTRE, "block the badge ending 0042", "block_badge", {"badge": "0042"}),
        (
            CENTRE,
            "move 40 cores to maps from search",
            "move_quota",
            {"from_team": "search", "to_team": "maps", "cores": 40},
        ),
        (
            CENTRE,
            "log SN-4: temp 21.5, humidity 40",
            "log_reading",
            {"sensor_id": "SN-4", "temperature": 21.5, "humidity": 40},
        ),
    ],
)
def test_each_value_fills_the_parameter_that_it_is_for(
    catalog: Catalog, text: str, tool: str, inputs: dict[str, object]
) -> None:
    plan = planned(text, catalog)
    assert plan.questions == ()
    assert (call_of(plan).tool, call_of(plan).inputs) == (tool, inputs)


@pytest.mark.parametrize(
    ("catalog", "text"),
    [
        # Of several measurements nothing says which one it is.
        (CENTRE, "log 21.5 for SN-4"),
        # The half of the day is not said.
        (HOTEL, "wake 12b up at half six tomorrow"),
        # No card, no room and no badge is so written.
        (CENTRE, "block badge 77812"),
    ],
)
def test_a_value_that_may_be_for_something_else_is_asked_about(catalog: Catalog, text: str) -> None:
    plan = planned(text, catalog)
    assert plan.questions or (plan.confidence or 0.0) < 0.4


def test_a_number_in_a_measure_that_the_parameter_is_not_of_is_not_its_value() -> None:
    field = ToolField(name="size_gb", kind="number", description="Gigabytes")
    assert measured(Span("number", "2 TB", 2, 0, 4, "tb"), field) == 2000
    assert measured(Span("number", "2 kg", 2, 0, 4, "kg"), field) is None
    assert measured(Span("number", "2", 2, 0, 1), field) == 2


def test_a_pattern_that_would_take_for_ever_is_not_tried() -> None:
    plan = planned("block badge 7781", CENTRE)
    assert call_of(plan).inputs == {"badge": "7781"}

    field = ToolField(name="code", kind="id", pattern="^(a+)+$")
    assert field.admits("a" * 50 + "!")


def test_what_is_left_over_is_asked_about_once() -> None:
    asked = [
        "What is meant by 'Werkstatt Bremsen quietschen'?",
        "The plan does nothing about 'die Werkstatt': what of it?",
        "The plan does nothing about 'die Bremsen quietschen': what of it?",
        "The plan does nothing about 'Friday': what of it?",
        "The plan does nothing about '21.5': what of it?",
    ]
    assert told_once(asked) == [asked[0], *asked[3:]]
