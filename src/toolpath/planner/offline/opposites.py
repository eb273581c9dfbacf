"""Opposites: words that a request says where a tool is for what is contrary to them. Pure."""

from __future__ import annotations

from collections.abc import Collection
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


def is_opposite(known: Collection[str], said: Collection[str]) -> bool:
    """Whether a text says the opposite of what a tool is for, whose words are `known`."""
    return any(
        word in said and word not in known and other in known and other not in said
        for pair in _OPPOSITES
        for word, other in (pair, pair[::-1])
    )
