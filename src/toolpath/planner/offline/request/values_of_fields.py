"""Values of a request as parameters take them: durations in their unit, amounts, currencies. Pure."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.codes import country_of
from toolpath.checks.request.lengths import in_unit_of_time
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.spans import listed
from toolpath.planner.offline.request.toolbox import ToolField
from toolpath.values import Json


def in_unit(span: Span, field: ToolField) -> float | int | None:
    """A duration in the unit of the parameter; None where it cannot be said in it."""
    if not isinstance(span.value, int | float):
        return None
    amount = in_unit_of_time(span.value, span.unit, field.unit)
    return None if field.is_whole and isinstance(amount, float) else amount


#: Measures: what they measure, and how many of its smallest one they are.
_MEASURES: Final[dict[str, tuple[str, float]]] = {
    word: (dimension, scale)
    for dimension, scale, words in (
        ("weight", 0.001, "mcg µg"),
        ("weight", 1.0, "mg milligram milligrams"),
        ("weight", 1_000.0, "g gram grams gramm gramme grammes gramo gramos"),
        ("weight", 1_000_000.0, "kg kilo kilos kilogram kilograms kilogramm"),
        ("weight", 1_000_000_000.0, "t tonne tonnes tonnen ton tons tonelada toneladas"),
        ("volume", 1.0, "ml"),
        ("volume", 10.0, "cl"),
        ("volume", 100.0, "dl"),
        ("volume", 1_000.0, "l litre litres liter liters litro litros"),
        ("length", 1.0, "mm"),
        ("length", 10.0, "cm"),
        ("length", 1_000_000.0, "km kilometre kilometres kilometer kilometers"),
        ("data", 1.0, "mb megabyte megabytes"),
        ("data", 1_000.0, "gb gigabyte gigabytes"),
        ("data", 1_000_000.0, "tb terabyte terabytes"),
        ("warmth", 1.0, "°c celsius"),
        ("pressure", 1.0, "mmhg"),
        ("beats", 1.0, "bpm"),
    )
    for word in words.split()
}


def measure_of(field: ToolField) -> str:
    """The measure that a parameter is given in, as its name or its description says; empty where it says none."""
    # A letter by itself is rather of an id: `such as T-7`.
    words = [*raw_words(field.name), *re.findall(r"[^\W\d_]{2,}|°[cf]", field.description.casefold())]
    return next((word for word in words if word in _MEASURES), "")


def measured(span: Span, field: ToolField) -> float | int | None:
    """A number in the measure of the parameter; None where it is given in another one that does not become that."""
    if not isinstance(span.value, int | float) or isinstance(span.value, bool):
        return None
    given, own = _MEASURES.get(span.unit), _MEASURES.get(measure_of(field)) if span.unit in _MEASURES else None
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
        case "id" if span.kind == "number":
            return span.text.removeprefix("#")
        case "country":
            return country_of(span.text)
        case "number" | "money" | "percent":
            if isinstance(span.value, float) and span.value.is_integer():
                return int(span.value)
            return span.value
        case _:
            return span.value
