"""Values of a request as parameters take them: durations in their unit, amounts, currencies. Pure."""

from __future__ import annotations

from typing import Final

from toolpath.planner.offline.request.spans import Span, listed
from toolpath.planner.offline.request.toolbox import ToolField
from toolpath.values import Json

_MINUTES: Final = {"second": 1 / 60, "minute": 1.0, "hour": 60.0, "day": 1440.0, "week": 10080.0}


def in_unit(span: Span, field: ToolField) -> float | int | None:
    """A duration in the unit of the parameter; None where it cannot be said in it."""
    if not isinstance(span.value, int | float):
        return None
    if span.unit == field.unit:
        amount = float(span.value)
    elif span.unit in _MINUTES and field.unit in _MINUTES:
        amount = span.value * _MINUTES[span.unit] / _MINUTES[field.unit]
    else:
        return None
    if amount.is_integer():
        return int(amount)
    return None if field.is_whole else amount


def value_of(span: Span, field: ToolField) -> Json:
    """The span as the parameter takes it; None where it does not."""
    if span.kind == "list":
        return listed(span.text)
    match field.kind:
        case "duration":
            return in_unit(span, field) if span.kind == "duration" else span.value
        case "currency":
            if span.kind != "money":
                return None
            unit = span.unit or None
            return unit if not field.options or unit in field.options else None
        case "number" | "money" | "percent":
            if isinstance(span.value, float) and span.value.is_integer():
                return int(span.value)
            return span.value
        case _:
            return span.value
