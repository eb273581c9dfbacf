"""Requests that name nothing of any tool are refused, whatever fits best; those that name something are planned."""

from __future__ import annotations

import pytest
from tests.planner.offline.test_everyday_requests import calls_of

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.scoring.gold import ToolData, catalog_of


def reader(name: str, description: str, **fields: str) -> ToolData:
    return ToolData(
        name=name,
        description=description,
        effect="read",
        parameters={
            "type": "object",
            "properties": {one: {"type": "string", "description": told} for one, told in fields.items()},
            "required": [*fields],
            "additionalProperties": False,
        },
    )


MUSEUM: Catalog = catalog_of(
    (
        reader("find_paintings", "Find paintings.", painter="Name of the painter"),
        reader("get_ticket", "Show a ticket.", ticket_id="Id of the ticket, such as TK-4"),
        reader("get_opening_hours", "Show when a museum is open.", museum="Name of the museum"),
    )
)


@pytest.mark.parametrize(
    "request_",
    ["What is the capital of Peru?", "Tell me a joke about Berlin", "How tall is Kilimanjaro?", "Translate 'cheese'"],
)
def test_a_request_that_names_nothing_of_any_tool_is_refused(request_: str) -> None:
    with pytest.raises(NoToolFits) as refused:
        plan_offline(request_, MUSEUM)
    assert "find_paintings" in str(refused.value)


@pytest.mark.parametrize(
    ("request_", "tool"),
    [
        ("Show me TK-9", "get_ticket"),
        ("Find paintings by Rembrandt", "find_paintings"),
        ("When is the museum Louvre open?", "get_opening_hours"),
        ("find_paintings Rembrandt", "find_paintings"),
        ("Look up Frida Kahlo", "find_paintings"),
    ],
)
def test_a_request_that_names_an_act_a_thing_or_an_id_is_planned(request_: str, tool: str) -> None:
    assert [call.tool for call in calls_of(plan_offline(request_, MUSEUM))] == [tool]


def test_a_tool_that_is_named_for_no_thing_is_for_anything() -> None:
    anything = catalog_of((reader("search", "Search the web.", query="What to search for"),))
    (call,) = calls_of(plan_offline("Search for: how tall is Kilimanjaro?", anything))
    assert call.tool == "search"
