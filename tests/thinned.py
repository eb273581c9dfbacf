"""A part of all pairs that a generated test tries: each of both sides is met, several times and not by the same ones.

Of thirty forms and ten sayings a third of all pairs shows what all would: how a form is read hangs little on what is
said in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

One = TypeVar("One")
Other = TypeVar("Other")


def thinned(left: Sequence[One], right: Sequence[Other], *, share: int) -> Iterator[tuple[One, Other]]:
    """Of all pairs every `share`th; of a side that is shorter, each is met by each."""
    step = min(share, len(left), len(right))
    for row, one in enumerate(left):
        for column, other in enumerate(right):
            if (row + column) % step == 0:
                yield one, other
