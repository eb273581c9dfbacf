"""Values that many templates make: admitted by a bound where that is enough, and refused as if all were measured."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpath import Settings, Toolpath
from toolpath.errors import OverBudget
from toolpath.expressions.compile import compile_value
from toolpath.expressions.extent import extent
from toolpath.expressions.names import Frame, plan_names
from toolpath.expressions.wide import DENSEST
from toolpath.expressions.work import Work
from toolpath.model.plan import Call, Plan
from toolpath.values import Json, encode

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=3), inner, max_size=5),
    max_leaves=30,
)
STEPS = [f"s{number}" for number in range(6)]
NAMES = plan_names(Plan(steps=tuple(Call(id=name, tool="t.x") for name in STEPS)))
templates = st.sampled_from([*(f"{{{{ {name} }}}}" for name in STEPS), "{{ inputs }}", "a {{ s0 }} and {{ s1 }}", "no"])


@given(json_values)
def test_no_value_weighs_more_than_its_text_admits(value: Json) -> None:
    assert extent(value).weight <= DENSEST * len(encode(value))


@given(st.lists(json_values, min_size=6, max_size=6), json_values, st.lists(templates, min_size=12, max_size=20))
def test_a_value_is_refused_where_its_extent_is_too_much_and_nowhere_else(
    outputs: list[Json], given_inputs: Json, parts: list[str]
) -> None:
    frame = Frame(inputs={"a": given_inputs}, run={}, outputs=dict(zip(STEPS, outputs, strict=True)))
    compiled = compile_value({"parts": parts}, NAMES)
    made = compiled.evaluate(frame)
    heaviest = extent(made).weight
    largest = max(len(encode(output)) for output in outputs)
    frame.work = Work(10**9, lambda done: None, heaviest, lambda: largest)
    assert compiled.evaluate(frame) == made
    if sum(part.startswith("{{") for part in parts) > 8:
        frame.work = Work(10**9, lambda done: None, heaviest - 1, lambda: largest)
        with pytest.raises(OverBudget):
            compiled.evaluate(frame)


@pytest.mark.parametrize("mode", ["error", "keep"])
async def test_results_that_are_large_together_are_not_handed_on(mode: str) -> None:
    handed: list[Any] = []

    def large() -> list[str]:
        """Give a hundred thousand characters."""
        return ["b" * 100_000]

    def take(x: Any) -> None:
        """Take it."""
        handed.append(x)

    missing = ["{{ large[7] }}"] if mode == "keep" else []
    steps = [
        {"id": "large", "tool": "large"},
        {"id": "take", "tool": "take", "inputs": {"x": ["{{ large }}"] * 60 + missing}, "on_unresolved": mode},
    ]
    async with Toolpath(settings=Settings(max_run_bytes=4_000_000)) as tp:
        tp.add(large, take, effect="read")
        result = await tp.run({"steps": steps})
    assert result.status == "failed"
    assert result.error is not None
    assert "max_run_bytes" in result.error.message
    assert not handed


async def test_what_an_item_gives_is_measured_where_its_result_is_large() -> None:
    def large(n: int) -> list[str]:
        """Give a hundred thousand characters."""
        return ["b" * 100_000]

    steps = [{"id": "large", "tool": "large", "inputs": {"n": "{{ n }}"}}]
    loop = {"over": [1, 2, 3], "as": "n", "steps": steps, "collect": ["{{ large }}"] * 60}
    async with Toolpath(settings=Settings(max_run_bytes=4_000_000, max_result_size=50_000_000)) as tp:
        tp.add(large, effect="read")
        result = await tp.run({"steps": [{"id": "each", "loop": loop}]})
    assert result.status == "failed"
    assert result.error is not None
    assert "max_run_bytes" in result.error.message
