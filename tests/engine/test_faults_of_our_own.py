"""An error of the engine's own never leaves a run that says it is running: a step fails, or the run, and it is told."""

from __future__ import annotations

import asyncio
import inspect
import itertools
from typing import Any

import pytest
from engine_cases import identity, opened, plan_text
from everything import EVERYTHING, ROWS, everything
from tests.patience import PATIENCE

from toolpath import RunResult, ToolContext, Toolpath, tool
from toolpath.catalog.statistics import Statistics
from toolpath.engine.decide import (
    approvals,
    block_ends,
    control,
    decisions,
    joins,
    loops,
    retries,
    starts,
    step_ends,
    step_values,
)
from toolpath.engine.decide.ready_queue import ReadyQueue
from toolpath.engine.drive import after_call, alarms, cache, children, dispatch, limits, one_attempt, outcomes
from toolpath.engine.state import ends, resolve
from toolpath.expressions.compile import Compiled
from toolpath.model.plan import Plan
from toolpath.model.run import ENDED_RUN
from toolpath.testing.clock import FakeClock

ERRORS: list[Exception] = [KeyError("x"), RecursionError("too deep"), RuntimeError("a secret word"), MemoryError()]

#: Where the engine resolves, validates, keys, decides and writes down what it decided.
CLASSES = [Compiled, control.Control, dispatch.Dispatch, after_call.AfterCall, children.Children, limits.CallLimits]
CLASSES += [Statistics, alarms.Alarms, decisions.Decisions, ReadyQueue, cache.CachedCalls]
MODULES = [cache, ends, joins, outcomes, resolve, retries, one_attempt]
MODULES += [approvals, block_ends, loops, starts, step_ends, step_values]
#: What hands events to the journal is ground, not a decision; what only ends a drive is no part of one.
LEFT_OUT = {"close", "__init__"}


def hooks() -> list[tuple[Any, str]]:
    """Everything that may raise."""
    found: list[tuple[Any, str]] = []
    for owner in CLASSES:
        names = {name for base in owner.__mro__[:-1] for name in vars(base)}
        for name in sorted(names - LEFT_OUT):
            if not name.startswith("__") and inspect.isfunction(getattr(owner, name, None)):
                found.append((owner, name))
    for module in MODULES:
        found += [
            (module, name)
            for name, value in sorted(vars(module).items())
            if inspect.isfunction(value) and value.__module__ == module.__name__
        ]
    return found


async def calling(context: ToolContext) -> Any:
    return await context.call("t", {"v": 1}, key="k")


MORE = """
  - {id: caller, tool: calling, depends_on: first}
  - {id: keeper, tool: kept, inputs: {v: "{{ first.v }}"}, cache: {ttl: 60, key: "{{ first.v }}"}}
outputs:"""


class Broken:
    """One function of the engine, of which one call raises."""

    def __init__(self, owner: Any, name: str, error: BaseException) -> None:
        self.owner, self.name, self.error = owner, name, error
        self.real = getattr(owner, name)
        self.count = 0
        self.nth = 0

    def __enter__(self) -> Broken:
        def broken(*given: Any, **named: Any) -> Any:
            self.count += 1
            if self.count == self.nth:
                raise self.error
            return self.real(*given, **named)

        setattr(self.owner, self.name, broken)
        return self

    def __exit__(self, *_: object) -> None:
        setattr(self.owner, self.name, self.real)


async def ended(tp: Toolpath, plan: Plan) -> RunResult:
    """How the run ends. That it does is what is asserted."""
    result = await asyncio.wait_for(tp.run(plan, ROWS), PATIENCE)
    assert result.status in ENDED_RUN
    info = await tp.info(result.run_id) if hasattr(tp, "info") else None
    assert info is None or info.status in ENDED_RUN
    return result


@pytest.mark.parametrize(("owner", "name"), hooks(), ids=lambda hook: getattr(hook, "__name__", hook))
async def test_whatever_raises_the_run_ends_and_says_why(owner: Any, name: str) -> None:
    clock = FakeClock(auto=True)
    tools = [*everything(clock), tool(name="calling", effect="read")(calling), identity("kept")]
    async with opened(*tools, clock=clock) as tp:
        plan = tp.read(plan_text(EVERYTHING).replace("\noutputs:", MORE, 1))
        undisturbed = await ended(tp, plan)
        assert undisturbed.status == "completed_with_errors", undisturbed.error
        for error, nth in itertools.product(ERRORS, (1, 2, 5, 11)):
            with Broken(owner, name, error) as broken:
                broken.nth = nth
                result = await ended(tp, plan)
            if broken.count < nth:
                break
            if result.status == "failed":
                assert result.error is not None
                assert result.error.code
        # What has happened has not harmed what comes after it.
        assert (await ended(tp, plan)).outputs == undisturbed.outputs
