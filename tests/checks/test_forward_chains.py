"""What holds in a chain that only goes forward is the same as what following its edges finds."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from toolpath.checks.history import _STRIDE, Forward, Writes, followed
from toolpath.checks.jumps import Edge

CAUSES = ("success", "failure", "skip")


@st.composite
def chains(draw: st.DrawFn) -> tuple[list[list[Edge]], list[Writes]]:
    size = draw(st.integers(1, 3 * _STRIDE))
    edges = [[Edge(here, here + 1, "success")] for here in range(size)]
    for _ in range(draw(st.integers(0, 20))):
        here = draw(st.integers(0, size - 1))
        edges[here].append(Edge(here, draw(st.integers(here + 1, size)), draw(st.sampled_from(CAUSES))))
    for here in draw(st.sets(st.integers(0, size - 1), max_size=3)):
        edges[here] = [edge for edge in edges[here] if edge.target != here + 1]
    writes = [Writes(1 << here % 5, (here % 3 == 0) << here % 5) for here in range(size)]
    return edges, writes


@given(chains(), st.randoms(use_true_random=False))
def test_what_holds_on_the_way_is_what_following_finds(
    chain: tuple[list[list[Edge]], list[Writes]], chance: Random
) -> None:
    edges, writes = chain
    forward, known = Forward(edges, writes), followed(edges, writes)
    places = [*range(len(edges)), -1]
    chance.shuffle(places)
    assert [forward[place] for place in places] == [known[place] for place in places]
