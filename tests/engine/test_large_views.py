"""Reading beside large values: only what an expression reads is brought back."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import identity, run

from toolpath import Settings
from toolpath.engine.drive.large import LargeValues
from toolpath.testing.scripted import scripted


async def test_the_work_per_step_does_not_grow_with_the_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    restored = LargeValues.restored

    def counted(self: LargeValues, value: Any) -> Any:
        seen.append(value)
        return restored(self, value)

    monkeypatch.setattr(LargeValues, "restored", counted)
    steps = [{"id": f"s{n}", "tool": "t", "depends_on": "big", "inputs": {"n": n}} for n in range(100)]
    plan = {"steps": [{"id": "big", "tool": "big"}, *steps], "outputs": "{{ s99.n }}"}
    found = await run(plan, scripted("big", {"x": "x" * 5000}), identity("t"), settings=Settings(max_result_size=1000))
    assert found.outputs == 99
    assert len(seen) < 15 * len(steps)
