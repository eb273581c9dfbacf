"""The law: a plan without errors and warnings has no reference error, no argument-type and no expression-type error."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from plans_at_random import ANSWER, GIVEN, World, Writer, mended
from tests.soak import scaled

from toolpath import Settings, Toolpath
from toolpath.errors import Finding
from toolpath.model.events import ApprovalRequested
from toolpath.model.plan import Plan
from toolpath.model.run import RunResult

#: Codes of failures that a check is to foresee.
FORESEEN = {"unresolved", "validation", "invalid_input", "expression_type"}
#: Plans that share their tools.
SHARED = 20


class Tally:
    """What came of many plans."""

    def __init__(self) -> None:
        self.plans = 0
        self.clean = 0
        self.templates: Counter[int] = Counter()
        """Clean plans by how many templates they have."""
        self.broken: list[str] = []
        self.warned: Counter[str] = Counter()
        """Findings by code, in plans that were run in spite of them."""
        self.harmless: Counter[str] = Counter()
        """Of these, the ones of plans that never failed."""


def broken(result: RunResult) -> list[str]:
    """What went wrong that should have been foreseen."""
    steps = [
        f"{step.path}: {step.error.code} {step.error.message}"
        for step in result.results
        if step.error is not None and step.error.code in FORESEEN
    ]
    if result.error is not None and result.error.code in FORESEEN:
        steps.append(f"run: {result.error.code} {result.error.message}")
    return steps + [
        f"{warned.path}: {warned.message}" for warned in result.warnings if warned.code == "transform_failed"
    ]


async def finished(tp: Toolpath, plan: Plan, inputs: dict[str, Any]) -> RunResult:
    """The run to its end: people answer the least that they have to, and allow everything."""
    result = await tp.run(plan, inputs)
    while result.questions:
        question = result.questions[0]
        if isinstance(question, ApprovalRequested):
            run = await tp.approve(result.run_id, question.path)
        else:
            run = await tp.answer(result.run_id, question.path, ANSWER)
        result = await run.result()
    return result


def told(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Errors and warnings."""
    return tuple(finding for finding in findings if finding.severity != "information")


async def try_plan(tp: Toolpath, chance: Random, world: World, tally: Tally, name: str, runs: int) -> None:
    """One plan, mended until it is clean or given up, and run where it is."""
    document = Writer(chance, world).plan()
    plan = tp.read(document)
    found = told(tp.check(plan))
    if found and chance.random() < 0.3 and all(finding.severity == "warning" for finding in found):
        await try_warned(tp, plan, found, tally)
    for _ in range(4):
        if not found:
            break
        mended(document, found)
        plan = tp.read(document)
        found = told(tp.check(plan))
    tally.plans += 1
    if found:
        return
    tally.clean += 1
    tally.templates[min(json.dumps(document).count("{{"), 20)] += 1
    for number in range(runs):
        faults = broken(await finished(tp, plan, dict(GIVEN[number % len(GIVEN)])))
        if faults:
            tally.broken.append(f"{name}: {faults[:2]} in {json.dumps({**document, 'inputs': 0})}")
            return


async def try_warned(tp: Toolpath, plan: Plan, found: tuple[Finding, ...], tally: Tally) -> None:
    """A plan with warnings alone, run often: what never fails may be a false alarm."""
    codes = {f"{finding.code}: {_shape(finding.message)}" for finding in found}
    tally.warned.update(codes)
    for number in range(8):
        result = await finished(tp, plan, dict(GIVEN[number % len(GIVEN)]))
        if broken(result) or any(warning.code == "missing_field" for warning in result.warnings):
            return
    tally.harmless.update(codes)


def _shape(message: str) -> str:
    """The message without what is particular to one plan."""
    words = ["'…'" if "'" in word or "." in word else word for word in message.split()]
    return " ".join(words)[:60]


async def try_many(seeds: range, runs: int = 2) -> Tally:
    """So many plans, a few of which share their tools."""
    tally = Tally()
    for seed in seeds:
        chance = Random(seed)
        async with Toolpath(settings=Settings(cache_enabled=False)) as tp:
            world = World(chance)
            tp.add(*world.tools)
            for number in range(SHARED):
                await try_plan(tp, chance, world, tally, f"{seed}/{number}", runs)
    return tally


def test_a_plan_that_checks_has_no_reference_and_no_type_error() -> None:
    tally = asyncio.run(try_many(range(8)))
    assert not tally.broken, "\n".join(tally.broken[:5])
    # Else the law would be kept by finding fault with everything.
    assert tally.clean > 0.5 * tally.plans
    assert sum(count for size, count in tally.templates.items() if size >= 4) > 0.25 * tally.clean


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("part", range(20))
def test_the_law_is_tried_on_many_plans(part: int, tried: Callable[[str, int], None]) -> None:
    size = max(1, int(os.environ.get("LAW_PLANS", scaled(100_000))) // 20 // SHARED)
    tally = asyncio.run(try_many(range(1_000_000 + part * size, 1_000_000 + (part + 1) * size)))
    tried("plans for the law of the check", tally.plans)
    tried("of them clean, and run", tally.clean)
    assert not tally.broken, "\n".join(tally.broken[:5])
    assert tally.clean > 0.5 * tally.plans
