"""The form of the requests that are shipped: right plans pass the checks, and a half holds what belongs to it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check
from toolpath.notation.plan import read_plan
from toolpath.planner.scoring.gold import GoldStep, Task, all_gold, catalog_of, made_calls, read_task, read_tool_set
from toolpath.planner.scoring.people.shipped import DEVELOPMENT, FOLDER, SET_ASIDE, TOOL_SETS
from toolpath.planner.scoring.score import score_plan

HALVES = (DEVELOPMENT, SET_ASIDE)


@cache
def tool_sets() -> dict[str, Catalog]:
    lines = (FOLDER / TOOL_SETS).read_bytes().splitlines()
    return {found.toolset: catalog_of(found.tools) for found in map(read_tool_set, lines)}


@cache
def tasks_of(half: str) -> list[Task]:
    return [read_task(line) for line in (FOLDER / half).read_bytes().splitlines()]


def every_task() -> Iterator[Task]:
    for half in HALVES:
        yield from tasks_of(half)


def plan_of(gold: tuple[GoldStep, ...]) -> dict[str, Any]:
    """The plan that these gold steps describe; those of one list are one loop."""
    steps: list[dict[str, Any]] = []
    for one in gold:
        step = {"id": one.step, "tool": one.tool, "inputs": one.arguments}
        if one.when:
            step["when"] = one.when[0]
        if not one.over:
            steps.append(step)
        elif "loop" in steps[-1] and steps[-1]["loop"]["over"] == one.over:
            steps[-1]["loop"]["steps"].append(step)
        else:
            steps.append({"id": "each", "loop": {"over": one.over, "as": "item", "steps": [step]}})
    return {"steps": steps}


def test_there_are_enough_of_every_kind() -> None:
    tasks = list(every_task())
    assert len(tasks) >= 400
    assert len(tool_sets()) == 12
    assert all(6 <= len(catalog.tools) <= 12 for catalog in tool_sets().values())
    assert set(Counter(task.language for task in tasks)) == {"en", "de", "fr", "es"}
    assert len({task.query for task in tasks}) == len({task.id for task in tasks}) == len(tasks)
    for half in HALVES:
        kinds = Counter(task.category for task in tasks_of(half))
        assert {"single", "several", "linked", "loop", "condition", "negation", "question", "missing", "unfit"} <= set(
            kinds
        )


@pytest.mark.parametrize("half", HALVES)
def test_a_request_is_in_the_half_of_its_text(half: str) -> None:
    first_bits = {hashlib.sha256(task.query.encode()).digest()[0] & 1 for task in tasks_of(half)}
    assert first_bits == {HALVES.index(half)}


@pytest.mark.parametrize("half", HALVES)
def test_each_right_plan_passes_the_checks(half: str) -> None:
    for task in tasks_of(half):
        catalog = tool_sets()[task.toolset or ""]
        for gold in (task.gold_plan, *task.other_plans):
            if gold:
                found = check(read_plan(plan_of(gold)), catalog)
                assert [one for one in found if one.severity == "error"] == [], task.query


@pytest.mark.parametrize("half", HALVES)
def test_each_right_plan_scores_as_right(half: str) -> None:
    for task in tasks_of(half):
        catalog = tool_sets()[task.toolset or ""]
        for plan, gold in zip((task.gold_plan, *task.other_plans), all_gold(task, catalog), strict=True):
            if gold and not any(step.contains for step in plan):
                assert score_plan(made_calls(read_plan(plan_of(plan))), gold).is_whole, task.query


def test_what_is_right_is_said_of_each() -> None:
    for task in every_task():
        assert task.right, task.id
        assert ("plan" in task.right) == bool(task.gold_plan), task.id
        assert task.category, task.id
        known = {
            name for tool in tool_sets()[task.toolset or ""].tools.values() for name in tool.input_schema["properties"]
        }
        assert set(task.missing) <= known, task.id
