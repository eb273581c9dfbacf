"""Exclusive steps: nothing of the run is under way beside one, and what waits for it costs nothing meanwhile. Pure.

A step goes through the gate when its turn comes. An exclusive one closes it: what is ready is held back as a whole, the
calls under way come to their end, then the step begins, and only what is inside it may begin beside it. Its attempts,
pauses and fallbacks count as itself. When it has ended, what was held back is ready again. An exclusive step inside
another one closes the gate once more.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappush
from typing import Protocol

from toolpath.engine.decide.ready_queue import ReadyQueue, ReadyStep
from toolpath.engine.state.instances import ENDED, StepState


class UnderWay(Protocol):
    """A call under way."""

    awaited: tuple[StepState, ...]
    """The calls of its own that it waits for, or its own step where it waits for an answer."""

    @property
    def is_waiting(self) -> bool:
        """Whether none of them is there."""
        ...


class ExclusiveStep:
    """An exclusive step that begins, or is under way."""

    __slots__ = ("has_begun", "held_back", "step")

    def __init__(self, step: StepState, held_back: list[ReadyStep]) -> None:
        self.step = step
        self.held_back = held_back
        """Steps that were ready when it closed the gate, and that came to it since."""
        self.has_begun = False
        """Nothing is under way beside it: it has begun, or begins now."""


class ExclusiveGate:
    """Lets steps begin, one exclusive step at a time."""

    def __init__(self, queue: ReadyQueue, calls: Mapping[StepState, UnderWay]) -> None:
        self._queue = queue
        self.closings: list[ExclusiveStep] = []
        """The exclusive steps at the gate; the last one is next. Each is inside those before it that are under way."""
        self._calls = calls
        """Calls under way."""

    def admits(self, step: StepState) -> bool:
        """Whether the step may begin now. Where not, it is held back, and is ready again when it may try once more."""
        closings = self.closings
        if closings:
            if closings[-1].step is step:
                return self._try(closings[-1])
            if not self._is_let_in(step):
                heappush(closings[-1].held_back, self._queue.entry_of(step))
                return False
        return not step.node.exclusive or self._close(step)

    def hold(self, step: StepState) -> None:
        """The exclusive step has begun, under an earlier driver."""
        if not self.closings or is_inside(step, self.closings[-1].step):
            closing = ExclusiveStep(step, [])
            closing.has_begun = True
            self.closings.append(closing)

    def release(self) -> bool:
        """See what the latest events have set free; whether that is something."""
        freed = False
        while self.closings:
            closing = self.closings[-1]
            step = closing.step
            # Somebody has to be asked again before it begins: nothing is under way in it yet.
            asks = step.status == "waiting" and not step.entered and step.node.kind != "ask"
            if (step.status in ENDED and not self._winds_up(step)) or asks:
                self.closings.pop()
                self._put_back(closing.held_back)
            elif not closing.has_begun and step.status not in ENDED and self._try(closing):
                self._put_back([self._queue.entry_of(step)])
            else:
                break
            freed = True
        return freed

    def held_back(self) -> set[int]:
        """The steps that wait at the gate, by identity."""
        steps = {id(entry[2]) for closing in self.closings for entry in closing.held_back}
        return steps | {id(closing.step) for closing in self.closings}

    def _close(self, step: StepState) -> bool:
        queue = self._queue
        closing = ExclusiveStep(step, queue.entries)
        self.closings.append(closing)
        queue.entries = []
        if self._try(closing):
            return True
        if any(call.awaited for call in self._calls.values()):
            # What calls under way are waiting for has to begin, or they would not come to an end.
            entries, closing.held_back = closing.held_back, []
            for entry in entries:
                heappush(queue.entries if self._is_let_in(entry[2]) else closing.held_back, entry)
        return False

    def _put_back(self, entries: list[ReadyStep]) -> None:
        ready = self._queue.entries
        if len(entries) > len(ready):
            ready, entries = entries, ready
        for entry in entries:
            heappush(ready, entry)
        self._queue.entries = ready

    def _is_let_in(self, step: StepState) -> bool:
        closing = self.closings[-1]
        if closing.has_begun:
            return is_inside(step, closing.step)
        around = self._around(closing)
        callers = [owner for owner in owners_of(step) if owner in self._calls and not is_inside(closing.step, owner)]
        return bool(callers) and (around is None or is_inside(step, around))

    def _try(self, closing: ExclusiveStep) -> bool:
        """Whether the step may begin: nothing is under way but what it is inside of, and what waits for its turn."""
        if closing.has_begun:
            return True
        around = self._around(closing)
        for step, call in self._calls.items():
            beside = not is_inside(closing.step, step) and (around is None or is_inside(step, around))
            if beside and (not call.is_waiting or self._moves(step)):
                return False
        closing.has_begun = True
        return True

    def _winds_up(self, step: StepState) -> bool:
        """Whether a call of the step, or inside it, was cut off and is not back yet."""
        return any(call is step or is_inside(call, step) for call in self._calls)

    def _around(self, closing: ExclusiveStep) -> StepState | None:
        """The exclusive step under way that the one which waits is inside of."""
        outer = self.closings[: self.closings.index(closing)]
        return next((other.step for other in reversed(outer) if other.has_begun), None)

    def _moves(self, step: StepState) -> bool:
        """Whether a tool that waits for calls of its own can go on before the gate opens."""
        if (
            step.asked is not None
            or self._queue.at_limits
            or any(is_inside(entry[2], step) for entry in self._queue.entries)
        ):
            return True
        return any(self._is_moving(inner) for inner in _inside(step))

    def _is_moving(self, step: StepState) -> bool:
        if step in self._calls:
            return not self._calls[step].is_waiting
        return step.status in ("waiting", "unknown") or (step.status == "ready" and step.due is not None)


def owners_of(step: StepState) -> list[StepState]:
    """The steps that the step is inside of, innermost first."""
    found = []
    owner = step.scope.owner
    while owner is not None:
        found.append(owner)
        owner = owner.scope.owner
    return found


def is_inside(step: StepState, around: StepState) -> bool:
    """Whether the one step is part of the other: in its block, or called by its tool. No step is inside itself."""
    owner = step.scope.owner
    while owner is not None and owner is not around:
        owner = owner.scope.owner
    return owner is around


def _inside(step: StepState) -> list[StepState]:
    """All step instances inside the step."""
    found, waiting = [], [step]
    while waiting:
        outer = waiting.pop()
        inner = outer.children() + [child for scope in outer.scopes or () for child in scope.steps.values()]
        found += inner
        waiting += inner
    return found
