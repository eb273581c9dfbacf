"""Fit of texts, numbers, truth values and null: bounds, lengths, patterns, formats and listed values."""

from __future__ import annotations

import math
from typing import Final, TypeGuard

import msgspec

from toolpath.json_schema.coerce import coerce_scalar, literals_of, types_of
from toolpath.json_schema.describe import type_text
from toolpath.json_schema.faults import listed
from toolpath.json_schema.verdicts import COERCED, FITS, PairVerdict, for_each, may, never
from toolpath.values import Json, JsonObject, type_name

_NUMERIC: Final = frozenset({"integer", "number"})


class Interval(msgspec.Struct, frozen=True):
    """Numbers between two bounds, each included or not."""

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False

    def holds(self, other: Interval) -> bool:
        """Every number of the other lies in this one."""
        low = self.low < other.low or (self.low == other.low and (other.low_open or not self.low_open))
        high = self.high > other.high or (self.high == other.high and (other.high_open or not self.high_open))
        return low and high

    def misses(self, other: Interval) -> bool:
        """No number lies in both."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low != high:
            return low > high
        return any(
            (side.low == low and side.low_open) or (side.high == high and side.high_open) for side in (self, other)
        )

    def has(self, number: float) -> bool:
        """The number lies in it."""
        return self.holds(Interval(number, number))


def number_interval(schema: JsonObject) -> Interval:
    """The interval that `minimum`, `maximum` and their exclusive forms (those of draft 4 too) leave."""
    low, low_open = _bound(schema, "minimum", "exclusiveMinimum", -math.inf)
    high, high_open = _bound(schema, "maximum", "exclusiveMaximum", math.inf)
    return Interval(low, high, low_open, high_open)


def _bound(schema: JsonObject, key: str, exclusive: str, end: float) -> tuple[float, bool]:
    plain, strict = schema.get(key), schema.get(exclusive)
    inner = max if end < 0 else min
    bound = plain if _is_number(plain) else end
    if isinstance(strict, bool):
        return bound, strict and abs(bound) != math.inf
    if _is_number(strict) and inner(bound, strict) == strict:
        return strict, True
    return bound, False


def size_interval(schema: JsonObject, low: str, high: str) -> Interval:
    """The interval that `minLength` and `maxLength`, or those of items or properties, leave."""
    least, most = schema.get(low), schema.get(high)
    return Interval(least if _is_number(least) else 0, most if _is_number(most) else math.inf)


def _is_number(value: object) -> TypeGuard[int | float]:
    return type(value) in (int, float)


def scalar_fit(kind: str, output: JsonObject, rules: JsonObject) -> PairVerdict:
    """Verdict on values of one scalar type under the keywords of one schema, which is no reference."""
    types = types_of(rules)
    if not types or kind in types or (kind == "integer" and "number" in types):
        return _same_type(kind, output, rules)
    if kind == "number" and "integer" in types:
        return _fraction(output, rules)
    return _other_type(kind, output, rules, types)


def _same_type(kind: str, output: JsonObject, rules: JsonObject) -> PairVerdict:
    literals = literals_of(rules)
    if literals is not None:
        return _among(kind, output, rules, literals)
    if kind == "string":
        return _text_fit(output, rules)
    return _number_fit(kind, output, rules) if kind in _NUMERIC else FITS


def _fraction(output: JsonObject, rules: JsonObject) -> PairVerdict:
    step = output.get("multipleOf")
    if _is_number(step) and step == int(step):
        return _same_type("integer", output, rules)
    verdict = _same_type("integer", output, rules)
    contrast = f"{type_text(output)}, but {type_text(rules)} is expected"
    if "string" in types_of(rules):
        return for_each([verdict, _as_text(contrast, rules)])
    return verdict if verdict.word == "never" else may(f"{contrast}: a fraction does not fit")


def _other_type(kind: str, output: JsonObject, rules: JsonObject, types: tuple[str, ...]) -> PairVerdict:
    contrast = f"{type_text(output)}, but {type_text(rules)} is expected"
    if kind == "string" and (_NUMERIC | {"boolean"}) & set(types):
        wanted = "true or false" if "boolean" in types and not _NUMERIC & set(types) else "a number"
        literals = literals_of(rules)
        if literals is not None and not any(type_name(item) in _NUMERIC | {"boolean"} for item in literals):
            return never(contrast)
        return may(f"{contrast}: text fits only where it is {wanted}")
    if kind in _NUMERIC and "string" in types:
        return _as_text(contrast, rules)
    return never(contrast, firm=True)


def _as_text(contrast: str, rules: JsonObject) -> PairVerdict:
    literals = literals_of(rules)
    if literals is not None:
        numeric = [item for item in literals if isinstance(item, str) and _is_numeric(item)]
        return may(contrast) if numeric else never(contrast)
    least = rules.get("minLength")
    is_limited = "pattern" in rules or "maxLength" in rules or (_is_number(least) and least > 1)
    return may(f"{contrast}: its digits may not fit") if is_limited else COERCED


def _is_numeric(text: str) -> bool:
    return coerce_scalar(text, ("number",)) is not text


def _among(kind: str, output: JsonObject, rules: JsonObject, literals: list[Json]) -> PairVerdict:
    """Values of the type against the ones that are listed."""
    if kind == "null":
        return FITS if None in literals else never(_not_listed(output, literals), firm=True)
    if kind == "boolean":
        found = {item for item in literals if isinstance(item, bool)}
        if len(found) == 2:
            return FITS
        return may(_not_listed(output, literals)) if found else never(_not_listed(output, literals), firm=True)
    reached = [item for item in literals if _may_become(kind, item, is_typed=bool(types_of(rules)))]
    if kind in _NUMERIC:
        interval = number_interval(output)
        reached = [item for item in reached if not _is_number(item) or interval.has(item)]
    return may(_not_listed(output, literals)) if reached else never(_not_listed(output, literals))


def _not_listed(output: JsonObject, literals: list[Json]) -> str:
    return f"{type_text(output)}, but only {listed(literals)} {'is' if len(literals) == 1 else 'are'} accepted"


def _may_become(kind: str, literal: Json, *, is_typed: bool) -> bool:
    """Whether a value of the type can be the literal, as it is or (where no type is asked for) coerced."""
    other = type_name(literal)
    if kind == "string":
        return other == "string" or (not is_typed and other in _NUMERIC | {"boolean"})
    if other in _NUMERIC:
        return kind == "number" or float(literal).is_integer()
    return not is_typed and isinstance(literal, str) and _is_numeric(literal)


def _text_fit(output: JsonObject, rules: JsonObject) -> PairVerdict:
    given, wanted = size_interval(output, "minLength", "maxLength"), size_interval(rules, "minLength", "maxLength")
    if wanted.misses(given):
        return never(f"{_length_text(given)}, but {_length_text(wanted)} is expected")
    if not wanted.holds(given):
        return may(f"{_length_text(given)}, but {_length_text(wanted)} is expected")
    pattern = rules.get("pattern")
    if pattern is not None and pattern != output.get("pattern"):
        return may(f"{type_text(output)}, but text that matches {pattern} is expected")
    formats = output.get("format"), rules.get("format")
    if all(isinstance(name, str) for name in formats) and formats[0] != formats[1]:
        return may(f"{type_text(output)}, but {type_text(rules)} is expected")
    return FITS


def _length_text(size: Interval) -> str:
    if size.high == math.inf:
        return f"text of at least {size.low:g} characters" if size.low else "text of any length"
    return f"text of {size.low:g} to {size.high:g} characters"


def _number_fit(kind: str, output: JsonObject, rules: JsonObject) -> PairVerdict:
    contrast = f"{type_text(output)}, but {type_text({**rules, 'type': rules.get('type', 'number')})} is expected"
    given, wanted = number_interval(output), number_interval(rules)
    if wanted.misses(given):
        return never(contrast)
    if not wanted.holds(given):
        return may(contrast)
    step = rules.get("multipleOf")
    if step is not None and not _is_multiple(output.get("multipleOf", 1 if kind == "integer" else None), step):
        return may(f"{type_text(output)}, but a multiple of {step} is expected")
    return FITS


def _is_multiple(given: Json, wanted: Json) -> bool:
    # Of whole numbers only: the remainder of fractions is not exact.
    return type(given) is int and type(wanted) is int and wanted > 0 and given % wanted == 0
