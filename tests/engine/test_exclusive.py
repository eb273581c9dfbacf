"""Exclusive steps: what ends a step beside them, however it ends, lets them begin."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import after, identity, run

from toolpath.model import events as ev
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

BESIDE: dict[str, dict[str, Any]] = {
    "unresolved": {"id": "a", "tool": "t", "inputs": {"x": "{{ s.zzz }}"}, "on_unresolved": "skip"},
    "loop": {
        "id": "a",
        "on_unresolved": "skip",
        "loop": {"over": "{{ s.zzz }}", "as": "q", "steps": [{"id": "w", "tool": "t", "inputs": {"x": "{{ q }}"}}]},
    },
    "when": {"id": "a", "tool": "t", "when": "s.a == 2", "depends_on": "s"},
}


@pytest.mark.parametrize("how", sorted(BESIDE))
async def test_an_exclusive_step_begins_when_the_step_beside_it_is_skipped(how: str) -> None:
    alone = {"id": "b", "tool": "t", "inputs": {"x": "{{ s.a }}"}, "exclusive": True}
    plan = {"steps": [{"id": "s", "tool": "src"}, BESIDE[how], alone]}
    found = await run(plan, scripted("src", {"a": 1}), identity("t"))
    assert found.status in ("completed", "completed_with_errors")
    assert found.statuses() == {"s": "succeeded", "a": "skipped", "b": "succeeded"}


async def test_what_is_set_free_does_not_begin_beside_an_exclusive_step_that_waited() -> None:
    clock = FakeClock(auto=True)
    plan = {
        "steps": [
            {"id": "first", "tool": "t"},
            {"id": "second", "tool": "t", "depends_on": "first"},
            {"id": "alone", "tool": "t", "exclusive": True},
        ]
    }
    found = await run(plan, scripted("t", then=lambda _: after(clock, 1)), clock=clock)
    start, end = found.seq("step.started", "alone"), found.seq("step.succeeded", "alone")
    assert [e.path for e in found.of(ev.StepStarted) if start < e.seq < end] == []
    assert found.status == "completed"
