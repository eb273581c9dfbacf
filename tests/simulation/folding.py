"""Whether a live run's state is that of its folded journal, compared field by field."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from toolpath.engine.compile.program import Program
from toolpath.engine.drive.loop_items import LoopItems
from toolpath.engine.state.fold import fold
from toolpath.engine.state.instances import EMPTY, Scope, StepState
from toolpath.engine.state.state import State
from toolpath.model.events import AnyEvent

_RUN = ("status", "reason", "seq", "calls", "cost", "tokens", "errors", "outputs", "error", "fingerprints", "approval")
_STEP = (
    "status", "entered", "attempt", "target", "entry", "error", "duration", "confidence", "continued", "spreads",
    "approved", "asked", "denied", "answers", "question", "winner", "key", "started_at", "inputs", "visit",
)  # fmt: skip
#: They are compared all at once, after every event of every run, and told apart where they differ.
_OF_RUN, _OF_STEP = attrgetter(*_RUN), attrgetter(*_STEP)
_SCOPE = ("failure", "active", "stopping", "trouble", "done", "left", "outputs", "last", "state", "writes", "depth")
_LOOP = ("active", "next", "failure", "results", "writes", "items")


class Shadow:
    """A state that is folded beside a live one."""

    def __init__(self, program: Program) -> None:
        self.state = State(program)

    def differences(self, events: list[AnyEvent], live: State) -> list[str]:
        """Fold these events; what is not the same then."""
        fold(self.state, events)
        if live.seq != self.state.seq:
            return []
        return list(differences(live, self.state))


def differences(live: State, folded: State) -> Iterator[str]:
    """Every field that differs, but for what no event tells and every driver finds anew."""
    if _OF_RUN(live) != _OF_RUN(folded):
        yield from _fields("run", _RUN, live, folded)
    flying = _flying(live)
    steps = {path: step for path, step in live.steps.items() if _is_told(step)}
    others = {path: step for path, step in folded.steps.items() if _is_told(step) and not path.startswith(flying)}
    for path in sorted({*steps, *others}):
        if path not in steps or path not in others:
            yield f"step {path}: {'not live' if path not in steps else 'not folded'}"
        elif _OF_STEP(steps[path]) != _OF_STEP(others[path]):
            yield from _fields(f"step {path}", _STEP, steps[path], others[path])
    yield from _scopes(live, folded, flying)


def _flying(live: State) -> tuple[str, ...]:
    """Paths of items of loops that are called without a step of their own."""
    return tuple(
        f"{items._head}{index}{items._tail}"
        for step in live.steps.values()
        if isinstance(items := step.loop_items, LoopItems)
        for index in items.flying
    )


def _is_told(step: StepState) -> bool:
    return step.status != "pending" or step.entered


def _scopes(live: State, folded: State, flying: tuple[str, ...]) -> Iterator[str]:
    untold: dict[StepState, int] = {}
    for path, scope in live.scopes.items():
        if path in folded.scopes:
            yield from _scope(path, scope, folded.scopes[path])
        elif any(_is_told(step) for step in scope.steps.values()) or scope.failure is not None:
            yield f"scope {path}: not folded"
        elif scope.owner is not None and scope.owner.loop is not None:
            untold[scope.owner] = untold.get(scope.owner, 0) + 1
    for path in folded.scopes:
        if path not in live.scopes and not (path.startswith(flying) and flying):
            yield f"scope {path}: not live"
    for path, step in live.steps.items():
        other = folded.steps.get(path)
        if step.loop is None or other is None or other.loop is None:
            continue
        count = untold.get(step, 0)
        for name in _LOOP:
            mine, theirs = getattr(step.loop, name), getattr(other.loop, name)
            if name in ("active", "next"):
                mine -= count
            if mine != theirs:
                yield f"loop {path}.{name}: live {mine!r}, folded {theirs!r}"


def _scope(path: str, live: Scope, folded: Scope) -> Iterator[str]:
    for name in _SCOPE:
        mine, theirs = getattr(live, name), getattr(folded, name)
        if (name == "left" and live.block.is_chain) or (name == "outputs" and live.block is EMPTY):
            continue
        if name == "state" and not live.block.has_state:
            continue
        if mine != theirs:
            yield f"scope {path!r}.{name}: live {mine!r}, folded {theirs!r}"
    if bool(live.halted) != bool(folded.halted):
        yield f"scope {path!r}.halted: live {live.halted!r}, folded {folded.halted!r}"
    if live.block is not EMPTY and not live.block.is_chain and live.missing != folded.missing:
        yield f"scope {path!r}.missing: live {live.missing!r}, folded {folded.missing!r}"


def _fields(what: str, names: tuple[str, ...], live: Any, folded: Any) -> Iterator[str]:
    for name in names:
        mine, theirs = getattr(live, name), getattr(folded, name)
        if mine != theirs:
            yield f"{what}.{name}: live {mine!r}, folded {theirs!r}"
