"""A fork: a new run that keeps what another one finished, and does the rest anew. Pure: events in, events out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeGuard

import msgspec

from toolpath.engine.compile.nodes import BlockProgram
from toolpath.engine.compile.program import Program
from toolpath.engine.state.fold import fold
from toolpath.engine.state.paths import top
from toolpath.engine.state.state import State
from toolpath.errors import RunConflict, closest
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.values import JsonObject

#: How often a step of the plan was visited, in the first part of a path.
_VISIT = re.compile(r"#(\d+)")
_ENDS_OF_RUN = ev.RunCompleted | ev.RunFailed | ev.RunCancelled
_CHAIN_GOES_ON = ev.StepSucceeded | ev.StepSkipped | ev.StepFailed | ev.StepTimedOut


class PreparedFork(msgspec.Struct, frozen=True):
    """Fork of a run, before it is stored."""

    events: tuple[AnyEvent, ...]
    """Its first events, numbered from 1."""
    repeats: tuple[str, ...]
    """Paths of finished writes that it would make again."""


def fork_events(
    began: Program,
    events: Sequence[AnyEvent],
    *,
    run_id: str,
    at: float,
    from_step: str | None,
    inputs: JsonObject,
) -> PreparedFork:
    """The journal that the fork begins with. Raises `RunConflict` for a step that is not there.

    `began` is what the run began with; the fork goes by what it goes by in the end.
    """
    program = began.latest
    started = events[0]
    assert isinstance(started, ev.RunStarted)
    changed = {name for name, value in inputs.items() if started.inputs.get(name) != value}
    block = program.root
    redo = _redone(block, from_step, changed)
    is_chain = block.flow == "chain"
    found = _kept_chain if is_chain else _kept_graph
    kept = found(_not_undone(began, events), block, redo)
    first = msgspec.structs.replace(
        started,
        at=at,
        run_id=run_id,
        plan=program.frozen,
        bodies=program.frozen_bodies,
        inputs={**started.inputs, **inputs},
        tools=program.fingerprints,
        parent={"run_id": started.run_id, "from_step": from_step or "", "inputs": sorted(changed)},
    )
    numbered = [first, *(kept if is_chain else _last_visits(kept))]
    copied = tuple(msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(numbered, 1))
    return PreparedFork(copied, _writes_again(program, events, kept))


def _redone(block: BlockProgram, from_step: str | None, changed: set[str]) -> set[int]:
    """The plan's steps that are done again: the named one, what reads a changed input, and all that follow."""
    redo: set[int] = set()
    if from_step is not None:
        name = top(from_step)
        if name not in block.index_of:
            raise RunConflict(f"The plan has no step {from_step!r}.", suggestions=closest(name, block.index_of))
        redo.add(block.index_of[name])
    for node in block.nodes:
        if changed & _inputs_read(node):
            redo.add(node.index)
    if block.flow == "chain":
        return set(range(min(redo), len(block.nodes))) if redo else set()
    queue = list(redo)
    while queue:
        for dependent in block.nodes[queue.pop()].dependents:
            if dependent not in redo:
                redo.add(dependent)
                queue.append(dependent)
    return redo


def _inputs_read(node: Any) -> set[str]:
    found = set()
    expressions = [target.inputs for target in node.targets]
    expressions += [c for c in (node.when, node.over, node.approval, node.form, node.collect) if c is not None]
    expressions += [c for _, c in node.transform]
    for compiled in expressions:
        for reference in compiled.references:
            kind = getattr(reference.root, "kind", "")
            if kind in ("inputs", "state"):
                found.add(reference.root.key)
    for block in node.blocks:
        for inner in block.nodes:
            found |= _inputs_read(inner)
    return found


def _kept_graph(events: Sequence[AnyEvent], block: BlockProgram, redo: set[int]) -> list[AnyEvent]:
    finished = {event.path for event in events if _is_finished(event) and event.path in block.index_of}
    skipped_for_failure = {event.path for event in events if isinstance(event, ev.StepSkipped) and event.spreads}
    keep = {name for name in finished - skipped_for_failure if block.index_of[name] not in redo}
    # Nothing that waits for something unfinished may be kept.
    for node in block.nodes:
        if node.id in keep and any(block.nodes[dep].id not in keep for dep in (*node.deps, *node.soft)):
            keep.discard(node.id)
    kept: list[AnyEvent] = []
    before = ""
    for event in events:
        path: str = getattr(event, "path", "")
        if isinstance(event, ev.StateWritten):
            # Earlier journals do not say which step wrote: it is the one that the event before tells of.
            path = path or event.source or before
        else:
            before = path
        if top(path) in keep and not isinstance(event, ev.StepReady):
            kept.append(event)
    return kept


def _last_visits(kept: Sequence[AnyEvent]) -> list[AnyEvent]:
    """The same for a graph, whose steps are visited once: of what a chain before it visited often, the last visit.

    Such a chain is another plan, in whose place the graph was put; the graph took over what its steps gave last.
    """
    last: dict[str, int] = {}
    for event in kept:
        path = _path_of(event)
        last[top(path)] = max(last.get(top(path), 1), _visit(path))
    if all(visit == 1 for visit in last.values()):
        return list(kept)
    return [_as_first_visit(event) for event in kept if _visit(_path_of(event)) == last[top(_path_of(event))]]


def _path_of(event: AnyEvent) -> str:
    path: str = getattr(event, "path", "") or getattr(event, "source", "")
    return path


def _visit(path: str) -> int:
    found = _VISIT.search(path.partition("/")[0])
    return 1 if found is None else int(found[1])


def _as_first_visit(event: AnyEvent) -> AnyEvent:
    changes = {}
    for name in ("path", "source"):
        head, slash, rest = getattr(event, name, "").partition("/")
        if _VISIT.search(head):
            changes[name] = _VISIT.sub("", head) + slash + rest
    return msgspec.structs.replace(event, **changes)


def _is_finished(event: AnyEvent) -> TypeGuard[ev.StepSucceeded | ev.StepSkipped | ev.StepFailed | ev.StepTimedOut]:
    """Whether the step has ended for good. A failure that the plan continued over is an end too."""
    if isinstance(event, ev.StepFailed | ev.StepTimedOut):
        return event.continued
    return isinstance(event, ev.StepSucceeded | ev.StepSkipped)


def _not_undone(program: Program, events: Sequence[AnyEvent]) -> list[AnyEvent]:
    """All events after the first but those undone: failures that a retry took back, and what a replan left behind."""
    if not any(_takes_back(event) for event in events):
        return list(events[1:])
    state = State(program)
    unsuccessful: dict[str, int] = {}
    undone: set[int] = set()
    for number, event in enumerate(events):
        before = {path: _status(state, path) for path in unsuccessful} if _takes_back(event) else {}
        fold(state, [event])
        for path, status in before.items():
            kept = isinstance(event, ev.PlanRevised) and top(path) in event.kept
            if not kept and _status(state, path) != status:
                undone.add(unsuccessful.pop(path))
        if isinstance(event, ev.PlanRevised):
            undone |= {n for n, earlier in enumerate(events[:number]) if _owner(earlier) not in (*event.kept, "")}
        if _takes_back(event):
            undone |= {n for n, earlier in enumerate(events[:number]) if isinstance(earlier, _ENDS_OF_RUN)}
        if _is_unsuccessful(event):
            unsuccessful[event.path] = number
    return [event for number, event in enumerate(events) if number and number not in undone]


def _takes_back(event: AnyEvent) -> bool:
    """Whether what has ended before the event may begin anew with it: a retry, or another plan."""
    return isinstance(event, ev.PlanRevised) or (isinstance(event, ev.RunResumed) and event.reason == "retry")


def _owner(event: AnyEvent) -> str:
    """The plan's own step that the event tells of; empty where it tells of none."""
    source: str = getattr(event, "path", "") or getattr(event, "source", "")
    return top(source)


def _status(state: State, path: str) -> str:
    step = state.steps.get(path)
    return "" if step is None else step.status


def _is_unsuccessful(
    event: AnyEvent,
) -> TypeGuard[ev.StepSkipped | ev.StepFailed | ev.StepTimedOut | ev.StepCancelled]:
    match event:
        case ev.StepFailed() | ev.StepTimedOut():
            return not event.continued
        case ev.StepSkipped():
            return event.spreads
    return isinstance(event, ev.StepCancelled)


def _kept_chain(events: Sequence[AnyEvent], block: BlockProgram, redo: set[int]) -> list[AnyEvent]:
    kept: list[AnyEvent] = []
    whole, within = 0, False
    for event in events:
        path = getattr(event, "path", None)
        if path is None:
            if isinstance(event, _ENDS_OF_RUN):
                break
            continue
        index = block.index_of.get(top(path)) if path else None
        outermost = "/" not in path and "[" not in path
        if index is not None and index in redo:
            break
        if outermost and isinstance(event, ev.StepFailed | ev.StepTimedOut) and _stops(event, block):
            break
        kept.append(event)
        if index is not None and not isinstance(event, ev.Warned):
            within = not (outermost and isinstance(event, _CHAIN_GOES_ON))
        if not within:
            whole = len(kept)
    # Half a step is worth nothing: it is done again from its begin.
    return kept[:whole]


def _stops(event: ev.StepFailed | ev.StepTimedOut, block: BlockProgram) -> bool:
    """Whether the chain came to its end with this failure, instead of going on to the next step."""
    index = block.index_of.get(top(event.path))
    return not event.continued and (index is None or block.nodes[index].critical)


def _writes_again(program: Program, events: Sequence[AnyEvent], kept: Sequence[AnyEvent]) -> tuple[str, ...]:
    """Writes that have happened, or may have, and are not kept."""
    done = {event.path for event in kept if isinstance(event, ev.StepSucceeded)}
    tools: dict[str, str] = {}
    again: dict[str, None] = {}
    for event in events:
        match event:
            case ev.StepStarted():
                tools[event.path] = event.tool
                if event.key and _is_write(program, event.tool):
                    again[event.path] = None
            case ev.StepSucceeded() if _is_write(program, tools.get(event.path, "")):
                again.pop(event.path, None)
                again[event.path] = None
            case ev.StepReady() | ev.StepCancelled(in_doubt=False):
                again.pop(event.path, None)
            case ev.StepFailed() | ev.StepTimedOut() | ev.StepRetrying() | ev.FallbackStarted():
                if event.error is None or not event.error.in_doubt:
                    again.pop(event.path, None)
            case ev.PlanRevised():
                again = {path: None for path in again if top(path) in event.kept}
    return tuple(path for path in again if path not in done)


def _is_write(program: Program, key: str) -> bool:
    tool = program.used.get(key)
    return tool is not None and not tool.is_repeatable
