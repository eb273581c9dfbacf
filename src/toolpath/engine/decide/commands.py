"""Commands of a decision: what the driver of a run is to do, beside calling the steps that are ready. Pure."""

from __future__ import annotations

from typing import NamedTuple

from toolpath.engine.state.instances import StepState


class StopCall(NamedTuple):
    """Cut off the call of the step, which is under way."""

    step: StepState


class Reply(NamedTuple):
    """Wake the tool that waits for this call of its own, or for the answer to its question."""

    step: StepState


class AwaitRetry(NamedTuple):
    """Begin the next attempt when the pause is over."""

    step: StepState
    due: float


class AwaitAnswer(NamedTuple):
    """End the question at this Unix time."""

    step: StepState
    deadline: float


class AwaitBlock(NamedTuple):
    """End the block of the step at this Unix time, unless it was begun anew."""

    step: StepState
    deadline: float
    entry: int


class StopTimers(NamedTuple):
    """Forget all timers of the step: what they were set for is over."""

    step: StepState


class SettleLater(NamedTuple):
    """Follow what was set free further in another turn of the loop."""


#: In the order in which they were decided, which is that in which they are obeyed.
Command = StopCall | Reply | AwaitRetry | AwaitAnswer | AwaitBlock | StopTimers | SettleLater
