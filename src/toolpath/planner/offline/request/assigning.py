"""Assignment of values to parameters: each to the one that it fits best, none left over where all find room. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import Kit, ToolField

Ranked = tuple[float, int, int]
"""How well a value is for a parameter, and the places of both."""
#: So far apart in their order, a value and a parameter are a little less likely for one another.
_FAR: Final = 0.04
#: What moves another value aside is as likely, and that one hardly worse off.
_LIKELY, _WORSE = 2.0, 0.5


def assigned(ranked: Iterable[Ranked], several: Collection[int]) -> list[Ranked]:
    """The pairs that are taken, the best first. `several`: places of parameters that take more than one value.

    A value that finds its parameters taken has another one moved aside, where that one has a free place.
    """
    ordered = sorted(ranked, key=lambda one: (-one[0], one[1], one[2]))
    scores = {(at, order): score for score, at, order in ordered}
    parameter: dict[int, int] = {}
    holder: dict[int, int] = {}
    for _, at, order in ordered:
        if at not in parameter and order not in holder:
            parameter[at] = order
            if order not in several:
                holder[order] = at
    for score, at, order in ordered:
        other = holder.get(order)
        if at in parameter or other is None or score < _LIKELY:
            continue
        places = [place for _, value, place in ordered if value == other and place not in holder]
        free = next((one for one in places if scores[other, one] >= scores[other, order] - _WORSE), None)
        if free is not None:
            parameter[at], holder[order] = order, at
            parameter[other] = free
            if free not in several:
                holder[free] = other
    chosen = [(scores[at, order], at, order) for at, order in parameter.items()]
    return sorted(chosen, key=lambda one: (-one[0], one[1], one[2]))


def apart(spans: Sequence[Span], fields: Sequence[ToolField], at: int, order: int) -> float:
    """Deduction for how far a value among those of its kind is from the parameter among its kind."""
    before = sum(one.kind == spans[at].kind for one in spans[:at])
    return _FAR * abs(before - sum(one.kind == fields[order].kind for one in fields[:order]))


def is_one_of_several(span: Span, field: ToolField, kit: Kit) -> bool:
    """Whether the tool takes several such numbers, none of which has to be said."""
    if span.kind != "number" or field.kind != "number":
        return False
    return sum(one.kind == "number" and one.is_name == field.is_name for one in kit.fields) > 1
