"""One attempt at a call, from its start to its outcome. A record of what is under way; decides nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from toolpath.engine.compile.nodes import CallTarget
from toolpath.engine.state.instances import ENDED, StepState
from toolpath.values import Json, JsonObject


class Attempt(msgspec.Struct, eq=False):
    """A call under way. A record made in C: one is made with each call, and looked at many times."""

    step: StepState
    target: CallTarget
    inputs: JsonObject
    key: str
    timeout: float
    needs: int = 0
    """Number of the event that a durable journal has to have before the call: the last of those that set the step free,
    or the call's own start where a call that nobody knows of must not be."""
    task: asyncio.Task[Any] | None = None
    context: Any = None
    calling: bool = False
    """The tool has been called and has not come back."""
    stopped: str = ""
    """Why it is being cut off: `timeout`, `cancelled`, or `left` when the drive ends."""
    abandoned: bool = False
    """It did not heed being cut off: whatever it gives later is thrown away."""
    grace: Any = None
    """The timer that ends its time to clean up."""
    held: tuple[Any, ...] = ()
    """The limits of its tool, server and tenant of which it has a place."""
    lent: tuple[Any, ...] = ()
    """Those whose places it has given back while it waits."""
    around: tuple[Any, ...] = ()
    """The plans with limits of their own in which it is counted as at work."""
    resting: bool = False
    """It waits, and holds no slot."""
    returning: Any = None
    """Future that is done when it has its slot and places, where it may go on but for them."""
    cache_key: Json = None
    """Key under which its result is cached, where the plan says that."""
    light: bool = False
    """There is no step of it yet, and nobody has asked for one."""
    account: Any = None
    """Where its slot is counted, besides the run's."""
    awaited: tuple[StepState, ...] = ()
    """The calls of its own that it waits for; its own step where it waits for an answer to its question."""
    ended: bool = False
    """The tool has come back, or was cut off: what it has left behind waits for nothing on its account."""
    started: float = 0.0
    back: float = 0.0
    """When its result was there to be looked at, by the clock of the loop's turns."""

    @property
    def is_over(self) -> bool:
        """Whether it can make no calls and ask nobody any more."""
        return self.ended or self.abandoned or bool(self.stopped)

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for calls or answers of its own, and none of them is there: else it is about to go on.

        The state says so, not who was woken: what has ended is told to whom it concerns some turns of the loop later.
        """
        own = self.step
        return bool(self.awaited) and not any(
            step.status != "waiting" if step is own else step.status in ENDED for step in self.awaited
        )

    def where(self) -> tuple[str, str, int]:
        """Run, path and number of the attempt."""
        return self.step.scope.run["id"], self.step.path, self.step.attempt
