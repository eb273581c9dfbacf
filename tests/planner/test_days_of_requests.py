"""Days that a request counts from its own are those of the service's clock, in the zone that is set."""

from __future__ import annotations

import contextlib
from datetime import date
from typing import Any

import pytest
from tests.planner.planning_cases import answer

from toolpath import Settings, Toolpath
from toolpath.errors import ConfigError, SchemaError, ToolpathError
from toolpath.model.plan import Call
from toolpath.planner.offline.request.moments import days_in
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted
from toolpath.testing.scripted_chat import ScriptedChat

#: 2026-06-10, 22:30 in London, which is UTC + 1; in Tokyo it is tomorrow.
LATE = 1_781_127_000.0


async def day_said(request: str, asked_in: Any = "", **settings: str) -> object:
    schema = {
        "type": "object",
        "properties": {"day": {"type": "string", "format": "date", "description": "Which day"}},
        "required": ["day"],
    }
    async with Toolpath(clock=FakeClock(start=LATE), settings=Settings(**settings)) as tp:  # type: ignore[arg-type]
        tp.add(
            scripted("list_appointments", then=[], description="List the appointments of a day.", input_schema=schema)
        )
        plan = await tp.plan(request, time_zone=asked_in)
    (step,) = plan.steps
    assert isinstance(step, Call)
    return step.inputs["day"]


@pytest.mark.parametrize(
    ("request_text", "zone", "day"),
    [
        ("List the appointments of tomorrow", "", "2026-06-11"),
        ("List the appointments of tomorrow", "Asia/Tokyo", "2026-06-12"),
        ("Liste die Termine von heute auf", "Europe/London", "2026-06-10"),
        ("List the appointments of Friday", "UTC", "2026-06-12"),
    ],
)
async def test_a_day_is_counted_from_the_clock_in_its_zone(request_text: str, zone: str, day: str) -> None:
    assert await day_said(request_text, time_zone=zone) == day


@pytest.mark.parametrize(
    ("asked_in", "setting", "day"),
    [("Asia/Tokyo", "", "2026-06-12"), ("UTC", "Asia/Tokyo", "2026-06-11"), ("", "Asia/Tokyo", "2026-06-12")],
)
async def test_a_request_may_say_its_zone_itself(asked_in: str, setting: str, day: str) -> None:
    assert await day_said("List the appointments of tomorrow", asked_in, time_zone=setting) == day


@pytest.mark.parametrize(
    "zone",
    [
        "Mars/Base",
        "../../etc/passwd",
        "\0",
        "\ud800",
        "x" * 1_000,
        "localtime",
        "posixrules",
        "posix/UTC",
        "right/UTC",
        5,
        None,
    ],
)
async def test_a_request_with_a_zone_that_there_is_none_is_refused(zone: Any) -> None:
    with pytest.raises(SchemaError, match="There is no time zone") as refused:
        await day_said("List the appointments of tomorrow", zone)
    assert len(refused.value.message) < 200


async def test_a_model_is_told_the_time_in_the_zone_of_the_request() -> None:
    chat = ScriptedChat(answer())
    async with Toolpath(clock=FakeClock(start=LATE), chat=chat) as tp:
        tp.add(scripted("list_appointments", then=[], description="List the appointments of a day."))
        with contextlib.suppress(ToolpathError):
            await tp.plan("List the appointments of tomorrow", time_zone="Asia/Tokyo", planner="model")
    assert "2026-06-11" in chat.requests[0].messages[0].text
    assert "Asia/Tokyo" in chat.requests[0].messages[0].text


async def test_a_zone_that_there_is_none_is_said() -> None:
    with pytest.raises(ConfigError, match="There is no time zone"):
        await day_said("List the appointments of tomorrow", time_zone="Mars/Base")


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("the day after tomorrow", "2026-06-12"),
        ("in 3 days", "2026-06-13"),
        ("in two weeks", "2026-06-24"),
        ("3 days ago", "2026-06-07"),
        ("in drei Tagen", "2026-06-13"),
        ("übermorgen", "2026-06-12"),
        ("dans 3 jours", "2026-06-13"),
        ("après-demain", "2026-06-12"),
        ("dentro de 3 días", "2026-06-13"),
        ("pasado mañana", "2026-06-12"),
        ("nächsten Montag", "2026-06-15"),
        ("le 3 juillet", "2026-07-03"),
    ],
)
def test_days_that_are_counted_from_today(said: str, day: str) -> None:
    assert next(days_in(f"x {said} y", date(2026, 6, 10))).iso == day


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("to this Friday", "2026-06-12"),
        ("to Friday next week", "2026-06-19"),
        ("next week on Friday", "2026-06-19"),
        ("nächste Woche Freitag", "2026-06-19"),
        ("le vendredi de la semaine prochaine", "2026-06-12"),
        ("of last Friday", "2026-06-05"),
        ("of last Wednesday", "2026-06-03"),
        ("since Monday", "2026-06-08"),
        ("seit Montag", "2026-06-08"),
        ("el viernes pasado", "2026-06-05"),
        ("on Wednesday the 24th", "2026-06-24"),
        ("on the 24th", "2026-06-24"),
        ("to the 3rd at 9:30", "2026-07-03"),
        ("by the 31st", "2026-07-31"),
        ("on Friday 31 July", "2026-07-31"),
        ("on Friday, July 31st, 2026", "2026-07-31"),
        ("on the twenty-first of July", "2026-07-21"),
    ],
)
def test_a_day_is_read_as_people_say_it(said: str, day: str) -> None:
    found = list(days_in(said, date(2026, 6, 10)))
    assert found
    assert found[0].iso == day


@pytest.mark.parametrize("said", ["the 3rd result", "to the 2nd floor", "this Monday and no other", "the 31st of June"])
def test_what_is_no_day_or_may_be_past_is_not_taken_for_one_alone(said: str) -> None:
    days = [one for one in days_in(said, date(2026, 6, 10)) if one.end - one.start > len("Monday")]
    assert days == []


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Move EV-12 to next Friday", ["2026-06-12", "2026-06-19"]),
        ("Move EV-12 to Friday next week", []),
        # On a Thursday no Monday of this week is left.
        ("Move EV-12 to next Monday", []),
    ],
)
async def test_a_day_of_which_people_mean_different_ones_is_asked_before_a_write(said: str, asked: list[str]) -> None:
    schema = {
        "type": "object",
        "properties": {
            "event_id": {"type": "string", "description": "Id such as EV-12"},
            "date": {"type": "string", "format": "date", "description": "New day"},
        },
        "required": ["event_id", "date"],
    }
    async with Toolpath(clock=FakeClock(start=LATE)) as tp:
        tp.add(
            scripted(
                "move_event",
                then={},
                effect="write",
                description="Move an event to another day.",
                input_schema=schema,
            )
        )
        plan = await tp.plan(said)
    assert bool(plan.questions) == bool(asked)
    assert all(day in plan.questions[0] for day in asked)
