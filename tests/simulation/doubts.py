"""What must hold of writes in doubt that people settle: made again, taken as done, or taken as failed.

Wherever they are made, what comes of the run is what comes of one that makes them, or in which they fail.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from moves import is_handled, other_effects
from plays import Played, called_again, differing, faults_of, left_behind, opened, play, to_the_end
from structures import Structure, structure
from virtual import VirtualClock, in_virtual_time
from worlds import ONCE, World, drawn

from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.store.memory.store import MemoryStore

#: Writes whose driver is lost, of each structure.
MOST = 4


def of_doubts(seed: int) -> Iterator[str]:
    """A run whose driver is lost while it writes goes on as people say that the write went."""
    this = structure(seed)
    whole = in_virtual_time(play(this.plan, World(seed % 5)))
    places = [
        number
        for number, event in enumerate(whole.events, 1)
        if isinstance(event, ev.StepStarted) and event.tool in ONCE and event.key and number < len(whole.events)
    ]
    chance = random.Random(seed)
    for place in chance.sample(places, min(MOST, len(places))):
        about = f"in doubt after {place} of {len(whole.events)}"
        yield from (f"{about}: {fault}" for fault in _of_doubt(this, whole, place, chance.randrange(1_000)))


def _of_doubt(this: Structure, whole: Played, place: int, number: int) -> Iterator[str]:
    world = World(this.seed % 5)
    world.settles = lambda path: ("retry", "output", "failed")[drawn("settles", number, path) % 3]
    before = whole.events[:place]
    first, last = in_virtual_time(_settled(before, world, number))
    yield from first.faults
    yield from faults_of(last)
    yield from called_again(before, world)
    failed = world.settled_as_failed
    if not this.exact:
        return
    # As if these had failed when they were called.
    other = (
        in_virtual_time(play(this.plan, World(this.seed % 5, fails=lambda path: path in failed))) if failed else whole
    )
    yield from differing(first, other, "status", "outputs")
    if not failed:
        yield from other_effects(first, other)
    if not (this.tolerant or is_handled(first, this.plan)):
        yield from differing(last, whole, "status", "outputs", "state")
        yield from other_effects(last, whole)


async def _settled(before: Sequence[AnyEvent], world: World, number: int) -> tuple[Played, Played]:
    """The run at its end as people have settled it, and after that, tried again."""
    store = MemoryStore(clock=VirtualClock().time)
    run_id = await left_behind(store, before)
    if number % 3 == 0:
        # The next driver is lost as well, before anybody has said a word.
        async with opened(world, store) as (tp, _):
            await (await tp.resume(run_id)).result()
    async with opened(world, store) as (tp, watcher):
        run = await tp.resume(run_id)
        result = await to_the_end(tp, await run.result(), world)
        first = Played(result, await tp.events(run_id), world.past(), list(watcher.faults))
        world.settles = None
        if result.status == "failed":
            result = await to_the_end(tp, await (await tp.retry(run_id)).result(), world)
        return first, Played(result, await tp.events(run_id), world, watcher.faults)
