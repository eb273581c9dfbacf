"""Opposites: words that a request says where a tool is for what is contrary to them. Pure."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain
from typing import Final

_OPPOSITES: Final = tuple(
    (left, right)
    for left, right in (
        row.split()
        for row in (
            "internal external",
            "lowest highest",
            "minimum maximum",
            "lower upper",
            "loss profit",
            "loss gain",
            "expense income",
            "buy sell",
            "import export",
            "arrival departure",
            "increase decrease",
            "indoor outdoor",
            "inbound outbound",
            "sunrise sunset",
            "oldest newest",
            "cheapest expensive",
            "nearest farthest",
            "winner loser",
            "encrypt decrypt",
            "encode decode",
            "upload download",
            "enable disable",
            "linear quadratic",
        )
    )
)
#: Word → what is contrary to it: few words of a request have anything.
_CONTRARY: Final = {
    word: tuple(one for pair in _OPPOSITES if word in pair for one in pair if one != word)
    for word in chain.from_iterable(_OPPOSITES)
}


def is_opposite(known: Collection[str], said: Collection[str]) -> bool:
    """Whether a text says the opposite of what a tool is for, whose words are `known`."""
    return any(
        other in known and word not in known and other not in said for word in said for other in _CONTRARY.get(word, ())
    )
