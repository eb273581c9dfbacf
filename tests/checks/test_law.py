"""The law: a plan without errors and warnings has no reference error and no argument-type error at run time."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plans_at_random import Writer, make_tools

from toolpath import Toolpath
from toolpath.errors import Finding
from toolpath.model.plan import Plan
from toolpath.model.run import RunResult

#: Codes of failures that a check is to foresee.
FORESEEN = {"unresolved", "validation", "invalid_input"}
INPUTS = [{"who": "x", "many": 3}, {"who": "", "many": "4", "maybe": "m"}]


async def checked_and_run(plan: Plan, chance: Random, inputs: dict[str, Any]) -> tuple[tuple[Finding, ...], Any]:
    """What the check says of the plan, and, where that is nothing, what came of it."""
    async with Toolpath() as tp:
        tp.add(*make_tools(chance))
        found = tuple(f for f in tp.check(plan) if f.severity != "information")
        return found, None if found else await tp.run(plan, inputs)


def broken(result: RunResult) -> list[str]:
    """What went wrong that should have been foreseen."""
    steps = [
        f"{step.path}: {step.error.message}"
        for step in result.results
        if step.error is not None and step.error.code in FORESEEN
    ]
    if result.error is not None and result.error.code in FORESEEN:
        steps.append(f"run: {result.error.message}")
    return steps + [
        f"{warned.path}: {warned.message}"
        for warned in result.warnings
        if warned.code in ("transform_failed", "unresolved")
    ]


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(chance=st.randoms(use_true_random=False), inputs=st.sampled_from(INPUTS))
def test_a_plan_that_checks_has_no_reference_and_no_type_error(chance: Random, inputs: dict[str, Any]) -> None:
    plan = Writer(chance).plan()
    found, result = asyncio.run(checked_and_run(plan, chance, inputs))
    assert found or not broken(result), plan


def test_the_law_is_tried_on_many_plans() -> None:
    clean = 0
    for seed in range(150):
        chance = Random(seed)
        found, result = asyncio.run(checked_and_run(Writer(chance).plan(), chance, INPUTS[0]))
        assert found or not broken(result), seed
        clean += not found
    assert clean >= 15
