"""Two runs beside each other."""

from __future__ import annotations

from typing import Any

from toolpath import Toolpath
from toolpath.projections.comparison import Comparison, compared


def half(n: int) -> float:
    """Halve a number."""
    if n % 2:
        raise ValueError("odd")
    return n / 2


def plan(*more: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "halves",
        "inputs": {"type": "object", "properties": {"n": {"type": "integer"}, "m": {"type": "integer"}}},
        "steps": [
            {"id": "first", "tool": "half", "inputs": {"n": "{{ inputs.n }}"}, "on_failure": {"action": "continue"}},
            *more,
        ],
        "outputs": "{{ first }}",
    }


async def comparison(
    earlier: dict[str, Any], later: dict[str, Any], given: dict[str, int], now: dict[str, int]
) -> Comparison:
    async with Toolpath() as tp:
        tp.add(half, effect="read")
        runs = [await tp.run(tp.read(each), inputs) for each, inputs in ((earlier, given), (later, now))]
        events = [await tp.events(run.run_id) for run in runs]
        return compared(runs[0], events[0], runs[1], events[1], 10)


async def test_a_run_differs_in_nothing_from_one_that_does_the_same() -> None:
    found = await comparison(plan(), plan(), {"n": 4}, {"n": 4})
    assert (found.differing, found.total, found.inputs, found.outputs_differ) == (0, 1, (), False)
    assert [step.differs for step in found.steps] == [()]


async def test_what_differs_is_told_by_name_and_comes_first() -> None:
    another = {"id": "second", "tool": "half", "inputs": {"n": 8}}
    found = await comparison(plan(another), plan(), {"n": 4}, {"n": 3, "m": 1})
    assert set(found.inputs) == {"n", "m"}
    assert found.plan.removed == ("second",)
    steps = {step.path: step for step in found.steps}
    assert set(steps["first"].differs) >= {"status", "inputs", "output", "error"}
    assert (steps["second"].first is not None, steps["second"].second) == (True, None)
    assert found.differing == 2
