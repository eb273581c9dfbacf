"""What must hold of a random structure that is run under any schedule, or cut, tried again, forked or stopped once.

Each law gives what does not hold, for the structure of one number.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec
from plays import (
    CONTEXT,
    Played,
    called_again,
    differing,
    effects_by_path,
    effects_in,
    faults_of,
    first_entries,
    opened,
    play,
    resume_from,
    set_aside,
    thought_again,
    to_the_end,
    top,
)
from structures import INPUTS, Structure, body, structure
from virtual import in_virtual_time
from worlds import CALLERS, World, drawn

from toolpath.app import Toolpath
from toolpath.errors import RunConflict
from toolpath.expressions.names import written_variables
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.plan import Block, Plan, every_step
from toolpath.values import JsonObject

#: Other inputs for a fork.
OTHERS: JsonObject = {"seed": 12, "items": [4, 2], "none": []}
#: Tools that may be called again without harm.
REPEATABLE = CALLERS | {"sim.flaky", "sim.read", "sim.idempotent", "sim.unsure"}


def of_schedules(seed: int, schedules: int = 5) -> Iterator[str]:
    """Whatever ends first, the run ends, its state is that of its journal, and an exact structure gives the same."""
    this = structure(seed)
    first: Played | None = None
    for number, played in enumerate(in_virtual_time(_scheduled(this, schedules))):
        yield from (f"schedule {number}: {fault}" for fault in faults_of(played))
        if this.exact and first is not None:
            yield from (f"schedule {number}: {fault}" for fault in differing(played, first))
        first = first or played


async def _scheduled(this: Structure, schedules: int) -> list[Played]:
    world = World()
    found = []
    async with opened(world) as (tp, watcher):
        # Checked and compiled once.
        program, inputs, _ = await tp._launcher.prepared(this.plan, INPUTS, CONTEXT)
        for number in range(schedules):
            world.begin(number)
            watcher.faults.clear()
            result = await to_the_end(tp, await tp._drives.run(program, inputs, context=CONTEXT), world)
            found.append(Played(result, await tp.events(result.run_id), world.past(), list(watcher.faults)))
    return found


def of_cuts(seed: int, cuts: int = 10) -> Iterator[str]:
    """A journal that ends anywhere is gone on with: to the same end, with nothing finished called, nothing twice."""
    this, schedule = structure(seed), seed % 5
    whole = in_virtual_time(play(this.plan, World(schedule)))
    chance = random.Random(seed)
    places = range(1, len(whole.events))
    for place in sorted(chance.sample(places, min(cuts, len(places)))):
        yield from (f"cut after {place} of {len(whole.events)}: {fault}" for fault in of_cut(this, whole, place))


def of_cut(this: Structure, whole: Played, place: int) -> Iterator[str]:
    before, world = whole.events[:place], World(this.seed % 5)
    played = in_virtual_time(resume_from(before, world))
    yield from faults_of(played)
    yield from called_again(before, world)
    yield from thought_again(before, played.events)
    if this.exact:
        yield from differing(played, whole)
        yield from other_effects(played, whole)


def other_effects(played: Played, whole: Played) -> Iterator[str]:
    mine, theirs = Counter(effects_in(played.events)), Counter(effects_in(whole.events))
    if mine != theirs:
        yield f"effects too many: {dict(mine - theirs)}, missing: {dict(theirs - mine)}"


def of_retries(seed: int, made: Callable[[int], Structure] = structure) -> Iterator[str]:
    """What failed is tried again when its cause is gone: never stuck, nothing finished called again, no write left out.

    Leaves fail here and there in the first run, and people say no; neither after it.
    """
    this, schedule = made(seed), seed % 5
    world = World(schedule, fails=lambda path: drawn("fails", seed, path) % 100 < 12)
    world.denies = lambda path: drawn("denies", seed, path) % 100 < 25
    first, played = in_virtual_time(_retried(this.plan, world))
    yield from faults_of(played)
    yield from called_again(first.events, played.world)
    if not this.exact or this.tolerant or is_handled(first, this.plan):
        return
    whole = in_virtual_time(play(this.plan, World(schedule)))
    yield from differing(played, whole, "status", "outputs", "state")
    yield from other_effects_that_stand(played, whole)


def other_effects_that_stand(played: Played, whole: Played) -> Iterator[str]:
    """As `other_effects`, where a plan's own `retry` may have begun blocks anew."""
    # A `retry` of a step whose tool is a plan is consent to do all of that plan again (the check: `effect_retried`),
    # so what an attempt that failed had done comes on top of what a run without failures does. Such an attempt does
    # nothing at any place but what is done there without failures; the last one does exactly all of it. A block that
    # anything else begins anew, as going on with the run, sets nothing aside: what it repeats is too many.
    mine, aside = effects_by_path(played.events), set_aside(played.events)
    theirs, none = effects_by_path(whole.events), set_aside(whole.events)
    stands = Counter(effect for path, effect in mine.items() if path not in aside)
    due = Counter(effect for path, effect in theirs.items() if path not in none)
    if stands != due:
        yield f"effects too many: {dict(stands - due)}, missing: {dict(due - stands)}"
    known = {(first_entries(path), effect) for path, effect in theirs.items()}
    for path in sorted(aside & mine.keys()):
        if (first_entries(path), mine[path]) not in known:
            yield f"{path} made {mine[path]} in an attempt that failed, and no run without failures does"


async def _retried(plan: Plan, world: World) -> tuple[Played, Played]:
    async with opened(world) as (tp, watcher):
        result = await to_the_end(tp, await tp.run(plan, INPUTS, context=CONTEXT), world)
        first = Played(result, await tp.events(result.run_id), world.past(), [])
        world.fails = world.denies = None
        world.forget()
        if result.status in ("failed", "completed_with_errors"):
            run = await tp.retry(result.run_id)
            result = await to_the_end(tp, await run.result(), world)
        return first, Played(result, await tp.events(result.run_id), world, watcher.faults)


def of_stops(seed: int, made: Callable[[int], Structure] = structure) -> Iterator[str]:
    """What is cancelled or paused anywhere is gone on with: to the same end, nothing finished called, nothing twice."""
    this, schedule, chance = made(seed), seed % 5, random.Random(seed)
    whole = in_virtual_time(play(this.plan, World(schedule)))
    for how in ("cancel", "pause"):
        world = World(schedule)
        world.stop_at = chance.randint(1, max(1, len(whole.world.made)))
        about = f"{how} at call {world.stop_at} of {len(whole.world.made)}: "
        first, played = in_virtual_time(_stopped(this.plan, world, how))
        yield from (about + fault for fault in faults_of(played))
        yield from (about + fault for fault in called_again(first.events, played.world))
        if this.exact and not (how == "cancel" and (this.tolerant or is_handled(first, this.plan))):
            yield from (about + fault for fault in differing(played, whole, "status", "outputs", "state"))
            yield from (about + fault for fault in other_effects(played, whole))


async def _stopped(plan: Plan, world: World, how: str) -> tuple[Played, Played]:
    async with opened(world) as (tp, watcher):
        said: list[asyncio.Task[None]] = []

        async def say(run_id: str) -> None:
            # The run may have ended meanwhile.
            with contextlib.suppress(RunConflict):
                await (tp.cancel if how == "cancel" else tp.pause)(run_id)

        world.stop = lambda run_id: said.append(asyncio.ensure_future(say(run_id)))
        result = await to_the_end(tp, await tp.run(plan, INPUTS, context=CONTEXT), world)
        await asyncio.gather(*said)
        first = Played(result, await tp.events(result.run_id), world.past(), [])
        world.stop = None
        world.forget()
        if result.status in ("cancelled", "paused"):
            run = await (tp.retry if result.status == "cancelled" else tp.resume)(result.run_id)
            result = await to_the_end(tp, await run.result(), world)
        return first, Played(result, await tp.events(result.run_id), world, watcher.faults)


def is_handled(played: Played, plan: Plan) -> bool:
    """Whether a plan itself did something about a failure: that stands, whatever is tried again."""
    done = {event.path for event in played.events if isinstance(event, ev.StepSucceeded)}
    tools = {event.path: event.tool for event in played.events if isinstance(event, ev.StepStarted)}
    return any(
        isinstance(event, ev.FallbackStarted)
        or (
            isinstance(event, ev.StepFailed | ev.StepTimedOut)
            and (event.continued or not _is_critical(event.path, plan, tools) or _loops(event.path) & done)
        )
        for event in played.events
    )


def _loops(path: str) -> set[str]:
    """The loops around a step: one that has ended well went on without the item that failed."""
    return {path[:place] for place, mark in enumerate(path) if mark == "["}


def _is_critical(path: str, plan: Plan, tools: dict[str, str]) -> bool:
    """What the plan that the step stands in says of it."""
    around, _, own = path.rpartition("/")
    while around:
        # A plan that is begun anew stands in an entry of its step.
        tool = tools.get(re.sub(r"~\d+$", "", around), "")
        if tool.startswith("sim.body"):
            plan = body(int(tool.removeprefix("sim.body")))
            break
        around = around.rpartition("/")[0]
    return all(step.critical for _, step in every_step(plan.block) if step.id == top(own))


def of_forks(seed: int) -> Iterator[str]:
    """A fork gives what a run with its inputs gives, and does anew exactly what follows from what is changed."""
    this, chance = structure(seed), random.Random(seed)
    step = chance.choice(this.plan.steps).id if chance.random() < 0.6 else None
    others = None if step is not None and chance.random() < 0.6 else OTHERS
    about = f"fork from {step}{' with other inputs' if others else ''}: "
    first, forked = in_virtual_time(_forked(this, step, others))
    faults = list(faults_of(forked))
    if this.exact and not faults:
        whole = in_virtual_time(play(this.plan, World(seed % 5), {**INPUTS, **OTHERS})) if others else first
        faults += [*differing(forked, whole), *other_effects(forked, whole)]
        faults += _done_anew(this.plan, first, forked, step, others)
    yield from (about + fault for fault in faults)


async def _forked(this: Structure, step: str | None, inputs: JsonObject | None) -> tuple[Played, Played]:
    world = World(this.seed % 5)
    async with opened(world) as (tp, watcher):
        result = await to_the_end(tp, await tp.run(this.plan, INPUTS, context=CONTEXT), world)
        first = Played(result, await tp.events(result.run_id), world.past(), [])
        world.begin(world.schedule)
        return first, await _fork(tp, result.run_id, step, inputs, world, watcher.faults)


async def _fork(
    tp: Toolpath, run_id: str, step: str | None, inputs: JsonObject | None, world: World, faults: list[str]
) -> Played:
    run = await tp.fork(run_id, from_step=step, inputs=inputs, repeat_writes=True)
    result = await to_the_end(tp, await run.result(), world)
    return Played(result, await tp.events(result.run_id), world, faults)


def _done_anew(plan: Plan, first: Played, forked: Played, step: str | None, others: JsonObject | None) -> Iterator[str]:
    changed = _changed(plan, step, others)
    due = followers(plan, changed | _unfinished(plan, first))
    earlier = paths_before(first.events, due) if plan.flow == "chain" else set()
    called = {made.path for made in forked.world.made if made.tool not in REPEATABLE}
    needless = called & earlier if plan.flow == "chain" else {top(path) for path in called} - due
    if needless:
        yield f"called without need: {sorted(needless)}"
    calls = [made.path for made in first.world.made if made.tool not in REPEATABLE]
    before = {path for path in calls if path not in earlier and (plan.flow == "chain" or top(path) in due)}
    if others is None and before != called:
        yield f"not done anew: {sorted(before ^ called)}"


def paths_before(events: Sequence[AnyEvent], due: set[str]) -> set[str]:
    """What a chain began before it first came to one of these steps: it may come back to a step from there."""
    paths: set[str] = set()
    for event in events:
        if isinstance(event, ev.StepStarted | ev.StepSkipped | ev.StepReady):
            if top(event.path) in due:
                break
            paths.add(event.path)
    return paths


def _unfinished(plan: Plan, first: Played) -> set[str]:
    """The plan's steps that a fork does anew whatever is changed: those that failed, but where the plan went on."""
    steps = {step.id: step for step in plan.steps}
    return {
        step.path
        for step in first.result.results
        if step.path in steps
        and step.status not in ("succeeded", "skipped")
        and not (step.continued or (plan.flow == "chain" and not steps[step.path].critical))
    }


def _changed(plan: Plan, step: str | None, inputs: JsonObject | None) -> set[str]:
    found = set() if step is None else {step}
    return found if inputs is None else found | reading_inputs(plan)


def reading_inputs(plan: Plan) -> set[str]:
    """The steps that read an input of the run."""
    return {each.id for each in plan.steps if "inputs." in _text(each)}


def followers(plan: Plan, changed: set[str]) -> set[str]:
    """The steps that are changed, and all that read something of them."""
    ids = [step.id for step in plan.steps]
    if plan.flow == "chain":
        return set(ids[min(map(ids.index, changed)) :]) if changed else set()
    found = set(changed)
    for step in plan.steps * len(plan.steps):
        told = _text(step)
        for name in found - {step.id}:
            source = next(each for each in plan.steps if each.id == name)
            reads = any(f"state.{one} " in told for one in written_variables(Block(steps=(source,))))
            if name in step.depends_on or f"steps['{name}']" in told or reads:
                found = found | {step.id}
    return found


def _text(step: object) -> str:
    return msgspec.json.encode(step).decode()
