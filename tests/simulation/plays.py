"""Random structures run in virtual time, in memory: to their end, cut anywhere and resumed, forked, and tried again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from folding import Shadow
from structures import INPUTS, Structure
from virtual import VirtualClock
from worlds import CALLERS, WRITES, World, answer, drawn

from toolpath.app import Toolpath
from toolpath.config import Settings
from toolpath.engine.compile.program import Program
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.plan import Plan, every_step
from toolpath.model.run import ENDED_RUN, RunContext, RunInfo, RunResult, StepResult
from toolpath.notation.plan import read_plan
from toolpath.store.memory.store import MemoryStore
from toolpath.values import JsonObject, canonical

#: Who runs structures may do what they ask for.
SETTINGS = Settings(max_retries=1, retry_backoff="none")
#: A run that waits for people more often than this is stuck.
MOST_ANSWERS = 200
CONTEXT = RunContext("somebody")


class Watcher:
    """Holds a live run to its journal while it runs."""

    def __init__(self) -> None:
        self.tp: Toolpath | None = None
        self.shadows: dict[str, Shadow] = {}
        self.faults: list[str] = []
        self.began: dict[Program, Program] = {}
        """By the program that a run goes by in the end: the one that it began with."""

    def taken(self, run_id: str, events: Sequence[AnyEvent]) -> None:
        program = self.live(run_id).program
        # A fork begins with the program that the run it comes of went by in the end.
        revised = any(isinstance(event, ev.PlanRevised) for event in events)
        shadow = self.shadows[run_id] = Shadow(self.began[program] if revised else program)
        self.faults += shadow.differences(list(events), self.live(run_id))

    def committed(self, run_id: str, events: Sequence[AnyEvent], seconds: float) -> None:
        found = self.shadows[run_id].differences(list(events), self.live(run_id))
        self.faults += [f"after {events[-1].seq} {type(events[-1]).__name__}: {fault}" for fault in found]

    def calling(self, run_id: str, path: str, attempt: int) -> Callable[[], None]:
        return lambda: None

    def left(self, run_id: str) -> None:
        self.shadows.pop(run_id, None)

    def live(self, run_id: str) -> Any:
        assert self.tp is not None
        return self.tp._drives._held.runners[run_id].state


class Played:
    """What came of a run."""

    def __init__(self, result: RunResult, events: list[AnyEvent], world: World, faults: list[str]) -> None:
        self.result = result
        self.events = events
        self.world = world
        self.faults = faults

    def same(self) -> JsonObject:
        """What is the same in every run of an exact structure."""
        return {
            "status": self.result.status,
            "outputs": self.result.outputs,
            "steps": {step.path: step.status for step in self.result.results},
            "state": {key: value for key, value in final_state(self.events).items() if key not in _OF_THE_RUN},
        }


_OF_THE_RUN = ("chain_id", "chain_name", "started_at")


def final_state(events: Sequence[AnyEvent]) -> JsonObject:
    """The variables of the plan itself, as they were written."""
    state: JsonObject = {}
    for event in events:
        if isinstance(event, ev.StateWritten) and not event.path:
            state.update(event.values)
    return state


@asynccontextmanager
async def opened(world: World, store: MemoryStore | None = None) -> AsyncIterator[tuple[Toolpath, Watcher]]:
    """A Toolpath with the world's tools, held to the law of folding."""
    clock = VirtualClock()
    watcher = Watcher()
    store = store or MemoryStore(clock=clock.time)
    async with Toolpath(store, clock=clock, settings=SETTINGS, observer=watcher, chat=world.mind()) as tp:
        watcher.tp = tp
        read = tp._drives._programs.of

        async def program_of(*journal: Any, **how: Any) -> Program:
            program = await read(*journal, **how)
            watcher.began[program.latest] = program
            return program

        tp._drives._programs.of = program_of  # type: ignore[method-assign]
        without_threads(tp)
        tp.add(*world.tools())
        yield tp, watcher


def without_threads(tp: Toolpath) -> None:
    """Virtual time knows none: what is large is checked in the loop's own turn too."""
    tp.aside.do = _at_once  # type: ignore[method-assign, assignment]
    tp._services.threads.run = _called  # type: ignore[method-assign]


async def _called(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


async def _at_once(work: Callable[[], Any], weight: int) -> Any:
    return work()


async def play(plan: Plan, world: World, inputs: JsonObject = INPUTS) -> Played:
    """Run the plan to its end."""
    async with opened(world) as (tp, watcher):
        return await played(tp, watcher, world, await tp.run(plan, inputs, context=CONTEXT))


async def played(tp: Toolpath, watcher: Watcher, world: World, result: RunResult) -> Played:
    """The run at its end: its questions answered, its doubts settled."""
    result = await to_the_end(tp, result, world)
    return Played(result, await tp.events(result.run_id), world, watcher.faults)


async def to_the_end(tp: Toolpath, result: RunResult, world: World) -> RunResult:
    """Answer what is asked until nothing is."""
    count = 0
    while result.status == "waiting" and count < MOST_ANSWERS:
        count += 1
        await _tell(tp, result, world)
        result = await tp.result(result.run_id)
    return result


async def _tell(tp: Toolpath, result: RunResult, world: World) -> None:
    """Say what a person would, to one of the steps that wait."""
    run_id = result.run_id
    for question in result.questions:
        number = drawn(question.path) % 100
        if isinstance(question, ev.ApprovalRequested):
            await (tp.approve if world.allows(question.path) else tp.deny)(run_id, question.path)
        else:
            await tp.answer(run_id, question.path, {"n": number})
        return
    for step in result.results:
        if step.status == "unknown":
            await settle(tp, run_id, step, world)
            return


async def settle(tp: Toolpath, run_id: str, step: StepResult, world: World) -> None:
    """Look whether the write has happened. Of those that a lost driver made, half have."""
    if world.settles is not None:
        # Only a tool that calls others may say what became of its calls.
        how = world.settles(step.path) if step.tool in WRITES else "retry"
        if how == "failed":
            world.settled_as_failed.add(step.path)
        said = {"output": answer(step.tool, step.inputs)} if how == "output" else {how: True}
        await tp.settle(run_id, step.path, **said)
        return
    happened = world.has_made(run_id, step.path)
    if step.tool in WRITES and (drawn("settle", step.path) % 2 if happened is None else happened):
        await tp.settle(run_id, step.path, output=answer(step.tool, step.inputs))
    else:
        await tp.settle(run_id, step.path, retry=True)


async def resume_from(events: Sequence[AnyEvent], world: World) -> Played:
    """Go on with a run of which only these events are left, its driver dead."""
    clock = VirtualClock()
    store = MemoryStore(clock=clock.time)
    async with opened(world, store) as (tp, watcher):
        run_id = await left_behind(store, events)
        run = await tp.resume(run_id)
        return await played(tp, watcher, world, await run.result())


async def left_behind(store: MemoryStore, events: Sequence[AnyEvent]) -> str:
    """Put the run into the store as its driver left it."""
    started = events[0]
    assert isinstance(started, ev.RunStarted)
    await store.create_run(RunInfo(run_id=started.run_id, status="running"))
    (await store.drive(started.run_id, "gone")).append(list(events))
    return started.run_id


# What holds for every run.


def faults_of(played: Played) -> Iterator[str]:
    """What does not hold of a run that has come to its end."""
    yield from played.faults
    if played.result.status not in ENDED_RUN:
        yield f"it is {played.result.status}, and nothing goes on with it"
    events = played.events
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        yield "the journal's numbers have gaps"
    done: set[str] = set()
    for event in events:
        if isinstance(event, ev.StepSucceeded) and event.path in done:
            yield f"{event.path} succeeded twice"
        _finish(done, event)
    once = (made.key for made in played.world.ever_made() if made.effect and made.tool != "sim.idempotent")
    for key, count in Counter(once).items():
        if count > 1 and count > 1 + made_again_in_doubt(events)[key]:
            yield f"the write {key} was made {count} times"
    keys: dict[str, tuple[str, int]] = {}
    plans = 1
    for event in events:
        # A call of another plan is another one, also where its step has the name of one before.
        plans += isinstance(event, ev.PlanRevised)
        if isinstance(event, ev.StepStarted) and event.key:
            call = (event.path, plans)
            if keys.setdefault(event.key, call) != call:
                yield f"{event.key} stands for two calls"


def made_again_in_doubt(events: Sequence[AnyEvent]) -> Counter[str]:
    """By key: how often a call that was left in doubt is made again by a tool that its step's own `retry` runs again.

    Such a `retry` is consent to that; nothing else is, least of all going on with the run.
    """
    assert isinstance(events[0], ev.RunStarted)
    consenting = {step.id for _, step in every_step(read_plan(events[0].plan).block) if step.retry is not None}
    found: Counter[str] = Counter()
    keys: dict[str, str] = {}
    retried: set[str] = set()
    for event in events:
        match event:
            case ev.RunResumed(reason="retry"):
                retried.clear()
            case ev.StepStarted():
                keys[event.path] = event.key
            case ev.StepRetrying() if event.error.in_doubt and any(event.path.startswith(f"{one}/") for one in retried):
                found[keys[event.path]] += 1
            case ev.StepRetrying() if top(event.path.rpartition("/")[2]) in consenting:
                retried.add(event.path)
    return found


def effects_in(events: Sequence[AnyEvent]) -> list[tuple[str, bytes]]:
    """Tool and inputs of each write that the journal says has happened, sorted; of an earlier plan, what is kept."""
    return sorted(effects_by_path(events).values())


def effects_by_path(events: Sequence[AnyEvent]) -> dict[str, tuple[str, bytes]]:
    """As `effects_in`, by the path of the step that made it."""
    started: dict[str, ev.StepStarted] = {}
    done: dict[str, ev.StepStarted | None] = {}
    for event in events:
        match event:
            case ev.StepStarted():
                started[event.path] = event
            case ev.StepSucceeded():
                done[event.path] = started.get(event.path)
            case ev.PlanRevised():
                done = {path: start for path, start in done.items() if top(path) in event.kept}
    return {
        path: (start.tool, canonical(start.inputs)) for path, start in done.items() if start and start.tool in WRITES
    }


def set_aside(events: Sequence[AnyEvent]) -> set[str]:
    """Paths inside a block that the plan's own `retry` has begun anew since, and nothing else has."""
    retried = Counter(event.path for event in events if isinstance(event, ev.StepRetrying))
    paths = {event.path for event in events if isinstance(event, ev.StepStarted)}
    latest: dict[str, int] = {}
    for path in paths:
        for step, entry in _entries(path):
            latest[step] = max(latest.get(step, 1), entry)
    return {
        path for path in paths if any(entry < latest[step] and entry <= retried[step] for step, entry in _entries(path))
    }


def _entries(path: str) -> Iterator[tuple[str, int]]:
    """The steps around that one, each with the number of the entry into its block."""
    parts = path.split("/")
    for place, part in enumerate(parts[:-1]):
        own, _, entry = part.partition("~")
        yield "/".join([*parts[:place], own]), int(entry or 1)


def first_entries(path: str) -> str:
    """The path that the step has where no block is begun anew."""
    return re.sub(r"~\d+", "", path)


def finished(events: Sequence[AnyEvent]) -> set[str]:
    """Paths of the steps that are finished: of those before another plan only what that one keeps."""
    done: set[str] = set()
    for event in events:
        _finish(done, event)
    return done


def _finish(done: set[str], event: AnyEvent) -> None:
    match event:
        case ev.StepSucceeded():
            done.add(event.path)
        case ev.PlanRevised():
            done.intersection_update([path for path in done if top(path) in event.kept])


def in_doubt(events: Sequence[AnyEvent]) -> set[str]:
    """Paths of steps whose last end leaves in doubt whether their call has happened."""
    found: set[str] = set()
    for event in events:
        match event:
            case ev.StepUnknown() | ev.StepCancelled(in_doubt=True):
                found.add(event.path)
            case ev.StepFailed() | ev.StepTimedOut() if event.error.in_doubt:
                found.add(event.path)
            case ev.StepReady() | ev.StepFailed() | ev.StepSucceeded():
                found.discard(event.path)
            case ev.PlanRevised():
                found = {path for path in found if top(path) in event.kept}
    return found


def top(path: str) -> str:
    """The plan's own step that this is, or is inside of."""
    for mark in "/[#~":
        path = path.partition(mark)[0]
    return path


def called_again(before: Sequence[AnyEvent], world: World) -> Iterator[str]:
    """Finished steps of the journal that were called."""
    done = finished(before)
    for made in world.made:
        if made.path in done and made.tool not in CALLERS:
            yield f"{made.path} had finished, and was called"


def thought_again(before: Sequence[AnyEvent], after: Sequence[AnyEvent]) -> Iterator[str]:
    """Thoughts that had ended, and for which a model was asked again."""
    done = finished(before)
    for event in after[len(before) :]:
        if isinstance(event, ev.StepStarted) and event.tool == "toolpath.think" and event.path in done:
            yield f"{event.path} had ended, and a model was asked again"


def differing(one: Played, other: Played, *names: str) -> Iterator[str]:
    """What differs of two runs that should be alike."""
    mine, theirs = one.same(), other.same()
    for name in names or mine:
        if mine[name] == theirs[name]:
            continue
        if name == "steps":
            for path in sorted({*mine[name], *theirs[name]}):
                if mine[name].get(path) != theirs[name].get(path):
                    yield f"{path} is {mine[name].get(path)}, in the other run {theirs[name].get(path)}"
        else:
            yield f"{name}: {mine[name]!r}, in the other run {theirs[name]!r}"


def name(structure: Structure) -> str:
    return f"structure({structure.seed})"
