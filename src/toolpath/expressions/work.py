"""The work that the expressions of one run do, all together. Pure."""

from __future__ import annotations

import sys
from collections.abc import Callable

from toolpath.errors import OverBudget
from toolpath.expressions.extent import Extent


class Work:
    """Work that the expressions of one run may still do, in elements visited: many small ones are a large one."""

    __slots__ = ("_charge", "_heaviest", "largest", "left")

    def __init__(
        self,
        left: int,
        charge: Callable[[int], None],
        heaviest: int = sys.maxsize,
        largest: Callable[[], int] = lambda: sys.maxsize,
    ) -> None:
        self.left = left
        """How much the next evaluation may do; from 0 on none may."""
        self._heaviest = heaviest
        """Bytes that one value may take, written out."""
        self._charge = charge
        """Is told of all that is done, so that a turn of the loop may end after enough of it."""
        self.largest = largest
        """No output of a step, as frames have it, has a longer text than so many bytes."""

    def used_up(self) -> OverBudget:
        """The error that nothing is left."""
        return OverBudget(
            "The expressions of this run have done as much work as those of one run may (max_run_work).",
            hint="Filter or slice the data first, or use a tool for it.",
        )

    def end(self, done: int) -> None:
        """An evaluation has done so much."""
        self.left -= done
        self._charge(done)

    def admits(self, weight: int) -> bool:
        """Whether a value that weighs so much may be handed on."""
        return weight <= self._heaviest

    def admit(self, found: Extent) -> None:
        """A value of this extent is handed on. Raises `OverBudget` where it is larger than one may be."""
        if not self.admits(found.weight):
            raise OverBudget(
                f"The value would take {found.weight:,} bytes, written out; the most is {self._heaviest:,} "
                "(max_run_bytes).",
                hint="Hand on where large data is, not the data; or hand it on fewer times.",
            )
