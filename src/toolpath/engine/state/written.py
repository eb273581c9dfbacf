"""Effect of `state.written`: nothing until the step that writes has succeeded. Pure; part of applying an event."""

from __future__ import annotations

from toolpath.engine.state.instances import EMPTY
from toolpath.engine.state.paths import top
from toolpath.engine.state.state import State
from toolpath.model import events as ev


def state_written(state: State, event: ev.StateWritten) -> None:
    """Keep what the step writes until it has succeeded. Journals written earlier name no step: it is set at once."""
    if event.source:
        state.staged.append(event)
    else:
        _write(state, event)


def set_variables(state: State, source: str) -> None:
    """Set what the step that succeeds has written."""
    staged, state.staged = state.staged, []
    for event in staged:
        if event.source == source:
            _write(state, event)


def _write(state: State, event: ev.StateWritten) -> None:
    item = state.scopes.get(event.path)
    if item is None and (loop := state.ended_item(event.path)) is not None:
        # Journals written earlier tell of the last variables of an item after its end.
        owner, number = loop
        assert owner.loop is not None
        owner.loop.writes[number] = {**owner.loop.writes.get(number, {}), **event.values}
        return
    scope = item if item is not None and item.block is not EMPTY else state.written_at(event.path)
    scope.state.update(event.values)
    if scope is state.root:
        for variable, value in event.values.items():
            by = state.written_by.setdefault(variable, {})
            # The last to write stands last.
            by.pop(step := top(event.source), None)
            by[step] = value
    if scope.writes is None:
        scope.writes = {}
    scope.writes.update(event.values)
