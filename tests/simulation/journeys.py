"""What must hold of a run that is forked, tried again, cut and stopped several times, one after another.

After all of it the last run gives what a run without any of it gives. No step that a fork keeps is called in it, and
none is done anew that does not follow from what is changed.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence

import msgspec
from moves import OTHERS, REPEATABLE, followers, is_handled, other_effects, paths_before, reading_inputs
from plays import (
    CONTEXT,
    Played,
    called_again,
    differing,
    effects_in,
    faults_of,
    finished,
    in_doubt,
    left_behind,
    opened,
    play,
    to_the_end,
    top,
)
from structures import INPUTS, Structure, structure
from virtual import VirtualClock, in_virtual_time
from worlds import World, drawn

from toolpath.app import Toolpath
from toolpath.errors import RunConflict
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.plan import Plan, thaw
from toolpath.model.run import RunResult
from toolpath.planner.replan import latest
from toolpath.runs.run import Run
from toolpath.store.memory.store import MemoryStore

#: After so many retries of a run that nothing disturbs, it fails by itself.
MOST_RETRIES = 3
Act = Callable[[Toolpath], Awaitable[Run]]


def of_journeys(seed: int) -> Iterator[str]:
    """However a run came to its end, what it gives is what a straight run gives, and nothing finished was called."""
    journey = Journey(structure(seed), random.Random(seed))
    in_virtual_time(journey.go(seed % 3 + 2))
    yield from (f"{journey.told}: {fault}" for fault in journey.faults)
    if not journey.is_straight:
        return
    whole = in_virtual_time(play(journey.this.plan, World(seed % 5), journey.inputs))
    mine = journey.played()
    faults = [*differing(mine, whole, "status", "outputs", "state"), *other_effects(mine, whole)]
    yield from (f"{journey.told}: {fault}" for fault in faults)


class Journey:
    """A run, and what becomes of it."""

    result: RunResult
    events: Sequence[AnyEvent] = ()

    def __init__(self, this: Structure, chance: random.Random) -> None:
        self.this = this
        self.chance = chance
        self.world = World(this.seed % 5)
        self.store: MemoryStore | None = None
        self.inputs = INPUTS
        self.told: list[str] = []
        self.faults: list[str] = []
        self.is_straight = this.exact
        """What comes of it is known: nothing that disturbed it was handled by the plan."""

    def played(self) -> Played:
        return Played(self.result, list(self.events), self.world, [])

    async def go(self, moves: int) -> None:
        """The whole of it."""
        self.store = MemoryStore(clock=VirtualClock().time)
        await self.leg("run", lambda tp: tp.start(self.this.plan, INPUTS, context=CONTEXT))
        await self.moves(moves)

    async def moves(self, count: int) -> None:
        """So many, and then on to the end."""
        for _ in range(count):
            if self.faults:
                return
            await self.move()
        for _ in range(MOST_RETRIES):
            if self.faults or self.result.status.startswith("completed"):
                break
            await self.go_on(calm=True)
        self.faults += faults_of(self.played())

    async def move(self) -> None:
        """One of what may be done with a run as it stands."""
        draw = self.chance.random()
        if draw < 0.45:
            await self.fork()
        elif draw < 0.7 and len(self.events) > self.kept() + 1:
            await self.cut()
        elif self.result.status != "completed":
            await self.go_on()
        else:
            await self.fork()

    async def go_on(self, *, calm: bool = False) -> None:
        """Resume what is paused; try again what has failed."""
        paused, run_id, before = self.result.status == "paused", self.result.run_id, self.events
        name = "resume" if paused else "retry"
        await self.leg(name, lambda tp: (tp.resume if paused else tp.retry)(run_id), calm=calm)
        self.faults += called_again(before, self.world)

    async def cut(self) -> None:
        """Lose the end of the journal, and the driver with it."""
        place = self.chance.randrange(max(1, self.kept()), len(self.events))
        before = self.events[:place]
        self.store, self.world = MemoryStore(clock=VirtualClock().time), World(self.this.seed % 5)
        run_id = await left_behind(self.store, before)
        self.this = msgspec.structs.replace(self.this, plan=plan_in_force(before))
        await self.leg(f"cut after {place} of {len(self.events)}", lambda tp: tp.resume(run_id))
        self.faults += called_again(before, self.world)

    async def fork(self) -> None:
        """Go on with another run."""
        steps, chance = self.this.plan.steps, self.chance
        step = chance.choice(steps).id if chance.random() < 0.6 else None
        others = {**self.inputs, **OTHERS} if step is None or chance.random() < 0.3 else None
        if others == self.inputs:
            others = INPUTS
        first, named = self.played(), list[str]()

        async def act(tp: Toolpath) -> Run:
            run_id = first.result.run_id
            try:
                return await tp.fork(run_id, from_step=step, inputs=others)
            except RunConflict as conflict:
                named.extend(str(conflict).partition("again: ")[2].partition(". ")[0].rstrip(".").split(", "))
            return await tp.fork(run_id, from_step=step, inputs=others, repeat_writes=True)

        calm = await self.leg(f"fork from {step}{' with other inputs' if others else ''}", act)
        changed = {step} if step is not None else set[str]()
        if others is not None:
            changed |= reading_inputs(self.this.plan)
        self.inputs = others or self.inputs
        self.faults += self.faults_of_fork(first, named, changed, redone=calm and others is None)

    def faults_of_fork(self, first: Played, named: list[str], changed: set[str], *, redone: bool) -> Iterator[str]:
        """What a fork called that it need not, or without having said so; and what it did not do anew."""
        kept = self.events[: self.kept()]
        yield from called_again(kept, self.world)
        written = {made.path for made in self.world.made if made.effect and made.tool not in REPEATABLE}
        # Whatever may have happened counts, too.
        again = written & (finished(first.events) | in_doubt(first.events))
        if again - set(named):
            yield f"made again, and not named: {sorted(again - set(named))}"
        if not self.is_straight:
            return
        plan = self.this.plan
        due = followers(plan, changed | _open_steps(self.this, first))
        called = {made.path for made in self.world.made if made.tool not in REPEATABLE}
        earlier = paths_before(first.events, due) if plan.flow == "chain" else set()
        needless = called & earlier if plan.flow == "chain" else {top(path) for path in called} - due
        if needless:
            yield f"called without need: {sorted(needless)}"
        if not redone or not first.result.success:
            return
        # What was done in the steps that are due is done anew, and was not kept.
        is_due = (lambda path: path not in earlier) if plan.flow == "chain" else (lambda path: top(path) in due)
        before, now = (
            Counter(effects_in([event for event in events if _is_of(event, is_due)]))
            for events in (first.events, self.events[len(kept) :])
        )
        if before != now:
            yield f"not done anew: {dict(before - now)}, and too many: {dict(now - before)}"

    def kept(self) -> int:
        """How many of the events a fork began with."""
        started = self.events[0]
        assert isinstance(started, ev.RunStarted)
        if not started.parent:
            return 1
        return next(number for number, event in enumerate(self.events) if isinstance(event, ev.RunResumed))

    async def leg(self, name: str, act: Act, *, calm: bool = False, how: str = "") -> bool:
        """Do that, in a process of its own, and let it run until it ends or is stopped. Gives whether nothing was."""
        world, chance = self.world, self.chance
        world.forget()
        how = how or ("" if calm or chance.random() < 0.6 else chance.choice(["fails", "cancel", "pause"]))
        self.told.append(f"{name}, {how}" if how else name)
        async with opened(world, self.store) as (tp, watcher):
            said: list[asyncio.Task[None]] = []
            self._disturb(tp, how, said)
            result = await to_the_end(tp, await (await act(tp)).result(), world)
            await asyncio.gather(*said)
            world.fails = world.denies = world.stop = None
            self.result = await tp.result(result.run_id)
            self.events = await tp.events(result.run_id)
            self.faults += watcher.faults
        if how and (self.this.tolerant or is_handled(self.played(), self.this.plan)):
            self.is_straight = False
        return not how

    def _disturb(self, tp: Toolpath, how: str, said: list[asyncio.Task[None]]) -> None:
        number = self.chance.randrange(1_000_000)
        if how == "fails":
            self.world.fails = lambda path: drawn("fails", number, path) % 100 < 12
            self.world.denies = lambda path: drawn("denies", number, path) % 100 < 25
        elif how:
            self.world.stop_at = self.chance.randint(1, 12)
            self.world.stop = lambda run_id: said.append(asyncio.ensure_future(_say(tp, how, run_id)))


async def _say(tp: Toolpath, how: str, run_id: str) -> None:
    # The run may have ended meanwhile.
    with contextlib.suppress(RunConflict):
        await (tp.cancel if how == "cancel" else tp.pause)(run_id)


def _is_of(event: AnyEvent, is_due: Callable[[str], bool]) -> bool:
    """Whether it tells of a step that is due, or of another plan, which leaves behind what it does not keep."""
    return isinstance(event, ev.PlanRevised) or is_due(getattr(event, "path", ""))


def _open_steps(this: Structure, first: Played) -> set[str]:
    """The plan's steps that have not ended, or not for good."""
    critical = {step.id: step.critical for step in this.plan.steps}
    last, is_chain = latest(first.result.results), this.plan.flow == "chain"
    ended = {
        name
        for name, step in last.items()
        if step.status in ("succeeded", "skipped") or step.continued or (is_chain and not critical.get(name, True))
    }
    # A chain may have left steps out.
    return (set(last) if is_chain else set(critical)) - ended


def plan_in_force(events: Sequence[AnyEvent]) -> Plan:
    """What the run goes by."""
    return next(thaw(event.plan) for event in reversed(events) if isinstance(event, ev.RunStarted | ev.PlanRevised))
