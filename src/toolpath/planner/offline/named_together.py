"""Tools that a text names beside one another for the same thing: `the mean and the standard deviation of …`. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolpath.catalog.words import STOP, stem
from toolpath.planner.offline.match import is_like
from toolpath.planner.offline.rank import COMMON, RankedTool

_WORD = re.compile(r"[A-Za-z]+")
_JOINT = re.compile(
    r"\s*(?:,|,?\s*(?:and|&|as well as|plus|and also)\b)(?:\s+(?:the|a|an|its|their|his|her|total|average))?\s*"
    r"(?:\w+\s+){0,1}",
    re.IGNORECASE,
)


def beside(one: RankedTool, text: str, candidates: Sequence[RankedTool]) -> list[RankedTool]:
    """The other tools that the text joins to this one, each by all the words that tell their names apart."""
    found: list[RankedTool] = []
    for other in candidates:
        if other is one:
            continue
        own, others = one.name - other.name - COMMON, other.name - one.name - COMMON
        left, right = _said(own, text), _said(others, text)
        if left is None or right is None:
            continue
        first, last = sorted((left, right))
        if first[1] <= last[0] and _JOINT.fullmatch(text[first[1] : last[0]]):
            found.append(other)
    return found


def _said(words: frozenset[str], text: str) -> tuple[int, int] | None:
    """Where the text says all of these words one after the other; None where it does not."""
    if not words:
        return None
    tokens = [word for word in _WORD.finditer(text) if word.group().lower() not in STOP]
    for at in range(len(tokens) - len(words) + 1):
        run = tokens[at : at + len(words)]
        said = [stem(word.group().lower()) for word in run]
        if all(any(is_like(word, own) for word in said) for own in words):
            return run[0].start(), run[-1].end()
    return None
