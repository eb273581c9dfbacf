"""Guards: paths that are there wherever a condition holds (or does not). Pure."""

from __future__ import annotations

from jinja2 import nodes
from msgspec import Struct

Written = tuple[str | int | None, ...]


class GuardedPath(Struct, frozen=True):
    """A path, as written, that is known to be there."""

    path: Written

    def covers(self, name: str, keys: Written) -> bool:
        """Whether a path with that name and those keys lies at or below this one."""
        whole = (name, *keys)
        return whole[: len(self.path)] == self.path


def written(node: nodes.Node) -> Written | None:
    """Name and keys of a path with known keys, as written; None for anything else."""
    keys: list[str | int | None] = []
    while True:
        match node:
            case nodes.Name():
                return (node.name, *reversed(keys))
            case nodes.Getattr():
                keys.append(node.attr)
            case nodes.Getitem(arg=nodes.Const(value=str() | int() as key)):
                keys.append(key)
            case _:
                return None
        node = node.node


def guards_of(node: nodes.Node, holds: bool) -> tuple[GuardedPath, ...]:
    """The paths that are there when the condition holds, or when it does not."""
    match node:
        case nodes.Not():
            return guards_of(node.node, not holds)
        case nodes.And() if holds:
            return guards_of(node.left, True) + guards_of(node.right, True)
        case nodes.Or() if not holds:
            return guards_of(node.left, False) + guards_of(node.right, False)
        case nodes.Test(name="defined"):
            return _guard(node.node) if holds else ()
        case nodes.Test(name="undefined" | "none" | "null"):
            return () if holds else _guard(node.node)
        case nodes.Compare():
            return _of_status(node)
        case nodes.Name() | nodes.Getattr() | nodes.Getitem():
            return _guard(node) if holds else ()
        case _:
            return ()


def _guard(node: nodes.Node) -> tuple[GuardedPath, ...]:
    path = written(node)
    return () if path is None else (GuardedPath(path),)


def _of_status(node: nodes.Compare) -> tuple[GuardedPath, ...]:
    """Who asks for a step's status knows that it may have none of the output."""
    path = written(node.expr)
    if path is not None and len(path) == 3 and path[0] == "steps" and path[2] in ("status", "error"):
        return (GuardedPath((path[1],)), GuardedPath(("steps", path[1], "output")))
    return ()
