"""Follow-ups of a decision: the decision that is due at once because of it. `Control` makes it."""

from __future__ import annotations

from typing import NamedTuple

from toolpath.engine.state.instances import StepState
from toolpath.engine.state.results import Done
from toolpath.model.events import Failure
from toolpath.values import JsonObject


class Begin(NamedTuple):
    """The step is begun again: the same tool once more, or its fallback."""

    step: StepState


class Succeed(NamedTuple):
    """The step's call, block or form gave an output. `merged`: variables that were written inside it."""

    step: StepState
    done: Done
    merged: JsonObject | None = None


class FailAttempt(NamedTuple):
    """An attempt of the step failed: it is retried, another tool is asked, or it has failed."""

    step: StepState
    failure: Failure
    duration: float = 0.0


class Fail(NamedTuple):
    """The step has failed, whatever retries and fallbacks it has."""

    step: StepState
    failure: Failure
    duration: float = 0.0


class Settle(NamedTuple):
    """Steps and blocks that were set free are followed."""


class Wait(NamedTuple):
    """Wait for a person: nothing follows before they have decided."""


FollowUp = Begin | Succeed | FailAttempt | Fail | Settle | Wait

SETTLE = Settle()
WAIT = Wait()
