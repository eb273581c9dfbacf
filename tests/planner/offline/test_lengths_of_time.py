"""Lengths of time, amounts and shares that a request says, as people say them in four languages."""

from __future__ import annotations

from datetime import date

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.lengths import in_unit_of_time, lengths_in
from toolpath.model.plan import Call
from toolpath.model.tool import Tool
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.offline.request.spans import spans_of

WEDNESDAY = date(2026, 5, 13)


KITCHEN = (
    tool("set_timer", "Start a timer.", "write", minutes={"type": "integer", "description": "How long"}),
    tool(
        "heat_oven",
        "Heat the oven.",
        "write",
        degrees={"type": "integer", "description": "How hot"},
        hours_={"type": "integer", "description": "Whole hours that it stays on"},
        minutes_={"type": "integer", "description": "Further minutes that it stays on"},
    ),
)
HALL = (
    tool(
        "rentStudio",
        "Rent a studio.",
        "write",
        studioNumber={"type": "integer"},
        memberId={"type": "string", "description": "Such as MB-12"},
        months_={"type": "integer", "description": "How long"},
    ),
    tool(
        "extend_pass",
        "Extend a pass.",
        "write",
        pass_id={"type": "string", "description": "Such as PS-4"},
        days_={"type": "integer", "description": "By how many days"},
    ),
)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("half an hour", 30, "minute"),
        ("three and a half hours", 3.5, "hour"),
        ("an hour and a half", 1.5, "hour"),
        ("three quarters of an hour", 45, "minute"),
        ("1 hour and 20 minutes", 80, "minute"),
        ("two weeks and three days", 17, "day"),
        ("a fortnight", 14, "day"),
        ("half a year", 6, "month"),
        ("1,000 days", 1000, "day"),
        ("a five-minute break", 5, "minute"),
        ("another two weeks", 2, "week"),
        ("two more days", 2, "day"),
        ("anderthalb Stunden", 1.5, "hour"),
        ("zweieinhalb Stunden", 2.5, "hour"),
        ("eine Viertelstunde", 15, "minute"),
        ("ein halbes Jahr", 6, "month"),
        ("weitere zwei Wochen", 2, "week"),
        ("une heure et demie", 1.5, "hour"),
        ("trois quarts d'heure", 45, "minute"),
        ("deux jours de plus", 2, "day"),
        ("un an", 1, "year"),
        ("hora y media", 1.5, "hour"),
        ("dos horas y media", 2.5, "hour"),
        ("un cuarto de hora", 15, "minute"),
        ("dos semanas más", 2, "week"),
    ],
)
def test_a_length_is_one_value_however_it_is_said(text: str, value: float, unit: str) -> None:
    (found,) = lengths_in(f"take {text}, please")
    assert (found.value, found.unit) == (value, unit)


@pytest.mark.parametrize(
    "text", ["half the year", "halb acht", "Ticket 640 an Ines geben", "the once hours", "1 hourly"]
)
def test_what_only_looks_like_a_length_is_none(text: str) -> None:
    assert lengths_in(text) == []


def test_a_length_becomes_one_in_another_unit_of_its_kind_alone() -> None:
    assert in_unit_of_time(2, "week", "day") == 14
    assert in_unit_of_time(1.5, "year", "month") == 18
    assert in_unit_of_time(90, "minute", "hour") == 1.5
    assert in_unit_of_time(1, "month", "day") is None


@pytest.mark.parametrize(
    ("tools", "text", "inputs"),
    [
        (KITCHEN, "set a timer for an hour and a half", {"minutes": 90}),
        (KITCHEN, "start a timer for 1 hour and 20 minutes", {"minutes": 80}),
        (KITCHEN, "Stell einen Timer auf anderthalb Stunden", {"minutes": 90}),
        (KITCHEN, "lance un minuteur de trois quarts d'heure", {"minutes": 45}),
        (KITCHEN, "pon un temporizador de hora y media", {"minutes": 90}),
        (KITCHEN, "heat the oven to 180 for 1 hour 20 minutes", {"degrees": 180, "hours": 1, "minutes": 20}),
        (HALL, "Rent studio 47 to MB-118 for half a year", {"studioNumber": 47, "memberId": "MB-118", "months": 6}),
        (HALL, "Could you please extend PS-9 by another two weeks?", {"pass_id": "PS-9", "days": 14}),
        (HALL, "Verlängere PS-9 um weitere zwei Wochen", {"pass_id": "PS-9", "days": 14}),
    ],
)
def test_a_length_is_filled_in_in_the_unit_of_its_parameter(
    tools: tuple[Tool, ...], text: str, inputs: dict[str, object]
) -> None:
    plan = plan_offline(text, Catalog(tools={one.key: one for one in tools}), today=WEDNESDAY)
    (step,) = plan.steps
    assert isinstance(step, Call)
    assert (step.inputs, plan.questions) == (inputs, ())


def test_a_length_that_no_unit_of_the_tool_takes_is_asked_about() -> None:
    plan = plan_offline("Extend PS-9 by two months", Catalog(tools={one.key: one for one in HALL}), today=WEDNESDAY)
    assert plan.questions


@pytest.mark.parametrize(
    ("text", "kind", "value", "unit"),
    [
        ("it costs $2.5 million", "money", 2_500_000, "USD"),
        ("pay 3k euros", "money", 3_000, "EUR"),
        ("two hundred and fifty euros", "money", 250, "EUR"),
        ("zweihundertfünfzig Euro", "money", 250, "EUR"),
        ("deux millions d'euros", "money", 2_000_000, "EUR"),
        ("set it to twenty percent", "percent", 20, ""),
        ("auf zwanzig Prozent", "percent", 20, ""),
        ("à vingt pour cent", "percent", 20, ""),
        ("half a dozen eggs", "number", 6, ""),
        ("ein halbes Dutzend Eier", "number", 6, ""),
    ],
)
def test_an_amount_is_one_value_with_what_it_is_of(text: str, kind: str, value: float, unit: str) -> None:
    (found,) = [one for one in spans_of(text, WEDNESDAY) if one.kind in ("money", "percent", "number")]
    assert (found.kind, found.value, found.unit) == (kind, value, unit)


LAMPS = (
    tool(
        "set_brightness",
        "Set the brightness of a lamp.",
        "write",
        lamp={"type": "string", "description": "Name of the lamp"},
        brightness={"type": "integer", "description": "Brightness in percent, 0 to 100"},
    ),
    tool(
        "insure_parcel",
        "Send a parcel.",
        "write",
        parcel_id={"type": "string", "description": "Such as PA-7"},
        insured_={"type": "boolean", "description": "Whether it is insured"},
    ),
)


@pytest.mark.parametrize(
    "text",
    [
        "set the brightness of the Hall lamp to 40%",
        "set the brightness of the Hall lamp to forty percent",
        "Stell die Helligkeit der Lampe Flur auf 40 %",
    ],
)
def test_a_share_fills_a_number_that_is_given_in_hundredths(text: str) -> None:
    plan = plan_offline(text, Catalog(tools={one.key: one for one in LAMPS}), today=WEDNESDAY)
    (step,) = plan.steps
    assert isinstance(step, Call)
    assert step.inputs["brightness"] == 40


def test_a_word_is_not_mended_into_its_contrary() -> None:
    plan = plan_offline("send parcel PA-7 uninsured", Catalog(tools={one.key: one for one in LAMPS}), today=WEDNESDAY)
    (step,) = plan.steps
    assert isinstance(step, Call)
    assert step.inputs.get("insured") is not True


@pytest.mark.parametrize("text", ["In a year, extend PS-9 by 3 days", "In two weeks, extend PS-9 by 2 days"])
def test_a_length_that_says_when_is_held_by_no_other_number(text: str) -> None:
    plan = plan_offline(text, Catalog(tools={one.key: one for one in HALL}), today=WEDNESDAY)
    assert plan.questions
