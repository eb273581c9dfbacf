"""How runs that end every driver are told from those that had bad luck."""

from __future__ import annotations

import pytest

from toolpath.model.events import (
    AnyEvent,
    FallbackStarted,
    RunResumed,
    RunStarted,
    StepReady,
    StepStarted,
    StepSucceeded,
    StepUnknown,
)
from toolpath.recovery.poison_runs import LOST, losses

STARTED = RunStarted(1, 0.0, run_id="run_1", plan={})


def begun(path: str) -> StepStarted:
    return StepStarted(2, 0.0, path, 1, "t", {}, 1.0, f"run_1/{path}/0")


def lost(epoch: int, reason: str = LOST) -> RunResumed:
    return RunResumed(3, 0.0, epoch, reason)


def ended(path: str) -> StepSucceeded:
    return StepSucceeded(4, 0.0, path)


def replaced(path: str) -> FallbackStarted:
    return FallbackStarted(4, 0.0, path, 1, "u")


@pytest.mark.parametrize(
    ("events", "epoch", "expected"),
    [
        ([STARTED], 0, (0, "")),
        ([STARTED], 3, (3, "")),
        ([STARTED, StepReady(2, 0.0, "a")], 1, (0, "")),
        ([STARTED, begun("a")], 1, (1, "a")),
        ([STARTED, begun("a"), ended("a")], 1, (0, "")),
        ([STARTED, begun("a"), lost(2), begun("a")], 2, (2, "a")),
        ([STARTED, begun("a"), begun("b"), lost(2), begun("a"), begun("b"), ended("b")], 2, (2, "a")),
        ([STARTED, begun("a"), lost(2), begun("a"), ended("a"), begun("b")], 2, (1, "b")),
        ([STARTED, begun("a"), lost(2), begun("a"), lost(3, "resume"), begun("a")], 3, (1, "a")),
        ([STARTED, begun("a"), lost(2, ""), begun("a")], 2, (1, "a")),
        ([STARTED, begun("a"), lost(2)], 6, (4, "")),
        ([STARTED, begun("a"), lost(2), begun("a"), replaced("a"), begun("a")], 2, (1, "a")),
        ([STARTED, begun("a"), replaced("a")], 1, (0, "")),
        ([STARTED, begun("a"), lost(2), StepUnknown(4, 0.0, "a"), begun("a")], 2, (2, "a")),
    ],
    ids=[
        "never taken",
        "lost three times before a word was written",
        "nothing under way",
        "one step under way",
        "it ended",
        "the same step twice",
        "what ends beside it is not to blame",
        "another step each time",
        "resumed by a person",
        "handed back in between",
        "silent since",
        "the fallback is another call than the one that ended them",
        "a fallback that waits is under way no more than a retry",
        "a write in doubt is still the call that ended them",
    ],
)
def test_losses_are_counted_by_the_step_that_ran(events: list[AnyEvent], epoch: int, expected: tuple[int, str]) -> None:
    assert losses(events, epoch) == expected
