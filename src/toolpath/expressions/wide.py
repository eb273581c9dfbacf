"""Bound of a value that many templates make, by what the outputs that it reads weigh at most. Pure.

To measure what 200 results make together takes as long as making it. Most such values are far from the limit, which
the number of templates shows: where it does, nothing is measured.
"""

from __future__ import annotations

from typing import Any

from toolpath.expressions.extent import CONTAINER, MEMBER, extent
from toolpath.expressions.names import Frame, Root
from toolpath.expressions.structure import Leaves, at_hand
from toolpath.expressions.tree import Reference
from toolpath.values import Json, encode

#: An extent weighs at most so many times what the value's text takes: `[]`, two bytes, is a member and a list.
DENSEST = (MEMBER + CONTAINER) // 2


class WideValue:
    """What a value is made of, all of whose templates are plain paths into the frame."""

    __slots__ = ("_others", "_outputs", "_own", "_value")

    def __init__(self, value: Json, outputs: int, others: tuple[Reference, ...]) -> None:
        self._value = value
        self._outputs = outputs
        """How many templates read the output of a step, or a part of one."""
        self._others = others
        """What else is read."""
        self._own = 0
        """What is written in the value itself weighs at most, once that was asked."""

    def weight(self, frame: Frame, largest: int) -> int:
        """The most that it may weigh, where no output of the frame weighs more than `largest`."""
        if not self._own:
            self._own = DENSEST * len(encode(self._value))
        others = sum([extent(at_hand(reference, frame)).weight for reference in self._others])
        return self._own + DENSEST * self._outputs * largest + others


def wide_value(value: Json, leaves: Leaves) -> WideValue | None:
    """The bound of a value whose templates are plain paths; None where a text is made of anything but outputs."""
    outputs, others = 0, list[Reference]()
    for leaf in leaves.values():
        for reference in leaf.references:
            if _is_output(reference.root):
                outputs += 1
            elif leaf.whole is None:
                return None
            else:
                others.append(reference)
    return WideValue(value, outputs, tuple(others))


def _is_output(root: Any) -> bool:
    return type(root) is Root and root.kind == "output"
