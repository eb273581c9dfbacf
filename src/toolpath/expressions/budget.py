"""Budget of one evaluation. A running expression cannot be interrupted, so its work is counted."""

from __future__ import annotations

from toolpath.errors import OverBudget
from toolpath.expressions.extent import Extent, extent
from toolpath.expressions.work import Work
from toolpath.values import MAX_DEPTH, Json

#: Units of work in one evaluation; a unit is about one element visited, and takes a quarter of a microsecond.
WORK = 600_000
#: Characters of one text that an expression may build.
MAX_TEXT = 8_000_000
#: Bits of one integer that an expression may build: beyond it no float could hold the number either.
MAX_BITS = 1_024


class WorkBudget:
    """Counts the work of one evaluation, and adds it to that of the run where it is part of one."""

    __slots__ = ("_all", "_of", "left")

    def __init__(self, of: Work | None = None) -> None:
        self._of = of
        left = WORK if of is None else of.left
        if of is not None and left <= 0:
            raise of.used_up()
        self._all = self.left = left if left < WORK else WORK

    def close(self) -> None:
        """The evaluation is over, however it ended."""
        if self._of is not None:
            self._of.end(self._all - self.left)

    def charge(self, units: int) -> None:
        """Take so many units. Raises `OverBudget` when they are not there."""
        self.left -= units
        if self.left < 0:
            raise OverBudget(
                "The expression would do too much work.",
                hint="Filter or slice the data first, or use a tool for it.",
            )

    def text(self, length: int) -> None:
        """Take what building or reading a text of this length costs."""
        if length > MAX_TEXT:
            raise OverBudget(f"The expression would build a text of {length} characters; {MAX_TEXT} are allowed.")
        self.charge(1 + (length >> 6))

    def weigh(self, value: Json) -> int:
        """Take what walking the value costs, with what it shares as often as it occurs. Gives its depth.

        A value built by an expression may share its parts, so that it is small in memory and endless to walk:
        this goes before everything that walks one.
        """
        if type(value) is not list and type(value) is not dict:
            return 0
        try:
            found = extent(value)
        except RecursionError:
            raise _too_deep() from None
        return self.take(found)

    def take(self, found: Extent) -> int:
        """Take what walking a value of this extent costs. Gives its depth."""
        self.charge(found.members + (found.characters >> 6))
        if found.depth > MAX_DEPTH:
            raise _too_deep()
        return found.depth


def _too_deep() -> OverBudget:
    return OverBudget(f"The expression would build a value nested deeper than {MAX_DEPTH} levels.")
