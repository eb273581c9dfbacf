"""Requests that join things: every one is done, all in one call where it takes a list, or the plan asks."""

from __future__ import annotations

import random
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from toolpath import Settings
from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.scoring.gold import catalog_of, gold_calls, made_calls, read_task, read_tool_set
from toolpath.planner.scoring.score import score_plan

FOLDER = Path(__file__).parent / "everyday"
TODAY = date(2026, 3, 10)
THINGS = (
    "tea",
    "milk",
    "bread",
    "honey",
    "rice",
    "jam",
    "butter",
    "soap",
    "pasta",
    "salt",
    "cocoa",
    "flour",
    "ham",
    "pears",
    "plums",
    "cheese",
    "sugar",
)
NAMES = ("Anna", "Ben", "Carla", "Dora", "Emil", "Frida", "Gus", "Hugo", "Ida", "Jon")
ADDRESSES = tuple(f"{name.lower()}@acme.org" for name in NAMES)
#: Tool set, what is asked for, the tool, and what may be joined in it.
FRAMES = (
    ("pantry", "Order {}", "order_item", THINGS),
    ("pantry", "Get the price of {}", "get_price", THINGS),
    ("pantry", "Put {} on the shopping list", "add_to_list", THINGS),
    ("pantry", "throw away the {}", "throw_away", THINGS),
    ("lending", "Take back {}", "take_back", tuple(f"BK-{number}" for number in range(3, 30, 3))),
    ("lending", "Lend {} to R-5", "lend_book", tuple(f"BK-{number}" for number in range(3, 30, 3))),
    ("team", "Add {} to the design group", "add_members", NAMES),
    ("team", "remove {} from the sales group", "remove_member", NAMES),
    ("team", "Invite {}", "send_invite", ADDRESSES),
    ("warehouse", "Move {} to bay B7", "move_pallet", tuple(f"PL-{number}" for number in range(2, 30, 4))),
    ("warehouse", "print labels for {}", "print_labels", tuple(f"SO-{number}" for number in range(2, 30, 4))),
    ("restaurant", "take {} off the menu", "remove_dish", THINGS),
)
LAST = (
    " and ",
    ", and ",
    " as well as ",
    " plus ",
    " and also ",
    ", ",
    " & ",
    " together with ",
    " along with ",
    ", then ",
)


@cache
def tool_sets() -> dict[str, Catalog]:
    found = map(read_tool_set, (FOLDER / "joined_tool_sets.jsonl").read_bytes().splitlines())
    return {one.toolset: catalog_of(one.tools) for one in found}


def run_of(request: str, catalog: Catalog) -> Plan | None:
    """The plan that a run would carry out; None where it asks or is refused."""
    try:
        plan = plan_offline(request, catalog, today=TODAY)
    except NoToolFits:
        return None
    return None if plan.questions or (plan.confidence or 0.0) < Settings().planner_floor else plan


def test_what_a_request_joins_is_planned_whole_or_asked_about() -> None:
    wrong, asked = [], []
    for line in (FOLDER / "joined.jsonl").read_bytes().splitlines():
        task = read_task(line)
        catalog = tool_sets()[task.toolset or ""]
        plan = run_of(task.query, catalog)
        if plan is None:
            asked += [task.query] if "question" not in task.right else []
        elif not task.gold_plan or not score_plan(made_calls(plan), gold_calls(task, catalog)).is_whole:
            wrong.append(task.query)
    assert wrong == []
    assert asked == []


@pytest.mark.parametrize("seed", [1, 2])
def test_of_joined_things_none_is_left_out_or_taken_for_something_else(seed: int) -> None:
    chance = random.Random(seed)
    asked = 0
    for _ in range(60):
        tools, frame, tool, pool = chance.choice(FRAMES)
        things = chance.sample(pool, chance.randint(2, 5))
        request = frame.format(", ".join(things[:-1]) + chance.choice(LAST) + things[-1])
        plan = run_of(request, tool_sets()[tools])
        if plan is None:
            asked += 1
            continue
        calls = [step for _, step in every_step(plan.block) if isinstance(step, Call)]
        taken = [
            each
            for call in calls
            for value in call.inputs.values()
            for each in (value if isinstance(value, list) else [value])
        ]
        assert {call.tool for call in calls} == {tool}, request
        assert sorted(str(one) for one in taken if one in things) == sorted(things), request
        assert len(calls) in (1, len(things)), request
    assert asked <= 35
