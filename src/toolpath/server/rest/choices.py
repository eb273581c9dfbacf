"""Choices of a body: the values that a field of its record may have."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from msgspec import inspect


def choices_at(record: type, path: Sequence[str]) -> tuple[str, ...]:
    """The values that may stand at the path of a record; none: they are not counted out there."""
    found: tuple[inspect.Type, ...] = (_described(record),)
    for name in path:
        found = tuple(inner for kind in _each(found) for inner in _inside(kind, name))
    return tuple(str(value) for kind in _each(found) if isinstance(kind, inspect.LiteralType) for value in kind.values)


@cache
def _described(record: type) -> inspect.Type:
    return inspect.type_info(record)


def _each(kinds: Sequence[inspect.Type]) -> tuple[inspect.Type, ...]:
    """The types themselves, and those of unions one by one."""
    return tuple(
        one for kind in kinds for one in (_each(kind.types) if isinstance(kind, inspect.UnionType) else (kind,))
    )


def _inside(kind: inspect.Type, name: str) -> tuple[inspect.Type, ...]:
    match kind:
        case inspect.StructType(fields=fields):
            return tuple(field.type for field in fields if field.encode_name == name)
        case inspect.ListType(item_type=inner) | inspect.VarTupleType(item_type=inner):
            return (inner,)
        case inspect.DictType(value_type=inner):
            return (inner,)
        case _:
            return ()
