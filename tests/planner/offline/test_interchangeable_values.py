"""Values that could as well be swapped, and things that are no value: what would be written is asked about first."""

from __future__ import annotations

import pytest

from toolpath.errors import NoToolFits
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.scoring.gold import ToolData, catalog_of


def writer(name: str, description: str, **fields: str) -> ToolData:
    return ToolData(
        name=name,
        description=description,
        effect="write",
        parameters={
            "type": "object",
            "properties": {one: {"type": "string", "description": told} for one, told in fields.items()},
            "required": [*fields],
            "additionalProperties": False,
        },
    )


HARBOUR = catalog_of(
    (
        writer("register_crew", "Register a crew for a quay.", crew="Name of the crew", quay="Quay they use"),
        writer("order_chart", "Order a chart for a boat.", isbn="ISBN of the chart", boat_id="Boat, such as BT-4"),
    )
)


@pytest.mark.parametrize("said", ["Register Red Anchor Northgate", "Register Northgate and Red Anchor please"])
def test_two_names_that_nothing_tells_apart_are_asked_about(said: str) -> None:
    assert plan_offline(said, HARBOUR).questions


@pytest.mark.parametrize(
    "said",
    [
        "Order a chart for BT-4",
        "order some chart for BT-4",
        "Bestell eine Karte für BT-4",
        "Commande une carte pour BT-4",
    ],
)
def test_what_only_names_the_thing_says_not_which(said: str) -> None:
    try:
        plan = plan_offline(said, HARBOUR)
    except NoToolFits:
        return
    assert plan.questions
