"""Queue of the steps that may start as soon as there is a slot. Pure."""

from __future__ import annotations

from heapq import heappush

from toolpath.engine.state.instances import StepState
from toolpath.engine.state.state import State

#: A heap entry: the longest way to the end first, then first come, first served.
ReadyStep = tuple[float, int, StepState]


class ReadyQueue:
    """Ready steps of one run, those on the longest way to its end first."""

    def __init__(self, state: State) -> None:
        self.entries: list[ReadyStep] = []
        self.unannounced: list[StepState] = []
        """Ready steps whose event is written only if they do not start at once."""
        self.at_limits = 0
        """Steps that would be here, but wait for a limit of their tool, server or tenant."""
        self._state = state
        self._tick = 0

    def push(self, step: StepState) -> None:
        """Queue the step for a slot."""
        heappush(self.entries, self.entry_of(step))
        if step.status == "pending":
            self.unannounced.append(step)

    def push_loop(self, owner: StepState, weight: float) -> None:
        """Queue a loop whose items are called without steps of their own, of this weight each."""
        self._tick += 1
        heappush(self.entries, (-weight, self._tick, owner))

    def entry_of(self, step: StepState) -> ReadyStep:
        """Where the step stands among those that are ready."""
        scope = step.scope
        rank = scope.block.rank
        if not step.tick:
            # A step that is queued again keeps its place.
            self._tick = step.tick = self._tick + 1
        step.needs = self._state.seq
        return -(scope.base + rank[step.node.index]) if rank else -scope.base, step.tick, step

    def close(self) -> None:
        """Forget all of it."""
        self.entries.clear()
        self.unannounced.clear()
