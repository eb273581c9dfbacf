"""Courtesies as they are typed in haste: they say no more than their long forms, and command no more."""

from __future__ import annotations

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call
from toolpath.planner.offline.planner import plan_offline

TOOLS = (
    tool("cancel_booking", "Cancel a booking.", "write", booking_id={"type": "string", "description": "e.g. CB-1"}),
    tool("archive_report", "Archive a report.", "write", report_id={"type": "string", "description": "e.g. CB-1"}),
)
CATALOG = Catalog({one.key: one for one in TOOLS})
COMMANDS = (
    ("cancel booking {}", "cancel_booking", ("pls", "plz", "thx", "thanx")),
    ("archive report {}", "archive_report", ("pls", "plz", "thx")),
    ("annule la réservation {}", "cancel_booking", ("stp", "svp")),
    ("cancela la reserva {}", "cancel_booking", ("porfa", "xfa")),
)


@pytest.mark.parametrize(("command", "key", "courtesies"), COMMANDS, ids=[one[0] for one in COMMANDS])
def test_a_short_courtesy_changes_nothing(command: str, key: str, courtesies: tuple[str, ...]) -> None:
    said = command.format("CB-5521")
    for short in courtesies:
        for request in (f"{said} {short}", f"{said}, {short}", f"{said}. {short.title()}!"):
            plan = plan_offline(request, CATALOG)
            assert [step.tool for step in plan.steps if isinstance(step, Call)] == [key], request
            assert not plan.questions, (request, plan.questions)


@pytest.mark.parametrize("short", ["pls", "plz", "porfa", "stp"])
def test_a_short_courtesy_makes_a_command_of_nothing_that_is_none(short: str) -> None:
    for request in (f"don't cancel booking CB-5521 {short}", f"cancel booking CB-5521 if it rains {short}"):
        plan = plan_offline(request, CATALOG)
        assert plan.questions or not plan.steps, request
