"""What must hold of plans in which agents stand wherever a step may: cut anywhere, they go on to the same end."""

from __future__ import annotations

import random
from collections.abc import Iterator

from moves import of_cut, of_retries, of_stops
from plays import differing, faults_of, play
from structures import acting
from virtual import in_virtual_time
from worlds import World

CUTS = 8


def of_agents(seed: int) -> Iterator[str]:
    """Whatever ends first and wherever the journal ends: no thought twice, no call twice, the same end."""
    this = acting(seed)
    whole = in_virtual_time(play(this.plan, World(seed % 5)))
    yield from faults_of(whole)
    other = in_virtual_time(play(this.plan, World(seed % 5 + 1)))
    yield from faults_of(other)
    if this.exact:
        yield from differing(other, whole)
    yield from of_retries(seed, acting)
    yield from of_stops(seed, acting)
    places = range(1, len(whole.events))
    for place in sorted(random.Random(seed).sample(places, min(CUTS, len(places)))):
        yield from (f"cut after {place} of {len(whole.events)}: {fault}" for fault in of_cut(this, whole, place))
