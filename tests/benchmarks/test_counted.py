"""What a step costs does not slip back unseen: calls of functions are counted, the least of a few runs."""

from __future__ import annotations

import json

from benchmarks.counted import RECORD, measure


async def test_a_step_takes_about_as_many_calls_as_were_recorded() -> None:
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    found = await measure()
    assert found.keys() == recorded.keys()
    off = {
        name: f"{found[name]:.2f}, recorded {value}"
        for name, value in recorded.items()
        if abs(found[name] - value) > value / 2
    }
    assert not off, f"Off by more than half: {off}. If that is meant, record it: python -m benchmarks counted"
