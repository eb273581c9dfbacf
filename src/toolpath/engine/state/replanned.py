"""A run goes on with another plan: what is finished stays, all else is begun anew. Pure; part of applying an event."""

from __future__ import annotations

from toolpath.engine.state.instances import Scope
from toolpath.engine.state.reopen import recount
from toolpath.engine.state.state import State
from toolpath.model import events as ev
from toolpath.values import JsonObject


def tools_frozen(state: State, event: ev.ToolsFrozen) -> None:
    """Tools that running tools call stay as they were when they were first called."""
    state.fingerprints.update(event.tools)


def revise(state: State, event: ev.PlanRevised) -> None:
    """Put the program that follows in place of the run's, with the finished steps in it.

    Where there is none that follows, e.g. because a journal is only looked at, the state stays as it was.
    """
    program, old = state.program.revised, state.root
    if program is None or old is None:
        return
    state.program, state.status, state.reason = program, "running", ""
    state.steps.clear()
    state.scopes.clear()
    state.fingerprints.update(event.tools)
    state.error, state.outputs = None, None
    root = state.open_root()
    if root.block.has_state:
        root.state.update(_written(state, event.kept))
    for step_id in event.kept:
        _keep(state, root, old, step_id)
    recount(root)


def _written(state: State, kept: tuple[str, ...]) -> JsonObject:
    """The variables of the plan as its finished steps have written them. What is begun anew writes its own anew."""
    found: JsonObject = {}
    for variable, by in list(state.written_by.items()):
        # Journals written earlier do not say which step wrote.
        state.written_by[variable] = standing = {step: by[step] for step in by if step in kept or not step}
        if standing:
            found[variable] = list(standing.values())[-1]
    return found


def _keep(state: State, root: Scope, old: Scope, step_id: str) -> None:
    index, known = root.block.index_of.get(step_id), old.latest(step_id)
    if index is None or known is None or known.status != "succeeded":
        return
    step = state.step_of(root, index)
    step.status, step.inputs, step.duration = known.status, known.inputs, known.duration
    step.started_at, step.confidence = known.started_at, known.confidence
    root.outputs[step_id] = old.outputs.get(step_id)
