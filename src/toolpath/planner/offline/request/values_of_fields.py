"""Values of a request as parameters take them: durations in their unit, amounts, currencies. Pure."""

from __future__ import annotations

from fractions import Fraction

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.codes import country_of
from toolpath.checks.request.lengths import in_unit_of_time
from toolpath.checks.request.measures import measure_named
from toolpath.checks.request.units import MEASURES
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.spans import listed
from toolpath.planner.offline.request.toolbox import ToolField, is_unit_name
from toolpath.values import Json


def in_unit(span: Span, field: ToolField) -> float | int | None:
    """A duration in the unit of the parameter; None where it cannot be said in it."""
    if not isinstance(span.value, int | float):
        return None
    amount = in_unit_of_time(span.value, span.unit, field.unit)
    return None if field.is_whole and isinstance(amount, float) else amount


def measure_of(field: ToolField) -> str:
    """The measure that a parameter is given in, as its name or its description says; empty where it says none."""
    return measure_named(field.name, field.description)


def same_measure(one: str, other: str) -> float | None:
    """How many of the other measure one is; None where they do not measure the same."""
    first, second = MEASURES.get(folded(one)), MEASURES.get(folded(other))
    if first is None or second is None or first[0] != second[0]:
        return None
    return float(Fraction(str(first[1])) / Fraction(str(second[1])))


def is_unit(field: ToolField) -> bool:
    """Whether a parameter takes the unit of an amount."""
    return field.kind in ("text", "enum") and is_unit_name(field.name)


def _unit_for(span: Span, field: ToolField) -> str | None:
    """The unit as the parameter takes it: one of its options or of those it shows, else as it is said."""
    said = str(span.value)
    if field.options:
        return next((str(one) for one in field.options if _is_same(said, str(one))), None)
    return next((one for one in raw_words(field.description) if _is_same(said, one)), said)


def _is_same(said: str, unit: str) -> bool:
    """Whether two words say the same unit: `kilo` and `kg`, `bottles` and `bottle`."""
    return stem(folded(said)) == stem(folded(unit)) or same_measure(said, unit) == 1


def measured(span: Span, field: ToolField) -> float | int | None:
    """A number in the measure of the parameter; None where it is given in another one that does not become that."""
    if not isinstance(span.value, int | float) or isinstance(span.value, bool):
        return None
    given, own = MEASURES.get(span.unit), MEASURES.get(measure_of(field)) if span.unit in MEASURES else None
    if given is None or own is None or span.unit == measure_of(field):
        return span.value
    if given[0] != own[0]:
        return None
    amount = float(Fraction(str(span.value)) * Fraction(str(given[1])) / Fraction(str(own[1])))
    return int(amount) if amount.is_integer() else amount


def value_of(span: Span, field: ToolField) -> Json:
    """The span as the parameter takes it; None where it does not."""
    if span.kind == "list":
        return listed(span.text)
    if span.kind == "unit":
        return _unit_for(span, field)
    match field.kind:
        case "duration":
            return in_unit(span, field) if span.kind == "duration" else span.value
        case "currency":
            if span.kind != "money":
                return None
            unit = span.unit or None
            return unit if not field.options or unit in field.options else None
        case "number" if span.kind == "number" and not field.is_list:
            amount = measured(span, field)
            return int(amount) if isinstance(amount, float) and amount.is_integer() else amount
        case "id" | "text" | "place" if span.kind == "number":
            return span.text.removeprefix("#")
        case "country":
            return country_of(span.text)
        case "number" | "money" | "percent":
            if isinstance(span.value, float) and span.value.is_integer():
                return int(span.value)
            return span.value
        case _:
            return span.value
