"""Facts about values where a condition holds, or where it does not: they are there, not null, not empty. Pure.

Facts are about places: a root, such as a step's output or a parameter of a lambda, and a path of known keys below it.
A fact tells nothing of what lies below its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from toolpath.checks.kinds import Kinds
from toolpath.checks.shapes import Type
from toolpath.expressions import lists, predicates, tree
from toolpath.expressions.names import Root
from toolpath.values import Json, type_name

Base = tuple[str | int, ...]
"""Which root: kind, key, how many blocks up and aspect of a reference, or the slot of a lambda's parameter."""
Path = tuple[str | int, ...]
Place = tuple[Base, Path]

_TESTS: dict[object, tuple[str, ...]] = {
    predicates.is_boolean: ("boolean",),
    predicates.is_true: ("boolean",),
    predicates.is_false: ("boolean",),
    predicates.is_integer: ("integer",),
    predicates.is_float: ("number",),
    predicates.is_number: ("number",),
    predicates.is_string: ("string",),
    predicates.is_mapping: ("object",),
    predicates.is_sequence: ("array", "string", "object"),
    predicates.is_iterable: ("array", "string", "object"),
    predicates.is_even: ("number",),
    predicates.is_odd: ("number",),
    predicates.is_lower: ("string",),
    predicates.is_upper: ("string",),
}
_FLIPPED: dict[str, str] = {"lt": "gt", "lteq": "gteq", "gt": "lt", "gteq": "lteq", "eq": "eq", "ne": "ne"}


class Fact(msgspec.Struct, frozen=True):
    """Fact about the value at one place. That there is one, is part of it unless `there` says otherwise."""

    there: bool = True
    not_null: bool = False
    true: bool = False
    not_zero: bool = False
    kinds: tuple[str, ...] = ()
    """JSON types that it may have; empty: any."""

    def of(self, type_: Type, kinds: Kinds) -> Type:
        """The type of the value, where this is known of it."""
        if self.kinds:
            type_ = kinds.only(type_, self.kinds)
        if self.not_null:
            type_ = kinds.without_null(type_)
        if self.not_zero:
            type_ = kinds.not_zero(type_)
        return kinds.true(type_) if self.true else type_

    def joined(self, other: Fact) -> Fact:
        """The fact that both of them make together."""
        return Fact(
            there=self.there or other.there,
            not_null=self.not_null or other.not_null,
            true=self.true or other.true,
            not_zero=self.not_zero or other.not_zero,
            kinds=self.kinds or other.kinds,
        )


Facts = Mapping[Place, Fact]
NOTHING: Facts = {}
_THERE = Fact()
_NOT_NULL = Fact(not_null=True)
_TRUE = Fact(not_null=True, true=True)
_NOT_ZERO = Fact(there=False, not_zero=True)


def place_of(of: tree.Tree) -> Place | None:
    """The place that a tree reads with known keys; None for anything else."""
    match of:
        case tree.Path(reference) if isinstance(reference.root, Root):
            root = reference.root
            keys = tuple(key for key in reference.path if key is not None)
            return (
                ((root.kind, root.key, root.up, reference.aspect), keys) if len(keys) == len(reference.path) else None
            )
        case tree.Local(slot=slot, keys=keys):
            return (slot,), keys
        case tree.Item(subject=subject, key=tree.Literal_(value=str() | int() as key)) if not isinstance(key, bool):
            found = place_of(subject)
            return None if found is None else (found[0], (*found[1], key))
        case _:
            return None


def joined(facts: Facts, more: Facts) -> Facts:
    """The facts where both hold."""
    if not more or not facts:
        return more or facts
    found = dict(facts)
    for place, fact in more.items():
        found[place] = found[place].joined(fact) if place in found else fact
    return found


def is_there(facts: Facts, place: Place) -> bool:
    """Something is at the place: it, or what is below it, is known to be there."""
    base, path = place
    return any(fact.there and known == base and at[: len(path)] == path for (known, at), fact in facts.items())


def below(facts: Facts, place: Place) -> Iterator[tuple[Path, Fact]]:
    """The facts at and below a place, by the path from there."""
    base, path = place
    for (known, at), fact in facts.items():
        if known == base and at[: len(path)] == path:
            yield at[len(path) :], fact


def facts_of(of: tree.Tree, holds: bool) -> Facts:
    """The facts where the condition holds, or where it does not."""
    match of:
        case tree.Not(operand):
            return facts_of(operand, not holds)
        case tree.Logic(operator=operator, left=left, right=right):
            if (operator == "and") is not holds:
                return NOTHING
            return joined(facts_of(left, holds), facts_of(right, holds))
        case tree.Defined(subject):
            return _at(subject, _THERE) if holds else NOTHING
        case tree.Compare(first=first, rest=((operator, second),)):
            return joined(_compared(first, operator, second, holds), _turned(first, operator, second, holds))
        case tree.Apply(function=function, subject=subject) if function in _TESTS and holds:
            return _at(subject, Fact(not_null=True, true=function is predicates.is_true, kinds=_TESTS[function]))
        case _:
            return _at(of, _TRUE) if holds else NOTHING


def _at(of: tree.Tree, fact: Fact) -> Facts:
    match of:
        case tree.Default(subject=subject, otherwise=tree.Literal_(value)) if fact.true and not value:
            # What stands in for it would count as false.
            return _at(subject, fact)
        case tree.Apply(function=lists.length, subject=subject) if fact.true:
            return _at(subject, fact)
        case _:
            place = place_of(of)
            return NOTHING if place is None else {place: fact}


def _turned(first: tree.Tree, operator: str, second: tree.Tree, holds: bool) -> Facts:
    flipped = _FLIPPED.get(operator)
    return NOTHING if flipped is None else _compared(second, flipped, first, holds)


def _compared(of: tree.Tree, operator: str, other: tree.Tree, holds: bool) -> Facts:
    if operator == "in":
        return _among(of, other) if holds else NOTHING
    if not isinstance(other, tree.Literal_):
        return NOTHING
    value = other.value
    match operator:
        case "ne":
            return _differs(of, value) if holds else _equals(of, value)
        case "eq":
            return _equals(of, value) if holds else _differs(of, value)
        case _ if isinstance(value, int | float):
            return _beyond(of, operator, value, holds)
        case _:
            return NOTHING


def _beyond(of: tree.Tree, operator: str, bound: float, holds: bool) -> Facts:
    """The facts on numbers on one side of a bound: that they are not 0."""
    if not holds:
        operator = {"lt": "gteq", "lteq": "gt", "gt": "lteq", "gteq": "lt"}.get(operator, "")
    if (operator == "gt" and bound >= 0) or (operator == "gteq" and bound > 0):
        return _at(of, _TRUE)
    if (operator == "lt" and bound <= 0) or (operator == "lteq" and bound < 0):
        return _at(of, _NOT_ZERO)
    return NOTHING


def _among(of: tree.Tree, other: tree.Tree) -> Facts:
    values: list[Json] | None = None
    if isinstance(other, tree.Literal_) and isinstance(other.value, list):
        values = other.value
    elif isinstance(other, tree.ListOf) and all(isinstance(item, tree.Literal_) for item in other.items):
        values = [item.value for item in other.items if isinstance(item, tree.Literal_)]
    if not values or any(value is None for value in values):
        return NOTHING
    return _at(of, _NOT_NULL)


def _equals(of: tree.Tree, value: Json) -> Facts:
    if value is None:
        return NOTHING
    kind = type_name(value)
    kinds = ("number",) if kind in ("integer", "number") else (kind,)
    found = _at(of, Fact(not_null=True, kinds=kinds, true=bool(value)))
    if value == "succeeded" and isinstance(of, tree.Path) and of.reference.aspect == "status":
        root = of.reference.root
        if isinstance(root, Root):
            # A step that has succeeded has an output.
            return joined(found, {(("output", root.key, root.up, "output"), ()): _THERE})
    if isinstance(of, tree.Default) and isinstance(of.otherwise, tree.Literal_):
        other = of.otherwise.value
        # It equals what does not stand in for it.
        return _at(of.subject, Fact(not_null=True, kinds=kinds, true=bool(value))) if other != value else NOTHING
    return found


def _differs(of: tree.Tree, value: Json) -> Facts:
    if value is None:
        if isinstance(of, tree.Default) and isinstance(of.otherwise, tree.Literal_) and of.otherwise.value is None:
            return _at(of.subject, _NOT_NULL)
        return _at(of, _NOT_NULL)
    if type(value) in (int, float) and value == 0:
        match of:
            case tree.Apply(function=lists.length, subject=subject):
                return _at(subject, _TRUE)
            case _:
                return _at(of, _NOT_ZERO)
    return NOTHING
