"""Extent of a value when it is written out: what it shares counts as often as it occurs. Pure.

A value that an expression made may be small in memory and endless in text. Measuring it takes as long as what is in
memory: each list and object in it is looked at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from toolpath.values import Json

#: Bytes that a member, and a list or object, take in memory beyond their text.
MEMBER = 24
CONTAINER = 64
_CONTAINERS = frozenset({list, dict})
#: Members from which a list or object is looked through at once, where it holds no others.
_LONG = 16
#: Levels beyond which nothing may be; who comes so far may have no end.
_DEEP = 500


class Extent(NamedTuple):
    """Extent of a value."""

    members: int = 0
    """Values inside it, at any depth."""
    containers: int = 0
    """Lists and objects, itself counted."""
    characters: int = 0
    """Of all texts and names."""
    depth: int = 0

    @property
    def weight(self) -> int:
        """Bytes that a copy takes in memory, about."""
        return self.characters + MEMBER * self.members + CONTAINER * self.containers


_NOTHING = Extent()
#: The fields of an extent, as they are added up.
_Measures = tuple[int, int, int, int]


def extent(value: Json) -> Extent:
    """The extent of the value. Raises `RecursionError` where it is nested far deeper than anything may be."""
    if type(value) in _CONTAINERS:
        return Extent(*(_of_tree(value) or _measured(value, {})))
    return Extent(characters=len(value)) if type(value) is str else _NOTHING


def _of_tree(value: Any) -> _Measures | None:
    """The measures of a value that shares nothing, found level by level; None where it does, or is very deep."""
    members = containers = characters = depth = 0
    level, seen = [value], set[int]()
    while level:
        depth += 1
        containers += len(level)
        below: list[Any] = []
        for here in level:
            members += len(here)
            characters += _characters(here, below)
        seen.update(map(id, below))
        if len(seen) != containers - 1 + len(below) or depth > _DEEP:
            return None
        level = below
    return members, containers, characters, depth


def _characters(value: Any, below: list[Any]) -> int:
    """Characters of the names and texts that the value itself holds; the lists and objects in it go to `below`."""
    characters = 0
    inner = value
    if type(value) is dict:
        characters = sum(map(len, value))
        inner = value.values()
    if len(value) > _LONG:
        kinds = set(map(type, inner))
        if _CONTAINERS.isdisjoint(kinds):
            return characters + (sum([len(item) for item in inner if type(item) is str]) if str in kinds else 0)
    for item in inner:
        kind = type(item)
        if kind is str:
            characters += len(item)
        elif kind is dict or kind is list:
            below.append(item)
    return characters


def _measured(value: Json, known: dict[int, _Measures]) -> _Measures:
    """`known`: by the identity of what is in the value, which lives as long."""
    characters = 0
    inner = value
    if type(value) is dict:
        characters = sum(map(len, value))
        inner = value.values()
    members, containers, depth = len(inner), 1, 0
    kinds = set(map(type, inner))
    if str in kinds:
        characters += sum(map(len, [item for item in inner if type(item) is str]))
    if list in kinds or dict in kinds:
        for item in inner:
            if type(item) in _CONTAINERS:
                key = id(item)
                if key not in known:
                    known[key] = _measured(item, known)
                inside = known[key]
                members += inside[0]
                containers += inside[1]
                characters += inside[2]
                depth = depth if depth > inside[3] else inside[3]
    return members, containers, characters, depth + 1
