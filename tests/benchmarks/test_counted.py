"""What a step costs does not slip back unseen: calls of functions are counted, the least of a few runs."""

from __future__ import annotations

import json

from benchmarks.counted import RECORD, measure

#: How far a count may lie from what was recorded. Versions of Python differ in what is a call; more than that is ours.
LEAST, MOST = 0.5, 1.15


async def test_a_step_takes_about_as_many_calls_as_were_recorded() -> None:
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    found = await measure()
    assert found.keys() == recorded.keys()
    off = {
        name: f"{found[name]:.2f}, recorded {value}"
        for name, value in recorded.items()
        if not value * LEAST <= found[name] <= value * MOST
    }
    assert not off, f"Other counts than were recorded: {off}. If that is meant: python -m benchmarks counted"
