"""References of a resolved tree, and how messages call its parts. Pure."""

from __future__ import annotations

import msgspec

from toolpath.checks.filters import name_of
from toolpath.expressions import tree
from toolpath.expressions.look import path_text
from toolpath.expressions.tree import Reference, Tree
from toolpath.values import encode


def references_in(of: Tree) -> list[Reference]:
    """Every reference in the tree, in its order."""
    found: list[Reference] = []
    waiting: list[object] = [of]
    while waiting:
        here = waiting.pop()
        if isinstance(here, tree.Path):
            found.append(here.reference)
        elif isinstance(here, tuple):
            waiting += reversed(here)
        elif isinstance(here, msgspec.Struct):
            waiting += reversed([getattr(here, name) for name in here.__struct_fields__])
    return found


def shown(of: Tree) -> str:
    """The part as a message calls it."""
    match of:
        case tree.Path(reference):
            return path_text(reference.name, reference.path)
        case tree.Local(name=name, keys=keys):
            return path_text(name, keys)
        case tree.Literal_(value):
            text = encode(value).decode()
            return text if len(text) <= 40 else f"{text[:39]}…"
        case tree.Item(subject=subject, key=key):
            return f"{shown(subject)}[{shown(key)}]"
        case tree.Apply(subject=subject) if name_of(of):
            return f"{shown(subject)} | {name_of(of)}"
        case tree.Default(subject=subject, otherwise=otherwise):
            return f"{shown(subject)} | default({shown(otherwise)})"
        case _:
            return "the value"
