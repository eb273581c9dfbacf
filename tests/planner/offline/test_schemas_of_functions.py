"""Parameters as functions write them: an optional one may be null, an enum is a reference, a model is an object."""

from __future__ import annotations

from datetime import date
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from toolpath import Toolpath, tool
from toolpath.model.plan import Plan


class Level(Enum):
    LOW = "low"
    HIGH = "high"


class Guest(BaseModel):
    name: str
    email: str


@tool(effect="write")
def set_light(dock: str, level: Level) -> str:
    """Set the light of a dock."""
    return dock


@tool(effect="write")
def set_lamp(dock: str, level: Literal["low", "high"] | None = None) -> str:
    """Set the lamp of a dock."""
    return dock


@tool(effect="write")
def create_guest(guest: Guest) -> str:
    """Create a guest."""
    return guest.name


@tool(effect="read")
def unpaid_invoices(boat: str | None = None) -> list[str]:
    """List the unpaid invoices, of all boats or of one.

    Args:
        boat: Name of the boat.
    """
    return []


@tool(effect="read")
def list_boats(dock: str, day: date = date(2026, 1, 1)) -> list[str]:
    """List the boats at a dock on a day."""
    return []


async def planned(said: str) -> Plan:
    async with Toolpath() as tp:
        tp.add(set_light, set_lamp, create_guest, unpaid_invoices, list_boats)
        return await tp.plan(said)


@pytest.mark.parametrize(
    ("said", "key", "inputs"),
    [
        ("Set the light of dock A to high", "set_light", {"dock": "A", "level": "high"}),
        ("Set the lamp of dock A to high", "set_lamp", {"dock": "A", "level": "high"}),
        (
            "Create guest Ada with email ada@example.org",
            "create_guest",
            {"guest": {"name": "Ada", "email": "ada@example.org"}},
        ),
        ("List the unpaid invoices of Seagull", "unpaid_invoices", {"boat": "Seagull"}),
        ("List the unpaid invoices", "unpaid_invoices", {}),
        ("List the boats at dock A on 5 December 2026", "list_boats", {"dock": "A", "day": "2026-12-05"}),
    ],
)
async def test_they_are_filled_as_any_parameter_is(said: str, key: str, inputs: dict[str, Any]) -> None:
    plan = await planned(said)
    assert [(step.tool, step.inputs) for step in plan.steps] == [(key, inputs)]
    assert plan.questions == ()


@pytest.mark.parametrize("said", ["List the unpaid invoices of the Möwe", "List the boats at dock A tomorrow"])
async def test_what_would_show_less_is_asked_about_and_not_dropped(said: str) -> None:
    assert (await planned(said)).questions
