"""Requests whose act or thing no tool has are refused, and those that a tool serves are not, in whatever words."""

from __future__ import annotations

from functools import cache

import pytest
from tests.planner.offline.test_everyday_requests import FOLDER, lines, planned
from tests.planner.offline.test_unfit_requests import writes

from toolpath.catalog.snapshot import Catalog
from toolpath.planner.scoring.gold import ToolData, catalog_of, read_tool_set
from toolpath.planner.scoring.people import shipped

#: Of 230 requests that no tool serves so many are refused at least; the others are asked about, or only read.
LEAST_REFUSED = 187


@cache
def tool_sets() -> dict[str, Catalog]:
    files = (shipped.FOLDER / shipped.TOOL_SETS, FOLDER / "unserved_tool_sets.jsonl")
    found = [read_tool_set(line) for path in files for line in path.read_bytes().splitlines()]
    return {one.toolset: catalog_of(one.tools) for one in found}


def test_what_no_tool_serves_is_refused_and_never_written() -> None:
    tasks = lines("unserved.jsonl")
    assert [one["request"] for one in tasks if writes(one["request"], tool_sets()[one["toolset"]])] == []
    refused = [one for one in tasks if planned(one["request"], tool_sets()[one["toolset"]]) is None]
    assert len(refused) >= LEAST_REFUSED


def test_what_a_tool_serves_is_not_refused() -> None:
    """`refused` are known to be refused wrongly: words that nothing here knows for the tools', as `vans`."""
    tasks = [one for one in lines("served.jsonl") if not one.get("refused")]
    assert len(tasks) >= 100
    assert [one["request"] for one in tasks if planned(one["request"], tool_sets()[one["toolset"]]) is None] == []


def _reader(name: str, description: str, **fields: str) -> Catalog:
    told = {one: {"type": "string", "description": text} for one, text in fields.items()}
    parameters = {"type": "object", "properties": told, "required": [*fields]}
    return catalog_of((ToolData(name=name, description=description, effect="read", parameters=parameters),))


CIRCLE = _reader("geometry.circle_area", "Calculate the area of a circle.", radius="Radius of the circle")
TICKET = _reader("get_ticket", "Show a ticket.", ticket_id="Id of the ticket, such as T-9")
DEVICES = _reader("turn_on", "Turn a device on.", device="Name of the device")


@pytest.mark.parametrize(
    ("said", "served", "catalog"),
    [
        ("What is the circumference of a circle with radius 5?", "What is the area of a circle with radius 5?", CIRCLE),
        ("Translate T-9 into Spanish", "Show T-9", TICKET),
        ("Wash T-9", "Open T-9", TICKET),
        ("Sell T-9", "Look up T-9", TICKET),
        ("What is a ticket?", "What is the status of the ticket T-9?", TICKET),
        ("Paint the oven", "Turn on the oven", DEVICES),
    ],
)
def test_it_is_the_act_and_the_thing_that_are_to_be_served(said: str, served: str, catalog: Catalog) -> None:
    assert planned(said, catalog) is None
    assert planned(served, catalog) is not None
