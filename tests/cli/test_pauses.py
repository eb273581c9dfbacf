"""Searches for garbage of a process that serves many."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from toolpath.cli.service import pauses
from toolpath.cli.service.pauses import Searches

PARTS = 50_000


class Circle:
    """Only a search finds it when nobody has it any more."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture
def clock() -> Iterator[list[float]]:
    """The time, in a process whose searches are kept short."""
    now = [0.0]
    gc.collect()
    gc.freeze()
    searches = Searches(lambda: now[0])
    gc.callbacks.append(searches)
    try:
        yield now
    finally:
        gc.callbacks.remove(searches)
        gc.freeze()


def in_sight() -> int:
    """How much a search looks at."""
    return len(gc.get_objects())


@pytest.mark.usefixtures("clock")
def test_much_that_is_in_use_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pauses, "_MANY", PARTS)
    before = in_sight()
    held: list[Any] = [[number] for number in range(PARTS)]
    lists = [[one] for one in held]
    gc.collect()
    assert in_sight() < before + PARTS // 2
    assert len(lists) == PARTS


@pytest.mark.usefixtures("clock")
def test_garbage_among_the_little_that_was_in_use_is_found_by_the_next_search() -> None:
    circle = Circle()
    there = weakref.ref(circle)
    gc.collect()
    del circle
    gc.collect()
    assert there() is None


def hidden_circle() -> tuple[weakref.ref[Circle], list[list[int]]]:
    """Garbage that was in use when a search put it out of sight, and what was put there with it."""
    circle = Circle()
    held = [[number] for number in range(PARTS)]
    gc.collect()
    return weakref.ref(circle), held


def test_garbage_among_much_that_was_in_use_is_found_later(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pauses, "_MANY", PARTS // 2)
    there, held = hidden_circle()
    gc.collect()
    assert there() is not None
    clock[0] += pauses._AGAIN
    gc.collect()
    assert there() is None
    assert len(held) == PARTS


@pytest.mark.usefixtures("clock")
def test_garbage_out_of_sight_is_found_before_it_is_as_much_as_what_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pauses, "_MANY", PARTS // 2)
    there, first = hidden_circle()
    held: list[Any] = [first]
    hidden = gc.get_freeze_count()
    while there() is not None:
        assert len(held) * PARTS < 2 * hidden
        held.append([[number] for number in range(PARTS)])
        gc.collect()
