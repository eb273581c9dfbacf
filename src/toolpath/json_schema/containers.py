"""Fit of arrays and objects: sizes, items, properties. What is inside them is judged by the caller's function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from toolpath.json_schema.describe import type_text
from toolpath.json_schema.document import SchemaDocument, SchemaNode
from toolpath.json_schema.leaves import size_interval
from toolpath.json_schema.locate import path_text
from toolpath.json_schema.verdicts import FITS, PairVerdict, may, never, under_all, unknown
from toolpath.values import JsonObject

Schema = JsonObject | bool
#: Judges what is inside: schema of the output, place of the input, and the key that leads there.
Inner = Callable[[Schema, SchemaNode, str], PairVerdict]

_MOST_FIRST_ITEMS: Final = 100


class _Items:
    """The items of an array: the first ones one by one, then all the rest."""

    __slots__ = ("first", "rest", "size")

    def __init__(self, node: SchemaNode, schema: JsonObject) -> None:
        self.first = node.list("prefixItems") or node.list("items")
        self.rest = node.child("additionalItems" if isinstance(schema.get("items"), list) else "items")
        self.size = size_interval(schema, "minItems", "maxItems")

    def at(self, index: int) -> SchemaNode | None:
        return self.first[index] if index < len(self.first) else self.rest


def array_fit(output: JsonObject, node: SchemaNode, rules: JsonObject, inner: Inner) -> PairVerdict:
    """Verdict on arrays under the keywords of one schema."""
    given, wanted = _Items(SchemaNode(output), output), _Items(node, rules)
    if wanted.size.misses(given.size):
        return never(_sizes_text(given.size.low, given.size.high, wanted.size.low, wanted.size.high, "items"))
    found = [FITS]
    if not wanted.size.holds(given.size):
        found.append(may(_sizes_text(given.size.low, given.size.high, wanted.size.low, wanted.size.high, "items")))
    sure = max(given.size.low, wanted.size.low)
    count = max(len(given.first), len(wanted.first))
    if count > _MOST_FIRST_ITEMS:
        return unknown("the arrays have too many places of their own")
    for index in range(count + 1):
        place = wanted.at(index)
        if place is None or index >= min(given.size.high, wanted.size.high):
            continue
        source = given.at(index)
        key = f"[{index}]" if index < count else "[]"
        verdict = inner(True if source is None else source.schema, place, key)
        found.append(verdict if index < sure else _where_present(verdict, "; an empty array would fit"))
    return _together(found)


def object_fit(
    output: JsonObject, node: SchemaNode, rules: JsonObject, inner: Inner, document: SchemaDocument
) -> PairVerdict:
    """Verdict on objects under the keywords of one schema; `document` is the input's."""
    given = _Properties(output)
    wanted = node.map("properties")
    required = _names(rules, "required")
    found = [FITS, *(_presence(given, name) for name in required)]
    for name, place in wanted.items():
        found.append(_property(given, name, place, name in required, inner))
    found += _extras(given, node, wanted, inner, document)
    found.append(_count_fit(given, output, rules))
    return _together(found)


class _Properties:
    """Properties of objects, as an output describes them."""

    __slots__ = ("has_patterns", "is_closed", "more", "named", "required", "says_required")

    def __init__(self, schema: JsonObject) -> None:
        properties = schema.get("properties")
        self.named: dict[str, Schema] = properties if isinstance(properties, dict) else {}
        self.required = _names(schema, "required")
        self.says_required = "required" in schema
        self.has_patterns = bool(schema.get("patternProperties"))
        self.more: Schema | None = schema.get("additionalProperties")
        self.is_closed = self.more is False and not self.has_patterns

    def of(self, name: str) -> Schema:
        """The schema of the property where it is present; true where nothing is said."""
        if name in self.named:
            return self.named[name]
        if self.has_patterns or self.more is None:
            return True
        return self.more

    def never_has(self, name: str) -> bool:
        """No object has it."""
        return self.of(name) is False

    def listing(self) -> str:
        return ", ".join(list(self.named)[:8]) + (", …" if len(self.named) > 8 else "")


def _presence(given: _Properties, name: str) -> PairVerdict:
    if name in given.required:
        return FITS
    if given.never_has(name):
        return never(f"lacks {name!r}, which is required; it has {given.listing() or 'nothing'}", firm=True)
    if name in given.named:
        reason = f"{name!r} is required, but the output need not have it"
        return may(reason) if given.says_required else unknown(reason)
    reason = f"{name!r} is required, but the output does not list it"
    return may(f"{reason}; it has {given.listing()}") if given.named else unknown(reason)


def _property(given: _Properties, name: str, place: SchemaNode, is_required: bool, inner: Inner) -> PairVerdict:
    if given.never_has(name):
        return FITS
    verdict = inner(given.of(name), place, path_text((name,)))
    is_sure = is_required or name in given.required
    return verdict if is_sure else _where_present(verdict, f"; without {name!r} it would fit")


def _where_present(verdict: PairVerdict, otherwise: str) -> PairVerdict:
    """The verdict on a part that not every value has."""
    return may(verdict.reason + otherwise) if verdict.word == "never" else verdict


def _extras(
    given: _Properties, node: SchemaNode, wanted: dict[str, SchemaNode], inner: Inner, document: SchemaDocument
) -> list[PairVerdict]:
    """Verdicts on the properties that the input does not name."""
    more = node.child("additionalProperties")
    patterns = node.map("patternProperties")
    found = [_by_pattern(given, name, patterns, document, inner) for name in given.named] if patterns else []
    if more is not None and more.schema is not True:
        for name, schema in given.named.items():
            if name in wanted or schema is False or any(document.matches(pattern, name) for pattern in patterns):
                continue
            found.append(_extra(given, name, schema, more, inner))
    if given.is_closed:
        return found
    if patterns:
        found.append(unknown("the output may have properties that it does not list"))
    elif more is not None and more.schema is not True:
        rest: Schema = True if given.has_patterns or given.more is None else given.more
        if more.schema is False:
            found.append(unknown("no other properties are accepted, but the output does not say that it has no others"))
        else:
            found.append(_where_present(inner(rest, more, "[…]"), "; an empty object would fit"))
    return found


def _by_pattern(
    given: _Properties, name: str, patterns: dict[str, SchemaNode], document: SchemaDocument, inner: Inner
) -> PairVerdict:
    verdicts = [
        inner(given.named[name], place, path_text((name,)))
        for pattern, place in patterns.items()
        if document.matches(pattern, name)
    ]
    if not verdicts or given.named[name] is False:
        return FITS
    verdict = under_all(verdicts)
    return verdict if name in given.required else _where_present(verdict, f"; without {name!r} it would fit")


def _extra(given: _Properties, name: str, schema: Schema, more: SchemaNode, inner: Inner) -> PairVerdict:
    if more.schema is False:
        reason = f"{name!r} ({type_text(schema)}) is not accepted"
        return never(reason, firm=True) if name in given.required else may(reason)
    verdict = inner(schema, more, path_text((name,)))
    return verdict if name in given.required else _where_present(verdict, f"; without {name!r} it would fit")


def _count_fit(given: _Properties, output: JsonObject, rules: JsonObject) -> PairVerdict:
    wanted = size_interval(rules, "minProperties", "maxProperties")
    size = size_interval(output, "minProperties", "maxProperties")
    low = max(size.low, len(set(given.required)))
    high = min(size.high, len(given.named) if given.is_closed else math.inf)
    if low >= wanted.low and high <= wanted.high:
        return FITS
    reason = _sizes_text(low, high, wanted.low, wanted.high, "properties")
    return never(reason) if low > wanted.high or high < wanted.low else may(reason)


def _together(verdicts: list[PairVerdict]) -> PairVerdict:
    """One verdict over parts that lie beside each other: each is coerced on its own."""
    worst = {"never": 3, "may": 2, "unknown": 1, "fits": 0}
    return max(verdicts, key=lambda verdict: (worst[verdict.word], verdict.coerced or verdict.firm))


def _names(schema: JsonObject, key: str) -> tuple[str, ...]:
    names = schema.get(key)
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


def _sizes_text(low: float, high: float, least: float, most: float, noun: str) -> str:
    return f"{_range(low, high)} {noun}, but {_range(least, most)} are expected"


def _range(low: float, high: float) -> str:
    if high == math.inf:
        return f"{low:g} or more"
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
