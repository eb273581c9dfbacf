"""Which names are like another one: what 'did you mean' offers. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from rapidfuzz.distance import OSA


def closest(name: str, candidates: Iterable[str], limit: int = 3, threshold: float = 0.6) -> tuple[str, ...]:
    """The candidates most like `name`, nearest first: what 'did you mean' offers.

    Likeness is measured on lower-case letters and digits alone, so that `createauthor` finds `create_author`.
    """
    wanted = _folded(name[:100])
    scored: list[tuple[float, str]] = []
    for candidate in dict.fromkeys(islice(candidates, 20_000)):
        score = max(_likeness(wanted, _folded(n)) for n in (candidate[:200], candidate[-200:].rpartition(".")[2]))
        if score >= threshold:
            scored.append((-score, candidate))
    return tuple(candidate for _, candidate in sorted(scored)[:limit])


def _folded(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _likeness(left: str, right: str) -> float:
    # Optimal string alignment: two neighbouring letters swapped count as one slip.
    return OSA.normalized_similarity(left, right)
