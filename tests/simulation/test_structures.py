"""The laws of random structures: a few of them here, and as many as wanted with `--soak`.

`TOOLPATH_STRUCTURES` is how many structures the long form tries under each of five schedules (20,000). As many journals
are cut, and a quarter as many are tried for each other law.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import islice

import pytest
from laws import LAWS, violations
from moves import other_effects_that_stand
from plays import faults_of, play
from structures import INPUTS, structure
from tests.soak import scaled
from virtual import in_virtual_time
from wide import of_wide
from worlds import CALLERS, World

from toolpath.model import events as ev
from toolpath.model.plan import Call, Loop, Parallel, blocks_of, every_step
from toolpath.notation.plan import read_plan

MOST = int(os.environ.get("TOOLPATH_STRUCTURES", scaled(20_000)))
#: Parts that may be tried side by side.
PARTS = 20
#: Structures of the quick form, which begins with another number for each law.
QUICK = {
    "schedules": (0, 10),
    "cuts": (1_000, 3),
    "retries": (2_000, 12),
    "forks": (3_000, 6),
    "stops": (4_000, 5),
    "journeys": (0, 6),
    "replans": (0, 6),
    "doubts": (5_000, 4),
    "budgets": (0, 10),
    "caches": (0, 15),
    "questions": (0, 7),
    "agents": (0, 4),
    "wide": (0, 4),
}
#: Of so many structures the long form tries one, of four where nothing is said. One has nine cuts: some journals have
#: fewer than ten places.
SHARE = {
    "schedules": 1,
    "cuts": 10,
    "agents": 10,
    "wide": 10,
}


def test_equal_seeds_give_equal_plans() -> None:
    assert [structure(seed).plan for seed in range(40)] == [structure(seed).plan for seed in range(40)]


def test_structures_hold_every_kind_of_step_in_every_other() -> None:
    seen: set[tuple[str, str]] = set()
    for seed in range(400):
        for _, step in every_step(structure(seed).plan.block):
            for block in blocks_of(step):
                one = len(block.steps) == 1 and block.id == block.steps[0].id
                seen |= {(f"{type(step).__name__}{'/1' if one else ''}", type(inner).__name__) for inner in block.steps}
    for outer in (Parallel.__name__, f"{Parallel.__name__}/1", Loop.__name__):
        for inner in (Call, Loop, Parallel):
            assert (outer, inner.__name__) in seen


@pytest.mark.parametrize("law", LAWS)
def test_random_structures_obey(law: str) -> None:
    first, count = QUICK[law]
    assert list(islice(violations(LAWS[law], range(first, first + count)), 10)) == []


@pytest.mark.parametrize("tool", sorted(CALLERS))
def test_a_run_beyond_its_budget_stands_as_its_journal_tells(tool: str) -> None:
    step = {"id": "called", "tool": tool, "inputs": {"of": ["called", "{{ item }}"]}}
    loop = {"id": "all", "loop": {"over": "{{ inputs.items }}", "as": "item", "concurrency": 2, "steps": [step]}}
    inputs = {name: {"type": kind} for name, kind in (("seed", "integer"), ("items", "array"), ("none", "array"))}
    schema = {"type": "object", "properties": inputs}
    plan = read_plan({"inputs": schema, "budget": {"calls": 3}, "steps": [loop]})
    assert list(faults_of(in_virtual_time(play(plan, World())))) == []


@pytest.mark.parametrize("seed", [100_012, 100_051, 100_131, 100_170])
def test_what_a_step_that_its_plan_retries_does_again_is_no_fault(seed: int) -> None:
    assert list(violations(of_wide, [seed])) == []


def test_what_was_allowed_of_a_fallback_is_not_kept_for_the_tool_that_a_retry_of_the_run_asks_first() -> None:
    assert list(violations(of_wide, [100_169])) == []


def test_effects_of_a_nested_plan_that_nobody_said_to_begin_anew_are_too_many() -> None:
    inputs = {name: {} for name in INPUTS}
    retry = {"max_retries": 1, "backoff": "none"}
    step = {"id": "b", "tool": "sim.body1", "inputs": {"of": ["b"]}, "retry": retry}
    plan = read_plan({"inputs": {"type": "object", "properties": inputs}, "steps": [step]})
    whole = in_virtual_time(play(plan, World()))
    again = in_virtual_time(play(plan, World(fails=lambda path: path == "b/s9/s6")))
    assert again.result.status == "completed"
    assert list(other_effects_that_stand(again, whole)) == []
    again.events = [event for event in again.events if not isinstance(event, ev.StepRetrying)]
    assert "too many" in next(other_effects_that_stand(again, whole))


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("law", LAWS)
def test_many_random_structures_obey(law: str, part: int, tried: Callable[[str, int], None]) -> None:
    count = max(1, MOST // SHARE.get(law, 4) // PARTS)
    first = 100_000 + part * count
    tried(f"structures: {law}", count)
    assert list(islice(violations(LAWS[law], range(first, first + count)), 10)) == []
