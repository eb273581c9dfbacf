"""Comparisons that a `when` makes, read from its expression, in whichever of many ways it is written. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from toolpath.expressions import tree
from toolpath.expressions.leaf import read_condition
from toolpath.expressions.names import Names, Root
from toolpath.expressions.table import FILTERS
from toolpath.expressions.tree import Tree
from toolpath.values import Json

OPPOSITE: Final = {
    "<": ">=",
    ">": "<=",
    "<=": ">",
    ">=": "<",
    "==": "!=",
    "!=": "==",
    "in": "not in",
    "not in": "in",
    "is": "is not",
    "is not": "is",
}
_SIGNS: Final[dict[str, str]] = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "lteq": "<=",
    "gt": ">",
    "gteq": ">=",
    "in": "in",
    "notin": "not in",
}
_FLIPPED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_LENGTHS: Final = frozenset((FILTERS["length"].call, FILTERS["count"].call))
_LOWER: Final = FILTERS["lower"].call
_LETTERS: Final = frozenset((_LOWER, FILTERS["trim"].call))
#: A longer one is nothing that a person said.
_LONGEST: Final = 2_000


class Test(msgspec.Struct, frozen=True):
    """One comparison of a `when`."""

    path: tuple[str, ...]
    """Step and names of fields."""
    sign: str
    """`==`, `!=`, `<`, …; `in`, `not in`; `is` and `is not` of a switch, and of a value that is there."""
    value: str = ""
    """What it is compared with, without quotes."""


def tests_of(when: str, steps: Iterable[str], items: Mapping[str, tuple[str, ...]]) -> tuple[Test, ...] | None:
    """The comparisons that a `when` joins with `and`; None where it says something else.

    `steps`: ids of the steps that it may look at; `items`: name of a loop's item → where its list is.
    """
    if len(when) > _LONGEST:
        return None
    names = Names(flow="graph", ids={one: one for one in (*steps, *items)}, shared={})
    leaf = read_condition(when, names)
    if leaf.faults or leaf.whole is None:
        return None
    found = _tests(leaf.whole.tree, turned=False)
    if found is None:
        return None
    return tuple(
        msgspec.structs.replace(one, path=(*items[one.path[0]], *one.path[1:])) if one.path[0] in items else one
        for one in found
    )


def _tests(of: Tree, *, turned: bool) -> tuple[Test, ...] | None:
    match of:
        case tree.Not(operand):
            return _tests(operand, turned=not turned)
        case tree.Logic(operator, left, right) if (operator == "and") != turned:
            one, other = _tests(left, turned=turned), _tests(right, turned=turned)
            return None if one is None or other is None else (*one, *other)
        case tree.Compare(first, ((how, second),)):
            found = _compared(first, _SIGNS[how], second)
        case _:
            path = _path(of)
            found = None if path is None else Test(path, "is")
    if found is None:
        return None
    return (msgspec.structs.replace(found, sign=OPPOSITE[found.sign]) if turned else found,)


def _compared(first: Tree, sign: str, second: Tree) -> Test | None:
    """The comparison of a value that a step gives with one that is written out."""
    if sign in ("in", "not in"):
        path = _path(second)
        text = first.value if isinstance(first, tree.Literal_) else None
        is_text = isinstance(text, str) and text != "" and not _never_is(second, text)
        return Test(path, sign, str(text)) if path is not None and is_text else None
    if isinstance(first, tree.Literal_ | tree.Sign):
        first, sign, second = second, _FLIPPED[sign], first
    value = _literal(second)
    path = _path(first)
    if path is None or value is None:
        return None
    match value.value:
        case bool() as truth if sign in ("==", "!="):
            return Test(path, "is" if truth == (sign == "==") else "is not")
        case None | "" if sign in ("==", "!="):
            # Nothing is there, or something is.
            return Test(path, "is not" if sign == "==" else "is")
        case bool() | None | "":
            return None
        case str() as text:
            return Test(path, sign, text) if sign in ("==", "!=") and not _never_is(first, text) else None
        case int() | float() as number:
            return Test(path, sign, str(int(number)) if number == int(number) else str(number))
        case _:
            return None


def _never_is(of: Tree, text: str) -> bool:
    """Whether what is compared is in small letters, and the text is not: `a.status | lower != 'Open'` always holds."""
    return isinstance(of, tree.Apply) and of.function is _LOWER and text != text.lower()


def _literal(of: Tree) -> tree.Literal_ | None:
    match of:
        case tree.Literal_():
            return of
        case tree.Sign("neg", tree.Literal_(int() | float() as number)):
            return tree.Literal_(-number)
        case _:
            return None


def _path(of: Tree) -> tuple[str, ...] | None:
    """Where a value is that a step gives; None for anything else."""
    match of:
        case tree.Path(reference) if isinstance(reference.root, Root) and reference.root.kind == "output":
            keys = tuple(key for key in reference.path if isinstance(key, str))
            whole = (reference.root.key, *keys)
            return whole if reference.aspect == "output" and len(keys) == len(reference.path) else None
        case tree.Apply(function, subject, ()) if function in _LETTERS:
            return _path(subject)
        case tree.Apply(function, subject, ()) if function in _LENGTHS:
            path = _path(subject)
            return None if path is None else (*path, "length")
        case _:
            return None


def list_of(over: Json, steps: Iterable[str]) -> tuple[str, ...] | None:
    """Where the list is that a loop goes through: step and names of fields; None where it is another."""
    if not isinstance(over, str) or len(over) > _LONGEST:
        return None
    leaf = read_condition(over, Names(flow="graph", ids={one: one for one in steps}, shared={}))
    return None if leaf.faults or leaf.whole is None else _path(leaf.whole.tree)
