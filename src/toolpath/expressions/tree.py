"""The resolved tree of an expression: what every name means is decided. Records only; shape, not behaviour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct

from toolpath.expressions.names import Ambiguous, Root
from toolpath.values import Json

Aspect = Literal["output", "status", "error", "duration"]
Operator = Literal["add", "sub", "mul", "div", "floordiv", "mod", "pow"]
Comparison = Literal["eq", "ne", "lt", "lteq", "gt", "gteq", "in", "notin"]


class Reference(Struct, frozen=True, kw_only=True, gc=False):
    """One name of the plan that an expression reads, and the path below it."""

    name: str
    """As written: `writer`, `state.x`, `steps.a.status`."""
    root: Root | Ambiguous | None
    """What the name means; None where it means nothing."""
    aspect: Aspect = "output"
    path: tuple[str | int | None, ...] = ()
    """Keys and indices below the root; None for a computed one."""
    offset: int = 0
    """Character in the string, from 0."""
    pointer: str = ""
    """JSON pointer of that string inside the compiled value."""
    guarded: bool = False
    """A `default`, a test or a condition covers the case that there is nothing."""


class Literal_(Struct, frozen=True):  # noqa: N801  # `Literal` is typing's
    """A constant."""

    value: Json


class Path(Struct, frozen=True, gc=False):
    """A reference followed by keys that are all known."""

    reference: Reference


class Local(Struct, frozen=True):
    """A parameter of an enclosing lambda, by its number, followed by known keys."""

    slot: int
    name: str
    keys: tuple[str | int, ...] = ()


class Item(Struct, frozen=True):
    """Part at a computed key or index, or at a known key of a computed value."""

    subject: Tree
    key: Tree


class Slice(Struct, frozen=True):
    """A part of a list or text."""

    subject: Tree
    start: Tree | None
    stop: Tree | None
    step: Tree | None


class Sign(Struct, frozen=True):
    """`-x` or `+x`."""

    operator: Literal["neg", "pos"]
    operand: Tree


class Binary(Struct, frozen=True):
    """Arithmetic of two operands."""

    operator: Operator
    left: Tree
    right: Tree


class Compare(Struct, frozen=True):
    """`a < b < c`: the first operand and the comparisons that follow."""

    first: Tree
    rest: tuple[tuple[Comparison, Tree], ...]


class Logic(Struct, frozen=True):
    """`a and b`, `a or b`: gives one of the operands."""

    operator: Literal["and", "or"]
    left: Tree
    right: Tree


class Not(Struct, frozen=True):
    """The negation of a truth."""

    operand: Tree


class Choose(Struct, frozen=True):
    """`yes if test else no`."""

    test: Tree
    yes: Tree
    no: Tree | None


class Concat(Struct, frozen=True):
    """`a ~ b`, and text with templates in it."""

    parts: tuple[Tree, ...]


class ListOf(Struct, frozen=True):
    """A list written out."""

    items: tuple[Tree, ...]


class DictOf(Struct, frozen=True):
    """An object written out."""

    items: tuple[tuple[Tree, Tree], ...]


class Lambda(Struct, frozen=True):
    """A function of elements, only ever an argument of a filter."""

    slots: tuple[int, ...]
    body: Tree
    size: int
    """Nodes of the body, by which each of its calls is charged."""


class Apply(Struct, frozen=True):
    """A filter or test as a function of JSON."""

    function: Callable[..., Any]
    subject: Tree
    arguments: tuple[tuple[str, Tree], ...] = ()
    gives: str | None = None
    """JSON type of the result, where it is known."""
    builds: bool = False
    """The result may hold one element several times."""


class Each(Struct, frozen=True):
    """`filter` or `map` with a lambda: a comprehension."""

    kind: Literal["filter", "reject", "map"]
    subject: Tree
    function: Lambda


class Default(Struct, frozen=True):
    """`subject | default(otherwise, falsy)`."""

    subject: Tree
    otherwise: Tree
    falsy: Tree | None


class Defined(Struct, frozen=True):
    """`subject is defined`."""

    subject: Tree


Tree = (
    Literal_
    | Path
    | Local
    | Item
    | Slice
    | Sign
    | Binary
    | Compare
    | Logic
    | Not
    | Choose
    | Concat
    | ListOf
    | DictOf
    | Lambda
    | Apply
    | Each
    | Default
    | Defined
)
