"""The log of a run's events in memory: it gives back what it was given, however long it is."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpath.model import events as ev
from toolpath.model.event_log import FIRST, EventLog
from toolpath.model.events import AnyEvent, decode_events


def told(seq: int, output: object = None) -> ev.StepSucceeded:
    return ev.StepSucceeded(seq, 1.5, f"each[{seq}]", {"n": [seq], "of": output}, 0.25, sources=({"at": seq},))


@given(sizes=st.lists(st.integers(0, 300), max_size=8), after=st.integers(0, 10_500), limit=st.integers(0, 9_000))
def test_what_is_read_is_what_was_added(sizes: list[int], after: int, limit: int) -> None:
    log, events = EventLog(), list[AnyEvent]()
    for size in (FIRST, *sizes):
        batch = [told(len(events) + number) for number in range(1, size + 1)]
        log.extend(batch)
        events += batch
    assert len(log) == len(events)
    assert log.last == events[-1]
    assert log.read(after) == events[after:]
    assert log.read(after, limit) == events[after : after + limit]


def test_whoever_reads_a_few_events_does_not_read_thousands_that_came_with_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = EventLog([told(seq) for seq in range(1, 3 * FIRST)])
    log.extend([told(seq) for seq in range(3 * FIRST, 4 * FIRST)])
    decoded = list[int]()

    def counted(lines: bytes) -> list[AnyEvent]:
        decoded.append(lines.count(b"\n") + 1)
        return decode_events(lines)

    monkeypatch.setattr("toolpath.model.event_log.decode_events", counted)
    for after in (2 * FIRST, 3 * FIRST + 100):
        decoded.clear()
        assert log.read(after, 10) == [told(seq) for seq in range(after + 1, after + 11)]
        assert 0 < sum(decoded) < 2_000


@pytest.mark.parametrize("output", ["\ud800", 2**70, {"x": 2**64}])
def test_what_no_text_can_hold_stays(output: object) -> None:
    events: list[AnyEvent] = [told(seq, output) for seq in range(1, FIRST + 500)]
    log = EventLog()
    for at in range(0, len(events), 100):
        log.extend(events[at : at + 100])
    assert log.read() == events


def test_a_search_for_garbage_does_not_walk_through_a_long_log() -> None:
    log = EventLog([told(seq) for seq in range(1, FIRST + 2)])
    gc.collect()
    before = len(gc.get_objects())
    for at in range(FIRST + 2, 3 * FIRST, 100):
        log.extend([told(seq) for seq in range(at, at + 100)])
    gc.collect()
    # Each event has an object and a list that would be looked at.
    assert len(gc.get_objects()) - before < 1_000
    assert len(log) > 2 * FIRST
